package example.fernhill.billing;

import java.math.BigDecimal;
import java.util.EnumMap;
import java.util.Map;

/**
 * Value added tax by country and category. Prices include it, so the calculator takes it out of
 * an amount rather than putting it on top.
 */
public final class TaxCalculator {
    public enum Category {
        PLANT,
        SEED,
        TOOL,
        BOOK,
        DELIVERY
    }

    private final Map<String, Map<Category, BigDecimal>> rates;

    public TaxCalculator(Map<String, Map<Category, BigDecimal>> rates) {
        this.rates = Map.copyOf(rates);
    }

    public static TaxCalculator withDefaults() {
        return new TaxCalculator(
                Map.of(
                        "GB", table("0.20", "0.00", "0.20", "0.00", "0.20"),
                        "IE", table("0.135", "0.00", "0.23", "0.00", "0.23"),
                        "DE", table("0.07", "0.07", "0.19", "0.07", "0.19"),
                        "NL", table("0.09", "0.09", "0.21", "0.09", "0.21"),
                        "FR", table("0.10", "0.10", "0.20", "0.055", "0.20")));
    }

    private static Map<Category, BigDecimal> table(String... values) {
        Map<Category, BigDecimal> t = new EnumMap<>(Category.class);
        for (Category c : Category.values()) {
            t.put(c, new BigDecimal(values[c.ordinal()]));
        }
        return t;
    }

    public BigDecimal rate(String country, Category category) {
        return rates.get(country).get(category);
    }

    /** The tax contained in a gross amount. */
    public Money included(Money gross, String country, Category category) {
        BigDecimal r = rate(country, category);
        return gross.share(r.divide(BigDecimal.ONE.add(r), 12, java.math.RoundingMode.HALF_EVEN));
    }

    /** Tax of an order, by category: what the invoice lists at its foot. */
    public Map<Category, Money> byCategory(Order order, String country) {
        Map<Category, Money> sums = new EnumMap<>(Category.class);
        for (Order.Line line : order.lines()) {
            sums.merge(line.category(), included(line.total(), country, line.category()), Money::plus);
        }
        if (order.delivery().minor() > 0) {
            sums.merge(Category.DELIVERY, included(order.delivery(), country, Category.DELIVERY), Money::plus);
        }
        return sums;
    }
}
