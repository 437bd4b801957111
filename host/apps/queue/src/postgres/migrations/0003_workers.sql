-- Version 3: what workers do, as functions with the rights of the queue's owner, and who may call them. A job is changed by the user
-- who took it, in the attempt that runs.

-- Of the last taking: which user of the database.
ALTER TABLE jobs ADD holder name;

-- Clients with a job that waits and needs nothing but these labels, and fewer running ones than this.
CREATE FUNCTION worker_lines(most_running bigint, offers text[])
RETURNS TABLE (client text, waiting bigint, running bigint, turn bigint) LANGUAGE plpgsql SECURITY DEFINER AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT client, sum(waiting) FILTER (WHERE needs <@ offers)::bigint, sum(running)::bigint, max(turn)
        FROM client_counts GROUP BY client
        HAVING sum(waiting) FILTER (WHERE needs <@ offers) > 0 AND sum(running) < most_running;
END $$;

-- Takes the first jobs of these clients, of each so many, for so many milliseconds, an hour at most. Those that somebody else is
-- taking are passed over, and those that were lost on this host a short time ago. Bytes are left out that the row before has.
CREATE FUNCTION worker_claim(clients text[], most bigint[], lease float8, name text, on_host text, offers text[])
RETURNS TABLE (ticket text, attempts integer, payload_sha256 text, head bytea, client text, sha256 text, bytes bytea)
LANGUAGE plpgsql SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE duration interval := least(lease, 3600000) * interval '1 millisecond';
BEGIN
    RETURN QUERY WITH found AS MATERIALIZED (
        SELECT ticket FROM unnest(clients, most) AS turns (client, most) CROSS JOIN LATERAL (
            SELECT ticket FROM jobs WHERE jobs.client = turns.client AND state = 'waiting'
                AND needs <@ offers AND (losses = 0 OR NOT EXISTS (
                    SELECT FROM losses WHERE losses.ticket = jobs.ticket AND host = on_host AND host <> ''
                        AND lost > queue_now() - duration
                ))
            ORDER BY number LIMIT turns.most FOR UPDATE SKIP LOCKED
        ) first
    ), taken AS (
        UPDATE jobs SET state = 'running', attempts = attempts + 1, turn = nextval('turns'), worker = name, host = on_host,
            holder = session_user, started = queue_now(), expires = queue_now() + duration
        FROM found WHERE jobs.ticket = found.ticket
        RETURNING jobs.ticket, client, number, attempts, payload_sha256, head
    )
    SELECT ticket, attempts, payload_sha256, head, client, sha256,
        CASE WHEN lag(sha256) OVER (ORDER BY client, number) IS DISTINCT FROM sha256 THEN bytes END
    FROM taken LEFT JOIN payloads USING (ticket) LEFT JOIN objects USING (sha256) ORDER BY client, number;
END $$;

-- Notes that work begins.
CREATE FUNCTION worker_begin(job text, epoch integer) RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY UPDATE jobs SET begun = true
        WHERE ticket = job AND state = 'running' AND attempts = epoch AND holder = session_user RETURNING ticket;
END $$;

CREATE FUNCTION worker_renew(job text, epoch integer, lease float8) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY UPDATE jobs SET expires = queue_now() + least(lease, 3600000) * interval '1 millisecond'
        WHERE ticket = job AND state = 'running' AND attempts = epoch AND holder = session_user RETURNING ticket;
END $$;

CREATE FUNCTION worker_finish(job text, epoch integer, hash text, outcome bytea) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY WITH done AS (
        UPDATE jobs SET state = 'finished', outcome_sha256 = hash, outcome_bytes = length(outcome), expires = NULL,
            ended = queue_now()
        WHERE ticket = job AND state = 'running' AND attempts = epoch AND holder = session_user RETURNING ticket
    ), bytes AS (
        DELETE FROM payloads USING done WHERE payloads.ticket = done.ticket
    )
    INSERT INTO outcomes SELECT ticket, outcome FROM done RETURNING ticket;
END $$;

-- Ends a job whose bytes are damaged.
CREATE FUNCTION worker_damaged(job text, epoch integer) RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY WITH done AS (
        UPDATE jobs SET state = 'lost', loss = 'payload', expires = NULL, ended = queue_now()
        WHERE ticket = job AND state = 'running' AND attempts = epoch AND holder = session_user RETURNING ticket
    )
    DELETE FROM payloads USING done WHERE payloads.ticket = done.ticket RETURNING done.ticket;
END $$;

CREATE FUNCTION worker_give_back(job text, epoch integer) RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY UPDATE jobs SET state = 'waiting', begun = false, expires = NULL
        WHERE ticket = job AND state = 'running' AND attempts = epoch AND holder = session_user RETURNING ticket;
END $$;

CREATE FUNCTION worker_give_up(job text, epoch integer, why text, of_host integer, hosts integer) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY SELECT lose(ARRAY(
        SELECT ticket FROM jobs WHERE ticket = job AND state = 'running' AND attempts = epoch AND holder = session_user AND begun
        FOR UPDATE
    ), false, why, of_host, hosts);
END $$;

-- Puts back what workers of this name hold.
CREATE FUNCTION worker_recover(name text, of_host integer, hosts integer) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY SELECT lose(ARRAY(
        SELECT ticket FROM jobs WHERE state = 'running' AND worker = name AND holder = session_user FOR UPDATE
    ), true, NULL, of_host, hosts);
END $$;

-- Whether an attempt came to this end: finished with this outcome, given back or given up.
CREATE FUNCTION worker_did(what text, job text, epoch integer, hash text) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY SELECT ticket FROM jobs WHERE ticket = job AND CASE what
        WHEN 'give up' THEN EXISTS (SELECT FROM losses WHERE losses.ticket = job AND attempt = epoch AND NOT died)
        WHEN 'give back' THEN state = 'waiting' AND attempts = epoch AND holder = session_user
        ELSE state = 'finished' AND attempts = epoch AND holder = session_user AND outcome_sha256 = hash END;
END $$;

-- The version of the tables.
CREATE FUNCTION worker_version() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN (SELECT max(version) FROM schema_versions);
END $$;

-- Lets a user of the database work on jobs, and do nothing else with the queue.
CREATE FUNCTION allow_worker(who name) RETURNS void LANGUAGE plpgsql AS $$
DECLARE function regprocedure;
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), who);
    FOR function IN SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname ^@ 'worker_' LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', function, who);
    END LOOP;
END $$;

-- Nobody may call them of old, and no table that a caller makes stands in for one of these.
DO $$
DECLARE function regprocedure;
BEGIN
    FOR function IN SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', function);
    END LOOP;
    FOR function IN SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname ^@ 'worker_' LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_catalog, pg_temp', function, current_schema());
    END LOOP;
END $$;
