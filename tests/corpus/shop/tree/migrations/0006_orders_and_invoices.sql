-- Billing's own tables; accounts never reads them.
CREATE TABLE orders (
    id              varchar(24) PRIMARY KEY,
    customer_id     bigint      NOT NULL,
    status          varchar(16) NOT NULL,
    placed_at       timestamptz NOT NULL,
    payment_session varchar(80),
    document        json        NOT NULL
);

CREATE INDEX orders_customer ON orders (customer_id, placed_at DESC);
CREATE INDEX orders_unpaid ON orders (placed_at) WHERE status = 'PLACED';

CREATE TABLE invoices (
    number   varchar(24) PRIMARY KEY,
    year     integer     NOT NULL,
    counter  integer     NOT NULL,
    order_id varchar(24) NOT NULL REFERENCES orders (id),
    issued   date        NOT NULL,
    pdf      bytea       NOT NULL,
    UNIQUE (year, counter)
);
