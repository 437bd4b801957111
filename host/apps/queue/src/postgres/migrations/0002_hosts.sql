-- Version 2: what a job needs of a worker, where it was lost, and submissions by their hash.

ALTER TABLE jobs
    -- What stands before the bytes of a submission, and what a worker must offer.
    ADD head bytea NOT NULL DEFAULT '',
    ADD needs text[] NOT NULL DEFAULT '{}',
    -- Of the last taking: on which machine.
    ADD host text;

-- Bytes of submissions, once for all jobs that have them, until the last of these ends.
CREATE TABLE objects (sha256 text COLLATE "C" PRIMARY KEY, bytes bytea NOT NULL);
INSERT INTO objects SELECT DISTINCT ON (sha256) encode(sha256(bytes), 'hex') AS sha256, bytes FROM payloads;
ALTER TABLE payloads ADD sha256 text COLLATE "C" REFERENCES objects;
UPDATE payloads SET sha256 = encode(sha256(bytes), 'hex');
ALTER TABLE payloads ALTER sha256 SET NOT NULL, DROP bytes;
-- By ticket as well: else whoever looks for jobs of an object passes over all of it that ended.
CREATE INDEX payloads_of_object ON payloads (sha256, ticket);

-- Whoever ends one of the last jobs of an object waits for others that do, so that one of them sees that nobody needs it.
CREATE FUNCTION remove_objects() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM objects WHERE sha256 IN (SELECT sha256 FROM before)
        AND (SELECT count(*) FROM (SELECT FROM payloads WHERE payloads.sha256 = objects.sha256 LIMIT 33) few) <= 32
        ORDER BY sha256 FOR UPDATE;
    IF FOUND THEN
        DELETE FROM objects WHERE sha256 IN (SELECT sha256 FROM before)
            AND NOT EXISTS (SELECT FROM payloads WHERE payloads.sha256 = objects.sha256);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER payloads_deleted AFTER DELETE ON payloads REFERENCING OLD TABLE AS before
    FOR EACH STATEMENT EXECUTE FUNCTION remove_objects();

-- Attempts that came to nothing by their hosts' doing.
CREATE TABLE losses (
    ticket text COLLATE "C" REFERENCES jobs ON DELETE CASCADE,
    attempt integer,
    host text NOT NULL,
    -- Whether the worker was gone. Else it gave the job up.
    died boolean NOT NULL,
    log text NOT NULL,
    lost timestamptz NOT NULL DEFAULT queue_now(),
    PRIMARY KEY (ticket, attempt)
);

-- Jobs of which an attempt came to nothing wait again, or come to nothing themselves: after so many attempts on one host, on so
-- many hosts, or when the workers of two hosts were gone. Attempts in which work had not begun do not count.
CREATE FUNCTION lose(gone text[], is_dead boolean, why text, of_host integer, hosts integer) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO losses (ticket, attempt, host, died, log)
        SELECT ticket, attempts, coalesce(host, ''), is_dead, coalesce(why, 'its worker ' || worker || ' was gone')
        FROM jobs WHERE ticket = ANY (gone) AND begun;
    RETURN QUERY UPDATE jobs SET losses = jobs.losses + begun::integer, begun = false, expires = NULL, loss = found.loss,
        state = CASE WHEN found.loss IS NULL THEN 'waiting'::job_state ELSE 'lost' END,
        ended = CASE WHEN found.loss IS NULL THEN NULL ELSE queue_now() END
    FROM (SELECT job, (
        SELECT CASE
            WHEN count(*) FILTER (WHERE died) >= 2 THEN 'quarantined'
            WHEN count(*) >= hosts THEN 'hosts'
            WHEN max(times) >= of_host THEN 'workers' END
        FROM (SELECT bool_or(died) AS died, count(*) AS times FROM losses WHERE ticket = job GROUP BY host) by_host
    ) AS loss FROM unnest(gone) job) found
    WHERE jobs.ticket = job RETURNING jobs.ticket;
    DELETE FROM payloads USING jobs WHERE payloads.ticket = ANY (gone) AND jobs.ticket = payloads.ticket AND state = 'lost';
END $$;

-- Counts are by what jobs need, too: each worker looks for those that it may take.
ALTER TABLE client_counts ADD needs text[] NOT NULL DEFAULT '{}';
ALTER TABLE client_counts DROP CONSTRAINT client_counts_pkey, ADD PRIMARY KEY (client, needs, shard);

CREATE OR REPLACE FUNCTION job_counts(jobs, sign integer) RETURNS client_counts LANGUAGE sql IMMUTABLE AS $$
    SELECT $1.client, 0,
        sign * ($1.state = 'waiting')::integer::bigint,
        sign * ($1.state = 'running')::integer::bigint,
        sign * ($1.state > 'running')::integer::bigint,
        sign * (2048 + CASE WHEN $1.state > 'running' THEN $1.outcome_bytes ELSE $1.payload_bytes END),
        CASE WHEN sign > 0 THEN $1.turn ELSE 0 END,
        $1.needs
$$;

CREATE OR REPLACE FUNCTION add_counts(changes client_counts[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO client_counts AS c
    SELECT client, pg_backend_pid() % 8, sum(waiting), sum(running), sum(ended), sum(bytes), max(turn), needs
    FROM unnest(changes) GROUP BY client, needs
    HAVING sum(waiting) <> 0 OR sum(running) <> 0 OR sum(ended) <> 0 OR sum(bytes) <> 0 ORDER BY client, needs
    ON CONFLICT (client, needs, shard) DO UPDATE SET
        waiting = c.waiting + excluded.waiting, running = c.running + excluded.running,
        ended = c.ended + excluded.ended, bytes = c.bytes + excluded.bytes, turn = greatest(c.turn, excluded.turn)
$$;
