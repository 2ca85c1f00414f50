-- Links for choosing a new password.
CREATE TABLE reset_tokens (
    token_hash bytea       PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    user_id    bigint      NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    expires_at timestamptz NOT NULL,
    used_at    timestamptz
);

CREATE INDEX reset_tokens_open ON reset_tokens (user_id) WHERE used_at IS NULL;
