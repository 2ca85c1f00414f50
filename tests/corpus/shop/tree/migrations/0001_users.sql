-- People who can sign in. Deleted users keep their row for a month.
CREATE TABLE users (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email         varchar(254) NOT NULL UNIQUE,
    display_name  varchar(80)  NOT NULL,
    password_hash varchar(200) NOT NULL,
    role          varchar(16)  NOT NULL DEFAULT 'customer',
    created_at    timestamptz  NOT NULL DEFAULT now(),
    deleted_at    timestamptz,
    CHECK (email = lower(email)),
    CHECK (role IN ('customer', 'support', 'admin'))
);

CREATE INDEX users_deleted_at ON users (deleted_at) WHERE deleted_at IS NOT NULL;
