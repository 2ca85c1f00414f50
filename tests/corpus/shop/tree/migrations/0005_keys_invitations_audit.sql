CREATE TABLE api_keys (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id    bigint       NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label      varchar(60)  NOT NULL,
    key_digest varchar(64)  NOT NULL UNIQUE,
    scopes     varchar(200) NOT NULL,
    revoked_at timestamptz
);

CREATE TABLE invitations (
    code        varchar(32)  PRIMARY KEY,
    email       varchar(254) NOT NULL,
    role        varchar(16)  NOT NULL,
    invited_by  bigint       REFERENCES users (id) ON DELETE SET NULL,
    expires_at  timestamptz  NOT NULL,
    accepted_at timestamptz
);

CREATE TABLE audit_log (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at       timestamptz NOT NULL,
    actor_id bigint,
    action   varchar(60) NOT NULL,
    subject  varchar(120) NOT NULL,
    detail   jsonb NOT NULL DEFAULT '{}'
);

CREATE INDEX audit_log_subject ON audit_log (subject, id DESC);
REVOKE UPDATE, DELETE ON audit_log FROM PUBLIC;
