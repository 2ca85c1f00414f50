package example.fernhill.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class VoucherServiceTest {
    private final Clock clock = Clock.fixed(Instant.parse("2024-04-01T12:00:00Z"), ZoneOffset.UTC);
    private final VoucherService vouchers = new VoucherService(clock);

    @BeforeEach
    void someVouchers() {
        vouchers.add(new VoucherService.Voucher("SPRING-24", new BigDecimal("0.10"), null, Money.of(2000, "GBP"), LocalDate.of(2024, 4, 30), 2));
        vouchers.add(new VoucherService.Voucher("WINTER-23", null, Money.of(500, "GBP"), Money.zero("GBP"), LocalDate.of(2024, 2, 1), 9));
    }

    @Test
    void takesOffAShare() {
        assertEquals(300, vouchers.discount("spring 24", Money.of(3000, "GBP")).minor());
        assertEquals(0, vouchers.discount("SPRING-24", Money.of(1999, "GBP")).minor());
    }

    @Test
    void endsWithItsDay() {
        assertTrue(vouchers.find("SPRING-24").isPresent());
        assertFalse(vouchers.find("WINTER-23").isPresent());
    }

    @Test
    void canBeUsedUp() {
        assertTrue(vouchers.redeem("SPRING-24"));
        assertTrue(vouchers.redeem("SPRING-24"));
        assertFalse(vouchers.redeem("SPRING-24"));
        assertFalse(vouchers.redeem("UNKNOWN"));
    }
}
