// change.java before a change took something from its functions.
class Change {
    int firstOf(Box b) {
        if (b == null) {
            return -1;
        }
        return b.n;
    }

    int itemOf(int[] all, int n, int i) {
        if (i >= n) {
            return -1;
        }
        return all[i];
    }

    int readInParts(Stream stream, int size) {
        if (size < 1) {
            throw new IllegalArgumentException("size");
        }
        return stream.readSome(size);
    }

    int partOf(int all, int n) {
        return n != 0 ? all / n : 0;
    }

    void drop(Box b) {
        say(b);
        b.close();
    }

    int leaveBox(Box b, int n) {
        if (n > 3) {
            say(b);
        }
        b.close();
        return n;
    }

    int countUp(Box b) {
        b.lock.lock();
        b.n++;
        if (b.n > 9) {
            b.lock.unlock();
            return -1;
        }
        b.lock.unlock();
        return b.n;
    }

    int renameBox(Box b, int kind, String name) {
        if (kind == 7) {
            return -1;
        }
        return nameIt(b, kind, name);
    }

    int readPair(byte[] data, int size) {
        if (size < 8) {
            return -1;
        }
        return readLong(data);
    }

    int storeAll(Box b, int n) {
        if (storeItem(b, n) < 0) {
            return -1;
        }
        return 0;
    }

    int quiet_missing_null_check(Box b) {
        if (b == null) {
            return -1;
        }
        return b.n;
    }

    int quiet_missing_bounds_check(int[] all, int n, int i) {
        if (i >= n) {
            return -1;
        }
        return all[i];
    }

    int quiet_division_by_zero(int all, int n) {
        if (n == 0) {
            return 0;
        }
        return all / n;
    }

    void quiet_resource_leak(Box b) {
        say(b);
        b.close();
    }

    int quiet_regression(Box b, int kind, String name) {
        if (kind == 7) {
            return -1;
        }
        return nameIt(b, kind, name);
    }
}
