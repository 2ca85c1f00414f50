package example.fernhill.billing;

import java.math.BigDecimal;
import java.time.Clock;
import java.time.LocalDate;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Voucher codes: what they take off, how often, and until when. */
public class VoucherService {
    /** Either a share of the goods or a fixed amount. */
    public record Voucher(String code, BigDecimal share, Money fixed, Money minimum, LocalDate validUntil, int usesLeft) {}

    private final Map<String, Voucher> vouchers = new ConcurrentHashMap<>();
    private final Clock clock;

    public VoucherService(Clock clock) {
        this.clock = clock;
    }

    public void add(Voucher v) {
        vouchers.put(normalise(v.code()), v);
    }

    public static String normalise(String code) {
        return code.strip().toUpperCase(Locale.ROOT).replaceAll("\\s+", "-");
    }

    /** Empty when the code is unknown, over, or used up: the page says the same for all three. */
    public Optional<Voucher> find(String code) {
        Voucher v = vouchers.get(normalise(code));
        if (v == null || v.usesLeft() <= 0 || v.validUntil().isBefore(LocalDate.now(clock))) {
            return Optional.empty();
        }
        return Optional.of(v);
    }

    /** What a voucher takes off the goods; never more than they cost. */
    public Money discount(String code, Money goods) {
        Voucher v = vouchers.get(normalise(code));
        if (goods.compareTo(v.minimum()) < 0) {
            return Money.zero(goods.currency().getCurrencyCode());
        }
        Money off = v.share() != null ? goods.share(v.share()) : v.fixed();
        return off.compareTo(goods) > 0 ? goods : off;
    }

    /** Counts a use. False when somebody else took the last one. */
    public boolean redeem(String code) {
        String key = normalise(code);
        boolean[] taken = {false};
        vouchers.computeIfPresent(
                key,
                (k, v) -> {
                    if (v.usesLeft() <= 0) {
                        return v;
                    }
                    taken[0] = true;
                    return new Voucher(v.code(), v.share(), v.fixed(), v.minimum(), v.validUntil(), v.usesLeft() - 1);
                });
        return taken[0];
    }
}
