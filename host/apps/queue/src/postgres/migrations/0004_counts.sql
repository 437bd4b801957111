-- Version 4: counts by statements that keep their plans, as a function of SQL is planned each time that a trigger calls it; and
-- submissions in one statement, which wait for each other at a row, where no worker can stand in their way.

-- Bytes that a job counts. 2048 is `JOB` of limits.rs. It becomes part of the statements that call it.
CREATE FUNCTION job_bytes(state job_state, payload_bytes bigint, outcome_bytes bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT 2048 + CASE WHEN state > 'running' THEN outcome_bytes ELSE payload_bytes END
$$;

CREATE OR REPLACE FUNCTION count_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE comes boolean := false;
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO client_counts AS c
        SELECT client, pg_backend_pid() % 8, sum((state = 'waiting')::integer), sum((state = 'running')::integer),
            sum((state > 'running')::integer), sum(job_bytes(state, payload_bytes, outcome_bytes)), max(turn), needs
        FROM after GROUP BY client, needs ORDER BY client, needs
        ON CONFLICT (client, needs, shard) DO UPDATE SET
            waiting = c.waiting + excluded.waiting, running = c.running + excluded.running,
            ended = c.ended + excluded.ended, bytes = c.bytes + excluded.bytes, turn = greatest(c.turn, excluded.turn);
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO client_counts AS c
        SELECT client, pg_backend_pid() % 8, -sum((state = 'waiting')::integer), -sum((state = 'running')::integer),
            -sum((state > 'running')::integer), -sum(job_bytes(state, payload_bytes, outcome_bytes)), 0, needs
        FROM before GROUP BY client, needs ORDER BY client, needs
        ON CONFLICT (client, needs, shard) DO UPDATE SET
            waiting = c.waiting + excluded.waiting, running = c.running + excluded.running,
            ended = c.ended + excluded.ended, bytes = c.bytes + excluded.bytes;
    ELSE
        INSERT INTO client_counts AS c
        SELECT client, pg_backend_pid() % 8, sum(sign * (state = 'waiting')::integer) AS waiting,
            sum(sign * (state = 'running')::integer) AS running, sum(sign * (state > 'running')::integer) AS ended,
            sum(sign * job_bytes(state, payload_bytes, outcome_bytes)) AS bytes, max(turn), needs
        FROM (
            SELECT 1 AS sign, client, needs, state, payload_bytes, outcome_bytes, turn FROM after
            UNION ALL SELECT -1, client, needs, state, payload_bytes, outcome_bytes, 0 FROM before
        ) changes GROUP BY client, needs
        -- Nothing is counted of a job whose lease is renewed.
        HAVING sum(sign * (state = 'waiting')::integer) <> 0 OR sum(sign * (state = 'running')::integer) <> 0
            OR sum(sign * job_bytes(state, payload_bytes, outcome_bytes)) <> 0
        ORDER BY client, needs
        ON CONFLICT (client, needs, shard) DO UPDATE SET
            waiting = c.waiting + excluded.waiting, running = c.running + excluded.running,
            ended = c.ended + excluded.ended, bytes = c.bytes + excluded.bytes, turn = greatest(c.turn, excluded.turn);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        comes := EXISTS (SELECT FROM after WHERE state = 'waiting');
    END IF;
    IF comes AND (SELECT sum(waiting) <= 64 FROM client_counts) THEN
        PERFORM pg_notify('passhost_jobs', current_schema());
    END IF;
    RETURN NULL;
END $$;

DROP FUNCTION job_counts;
DROP FUNCTION add_counts;

-- Whoever submits holds the row of its client.
CREATE TABLE clients (client text COLLATE "C" PRIMARY KEY);

-- Adds a job, and says `put`. Else `known`, with the job that has this key and its hash; `room`, with the jobs that wait, of all
-- clients and of this one, and the bytes of this one; or `bytes`, if those are wanted.
CREATE FUNCTION submit_job(
    new text, who text, its_key text, hash text, size bigint, first bytea, labels text[], object text, content bytea,
    most bigint, most_of_client bigint, most_bytes bigint,
    OUT what text, OUT known text, OUT known_hash text, OUT waiting bigint, OUT own bigint, OUT held bigint
) LANGUAGE plpgsql AS $$
BEGIN
    LOOP
        PERFORM FROM clients WHERE client = who FOR UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO clients VALUES (who) ON CONFLICT DO NOTHING;
    END LOOP;
    -- An earlier try, of which nobody heard the answer, was done.
    what := 'put';
    IF EXISTS (SELECT FROM jobs WHERE ticket = new) THEN RETURN; END IF;
    IF its_key IS NOT NULL THEN
        SELECT ticket, payload_sha256 INTO known, known_hash FROM jobs WHERE client = who AND key = its_key;
        IF FOUND THEN what := 'known'; RETURN; END IF;
    END IF;
    SELECT coalesce(sum(c.waiting), 0), coalesce(sum(c.waiting) FILTER (WHERE client = who), 0),
        coalesce(sum(bytes) FILTER (WHERE client = who), 0) INTO waiting, own, held FROM client_counts c;
    IF own >= most_of_client OR waiting >= most OR held + size + 2048 > most_bytes THEN what := 'room'; RETURN; END IF;
    IF content IS NULL AND NOT EXISTS (SELECT FROM objects WHERE sha256 = object) THEN what := 'bytes'; RETURN; END IF;
    -- Who comes anew has had its turn as late as anybody.
    INSERT INTO jobs (ticket, client, key, payload_sha256, payload_bytes, head, needs, turn)
    VALUES (new, who, its_key, hash, size, first, labels, CASE
        WHEN EXISTS (SELECT FROM client_counts c WHERE client = who HAVING sum(c.waiting + c.running) > 0) THEN 0
        ELSE (SELECT last_value FROM turns) END);
    -- After it, as those who end jobs do: first they lock counts, then objects.
    INSERT INTO payloads (ticket, sha256) SELECT new, sha256 FROM objects WHERE sha256 = object FOR KEY SHARE;
    IF NOT FOUND THEN
        IF content IS NULL THEN
            RAISE 'the bytes went meanwhile' USING ERRCODE = 'serialization_failure';
        END IF;
        INSERT INTO objects VALUES (object, content) ON CONFLICT DO NOTHING;
        INSERT INTO payloads (ticket, sha256) VALUES (new, object);
    END IF;
END $$;
REVOKE ALL ON FUNCTION submit_job, job_bytes FROM PUBLIC;
