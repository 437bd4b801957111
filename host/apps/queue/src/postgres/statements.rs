//! What the database is asked. Each statement is a transaction of its own; triggers keep the counts.

/// See migrations/0004_counts.sql.
pub const SUBMIT: &str = "
    SELECT what, known, known_hash, waiting, own, held
    FROM submit_job($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

/// Has a client hear of the ends of its jobs. A client that has no job may be forgotten.
pub const FOLLOW: &str = "
    INSERT INTO clients (client, follows) VALUES ($1, true) ON CONFLICT (client) DO UPDATE SET follows = true
    WHERE NOT clients.follows";

/// Those of these jobs that have ended, or are not there.
pub const ENDED: &str = "
    SELECT given FROM unnest($1::text[]) given
    WHERE NOT EXISTS (SELECT FROM jobs WHERE ticket = given AND state <= 'running')";

/// Jobs that wait, of all clients and of this one, and the bytes of this one.
pub const ROOM: &str = "
    SELECT coalesce(sum(waiting), 0)::bigint, coalesce(sum(waiting) FILTER (WHERE client = $1), 0)::bigint,
        coalesce(sum(bytes) FILTER (WHERE client = $1), 0)::bigint
    FROM client_counts";

/// In the order of the index, for the planner knows little of how many jobs run.
pub const HAS_EXPIRED: &str =
    "SELECT FROM jobs WHERE state = 'running' AND expires < (SELECT queue_now()) ORDER BY expires LIMIT 1";

/// Puts back jobs whose leases ran out, or ends them: $1 losses on one host are too many, and $2 hosts.
pub const REQUEUE: &str = "
    SELECT lose(ARRAY(
        SELECT ticket FROM jobs WHERE state = 'running' AND expires < (SELECT queue_now())
        ORDER BY expires LIMIT 1000 FOR UPDATE SKIP LOCKED
    ), true, NULL, $1, $2)";

// What workers do: see migrations/0003_workers.sql.
pub const VERSION: &str = "SELECT worker_version()";
pub const LINES: &str = "SELECT client, waiting, running, turn FROM worker_lines($1, $2)";
pub const CLAIM: &str =
    "SELECT ticket, attempts, payload_sha256, head, client, sha256, bytes FROM worker_claim($1, $2, $3, $4, $5, $6)";
pub const DAMAGED: &str = "SELECT worker_damaged($1, $2)";
pub const BEGIN: &str = "SELECT worker_begin($1, $2)";
pub const RENEW: &str = "SELECT worker_renew($1, $2, $3)";
pub const GIVE_BACK: &str = "SELECT worker_give_back($1, $2)";
pub const IS_GIVEN_BACK: &str = "SELECT worker_did('give back', $1, $2, NULL)";
pub const GIVE_UP: &str = "SELECT worker_give_up($1, $2, $3, $4, $5)";
pub const IS_GIVEN_UP: &str = "SELECT worker_did('give up', $1, $2, NULL)";
pub const RECOVER: &str = "SELECT worker_recover($1, $2, $3)";

// What workers do since version 5: see migrations/0005_fleet.sql.
pub const CLAIM_LIKE: &str = "SELECT ticket, attempts, payload_sha256, head, client, sha256, bytes FROM worker_claim_like($1, $2, $3, $4, $5, $6, $7, $8)";
pub const CHECK_IN: &str = "SELECT worker_check_in($1, $2, $3), worker_quarantine($2), worker_lacks_canary($2, $3)";
pub const UNMET: &str = "SELECT needs, waiting, ticket FROM worker_unmet($1)";

// What workers do since version 6: see migrations/0006_objects.sql.
pub const STORE_OF_LEASE: &str = "SELECT worker_store($1, $2, $3, $4)";

/// Notes that somebody is about to store bytes.
pub const STORE: &str = "
    INSERT INTO stored_objects (sha256, size) VALUES ($1, $2) ON CONFLICT (sha256) DO UPDATE SET touched = queue_now()";

/// Bytes of submissions that are stored.
pub const STORED: &str = "INSERT INTO objects (sha256, stored) VALUES ($1, $1) ON CONFLICT DO NOTHING";

/// Forgets some of the objects that nobody refers to. Whoever stores them again waits for the end of the transaction.
pub const FORGET_STORED: &str = "
    WITH unused AS MATERIALIZED (
        SELECT sha256 FROM stored_objects WHERE touched < (SELECT queue_now()) - interval '1 hour'
            AND NOT EXISTS (SELECT FROM objects WHERE stored = stored_objects.sha256)
            AND NOT EXISTS (SELECT FROM outcomes WHERE stored = stored_objects.sha256)
        ORDER BY touched LIMIT 100 FOR UPDATE SKIP LOCKED
    )
    DELETE FROM stored_objects USING unused WHERE stored_objects.sha256 = unused.sha256 RETURNING unused.sha256";

// Results, since version 7: see migrations/0007_delivered.sql.
pub const FINISH_STORED: &str = "SELECT worker_end_stored($1, $2, $3)";
pub const IS_FINISHED: &str = "SELECT worker_ended($1, $2, $3)";

// Since version 10: see migrations/0010_ends.sql.
pub const FINISH_ALL: &str = "SELECT worker_end_all($1, $2, $3, $4)";
pub const REFUSE: &str = "SELECT refuse_delivered($1, $2, $3, $4, $5)";

/// Since version 8: see migrations/0008_canaries.sql.
pub const CANARY: &str = "SELECT worker_canary($1, $2, $3, $4)";

// Jobs that run again, since version 9: see migrations/0009_reruns.sql.
pub const RERUN: &str = "(rerun)";
pub const DRAWS: &str = "SELECT worker_draws($1, $2)";
pub const ACCEPT: &str = "SELECT accept_delivered($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

/// Removes those that nobody took for so long.
pub const FORGET_RERUNS: &str = "
    DELETE FROM jobs USING reruns
    WHERE jobs.ticket = reruns.ticket AND state = 'waiting' AND submitted < queue_now() - $1 * interval '1 millisecond'";

/// Results that nobody has judged.
pub const DELIVERED: &str = "
    SELECT ticket, attempts, coalesce(host, ''), needs, bytes, stored, coalesce(size, 0), (
        SELECT reason FROM quarantined_hosts WHERE quarantined_hosts.host = jobs.host AND quarantined_hosts.holder = delivered
    ), tickets, hosts, reruns.outcomes
    FROM jobs JOIN outcomes USING (ticket) LEFT JOIN stored_objects ON stored_objects.sha256 = stored LEFT JOIN reruns USING (ticket)
    WHERE state = 'running' AND delivered IS NOT NULL ORDER BY started LIMIT $1";

pub const CANCEL: &str = "
    WITH done AS (
        UPDATE jobs SET state = 'cancelled', expires = NULL, ended = queue_now()
        WHERE ticket = $1 AND client = $2 AND state <= 'running' RETURNING ticket
    ), bytes AS (
        DELETE FROM payloads USING done WHERE payloads.ticket = done.ticket
    )
    SELECT FROM done";

pub const STATE: &str = "SELECT state::text FROM jobs WHERE ticket = $1 AND client = $2";

pub const LOOK: &str = "
    SELECT state::text, loss, attempts, floor(extract(epoch FROM submitted) * 1000)::bigint,
        floor(extract(epoch FROM started) * 1000)::bigint, floor(extract(epoch FROM ended) * 1000)::bigint,
        outcome_sha256, CASE WHEN state = 'finished' THEN bytes END,
        CASE WHEN state = 'finished' AND stored IS NOT NULL THEN outcome_bytes END, CASE WHEN state = 'waiting' THEN (
            SELECT count(*) FROM jobs before
            WHERE before.client = jobs.client AND before.state = 'waiting' AND before.number < jobs.number
        ) END, (
            SELECT coalesce(json_agg(json_build_object('host', host, 'died', died, 'log', log) ORDER BY attempt), '[]')::text
            FROM losses WHERE losses.ticket = jobs.ticket
        ), (SELECT reason FROM revocations WHERE revocations.ticket = jobs.ticket)
    FROM jobs LEFT JOIN outcomes USING (ticket) WHERE ticket = $1 AND client = $2";

pub const COUNTS: &str = "
    SELECT coalesce(sum(waiting), 0)::bigint, coalesce(sum(running), 0)::bigint, coalesce(sum(ended), 0)::bigint,
        count(*) FILTER (WHERE waiting + running > 0)
    FROM (
        SELECT sum(waiting) AS waiting, sum(running) AS running, sum(ended) AS ended FROM client_counts GROUP BY client
    ) clients";

pub const REMOVE: &str = "DELETE FROM jobs WHERE ticket = $1 AND client = $2 AND state > 'running' RETURNING ticket";

pub const WITHDRAW: &str = "DELETE FROM jobs WHERE starts_with(key, $1) RETURNING ticket";

/// Removes some of the jobs that ended $1 milliseconds ago.
pub const FORGET: &str = "
    WITH old AS MATERIALIZED (
        SELECT ticket FROM jobs WHERE ended < (SELECT queue_now()) - $1 * interval '1 millisecond'
        ORDER BY ended LIMIT 1000 FOR UPDATE SKIP LOCKED
    )
    DELETE FROM jobs USING old WHERE jobs.ticket = old.ticket RETURNING jobs.ticket";

/// Removes the counts of clients that have nothing any more. What others add meanwhile is kept.
pub const FORGET_CLIENTS: &str = "
    WITH idle AS (
        SELECT client FROM client_counts GROUP BY client
        HAVING sum(waiting) = 0 AND sum(running) = 0 AND sum(ended) = 0 AND sum(bytes) = 0
    ), gone AS (
        DELETE FROM client_counts USING idle WHERE client_counts.client = idle.client RETURNING client_counts.*
    )
    INSERT INTO client_counts
    SELECT client, -1, sum(waiting), sum(running), sum(ended), sum(bytes), max(turn), needs FROM gone GROUP BY client, needs
    HAVING sum(waiting) <> 0 OR sum(running) <> 0 OR sum(ended) <> 0 OR sum(bytes) <> 0";

/// Removes the rows of clients that have no job and do not submit one.
pub const FORGET_NAMES: &str = "
    DELETE FROM clients WHERE client IN (
        SELECT client FROM clients WHERE NOT EXISTS (SELECT FROM client_counts c WHERE c.client = clients.client)
        FOR UPDATE SKIP LOCKED
    )";
