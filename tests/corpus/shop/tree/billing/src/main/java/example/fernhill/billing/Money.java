package example.fernhill.billing;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Currency;
import java.util.Objects;

/** An amount in minor units. Arithmetic is exact and refuses to mix currencies. */
public final class Money implements Comparable<Money> {
    private final long minor;
    private final Currency currency;

    private Money(long minor, Currency currency) {
        this.minor = minor;
        this.currency = Objects.requireNonNull(currency);
    }

    public static Money of(long minor, String currency) {
        return new Money(minor, Currency.getInstance(currency));
    }

    public static Money zero(String currency) {
        return of(0, currency);
    }

    public long minor() {
        return minor;
    }

    public Currency currency() {
        return currency;
    }

    public Money plus(Money other) {
        requireSame(other);
        return new Money(Math.addExact(minor, other.minor), currency);
    }

    public Money minus(Money other) {
        requireSame(other);
        return new Money(Math.subtractExact(minor, other.minor), currency);
    }

    public Money times(long n) {
        return new Money(Math.multiplyExact(minor, n), currency);
    }

    /** A share such as a tax rate; half pennies go to the even side, as the tax office has it. */
    public Money share(BigDecimal rate) {
        BigDecimal exact = BigDecimal.valueOf(minor).multiply(rate);
        return new Money(exact.setScale(0, RoundingMode.HALF_EVEN).longValueExact(), currency);
    }

    public boolean isNegative() {
        return minor < 0;
    }

    private void requireSame(Money other) {
        if (!currency.equals(other.currency)) {
            throw new IllegalArgumentException("cannot mix " + currency + " and " + other.currency);
        }
    }

    @Override
    public int compareTo(Money other) {
        requireSame(other);
        return Long.compare(minor, other.minor);
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof Money m && m.minor == minor && m.currency.equals(currency);
    }

    @Override
    public int hashCode() {
        return Objects.hash(minor, currency);
    }

    @Override
    public String toString() {
        return BigDecimal.valueOf(minor, currency.getDefaultFractionDigits()) + " " + currency;
    }
}
