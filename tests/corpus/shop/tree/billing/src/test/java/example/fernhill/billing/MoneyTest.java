package example.fernhill.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigDecimal;
import org.junit.jupiter.api.Test;

class MoneyTest {
    @Test
    void addsExactly() {
        assertEquals(Money.of(30, "GBP"), Money.of(10, "GBP").plus(Money.of(20, "GBP")));
    }

    @Test
    void refusesToMixCurrencies() {
        assertThrows(IllegalArgumentException.class, () -> Money.of(1, "GBP").plus(Money.of(1, "EUR")));
    }

    @Test
    void roundsHalfToEven() {
        assertEquals(2, Money.of(5, "GBP").share(new BigDecimal("0.5")).minor());
        assertEquals(4, Money.of(7, "GBP").share(new BigDecimal("0.5")).minor());
    }

    @Test
    void overflowIsAnError() {
        assertThrows(ArithmeticException.class, () -> Money.of(Long.MAX_VALUE, "GBP").plus(Money.of(1, "GBP")));
    }

    @Test
    void readsLikeMoney() {
        assertEquals("12.50 GBP", Money.of(1250, "GBP").toString());
    }
}
