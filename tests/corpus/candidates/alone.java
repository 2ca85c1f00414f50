// alone.java - faults that the text of one function shows, whatever its callers do, and code beside them that is right.
// The marks are those of test_examples.c.
package shop;

import java.util.List;

class Alone {
    int sumOf(int[] prices) {
        int sum = 0;
        for (int i = 0; i <= prices.length; i++) { // FIRES off-by-one/behind missing-null-check/parameter
            sum += prices[i];
        }
        return sum;
    }

    int sumOfList(List<Integer> prices) {
        int sum = 0;
        for (int i = 0; i <= prices.size(); i++) { // FIRES off-by-one/behind missing-null-check/parameter
            sum += prices.get(i);
        }
        return sum;
    }

    String nameOf(User user) {
        if (user == null) {
            return user.name(); // FIRES inverted-condition/absent-used
        }
        return user.title();
    }

    int quiet_off_by_one(int[] prices) {
        int sum = 0;
        for (int i = 0; i < prices.length; i++) { // FIRES missing-null-check/parameter
            sum += prices[i];
        }
        return sum;
    }

    String quiet_inverted_condition(User user) {
        if (user == null) {
            return "nobody";
        }
        return user.title();
    }

    int sumWhile(int[] prices) {
        int i = 0;
        int sum = 0;
        while (i <= prices.length) { // FIRES off-by-one/at-most-own missing-null-check/parameter
            sum += prices[i];
            i += 1;
        }
        return sum;
    }

    String nameTold(User user) {
        if (user == null) {
            show("none");
            return user.name(); // FIRES inverted-condition/null-branch
        }
        return "";
    }

    int firstOf() throws IOException {
        FileReader r = new FileReader("notes.txt"); // FIRES resource-leak/file
        int first = r.read();
        return first;
    }

    String billingOf() {
        String billing = "sk_live_9aQ2mZ7tK4xLr8Vb3Nc6Wd1E"; // FIRES hardcoded-secret/live-key
        return billing;
    }

    String quiet_hardcoded_secret() {
        String prefix = "sk_live_";
        return prefix;
    }
}
