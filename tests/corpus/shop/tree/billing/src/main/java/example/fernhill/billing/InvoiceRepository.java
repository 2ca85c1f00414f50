package example.fernhill.billing;

import static example.fernhill.billing.db.Tables.INVOICES;

import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import org.jooq.DSLContext;
import org.jooq.impl.DSL;

/** Invoices in the database, by jOOQ: statements are checked by the compiler. */
public final class InvoiceRepository {
    private final DSLContext db;

    public InvoiceRepository(DSLContext db) {
        this.db = db;
    }

    public record Stored(String number, String orderId, LocalDate issued, byte[] pdf) {}

    /** The next counter of a year. The row lock keeps two requests from getting the same one. */
    public int nextCounter(int year) {
        Integer last =
                db.select(DSL.max(INVOICES.COUNTER))
                        .from(INVOICES)
                        .where(INVOICES.YEAR.eq(year))
                        .forUpdate()
                        .fetchOne(0, Integer.class);
        return last == null ? 1 : last + 1;
    }

    public void insert(String number, int year, int counter, String orderId, LocalDate issued, byte[] pdf) {
        db.insertInto(INVOICES)
                .columns(INVOICES.NUMBER, INVOICES.YEAR, INVOICES.COUNTER, INVOICES.ORDER_ID, INVOICES.ISSUED, INVOICES.PDF)
                .values(number, year, counter, orderId, issued, pdf)
                .execute();
    }

    public Optional<Stored> find(String number) {
        return db.selectFrom(INVOICES)
                .where(INVOICES.NUMBER.eq(number))
                .fetchOptional(r -> new Stored(r.getNumber(), r.getOrderId(), r.getIssued(), r.getPdf()));
    }

    public List<Stored> ofOrder(String orderId) {
        return db.selectFrom(INVOICES)
                .where(INVOICES.ORDER_ID.eq(orderId))
                .orderBy(INVOICES.ISSUED.desc())
                .fetch(r -> new Stored(r.getNumber(), r.getOrderId(), r.getIssued(), r.getPdf()));
    }
}
