-- Version 11: a job that a worker finds damaged keeps its bytes, as other lost ones do, so that an operator can have it tried again.
CREATE OR REPLACE FUNCTION worker_damaged(job text, epoch integer) RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY UPDATE jobs
        SET state = 'lost', loss = 'payload', expires = NULL, ended = queue_now(), outcome_bytes = payload_bytes
        WHERE ticket = job AND state = 'running' AND attempts = epoch AND holder = session_user RETURNING ticket;
END $$;

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION worker_damaged SET search_path = %I, pg_catalog, pg_temp', current_schema());
END $$;
