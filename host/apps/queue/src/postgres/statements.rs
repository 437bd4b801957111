//! What the database is asked. Each statement but those of a submission is a transaction of its own; triggers keep the counts.

/// Puts the submissions of a client in a row, until the transaction ends.
pub const LOCK_CLIENT: &str = "SELECT FROM pg_advisory_xact_lock(1886221160, hashtext(current_schema() || ' ' || $1))";

pub const OF_KEY: &str = "SELECT ticket, payload_sha256 FROM jobs WHERE client = $1 AND key = $2";

pub const OF_TICKET: &str = "SELECT FROM jobs WHERE ticket = $1";

/// Jobs that wait, of all clients and of this one, and the bytes of this one.
pub const ROOM: &str = "
    SELECT coalesce(sum(waiting), 0)::bigint, coalesce(sum(waiting) FILTER (WHERE client = $1), 0)::bigint,
        coalesce(sum(bytes) FILTER (WHERE client = $1), 0)::bigint
    FROM client_counts";

/// Adds a job. Who comes anew has had its turn as late as anybody.
pub const SUBMIT: &str = "
    INSERT INTO jobs (ticket, client, key, payload_sha256, payload_bytes, head, needs, turn)
    SELECT $1, $2, $3, $4, $5, $6, $7, CASE
        WHEN EXISTS (SELECT FROM client_counts WHERE client = $2 HAVING sum(waiting + running) > 0) THEN 0
        ELSE (SELECT last_value FROM turns) END";

/// Gives a job bytes that are there.
pub const SUBMIT_KNOWN: &str = "
    INSERT INTO payloads (ticket, sha256) SELECT $1, sha256 FROM objects WHERE sha256 = $2 FOR KEY SHARE RETURNING ticket";

/// Gives a job bytes that may not be there.
pub const SUBMIT_BYTES: &str = "
    WITH new AS (INSERT INTO objects VALUES ($2, $3) ON CONFLICT DO NOTHING)
    INSERT INTO payloads (ticket, sha256) VALUES ($1, $2)";

/// In the order of the index, for the planner knows little of how many jobs run.
pub const HAS_EXPIRED: &str =
    "SELECT FROM jobs WHERE state = 'running' AND expires < (SELECT queue_now()) ORDER BY expires LIMIT 1";

/// Puts back those of the jobs that run and of which this is true, or ends them: $1 losses on one host are too many, and $2 hosts.
macro_rules! lose {
    ($is_dead:literal, $why:literal, $which:literal) => {
        concat!(
            "SELECT lose(ARRAY(SELECT ticket FROM jobs WHERE state = 'running' AND ",
            $which,
            "), ",
            $is_dead,
            ", ",
            $why,
            ", $1, $2)"
        )
    };
}

pub const REQUEUE: &str =
    lose!("true", "NULL", "expires < (SELECT queue_now()) ORDER BY expires LIMIT 1000 FOR UPDATE SKIP LOCKED");

/// Those of worker $3.
pub const RECOVER: &str = lose!("true", "NULL", "worker = $3 FOR UPDATE");

pub const GIVE_UP: &str = lose!("false", "$5", "ticket = $3 AND attempts = $4 AND begun FOR UPDATE");

/// Whether that was done before.
pub const IS_GIVEN_UP: &str = "SELECT FROM losses WHERE ticket = $1 AND attempt = $2";

/// Clients with a job that waits and needs nothing but $2, and fewer running ones than $1.
pub const LINES: &str = "
    SELECT client, sum(waiting) FILTER (WHERE needs <@ $2)::bigint, sum(running)::bigint, max(turn) FROM client_counts
    GROUP BY client HAVING sum(waiting) FILTER (WHERE needs <@ $2) > 0 AND sum(running) < $1::bigint";

/// Takes the first jobs of clients $1, of each as many as $2 says, for $3 milliseconds, in the name of worker $4 on host $5,
/// which offers $6. Those that somebody else is taking are passed over.
pub const CLAIM: &str = "
    WITH found AS MATERIALIZED (
        SELECT ticket FROM unnest($1::text[], $2::bigint[]) AS turns (client, most) CROSS JOIN LATERAL (
            SELECT ticket FROM jobs WHERE jobs.client = turns.client AND state = 'waiting'
                AND needs <@ $6 AND (losses = 0 OR NOT EXISTS (
                    SELECT FROM losses WHERE losses.ticket = jobs.ticket AND host = $5 AND host <> ''
                        AND lost > queue_now() - $3 * interval '1 millisecond'
                ))
            ORDER BY number LIMIT most FOR UPDATE SKIP LOCKED
        ) first
    ), taken AS (
        UPDATE jobs SET state = 'running', attempts = attempts + 1, turn = nextval('turns'), worker = $4, host = $5,
            started = queue_now(), expires = queue_now() + $3 * interval '1 millisecond'
        FROM found WHERE jobs.ticket = found.ticket
        RETURNING jobs.ticket, client, number, attempts, payload_sha256, head
    )
    SELECT ticket, attempts, payload_sha256, head, client, sha256 FROM taken LEFT JOIN payloads USING (ticket)
    ORDER BY client, number";

pub const OBJECT: &str = "SELECT bytes FROM objects WHERE sha256 = $1";

/// Ends a job that was taken and whose payload is damaged.
pub const DAMAGED: &str = "
    WITH done AS (
        UPDATE jobs SET state = 'lost', loss = 'payload', expires = NULL, ended = queue_now()
        WHERE ticket = $1 AND state = 'running' AND attempts = $2 RETURNING ticket
    )
    DELETE FROM payloads USING done WHERE payloads.ticket = done.ticket";

pub const BEGIN: &str =
    "UPDATE jobs SET begun = true WHERE ticket = $1 AND state = 'running' AND attempts = $2 RETURNING ticket";

pub const RENEW: &str = "
    UPDATE jobs SET expires = queue_now() + $3 * interval '1 millisecond'
    WHERE ticket = $1 AND state = 'running' AND attempts = $2 RETURNING ticket";

pub const FINISH: &str = "
    WITH done AS (
        UPDATE jobs SET state = 'finished', outcome_sha256 = $3, outcome_bytes = $4, expires = NULL, ended = queue_now()
        WHERE ticket = $1 AND state = 'running' AND attempts = $2 RETURNING ticket
    ), bytes AS (
        DELETE FROM payloads USING done WHERE payloads.ticket = done.ticket
    )
    INSERT INTO outcomes SELECT ticket, $5 FROM done RETURNING ticket";

/// Whether that was done before.
pub const IS_FINISHED: &str =
    "SELECT FROM jobs WHERE ticket = $1 AND state = 'finished' AND attempts = $2 AND outcome_sha256 = $3";

pub const GIVE_BACK: &str = "
    UPDATE jobs SET state = 'waiting', begun = false, expires = NULL
    WHERE ticket = $1 AND state = 'running' AND attempts = $2 RETURNING ticket";

/// Whether that was done before.
pub const IS_GIVEN_BACK: &str = "SELECT FROM jobs WHERE ticket = $1 AND state = 'waiting' AND attempts = $2";

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
        outcome_sha256, bytes, CASE WHEN state = 'waiting' THEN (
            SELECT count(*) FROM jobs before
            WHERE before.client = jobs.client AND before.state = 'waiting' AND before.number < jobs.number
        ) END, (
            SELECT coalesce(json_agg(json_build_object('host', host, 'died', died, 'log', log) ORDER BY attempt), '[]')::text
            FROM losses WHERE losses.ticket = jobs.ticket
        )
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
