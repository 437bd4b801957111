-- Version 9: jobs that another host runs again, and what comes of that.

-- Such jobs: those of the client `(rerun)`, which sorts before all others. Of the runs before, the first one first: job, host, user of
-- the database, and result. `draws` is what a run has in common with the first one, as its worker needs it.
CREATE TABLE reruns (
    ticket text COLLATE "C" PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    tickets text[] NOT NULL,
    hosts text[] NOT NULL,
    holders name[] NOT NULL,
    outcomes bytea[] NOT NULL,
    draws bytea NOT NULL
);

-- Jobs of which two runs differ, and in what.
CREATE TABLE disagreements (
    ticket text COLLATE "C" PRIMARY KEY,
    reason text NOT NULL,
    since timestamptz NOT NULL DEFAULT queue_now()
);

-- Counts results that were compared.
CREATE SEQUENCE reruns_compared MINVALUE 0;
SELECT nextval('reruns_compared');

-- Has a job run again, as `new`, if a host is there that did not run it. Of second runs at most 64 wait: where more jobs do, nobody
-- hears of one that comes.
CREATE FUNCTION run_again(ran jobs, new text, labels text[], its_draws bytea, result bytea) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    before reruns;
    waits bigint;
BEGIN
    SELECT * INTO before FROM reruns WHERE ticket = ran.ticket;
    before.hosts := array_append(before.hosts, ran.host);
    waits := (SELECT coalesce(sum(waiting), 0) FROM client_counts WHERE client = '(rerun)');
    IF before.ticket IS NULL AND waits >= 64 OR NOT EXISTS (
        SELECT FROM workers w WHERE offers @> labels AND host <> ALL (before.hosts) AND seen > queue_now() - interval '30 seconds'
            AND NOT EXISTS (SELECT FROM drained_hosts WHERE drained_hosts.host = w.host)
            AND NOT EXISTS (SELECT FROM quarantined_hosts q WHERE q.host = w.host AND q.holder = w.holder)
    ) THEN
        RETURN false;
    END IF;
    INSERT INTO jobs (ticket, client, payload_sha256, payload_bytes, head, needs, losses, turn)
    VALUES (new, '(rerun)', ran.payload_sha256, ran.payload_bytes, ran.head, labels, 1, CASE
        WHEN waits > 0 THEN 0 ELSE (SELECT last_value FROM turns) END);
    -- Never on those hosts. What came before the first attempt counts as no loss.
    INSERT INTO losses (ticket, attempt, host, died, log, lost)
        SELECT new, -place, host, false, 'it ran the job before', 'infinity'
        FROM unnest(before.hosts) WITH ORDINALITY AS hosts (host, place);
    UPDATE payloads SET ticket = new WHERE ticket = ran.ticket;
    INSERT INTO reruns VALUES (
        new, array_append(before.tickets, ran.ticket), before.hosts, array_append(before.holders, ran.delivered),
        array_append(before.outcomes, result), coalesce(before.draws, its_draws)
    );
    RETURN true;
END $$;

-- Ends a job with its result. With `again` another host runs it again, if it has these labels. `differs` says in what the result and
-- an earlier one differ; the earlier run `wrong`, if it is one, counts no more, unless another host is to decide that. With
-- `quarantines`, neither does what its host did since its last good canary.
CREATE FUNCTION accept_delivered(
    job text, epoch integer, hash text, length bigint, again text, labels text[], its_draws bytea, result bytea,
    differs text, wrong integer, quarantines boolean
) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    ran jobs;
    before reruns;
    goes_on boolean;
    on_host text;
    who name;
BEGIN
    SELECT * INTO ran FROM jobs
        WHERE ticket = job AND state = 'running' AND attempts = epoch AND delivered IS NOT NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- Counts are locked in the order of clients.
    goes_on := again IS NOT NULL AND run_again(ran, again, labels, its_draws, result);
    SELECT * INTO before FROM reruns WHERE ticket = job;
    IF FOUND THEN
        PERFORM nextval('reruns_compared');
        DELETE FROM reruns WHERE ticket = job;
    END IF;
    on_host := before.hosts[wrong];
    who := before.holders[wrong];
    IF differs IS NOT NULL THEN
        INSERT INTO disagreements (ticket, reason) VALUES (before.tickets[1], differs)
            ON CONFLICT (ticket) DO UPDATE SET reason = excluded.reason;
    END IF;
    IF wrong IS NOT NULL AND NOT goes_on THEN
        INSERT INTO revocations (ticket, host, reason) VALUES (before.tickets[wrong], on_host, differs) ON CONFLICT DO NOTHING;
    END IF;
    IF quarantines THEN
        INSERT INTO quarantined_hosts VALUES (on_host, who, differs) ON CONFLICT DO NOTHING;
        INSERT INTO revocations (ticket, host, reason) SELECT ticket, host, differs FROM jobs
            WHERE host = on_host AND state = 'finished' AND who IN (delivered, holder) AND ended > coalesce(
                (SELECT min(good) FROM canaries WHERE canaries.host = on_host AND canaries.holder = who), '-infinity')
            ON CONFLICT DO NOTHING;
    END IF;
    UPDATE jobs SET state = 'finished', outcome_sha256 = hash, outcome_bytes = length, ended = queue_now() WHERE ticket = job;
    DELETE FROM payloads WHERE ticket = job;
    RETURN NEXT job;
END $$;

-- A third run that comes to nothing decides nothing, and then the first result counts no more.
CREATE FUNCTION is_undecided() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR NEW.state = 'lost' THEN
        INSERT INTO revocations (ticket, host, reason)
            SELECT tickets[1], hosts[1], reason FROM reruns JOIN disagreements ON disagreements.ticket = tickets[1]
            WHERE reruns.ticket = OLD.ticket AND cardinality(tickets) > 1
            ON CONFLICT DO NOTHING;
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;
CREATE TRIGGER is_undecided BEFORE UPDATE OF state OR DELETE ON jobs FOR EACH ROW
    WHEN (OLD.client = '(rerun)') EXECUTE FUNCTION is_undecided();

-- What a run has in common with the first one. Nothing of a job that is no such run.
CREATE FUNCTION worker_draws(job text, epoch integer) RETURNS bytea LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN (SELECT draws FROM jobs JOIN reruns USING (ticket)
        WHERE ticket = job AND state = 'running' AND attempts = epoch AND holder = session_user);
END $$;

-- As in version 5: nobody but users that `allow_worker` was called for may call functions of workers.
REVOKE ALL ON FUNCTION run_again, accept_delivered, is_undecided, worker_draws FROM PUBLIC;
DO $$
DECLARE who name;
BEGIN
    EXECUTE format('ALTER FUNCTION worker_draws SET search_path = %I, pg_catalog, pg_temp', current_schema());
    FOR who IN SELECT grantee::regrole::name FROM pg_proc, aclexplode(proacl)
        WHERE pronamespace = current_schema()::regnamespace AND proname = 'worker_begin' AND grantee NOT IN (0, proowner)
    LOOP
        PERFORM allow_worker(who);
    END LOOP;
END $$;
