-- Version 1: jobs with their bytes, counters by client, and the clock that leases run by.

-- The clock of all decisions. Tests replace it.
CREATE FUNCTION queue_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp()';

CREATE TYPE job_state AS ENUM ('waiting', 'running', 'finished', 'cancelled', 'lost');

-- One row. Tickets begin with the name.
CREATE TABLE queue (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    name text NOT NULL CHECK (name ~ '^[0-9a-f]{8}$')
);

-- One number for each job that is taken.
CREATE SEQUENCE turns;
SELECT nextval('turns');

CREATE TABLE jobs (
    ticket text COLLATE "C" PRIMARY KEY,
    client text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    -- The place in the line of its client. A job that is put back keeps it.
    number bigint GENERATED ALWAYS AS IDENTITY,
    state job_state NOT NULL DEFAULT 'waiting',
    -- Why it is lost: workers, payload or outcome.
    loss text,
    -- How often it was taken: the epoch of its lease.
    attempts integer NOT NULL DEFAULT 0,
    begun boolean NOT NULL DEFAULT false,
    losses integer NOT NULL DEFAULT 0,
    -- Of the last taking: its number, who took the job, and when the lease runs out.
    turn bigint NOT NULL DEFAULT 0,
    worker text,
    expires timestamptz,
    payload_sha256 text NOT NULL,
    payload_bytes bigint NOT NULL,
    outcome_sha256 text,
    outcome_bytes bigint NOT NULL DEFAULT 0,
    submitted timestamptz NOT NULL DEFAULT queue_now(),
    started timestamptz,
    ended timestamptz
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX jobs_of_key ON jobs (client, key) WHERE key IS NOT NULL;
CREATE INDEX jobs_waiting ON jobs (client, number) WHERE state = 'waiting';
CREATE INDEX jobs_running ON jobs (expires) WHERE state = 'running';
CREATE INDEX jobs_ended ON jobs (ended) WHERE ended IS NOT NULL;

-- What was submitted, until the job ends, and what came of it.
CREATE TABLE payloads (ticket text COLLATE "C" PRIMARY KEY REFERENCES jobs ON DELETE CASCADE, bytes bytea NOT NULL);
CREATE TABLE outcomes (ticket text COLLATE "C" PRIMARY KEY REFERENCES jobs ON DELETE CASCADE, bytes bytea NOT NULL);

-- What a client has, in several rows, so that connections do not wait for each other. Their sum counts.
CREATE TABLE client_counts (
    client text COLLATE "C",
    shard integer,
    waiting bigint NOT NULL,
    running bigint NOT NULL,
    ended bigint NOT NULL,
    bytes bigint NOT NULL,
    turn bigint NOT NULL,
    PRIMARY KEY (client, shard)
) WITH (fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- What one job counts. 2048 is `JOB` of limits.rs.
CREATE FUNCTION job_counts(jobs, sign integer) RETURNS client_counts LANGUAGE sql IMMUTABLE AS $$
    SELECT $1.client, 0,
        sign * ($1.state = 'waiting')::integer::bigint,
        sign * ($1.state = 'running')::integer::bigint,
        sign * ($1.state > 'running')::integer::bigint,
        sign * (2048 + CASE WHEN $1.state > 'running' THEN $1.outcome_bytes ELSE $1.payload_bytes END),
        CASE WHEN sign > 0 THEN $1.turn ELSE 0 END
$$;

-- Adds up changes of counts. Rows are locked in the order of clients, so that no two statements wait for each other.
CREATE FUNCTION add_counts(changes client_counts[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO client_counts AS c
    SELECT client, pg_backend_pid() % 8, sum(waiting), sum(running), sum(ended), sum(bytes), max(turn)
    FROM unnest(changes) GROUP BY client
    HAVING sum(waiting) <> 0 OR sum(running) <> 0 OR sum(ended) <> 0 OR sum(bytes) <> 0 ORDER BY client
    ON CONFLICT (client, shard) DO UPDATE SET
        waiting = c.waiting + excluded.waiting, running = c.running + excluded.running,
        ended = c.ended + excluded.ended, bytes = c.bytes + excluded.bytes, turn = greatest(c.turn, excluded.turn)
$$;

-- Every change of jobs is counted, whoever makes it. A job that comes to wait wakes those who listen, if few wait: where many
-- do, nobody listens for more.
CREATE FUNCTION count_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE comes boolean := false;
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM add_counts(ARRAY(SELECT job_counts(a, 1) FROM after a));
        comes := EXISTS (SELECT FROM after WHERE state = 'waiting');
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM add_counts(ARRAY(SELECT job_counts(b, -1) FROM before b));
    ELSE
        PERFORM add_counts(ARRAY(SELECT job_counts(b, -1) FROM before b UNION ALL SELECT job_counts(a, 1) FROM after a));
        comes := EXISTS (SELECT FROM after WHERE state = 'waiting');
    END IF;
    IF comes AND (SELECT sum(waiting) <= 64 FROM client_counts) THEN
        PERFORM pg_notify('passhost_jobs', current_schema());
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_inserted AFTER INSERT ON jobs REFERENCING NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION count_jobs();
CREATE TRIGGER jobs_deleted AFTER DELETE ON jobs REFERENCING OLD TABLE AS before
    FOR EACH STATEMENT EXECUTE FUNCTION count_jobs();
CREATE TRIGGER jobs_updated AFTER UPDATE ON jobs REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION count_jobs();
