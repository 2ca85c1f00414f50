// What a change took away: change.before.java is the file before it. The marks are those of test_examples.c.
class Change {
    int firstOf(Box b) {
        return b.n; // FIRES missing-null-check/removed-test
    }

    int itemOf(int[] all, int n, int i) {
        return all[i]; // FIRES missing-bounds-check/removed-upper
    }

    int readInParts(Stream stream, int size) {
        return stream.readSome(size); // FIRES missing-bounds-check/removed-lower
    }

    int partOf(int all, int n) {
        return all / n; // FIRES division-by-zero/removed-test
    }

    void drop(Box b) {
        say(b); // FIRES resource-leak/removed-release
    }

    int leaveBox(Box b, int n) {
        if (n > 3) {
            say(b);
            b.close(); // FIRES resource-leak/removed-way
        }
        return n;
    }

    int countUp(Box b) {
        b.lock.lock();
        b.n++;
        if (b.n > 9) {
            return -1; // FIRES regression/removed-lock
        }
        b.lock.unlock();
        return b.n;
    }

    int renameBox(Box b, int kind, String name) {
        return nameIt(b, kind, name); // FIRES regression/removed-test
    }

    int readPair(byte[] data, int size) {
        return readLong(data); // FIRES regression/removed-guard
    }

    int storeAll(Box b, int n) {
        storeItem(b, n); // FIRES regression/removed-check
        return 0;
    }

    int quiet_missing_null_check(Box b) {
        if (b == null || b.n < 1) {
            return -1;
        }
        return b.n;
    }

    int quiet_missing_bounds_check(int[] all, int n, int i) {
        if (!isIn(n, i)) {
            return -1;
        }
        return all[i];
    }

    int quiet_division_by_zero(int all, int n) {
        n = orOne(n);
        return all / n;
    }

    void quiet_resource_leak(Box b) {
        say(b);
        keep(b);
    }

    int quiet_regression(Box b, int kind, String name) {
        if (!mayRename(b, kind)) {
            return -1;
        }
        return nameIt(b, kind, name);
    }
}
