package example.fernhill.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RefundServiceTest {
    private final OrderRepository orders = mock(OrderRepository.class);
    private final PaymentProvider provider = mock(PaymentProvider.class);
    private final RefundService refunds = new RefundService(orders, provider);

    @BeforeEach
    void anOrder() throws Exception {
        Order order =
                new Order(
                        "FH-1",
                        7,
                        List.of(
                                new Order.Line("ROS-0001", "Rose", 2, Money.of(500, "GBP"), TaxCalculator.Category.PLANT),
                                new Order.Line("POT-0001", "Pot", 1, Money.of(900, "GBP"), TaxCalculator.Category.TOOL)),
                        Money.of(495, "GBP"),
                        null,
                        Order.Status.PAID,
                        Instant.EPOCH);
        when(orders.get("FH-1")).thenReturn(order);
        when(orders.paymentSessionOf("FH-1")).thenReturn("ps_1");
        when(provider.refund(any(), any(), any())).thenReturn("re_1");
    }

    @Test
    void refundsEverything() throws Exception {
        RefundService.Result result = refunds.refundAll("FH-1", "frost damage");
        assertEquals(2395, result.amount().minor());
        assertEquals(Order.Status.REFUNDED, result.order().status());
        verify(provider).refund(eq("ps_1"), eq(Money.of(2395, "GBP")), eq("frost damage"));
    }

    @Test
    void refundsSingleLines() throws Exception {
        assertEquals(1000, refunds.refundLines("FH-1", List.of("ROS-0001"), "wilted").amount().minor());
        assertEquals(Order.Status.PAID, refunds.refundLines("FH-1", List.of("POT-0001"), "broken").order().status());
    }

    @Test
    void neverTwice() throws Exception {
        refunds.refundAll("FH-1", "first");
        assertThrows(IllegalStateException.class, () -> refunds.refundAll("FH-1", "second"));
    }
}
