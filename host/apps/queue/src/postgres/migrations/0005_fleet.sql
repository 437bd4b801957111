-- Version 5: dead letters that can be tried again, workers that say that they are there, and jobs that are taken together.

-- The attempt after which somebody had it tried again: losses until then count no more.
ALTER TABLE jobs ADD retried integer NOT NULL DEFAULT 0;
CREATE INDEX jobs_lost ON jobs (ended) WHERE state = 'lost';

-- As before, but what is lost keeps its submission, whose bytes count as those of an outcome; and losses before somebody had the
-- job tried again count no more.
CREATE OR REPLACE FUNCTION lose(gone text[], is_dead boolean, why text, of_host integer, hosts integer) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO losses (ticket, attempt, host, died, log)
        SELECT ticket, attempts, coalesce(host, ''), is_dead, coalesce(why, 'its worker ' || worker || ' was gone')
        FROM jobs WHERE ticket = ANY (gone) AND begun;
    RETURN QUERY UPDATE jobs SET losses = jobs.losses + begun::integer, begun = false, expires = NULL, loss = found.loss,
        outcome_bytes = CASE WHEN found.loss IS NULL THEN 0 ELSE payload_bytes END,
        state = CASE WHEN found.loss IS NULL THEN 'waiting'::job_state ELSE 'lost' END,
        ended = CASE WHEN found.loss IS NULL THEN NULL ELSE queue_now() END
    FROM (SELECT job, (
        SELECT CASE
            WHEN count(*) FILTER (WHERE died) >= 2 THEN 'quarantined'
            WHEN count(*) >= hosts THEN 'hosts'
            WHEN max(times) >= of_host THEN 'workers' END
        FROM (
            SELECT bool_or(died) AS died, count(*) AS times FROM losses JOIN jobs USING (ticket)
            WHERE ticket = job AND attempt > retried GROUP BY losses.host
        ) by_host
    ) AS loss FROM unnest(gone) job) found
    WHERE jobs.ticket = job RETURNING jobs.ticket;
END $$;

-- Processes that evaluate, and machines that are to take nothing.
CREATE TABLE workers (
    name text COLLATE "C" PRIMARY KEY,
    host text COLLATE "C" NOT NULL,
    offers text[] NOT NULL,
    holder name NOT NULL,
    began timestamptz NOT NULL DEFAULT queue_now(),
    seen timestamptz NOT NULL DEFAULT queue_now()
);
CREATE TABLE drained_hosts (host text COLLATE "C" PRIMARY KEY, since timestamptz NOT NULL DEFAULT queue_now());

-- Notes that a worker is there. Whether its machine is to take nothing.
CREATE FUNCTION worker_check_in(worker text, on_host text, offers text[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER AS $$
#variable_conflict use_column
BEGIN
    INSERT INTO workers AS w (name, host, offers, holder)
        VALUES (worker, on_host, worker_check_in.offers, session_user)
        ON CONFLICT (name) DO UPDATE SET host = excluded.host, offers = excluded.offers, seen = queue_now()
        WHERE w.holder = session_user;
    RETURN EXISTS (SELECT FROM drained_hosts WHERE host = on_host);
END $$;

-- What waits and needs something else than these labels: how many jobs, and one of them.
CREATE FUNCTION worker_unmet(offers text[]) RETURNS TABLE (needs text[], waiting bigint, ticket text)
LANGUAGE plpgsql SECURITY DEFINER AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT needs, sum(waiting)::bigint, (
            SELECT ticket FROM jobs WHERE jobs.client = min(client_counts.client) FILTER (WHERE client_counts.waiting > 0) AND state = 'waiting'
                AND jobs.needs = client_counts.needs ORDER BY number LIMIT 1
        )
        FROM client_counts WHERE NOT needs <@ offers GROUP BY needs HAVING sum(waiting) > 0 ORDER BY needs LIMIT 16;
END $$;

-- Takes jobs that begin as one that this user holds, its client's and near the front of that line, at most so many. What was lost
-- before is taken alone.
CREATE FUNCTION worker_claim_like(
    job text, epoch integer, most bigint, most_running bigint, lease float8, name text, on_host text, offers text[]
)
RETURNS TABLE (ticket text, attempts integer, payload_sha256 text, head bytea, client text, sha256 text, bytes bytea)
LANGUAGE plpgsql SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
    duration interval := least(lease, 3600000) * interval '1 millisecond';
    like_it jobs;
    room bigint;
BEGIN
    SELECT * INTO like_it FROM jobs
        WHERE ticket = job AND state = 'running' AND attempts = epoch AND holder = session_user AND losses = 0;
    room := most_running - (SELECT sum(running) FROM client_counts WHERE client = like_it.client);
    IF like_it.ticket IS NULL OR room <= 0 THEN
        RETURN;
    END IF;
    RETURN QUERY WITH found AS MATERIALIZED (
        SELECT ticket FROM jobs WHERE state = 'waiting' AND ticket IN (
            SELECT ticket FROM (
                SELECT ticket, head, losses FROM jobs
                WHERE jobs.client = like_it.client AND state = 'waiting' AND needs <@ offers ORDER BY number LIMIT 64
            ) near WHERE near.head = like_it.head AND near.losses = 0
        )
        ORDER BY number LIMIT least(most, room) FOR UPDATE SKIP LOCKED
    ), taken AS (
        UPDATE jobs SET state = 'running', attempts = attempts + 1, turn = nextval('turns'), worker = name, host = on_host,
            holder = session_user, started = queue_now(), expires = queue_now() + duration
        FROM found WHERE jobs.ticket = found.ticket
        RETURNING jobs.ticket, client, number, attempts, payload_sha256, head
    )
    SELECT ticket, attempts, payload_sha256, head, client, sha256,
        CASE WHEN lag(sha256) OVER (ORDER BY number) IS DISTINCT FROM sha256 THEN bytes END
    FROM taken LEFT JOIN payloads USING (ticket) LEFT JOIN objects USING (sha256) ORDER BY number;
END $$;

-- As in version 3: nobody but users that `allow_worker` was called for may call functions of workers.
DO $$
DECLARE
    function regprocedure;
    who name;
BEGIN
    FOR function IN SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', function);
    END LOOP;
    FOR function IN SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname ^@ 'worker_' LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_catalog, pg_temp', function, current_schema());
    END LOOP;
    FOR who IN SELECT grantee::regrole::name FROM pg_proc, aclexplode(proacl)
        WHERE pronamespace = current_schema()::regnamespace AND proname = 'worker_begin' AND grantee NOT IN (0, proowner)
    LOOP
        PERFORM allow_worker(who);
    END LOOP;
END $$;
