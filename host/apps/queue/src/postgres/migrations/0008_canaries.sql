-- Version 8: canaries of hosts, and results that count no more.

-- When the canary of a device of a host was last as it should be, by the user of the database who said so.
CREATE TABLE canaries (
    host text COLLATE "C",
    holder name,
    device text COLLATE "C",
    good timestamptz NOT NULL,
    report text NOT NULL,
    PRIMARY KEY (host, holder, device)
);

-- Hosts whose canary was not. Workers of that user take nothing there.
CREATE TABLE quarantined_hosts (
    host text COLLATE "C",
    holder name,
    reason text NOT NULL,
    since timestamptz NOT NULL DEFAULT queue_now(),
    PRIMARY KEY (host, holder)
);

-- Results that count no more. The list only grows, and outlasts its jobs.
CREATE TABLE revocations (
    ticket text COLLATE "C" PRIMARY KEY,
    host text NOT NULL,
    reason text NOT NULL,
    revoked timestamptz NOT NULL DEFAULT queue_now()
);
CREATE FUNCTION keep_revocations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE 'the list of revocations only grows';
END $$;
CREATE TRIGGER revocations_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON revocations
    FOR EACH STATEMENT EXECUTE FUNCTION keep_revocations();

-- What a worker was doing when its host was quarantined.
CREATE FUNCTION revoke_late() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO revocations (ticket, host, reason) SELECT NEW.ticket, host, reason FROM quarantined_hosts
        WHERE host = NEW.host AND holder = coalesce(NEW.delivered, NEW.holder) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER jobs_finished AFTER UPDATE ON jobs FOR EACH ROW
    WHEN (NEW.state = 'finished' AND OLD.state = 'running') EXECUTE FUNCTION revoke_late();

-- Notes what came of a canary. After one that is not as it should be, the host is quarantined, and the results that this user
-- delivered from there since the last good one are revoked.
CREATE FUNCTION worker_canary(on_host text, on_device text, is_good boolean, what text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF is_good THEN
        INSERT INTO canaries VALUES (on_host, session_user, on_device, queue_now(), what)
            ON CONFLICT (host, holder, device) DO UPDATE SET good = excluded.good, report = excluded.report;
        RETURN;
    END IF;
    INSERT INTO quarantined_hosts VALUES (on_host, session_user, what) ON CONFLICT DO NOTHING;
    INSERT INTO revocations (ticket, host, reason) SELECT ticket, host, what FROM jobs
        WHERE host = on_host AND state = 'finished' AND session_user IN (delivered, holder)
            AND ended > coalesce((
                SELECT good FROM canaries WHERE host = on_host AND holder = session_user AND device = on_device
            ), '-infinity')
        ON CONFLICT DO NOTHING;
END $$;

-- Why a host is quarantined, if it is.
CREATE FUNCTION worker_quarantine(on_host text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN (SELECT reason FROM quarantined_hosts WHERE host = on_host AND holder = session_user);
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
