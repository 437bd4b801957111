-- Version 4: counts by statements that keep their plans. A function of SQL is planned each time that a trigger calls it.

CREATE OR REPLACE FUNCTION count_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE comes boolean := false;
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO client_counts AS c
        SELECT client, pg_backend_pid() % 8, sum((state = 'waiting')::integer), sum((state = 'running')::integer),
            sum((state > 'running')::integer), sum((2048 + CASE WHEN state > 'running' THEN outcome_bytes ELSE payload_bytes END)), max(turn), needs
        FROM after GROUP BY client, needs ORDER BY client, needs
        ON CONFLICT (client, needs, shard) DO UPDATE SET
            waiting = c.waiting + excluded.waiting, running = c.running + excluded.running,
            ended = c.ended + excluded.ended, bytes = c.bytes + excluded.bytes, turn = greatest(c.turn, excluded.turn);
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO client_counts AS c
        SELECT client, pg_backend_pid() % 8, -sum((state = 'waiting')::integer), -sum((state = 'running')::integer),
            -sum((state > 'running')::integer), -sum((2048 + CASE WHEN state > 'running' THEN outcome_bytes ELSE payload_bytes END)), 0, needs
        FROM before GROUP BY client, needs ORDER BY client, needs
        ON CONFLICT (client, needs, shard) DO UPDATE SET
            waiting = c.waiting + excluded.waiting, running = c.running + excluded.running,
            ended = c.ended + excluded.ended, bytes = c.bytes + excluded.bytes;
    ELSE
        INSERT INTO client_counts AS c
        SELECT client, pg_backend_pid() % 8, sum(sign * (state = 'waiting')::integer) AS waiting,
            sum(sign * (state = 'running')::integer) AS running, sum(sign * (state > 'running')::integer) AS ended,
            sum(sign * (2048 + CASE WHEN state > 'running' THEN outcome_bytes ELSE payload_bytes END)) AS bytes, max(turn), needs
        FROM (
            SELECT 1 AS sign, client, needs, state, payload_bytes, outcome_bytes, turn FROM after
            UNION ALL SELECT -1, client, needs, state, payload_bytes, outcome_bytes, 0 FROM before
        ) changes GROUP BY client, needs
        -- Nothing is counted of a job whose lease is renewed.
        HAVING sum(sign * (state = 'waiting')::integer) <> 0 OR sum(sign * (state = 'running')::integer) <> 0
            OR sum(sign * (2048 + CASE WHEN state > 'running' THEN outcome_bytes ELSE payload_bytes END)) <> 0
        ORDER BY client, needs
        ON CONFLICT (client, needs, shard) DO UPDATE SET
            waiting = c.waiting + excluded.waiting, running = c.running + excluded.running,
            ended = c.ended + excluded.ended, bytes = c.bytes + excluded.bytes, turn = greatest(c.turn, excluded.turn);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        comes := EXISTS (SELECT FROM after WHERE state = 'waiting');
    END IF;
    IF comes AND (SELECT sum(waiting) <= 64 FROM client_counts) THEN
        PERFORM pg_notify('passhost_jobs', current_schema());
    END IF;
    RETURN NULL;
END $$;
