-- Version 12: servers hear of the ends of jobs while few wait. While many wait, none is announced, because transactions that tell
-- something wait for each other.
CREATE OR REPLACE FUNCTION tell_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM clients WHERE client = NEW.client AND follows) THEN
        PERFORM pg_notify('passhost_ends', NEW.ticket);
    ELSIF (SELECT sum(waiting) <= 64 FROM client_counts) THEN
        PERFORM pg_notify('passhost_results', current_schema());
    END IF;
    RETURN NULL;
END $$;
