-- Version 6: bytes in an object store, of which the tables keep hash and length.

-- All that may be in the store. Whoever stores bytes adds or touches their row before, and refers to it after. A row is removed with
-- its object, when nobody refers to it and nobody touched it for an hour.
CREATE TABLE stored_objects (
    sha256 text COLLATE "C" PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    size bigint NOT NULL CHECK (size > 0),
    touched timestamptz NOT NULL DEFAULT queue_now()
);
CREATE INDEX stored_objects_touched ON stored_objects (touched);

ALTER TABLE objects ALTER bytes DROP NOT NULL, ADD stored text COLLATE "C" REFERENCES stored_objects,
    ADD CHECK ((bytes IS NULL) <> (stored IS NULL));
CREATE INDEX objects_stored ON objects (stored) WHERE stored IS NOT NULL;
ALTER TABLE outcomes ALTER bytes DROP NOT NULL, ADD stored text COLLATE "C" REFERENCES stored_objects,
    ADD CHECK ((bytes IS NULL) <> (stored IS NULL));
CREATE INDEX outcomes_stored ON outcomes (stored) WHERE stored IS NOT NULL;

-- Notes that the worker of a job is about to store what came of it.
CREATE FUNCTION worker_store(job text, epoch integer, hash text, length bigint) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY WITH held AS (
        SELECT ticket FROM jobs WHERE ticket = job AND state = 'running' AND attempts = epoch AND holder = session_user
    ), noted AS (
        INSERT INTO stored_objects (sha256, size) SELECT hash, length FROM held
        ON CONFLICT (sha256) DO UPDATE SET touched = queue_now()
    )
    SELECT ticket FROM held;
END $$;

-- As `worker_finish`, with an outcome that is stored.
CREATE FUNCTION worker_finish_stored(job text, epoch integer, hash text) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY WITH done AS (
        UPDATE jobs SET state = 'finished', outcome_sha256 = hash, expires = NULL, ended = queue_now(),
            outcome_bytes = coalesce((SELECT size FROM stored_objects WHERE sha256 = hash), 0)
        WHERE ticket = job AND state = 'running' AND attempts = epoch AND holder = session_user RETURNING ticket
    ), bytes AS (
        DELETE FROM payloads USING done WHERE payloads.ticket = done.ticket
    )
    INSERT INTO outcomes (ticket, stored) SELECT ticket, hash FROM done RETURNING ticket;
END $$;

-- As in version 3: nobody but users that `allow_worker` was called for may call functions of workers.
DO $$
DECLARE
    function regprocedure;
    who name;
BEGIN
    FOR function IN SELECT unnest('{worker_store, worker_finish_stored}'::regproc[]) LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', function);
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_catalog, pg_temp', function, current_schema());
    END LOOP;
    FOR who IN SELECT grantee::regrole::name FROM pg_proc, aclexplode(proacl)
        WHERE pronamespace = current_schema()::regnamespace AND proname = 'worker_begin' AND grantee NOT IN (0, proowner)
    LOOP
        PERFORM allow_worker(who);
    END LOOP;
END $$;
