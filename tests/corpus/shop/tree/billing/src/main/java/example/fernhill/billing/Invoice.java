package example.fernhill.billing;

import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Map;

/** The text of an invoice. Numbers run without gaps, which the tax office insists on. */
public final class Invoice {
    private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("d MMMM uuuu", Locale.UK);
    private static final int WIDTH = 64;

    private final String number;
    private final Order order;
    private final LocalDate issued;
    private final Map<TaxCalculator.Category, Money> taxes;

    public Invoice(String number, Order order, LocalDate issued, Map<TaxCalculator.Category, Money> taxes) {
        this.number = number;
        this.order = order;
        this.issued = issued;
        this.taxes = taxes;
    }

    /** FH-2024-000123: prefix, year, and a counter of that year. */
    public static String numberOf(String prefix, int year, int counter) {
        return "%s-%04d-%06d".formatted(prefix, year, counter);
    }

    public String render() {
        StringBuilder out = new StringBuilder();
        out.append("Fernhill Nursery\n").append("Invoice ").append(number).append('\n');
        out.append(DATE.format(issued)).append("\n\n");
        for (Order.Line line : order.lines()) {
            out.append(row(line.quantity() + " x " + line.title(), line.total()));
        }
        out.append(row("Delivery", order.delivery()));
        out.append("-".repeat(WIDTH)).append('\n');
        out.append(row("Total", order.total()));
        taxes.forEach((category, tax) -> out.append(row("of which VAT, " + category.name().toLowerCase(Locale.ROOT), tax)));
        return out.toString();
    }

    private static String row(String label, Money amount) {
        String right = amount.toString();
        String left = label.length() > WIDTH - right.length() - 1 ? label.substring(0, WIDTH - right.length() - 2) + "…" : label;
        return left + " ".repeat(WIDTH - left.length() - right.length()) + right + "\n";
    }

    /** Share of the discount in the undiscounted price, in per cent, for the line "you saved". */
    public static int savedPercent(Money before, Money after) {
        return (int) (100 * (before.minor() - after.minor()) / before.minor());
    }
}
