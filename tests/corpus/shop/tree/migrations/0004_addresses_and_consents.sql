CREATE TABLE addresses (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id    bigint      NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label      varchar(40) NOT NULL,
    lines      jsonb       NOT NULL,
    postcode   varchar(12) NOT NULL,
    country    char(2)     NOT NULL,
    is_default boolean     NOT NULL DEFAULT false
);

-- At most one default a user.
CREATE UNIQUE INDEX addresses_default ON addresses (user_id) WHERE is_default;

CREATE TABLE consents (
    user_id    bigint      NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    purpose    varchar(40) NOT NULL,
    granted    boolean     NOT NULL,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, purpose)
);
