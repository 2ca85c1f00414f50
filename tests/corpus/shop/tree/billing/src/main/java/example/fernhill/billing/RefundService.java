package example.fernhill.billing;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Refunds of whole orders and of single lines. */
public class RefundService {
    private final OrderRepository orders;
    private final PaymentProvider provider;
    private final Map<String, Money> refunded = new HashMap<>();

    public RefundService(OrderRepository orders, PaymentProvider provider) {
        this.orders = orders;
        this.provider = provider;
    }

    public record Result(String refundId, Money amount, Order order) {}

    /** Everything that was paid and not yet refunded. */
    public Result refundAll(String orderId, String reason) throws IOException, InterruptedException {
        Order order = orders.get(orderId);
        Money left = order.total().minus(refundedOf(order));
        if (left.minor() <= 0) {
            throw new IllegalStateException("order " + orderId + " is refunded already");
        }
        return refund(order, left, reason);
    }

    /** Single lines: the customer keeps the rest. Delivery is refunded with the last line only. */
    public Result refundLines(String orderId, List<String> skus, String reason) throws IOException, InterruptedException {
        Order order = orders.get(orderId);
        Money amount = Money.zero(order.delivery().currency().getCurrencyCode());
        for (Order.Line line : order.lines()) {
            if (skus.contains(line.sku())) {
                amount = amount.plus(line.total());
            }
        }
        if (amount.minor() == 0) {
            throw new IllegalArgumentException("none of these lines is in order " + orderId);
        }
        if (amount.plus(refundedOf(order)).compareTo(order.total()) > 0) {
            throw new IllegalStateException("more than was paid for order " + orderId);
        }
        return refund(order, amount, reason);
    }

    private Result refund(Order order, Money amount, String reason) throws IOException, InterruptedException {
        String session = orders.paymentSessionOf(order.id());
        String id = provider.refund(session, amount, reason);
        refunded.merge(order.id(), amount, Money::plus);
        Order after = refundedOf(order).equals(order.total()) ? order.with(Order.Status.REFUNDED) : order;
        orders.save(after);
        return new Result(id, amount, after);
    }

    private Money refundedOf(Order order) {
        return refunded.getOrDefault(order.id(), Money.zero(order.delivery().currency().getCurrencyCode()));
    }

    /** Moves a refund that the bank sent back to the account for unclaimed money. */
    public String park(String operatingAccount, String unclaimedAccount, Money amount) throws IOException, InterruptedException {
        return provider.transfer(unclaimedAccount, operatingAccount, amount);
    }
}
