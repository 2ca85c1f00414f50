package example.fernhill.billing;

import static example.fernhill.billing.db.Tables.ORDERS;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Instant;
import java.util.List;
import java.util.NoSuchElementException;
import org.jooq.DSLContext;
import org.jooq.JSON;

/** Orders in the database. The lines are one JSON column: they are never asked for alone. */
public class OrderRepository {
    private final DSLContext db;
    private final ObjectMapper json;

    public OrderRepository(DSLContext db, ObjectMapper json) {
        this.db = db;
        this.json = json;
    }

    public Order get(String id) {
        return db.selectFrom(ORDERS)
                .where(ORDERS.ID.eq(id))
                .fetchOptional(r -> read(r.getDocument()))
                .orElseThrow(() -> new NoSuchElementException("no order " + id));
    }

    public List<Order> ofCustomer(long customerId, int limit) {
        return db.selectFrom(ORDERS)
                .where(ORDERS.CUSTOMER_ID.eq(customerId))
                .orderBy(ORDERS.PLACED_AT.desc())
                .limit(Math.min(limit, 200))
                .fetch(r -> read(r.getDocument()));
    }

    public void save(Order order) {
        JSON document = write(order);
        db.insertInto(ORDERS)
                .columns(ORDERS.ID, ORDERS.CUSTOMER_ID, ORDERS.STATUS, ORDERS.PLACED_AT, ORDERS.DOCUMENT)
                .values(order.id(), order.customerId(), order.status().name(), order.placedAt(), document)
                .onConflict(ORDERS.ID)
                .doUpdate()
                .set(ORDERS.STATUS, order.status().name())
                .set(ORDERS.DOCUMENT, document)
                .execute();
    }

    public String paymentSessionOf(String orderId) {
        return db.select(ORDERS.PAYMENT_SESSION).from(ORDERS).where(ORDERS.ID.eq(orderId)).fetchOne(ORDERS.PAYMENT_SESSION);
    }

    /** Orders that were placed and never paid: the job cancels them after a day. */
    public List<String> unpaidBefore(Instant limit) {
        return db.select(ORDERS.ID)
                .from(ORDERS)
                .where(ORDERS.STATUS.eq(Order.Status.PLACED.name()), ORDERS.PLACED_AT.lt(limit))
                .fetch(ORDERS.ID);
    }

    private Order read(JSON document) {
        try {
            return json.readValue(document.data(), Order.class);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("an order in the database cannot be read", e);
        }
    }

    private JSON write(Order order) {
        try {
            return JSON.valueOf(json.writeValueAsString(order));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }
}
