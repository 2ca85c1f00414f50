package example.fernhill.billing;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Tries again with growing pauses. Only failures that say they may go away are tried again. */
public final class RetryPolicy {
    @FunctionalInterface
    public interface Call<T> {
        T run() throws IOException, InterruptedException;
    }

    @FunctionalInterface
    interface Sleeper {
        void sleep(Duration d) throws InterruptedException;
    }

    private final int maxAttempts;
    private final Duration base;
    private final Sleeper sleeper;

    public RetryPolicy(int maxAttempts, Duration base) {
        this(maxAttempts, base, d -> Thread.sleep(d.toMillis()));
    }

    RetryPolicy(int maxAttempts, Duration base, Sleeper sleeper) {
        if (maxAttempts < 1) {
            throw new IllegalArgumentException("at least one attempt");
        }
        this.maxAttempts = maxAttempts;
        this.base = base;
        this.sleeper = sleeper;
    }

    public <T> T call(Call<T> call) throws IOException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                return call.run();
            } catch (PaymentProvider.RetryableException e) {
                if (attempt >= maxAttempts) {
                    throw e;
                }
                sleeper.sleep(pause(attempt));
            }
        }
    }

    /** Doubles each time, with a random part so that many clients do not come back together. */
    Duration pause(int attempt) {
        long most = base.toMillis() << Math.min(attempt - 1, 6);
        return Duration.ofMillis(most / 2 + ThreadLocalRandom.current().nextLong(most / 2 + 1));
    }
}
