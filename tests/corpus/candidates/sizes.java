// sizes.java - examples for the rows about sizes that somebody outside chose, signed bytes, units and counts.
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Logger;

class Sizes {
    private static final Logger LOG = Logger.getLogger("sizes");

    static ByteBuffer takeBlock(DataInputStream in) throws IOException {
        int length = in.readInt(); // FIRES missing-null-check/parameter
        return ByteBuffer.allocate(length); // FIRES unbounded-allocation/length-read
    }

    static byte[] takeArray(DataInputStream in) throws IOException {
        int length = in.readInt(); // FIRES missing-null-check/parameter
        byte[] block = new byte[length]; // FIRES unbounded-allocation/array-read
        in.readFully(block);
        return block;
    }

    static int rises(int[] signal) {
        int n = 0;
        for (int i = 0; i < signal.length; i++) { // FIRES missing-null-check/parameter
            if (signal[i] < signal[i + 1]) { // FIRES off-by-one/next-of
                n++;
            }
        }
        return n;
    }

    static int quiet_off_by_one_arguments(String[] args) {
        int n = 0;
        for (int i = 0; i < args.length; i++) { // FIRES missing-null-check/parameter
            if ("-n".equals(args[i])) {
                n = Integer.parseInt(args[i + 1]);
            }
        }
        return n;
    }

    static byte[] part(byte[] area, int pos) {
        int length = area[pos]; // FIRES sign-mixing/byte-length FIRES missing-null-check/parameter FIRES missing-bounds-check/element
        return java.util.Arrays.copyOfRange(area, pos + 1, pos + 1 + length); // FIRES missing-null-check/chain
    }

    static int joined(byte[] pair) {
        int both = (pair[0] << 8) | pair[1]; // FIRES sign-mixing/byte-part FIRES missing-null-check/parameter
        return both;
    }

    static int joinedAtOnce(byte[] pair) {
        return (pair[0] << 8) | pair[1]; // FIRES sign-mixing/byte-part FIRES missing-null-check/parameter
    }

    static int meanOfWarm(int[] degrees) {
        int total = 0;
        int warm = 0;
        for (int d : degrees) {
            if (d > 20) {
                total += d;
                warm++;
            }
        }
        return total / warm; // FIRES division-by-zero/counted
    }

    static void keepTape(Path tape, Path vault) throws IOException {
        try {
            Files.copy(tape, vault); // FIRES path-traversal/joined
        } catch (IOException e) { // FIRES error-swallowed/source-removed
            LOG.warning(e.toString());
        }
        Files.delete(tape); // FIRES path-traversal/joined
    }

    static long until(long waitSeconds) {
        return System.currentTimeMillis() + waitSeconds; // FIRES wrong-operator/unit
    }

    static long endOf(long startMs, long waitSeconds) {
        long endMs = startMs + waitSeconds; // FIRES wrong-operator/unit
        return endMs;
    }

    // compared before, or of two bytes
    static byte[] quiet_unbounded_allocation(DataInputStream in) throws IOException {
        int length = in.readInt(); // FIRES missing-null-check/parameter
        if (length < 0 || length > 4096) {
            throw new IOException("too long");
        }
        byte[] small = new byte[in.readUnsignedShort()];
        byte[] block = new byte[length];
        in.readFully(small);
        in.readFully(block);
        return block;
    }

    // one less, or asked for
    void startAll() {
        for (int i = 0; i < builders.length; i++) {
            start(i);
        }
    }

    private void start(int index) {
        if (index < 0 || index > builders.length) { // FIRES off-by-one/more
            return;
        }
        builders[index].start(); // FIRES missing-null-check/chain
    }

    static int quiet_off_by_one_next(int[] signal) {
        int n = 0;
        for (int i = 0; i < signal.length - 1; i++) { // FIRES missing-null-check/parameter
            if (signal[i] < signal[i + 1]) {
                n++;
            }
        }
        return n;
    }

    // masked, at once or later, or asked for its sign
    static int quiet_sign_mixing_byte(byte[] area, int pos) {
        int length = area[pos] & 0xff; // FIRES missing-null-check/parameter FIRES missing-bounds-check/element
        int size = area[pos + 1];
        if (size < 0) {
            return 0;
        }
        return ((area[0] << 8) | (area[1] & 0xff)) + length + size;
    }

    // asked before
    static int quiet_division_by_zero_counted(int[] degrees) {
        int total = 0;
        int warm = 0;
        for (int d : degrees) {
            if (d > 20) {
                total += d;
                warm++;
            }
        }
        return warm == 0 ? 0 : total / warm;
    }

    // leaves in the handler
    static void quiet_error_swallowed_source(Path tape, Path vault) throws IOException {
        try {
            Files.copy(tape, vault); // FIRES path-traversal/joined
        } catch (IOException e) {
            LOG.warning(e.toString());
            return;
        }
        Files.delete(tape); // FIRES path-traversal/joined
    }

    // changed to the unit of the other
    static long quiet_wrong_operator_unit(long startMs, long waitSeconds, long waitMs) {
        long endMs = startMs + waitSeconds * 1000;
        return endMs - (System.currentTimeMillis() + waitMs);
    }
}
