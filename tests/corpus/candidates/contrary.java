// contrary.java - code that contradicts itself, and code beside it that does not. The marks are those of
// test_examples.c.
class Contrary {
    private int left;
    private int right;

    static boolean isOddDay(int day) {
        return day != SUNDAY || day != MONDAY; // FIRES inverted-condition/always
    }

    static boolean isBoth(String name) {
        return "first".equals(name) && "second".equals(name); // FIRES inverted-condition/never
    }

    static boolean quiet_inverted_condition_days(int day) {
        return (day != SUNDAY && day != MONDAY) || day < 0 || day > 99;
    }

    static void countAway(int last) {
        for (int i = 0; i > last; i++) { // FIRES inverted-condition/steps-up
            show(i);
        }
        for (int k = last; k < 8; k--) { // FIRES inverted-condition/steps-down
            show(k);
        }
    }

    static boolean isWithin(int left, int right, int x) {
        return x < left || right < x || x < left; // FIRES copied-block/operands
    }

    boolean isSame(int left) {
        return this.left == left && this.right == this.right; // FIRES copied-block/equal
    }

    static boolean isWithin(int x, int left, int right) {
        return x > left && x < right && x > left; // FIRES copied-block/operands-chain
    }

    static boolean quiet_copied_block_operands(double x, int left) {
        return x != x || left == 3;
    }

    static int priceOf(int kind) {
        if (kind == SMALL) {
            return 1;
        } else if (kind == LARGE) {
            return 2;
        } else if (kind == SMALL) { // FIRES copied-block/again
            return 3;
        }
        return 0;
    }

    static void quiet_copied_block_again_same(int kind, int n) {
        if (kind == SMALL || n == 0) {
            openShop(1);
        } else if (n == 0) {
            openShop(1);
        }
    }

    static void showKind(int kind, int n) {
        if (kind == SMALL || n == 0) {
            openShop(1);
        } else if (n == 0) { // FIRES copied-block/again-part
            openShop(n);
        }
    }

    static int quiet_copied_block_again(int kind) {
        if (kind == SMALL && isSale()) {
            return 1;
        } else if (kind == SMALL) {
            return 2;
        }
        return 0;
    }

    static void showPrice(int price, boolean isSale) {
        if (isSale) { // FIRES copied-block/branches
            showNumber(price);
        } else {
            showNumber(price);
        }
    }

    static int rateOf(boolean isSale) {
        return isSale ? 20 : 20; // FIRES copied-block/branches-literal
    }

    static int quiet_copied_block_branches(int price, boolean isSale) {
        return isSale ? price - 1 : price;
    }

    static void showAll(int n) {
        int j = 0;
        for (int i = 0; i < n; j++) { // FIRES copied-block/loop-variable
            show(j);
        }
    }

    static void quiet_copied_block_loop(int n) {
        int j = 0;
        for (int i = 0; i < n; j++) {
            i = stepFrom(j);
        }
    }

    void setLeft(int left) {
        left = left; // FIRES copied-block/itself
    }

    void setRight(int right) {
        this.right = this.right; // FIRES copied-block/itself-own
    }

    static void keep(Box box) {
        Box.last.left = Box.last.left; // FIRES missing-null-check/chain copied-block/itself-other
    }

    void quiet_copied_block_itself(int left) {
        this.left = left;
    }

    static boolean isOpen(String state) {
        return state == "open"; // FIRES wrong-operator/identity
    }

    static boolean quiet_wrong_operator_identity(String state) {
        return "open".equals(state);
    }

    private String gate = "closed";
    private String door = "closed";

    void openGate(boolean isWide) {
        this.gate = isWide ? "wide" : "open";
    }

    boolean quiet_wrong_operator_identity_literals() {
        return gate == "open" || this.gate == "wide";
    }

    void setDoor(String named) {
        door = named;
    }

    boolean isDoorOpen() {
        return door == "open"; // FIRES wrong-operator/identity
    }

    static class Lamp {
        private String shade = "red";

        boolean quiet_wrong_operator_identity_inner() {
            return shade == "red";
        }
    }

    static class Shop {
        @Setting
        private String sign = "open";
        protected String label = "new";

        boolean isOpen() {
            return sign == "open"; // FIRES wrong-operator/identity
        }

        boolean isNew() {
            return label == "new"; // FIRES wrong-operator/identity
        }
    }

    static String shadeOf(String shade) {
        return shade == "red" ? "r" : shade; // FIRES wrong-operator/identity
    }

    static int shareOf(int whole, int n) {
        if (n == 0) {
            return whole / n; // FIRES division-by-zero/zero-branch
        }
        return 0;
    }

    static int quiet_division_by_zero_branch(int whole, int n) {
        if (n == 0) {
            return 0;
        }
        return whole / n;
    }

    static int feeOf(int kind) {
        if (kind == SMALL || kind == LARGE) {
            return 1;
        } else if (kind == LARGE) { // FIRES copied-block/again-part
            return 2;
        }
        return 0;
    }

    static int quiet_copied_block_again_half(int kind) {
        if (kind == SMALL && isSale()) {
            return 1;
        } else if (kind == SMALL || kind == LARGE) {
            return 2;
        }
        return 0;
    }

    static Shelf makeShelf(Client client, String name) {
        boolean isThere = client.ask(name); // FIRES missing-null-check/parameter
        if (!isThere || !isThere) { // FIRES copied-block/asked-twice
            return client.make(name);
        }
        return client.get(name);
    }

    static int leftOfBoth(Box box, Box other) {
        if (box == null || box == null) { // FIRES copied-block/operands
            return 0;
        }
        return box.left + other.left; // FIRES missing-null-check/parameter
    }
}
