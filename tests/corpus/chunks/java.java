package shop;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Orders of one customer. */
public class OrderService {
    private final List<Order> orders;

    public OrderService(List<Order> orders) {
        this.orders = orders;
    }

    @GetMapping("/orders")
    public List<Order> all() {
        return sorted(orders);
    }

    private List<Order> sorted(List<Order> in) {
        return new OrderSorter().sort(in);
    }

    @Test
    void sortsNothing() {
        all();
    }
}

interface OrderSource {
    Order next();
}

enum State { OPEN, PAID }

@interface Marked {
    String value() default "";
}

interface Limits {
    int LOWEST = 1, HIGHEST = 9;
}
