package example.fernhill.billing;

import java.time.Instant;
import java.util.List;

/** An order as it was placed. Prices are copied, because the catalogue moves on. */
public record Order(
        String id, long customerId, List<Line> lines, Money delivery, String voucher, Status status, Instant placedAt) {

    public enum Status {
        PLACED,
        PAID,
        PACKED,
        SHIPPED,
        CANCELLED,
        REFUNDED;

        public boolean canBecome(Status next) {
            return switch (this) {
                case PLACED -> next == PAID || next == CANCELLED;
                case PAID -> next == PACKED || next == CANCELLED || next == REFUNDED;
                case PACKED -> next == SHIPPED || next == REFUNDED;
                case SHIPPED -> next == REFUNDED;
                case CANCELLED, REFUNDED -> false;
            };
        }
    }

    public record Line(String sku, String title, int quantity, Money unitPrice, TaxCalculator.Category category) {
        public Money total() {
            return unitPrice.times(quantity);
        }
    }

    public Order {
        lines = List.copyOf(lines);
        if (lines.isEmpty()) {
            throw new IllegalArgumentException("an order needs at least one line");
        }
    }

    public Money goods() {
        return lines.stream().map(Line::total).reduce(Money.zero(delivery.currency().getCurrencyCode()), Money::plus);
    }

    public Money total() {
        return goods().plus(delivery);
    }

    public Order with(Status next) {
        if (!status.canBecome(next)) {
            throw new IllegalStateException("order " + id + " is " + status + " and cannot become " + next);
        }
        return new Order(id, customerId, lines, delivery, voucher, next, placedAt);
    }
}
