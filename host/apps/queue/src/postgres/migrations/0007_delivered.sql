-- Version 7: results that are looked at before they count, and hosts that are never given a job again.

ALTER TABLE jobs
    -- Which user of the database delivered a result. The job runs until a server has judged it; nobody holds it any more.
    ADD delivered name,
    -- Where results must be signed, no worker ends a job.
    ADD CHECK (state <> 'finished' OR delivered IS NOT NULL OR NOT 'results=signed' = ANY (needs));
CREATE INDEX jobs_delivered ON jobs (started) WHERE state = 'running' AND delivered IS NOT NULL;

-- Whether a server refused the result. `lost` is then infinite: that host is not given the job again.
ALTER TABLE losses ADD refused boolean NOT NULL DEFAULT false;
CREATE INDEX losses_refused ON losses (host) WHERE refused;

-- Ends a job with its result, or delivers one that is judged first.
CREATE FUNCTION worker_end(job text, epoch integer, hash text, result bytea) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY WITH done AS (
        UPDATE jobs SET delivered = session_user, holder = NULL, begun = true, expires = NULL, outcome_sha256 = hash
        WHERE ticket = job AND state = 'running' AND attempts = epoch AND holder = session_user AND 'results=signed' = ANY (needs)
        RETURNING ticket
    )
    INSERT INTO outcomes SELECT ticket, result FROM done RETURNING ticket;
    IF NOT FOUND THEN
        RETURN QUERY SELECT worker_finish(job, epoch, hash, result);
    END IF;
END $$;

-- The same with a result that is stored.
CREATE FUNCTION worker_end_stored(job text, epoch integer, hash text) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY WITH done AS (
        UPDATE jobs SET delivered = session_user, holder = NULL, begun = true, expires = NULL, outcome_sha256 = hash
        WHERE ticket = job AND state = 'running' AND attempts = epoch AND holder = session_user AND 'results=signed' = ANY (needs)
        RETURNING ticket
    )
    INSERT INTO outcomes (ticket, stored) SELECT ticket, hash FROM done RETURNING ticket;
    IF NOT FOUND THEN
        RETURN QUERY SELECT worker_finish_stored(job, epoch, hash);
    END IF;
END $$;

-- Whether an attempt ended with this result.
CREATE FUNCTION worker_ended(job text, epoch integer, hash text) RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY SELECT ticket FROM jobs WHERE ticket = job AND attempts = epoch AND outcome_sha256 = hash
        AND session_user IN (delivered, holder) AND (delivered IS NOT NULL OR state = 'finished');
END $$;

-- Refuses a result, whose job is tried on another host.
CREATE FUNCTION refuse_delivered(job text, epoch integer, why text, of_host integer, hosts integer) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE jobs SET delivered = NULL, outcome_sha256 = NULL
        WHERE ticket = job AND state = 'running' AND attempts = epoch AND delivered IS NOT NULL;
    IF FOUND THEN
        DELETE FROM outcomes WHERE ticket = job;
        RETURN QUERY SELECT lose(ARRAY[job], false, why, of_host, hosts);
        UPDATE losses SET refused = true, lost = 'infinity' WHERE ticket = job AND attempt = epoch;
    END IF;
END $$;

-- As in version 5: nobody but users that `allow_worker` was called for may call functions of workers.
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
