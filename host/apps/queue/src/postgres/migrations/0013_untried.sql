-- Version 13: second runs that wait for a second host of their kind, results that no other host tried, canaries that are required, and
-- results that servers hear of when they are to be judged.

-- How long ago the last good canary of a host may be. Where this is null, none is required.
ALTER TABLE queue ADD canary_within interval;

-- Results that were drawn for a second run and were tried by no other host.
CREATE TABLE untried_results (
    host text COLLATE "C",
    kind text COLLATE "C",
    results bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (host, kind)
);

-- The label of a device among others.
CREATE FUNCTION device_kind(labels text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(min(label), '') FROM unnest(labels) label WHERE label ^@ 'device='
$$;

CREATE FUNCTION count_untried(on_host text, labels text[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO untried_results AS u (host, kind) VALUES (on_host, device_kind(labels))
    ON CONFLICT (host, kind) DO UPDATE SET results = u.results + 1
$$;

-- Why workers of a host that offer these labels take nothing, if that is for want of a canary: each kind of device needs one.
CREATE FUNCTION lacks_canary(on_host text, who name, offers text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    within interval := (SELECT canary_within FROM queue);
    last timestamptz;
BEGIN
    IF within IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT min(coalesce((
        SELECT max(good) FROM canaries WHERE host = on_host AND holder = who AND label ^@ concat('device=', device, ', ')
    ), '-infinity')) INTO last FROM unnest(offers) label WHERE label ^@ 'device=';
    IF last >= queue_now() - within THEN
        RETURN NULL;
    END IF;
    RETURN format('host %s had no good canary in the last %s h, as this queue requires: `passhost worker --canary FILE` measures '
        'one, and `passhost fleet require-canary --undo` requires none', on_host,
        trim_scale(round(extract(epoch FROM within) / 3600, 2)));
END $$;

CREATE FUNCTION worker_lacks_canary(on_host text, offers text[]) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN lacks_canary(on_host, session_user, offers);
END $$;

-- As before, but nothing where a canary is wanting.
CREATE OR REPLACE FUNCTION worker_claim(clients text[], most bigint[], lease float8, name text, on_host text, offers text[])
RETURNS TABLE (ticket text, attempts integer, payload_sha256 text, head bytea, client text, sha256 text, bytes bytea)
LANGUAGE plpgsql SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE duration interval := least(lease, 3600000) * interval '1 millisecond';
BEGIN
    IF lacks_canary(on_host, session_user, offers) IS NOT NULL THEN
        RETURN;
    END IF;
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

CREATE OR REPLACE FUNCTION worker_claim_like(
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
    IF like_it.ticket IS NULL OR room <= 0 OR lacks_canary(on_host, session_user, offers) IS NOT NULL THEN
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

-- As before, but a second run waits for a second host of its kind if none is there, and then at most 16 wait. A third run does not:
-- nobody would know meanwhile which result counts.
CREATE OR REPLACE FUNCTION run_again(ran jobs, new text, labels text[], its_draws bytea, result bytea) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    before reruns;
    waits bigint;
    is_alone boolean;
BEGIN
    SELECT * INTO before FROM reruns WHERE ticket = ran.ticket;
    before.hosts := array_append(before.hosts, ran.host);
    waits := (SELECT coalesce(sum(waiting), 0) FROM client_counts WHERE client = '(rerun)');
    is_alone := NOT EXISTS (
        SELECT FROM workers w WHERE offers @> labels AND host <> ALL (before.hosts) AND seen > queue_now() - interval '30 seconds'
            AND NOT EXISTS (SELECT FROM drained_hosts WHERE drained_hosts.host = w.host)
            AND NOT EXISTS (SELECT FROM quarantined_hosts q WHERE q.host = w.host AND q.holder = w.holder)
            AND lacks_canary(w.host, w.holder, w.offers) IS NULL
    );
    IF before.ticket IS NOT NULL AND is_alone
        OR before.ticket IS NULL AND (waits >= 64 OR is_alone AND waits >= 16) THEN
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

-- As before, but a result that was drawn and does not run again is counted.
CREATE OR REPLACE FUNCTION accept_delivered(
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
    ELSIF again IS NOT NULL AND NOT goes_on THEN
        PERFORM count_untried(ran.host, labels);
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

-- As before, and a second run that comes to nothing is counted, too.
CREATE OR REPLACE FUNCTION is_undecided() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR NEW.state = 'lost' THEN
        INSERT INTO revocations (ticket, host, reason)
            SELECT tickets[1], hosts[1], reason FROM reruns JOIN disagreements ON disagreements.ticket = tickets[1]
            WHERE reruns.ticket = OLD.ticket AND cardinality(tickets) > 1
            ON CONFLICT DO NOTHING;
        IF OLD.state <> 'lost' THEN
            PERFORM count_untried(hosts[1], OLD.needs) FROM reruns WHERE ticket = OLD.ticket AND cardinality(tickets) = 1;
        END IF;
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;

-- Servers hear of a result that is to be judged as they do of ends, while few jobs wait.
CREATE FUNCTION tell_delivered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT sum(waiting) <= 64 FROM client_counts) THEN
        PERFORM pg_notify('passhost_results', current_schema());
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER jobs_delivered AFTER UPDATE ON jobs FOR EACH ROW
    WHEN (NEW.delivered IS NOT NULL AND OLD.delivered IS NULL) EXECUTE FUNCTION tell_delivered();

-- As in version 5: nobody but users that `allow_worker` was called for may call functions of workers.
REVOKE ALL ON FUNCTION device_kind, count_untried, lacks_canary, worker_lacks_canary, tell_delivered FROM PUBLIC;
DO $$
DECLARE
    function regprocedure;
    who name;
BEGIN
    FOR function IN SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname ^@ 'worker_' LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_catalog, pg_temp', function, current_schema());
    END LOOP;
    FOR who IN SELECT grantee::regrole::name FROM pg_proc, aclexplode(proacl)
        WHERE pronamespace = current_schema()::regnamespace AND proname = 'worker_begin' AND grantee NOT IN (0, proowner)
    LOOP
        PERFORM allow_worker(who);
    END LOOP;
END $$;
