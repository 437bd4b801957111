-- Version 10: several jobs that end in one transaction, and clients that hear of the ends of their jobs.

-- As `worker_end` for each of these; the jobs that this user does not hold in these attempts are passed over.
CREATE FUNCTION worker_end_all(tickets text[], epochs integer[], hashes text[], results bytea[]) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY WITH held AS MATERIALIZED (
        SELECT ticket, hash, result, 'results=signed' = ANY (needs) AS is_judged
        FROM unnest(tickets, epochs, hashes, results) AS given (job, epoch, hash, result)
        JOIN jobs ON ticket = job AND state = 'running' AND attempts = epoch AND holder = session_user
        ORDER BY ticket FOR UPDATE OF jobs
    ), done AS (
        UPDATE jobs SET outcome_sha256 = hash, expires = NULL, begun = begun OR is_judged,
            state = CASE WHEN is_judged THEN state ELSE 'finished' END,
            ended = CASE WHEN is_judged THEN ended ELSE queue_now() END,
            outcome_bytes = CASE WHEN is_judged THEN outcome_bytes ELSE length(result) END,
            delivered = CASE WHEN is_judged THEN session_user ELSE delivered END,
            holder = CASE WHEN is_judged THEN NULL ELSE holder END
        FROM held WHERE jobs.ticket = held.ticket RETURNING jobs.ticket, result, is_judged
    ), bytes AS (
        DELETE FROM payloads USING done WHERE payloads.ticket = done.ticket AND NOT is_judged
    )
    INSERT INTO outcomes (ticket, bytes) SELECT ticket, result FROM done RETURNING ticket;
END $$;

-- Whether somebody listens for the ends of the client's jobs. Others are not told: transactions that tell something wait for
-- each other.
ALTER TABLE clients ADD follows boolean NOT NULL DEFAULT false;

CREATE FUNCTION tell_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM clients WHERE client = NEW.client AND follows) THEN
        PERFORM pg_notify('passhost_ends', NEW.ticket);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER jobs_end AFTER UPDATE ON jobs FOR EACH ROW
    WHEN (NEW.state > 'running' AND OLD.state <= 'running') EXECUTE FUNCTION tell_end();

-- As in version 5: nobody but users that `allow_worker` was called for may call functions of workers.
DO $$
DECLARE who name;
BEGIN
    REVOKE ALL ON FUNCTION worker_end_all, tell_end FROM PUBLIC;
    EXECUTE format('ALTER FUNCTION worker_end_all SET search_path = %I, pg_catalog, pg_temp', current_schema());
    FOR who IN SELECT grantee::regrole::name FROM pg_proc, aclexplode(proacl)
        WHERE pronamespace = current_schema()::regnamespace AND proname = 'worker_begin' AND grantee NOT IN (0, proowner)
    LOOP
        PERFORM allow_worker(who);
    END LOOP;
END $$;
