// input.java - statements that were copied and changed in pairs. The marks are those of test_examples.c.
class Input {
    static void clip(Box box, Box to) {
        if (box.x < to.x) { // FIRES missing-null-check/parameter
            box.w -= to.x - box.x;
            box.x = to.x;
        }
        if (box.y < to.y) {
            box.h -= to.y - box.y;
            box.y = to.x; // FIRES copied-block/pair
        }
    }

    static void quiet_copied_block_clip(Box box, Box to) {
        if (box.x < to.x) { // FIRES missing-null-check/parameter
            box.w -= to.x - box.x;
            box.x = to.x;
        }
        if (box.y < to.y) {
            box.h -= to.y - box.y;
            box.y = to.y;
        }
    }

    static boolean isSecure(String url) {
        return url.substring(0, 7).equals("https://"); // FIRES off-by-one/part-length missing-null-check/parameter
    }

    static boolean quiet_off_by_one_part(String url, int n) {
        return url.substring(0, 8).equals("https://") || url.substring(0, n).equals("ftp"); // FIRES missing-null-check/parameter
    }
}
