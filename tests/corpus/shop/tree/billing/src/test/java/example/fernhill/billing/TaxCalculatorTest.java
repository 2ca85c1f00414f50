package example.fernhill.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import example.fernhill.billing.TaxCalculator.Category;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class TaxCalculatorTest {
    private final TaxCalculator taxes = TaxCalculator.withDefaults();

    private static Order.Line line(String sku, int n, long price, Category c) {
        return new Order.Line(sku, sku, n, Money.of(price, "GBP"), c);
    }

    @Test
    void takesTheTaxOutOfThePrice() {
        assertEquals(200, taxes.included(Money.of(1200, "GBP"), "GB", Category.PLANT).minor());
        assertEquals(0, taxes.included(Money.of(1200, "GBP"), "GB", Category.BOOK).minor());
    }

    @Test
    void germanPlantsAreCheaper() {
        assertEquals(70, taxes.included(Money.of(1070, "EUR"), "DE", Category.PLANT).minor());
    }

    @Test
    void sumsByCategory() {
        Order order =
                new Order(
                        "FH-1",
                        7,
                        List.of(line("ROS-0001", 2, 600, Category.PLANT), line("TRO-0001", 1, 2400, Category.TOOL)),
                        Money.of(600, "GBP"),
                        null,
                        Order.Status.PAID,
                        Instant.EPOCH);
        var sums = taxes.byCategory(order, "GB");
        assertEquals(200, sums.get(Category.PLANT).minor());
        assertEquals(400, sums.get(Category.TOOL).minor());
        assertEquals(100, sums.get(Category.DELIVERY).minor());
    }
}
