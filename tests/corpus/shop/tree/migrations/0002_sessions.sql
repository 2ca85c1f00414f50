-- Signed-in browsers. The token is not here, only its SHA-256.
CREATE TABLE sessions (
    id_hash      bytea       PRIMARY KEY CHECK (octet_length(id_hash) = 32),
    user_id      bigint      NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    user_agent   varchar(200),
    ip_address   varchar(45),
    created_at   timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL
);

CREATE INDEX sessions_user_id ON sessions (user_id, created_at DESC);
CREATE INDEX sessions_expires_at ON sessions (expires_at);
