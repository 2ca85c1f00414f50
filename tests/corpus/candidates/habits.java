// habits.java - forms of code that are nearly always a mistake, and code beside it that is none. The marks are those of
// test_examples.c.
package shop;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

class Habits {
    private final Long owner;
    private final Map<String, Integer> shared = new ConcurrentHashMap<>();

    Habits(Long first) {
        this.owner = first;
    }

    void dropAll(List<String> names) {
        for (String name : names) {
            if (name.length() > 3) {
                names.remove(name); // FIRES changed-in-loop/changed missing-null-check/parameter
            }
        }
    }

    void dropOld(Map<String, Integer> ages) {
        for (String name : ages.keySet()) { // FIRES missing-null-check/parameter
            ages.remove(name); // FIRES changed-in-loop/changed
        }
    }

    // The loop left at once, a key that is there, the iterator, and a map that may be changed.
    void quiet_changed_in_loop(List<String> names, Map<String, Integer> ages) {
        for (String name : names) {
            if (name.length() > 3) {
                names.remove(name); // FIRES missing-null-check/parameter
                break;
            }
        }
        for (String key : ages.keySet()) {
            ages.put(key, 1);
        }
        for (String key : shared.keySet()) {
            shared.remove(key);
        }
        for (Iterator<String> it = names.iterator(); it.hasNext();) { // FIRES missing-null-check/result-of-any
            it.next();
            it.remove();
        }
    }

    int priceOf(int kind) {
        int price = 0;
        switch (kind) {
            case 1:
                price = 1;
                break;
            case 2:
                price = 2; // FIRES missing-break/runs-on
            case 3:
                price = 3;
                break;
            case 4:
                return 4;
            default:
                price = 5;
        }
        return price;
    }

    int quiet_missing_break(int kind) {
        int price = 0;
        switch (kind) {
            case 1:
                price = 1;
                break;
            case 2:
                price = 2;
                // fall through
            case 3:
                price += 3;
                break;
            case 4:
                throw new IllegalArgumentException("four");
            case 5:
            case 6:
                return 6;
            default:
                price = 5;
        }
        return price;
    }

    boolean isOwner(Long user) {
        return user == owner; // FIRES wrong-call/boxed
    }

    boolean isNumber(double x) {
        return x == Double.NaN; // FIRES wrong-call/nan
    }

    String clean(String label) {
        label.trim(); // FIRES wrong-call/dropped missing-null-check/parameter
        return label;
    }

    int checkDay(int day) {
        if (day > 7) {
            new IllegalArgumentException("no such day"); // FIRES wrong-call/error
        }
        return day;
    }

    // Equal, compared with null, the same before equal, and results that are used.
    String quiet_wrong_call(Long user, StringBuilder text, String label, int day) {
        if (user == null || user.equals(owner) || day == 5) {
            throw new IllegalArgumentException("no owner");
        }
        text.replace(0, 1, "x"); // FIRES missing-null-check/parameter
        return label.trim();
    }

    int takeAll(int n) {
        shopLock.lock(); // FIRES missing-unlock/one-way
        if (n > 9) {
            return -1;
        }
        countGates(n);
        shopLock.unlock();
        return 0;
    }

    int quiet_missing_unlock_one_way(int n) {
        shopLock.lock();
        try {
            if (n > 9) {
                return -1;
            }
            countGates(n);
        } finally {
            shopLock.unlock();
        }
        return 0;
    }

    int takeNext(int n) {
        shopLock.lock(); // FIRES missing-unlock/early
        while (n > 0) {
            if (n == 9) {
                return -1;
            }
            n--;
        }
        shopLock.unlock();
        return 0;
    }
}
