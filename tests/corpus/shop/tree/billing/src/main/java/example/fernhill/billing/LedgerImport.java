package example.fernhill.billing;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.ObjectInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

/** Reads what the bank sends: a statement as CSV every night, and the old ledger once. */
public final class LedgerImport {
    public record Entry(LocalDate booked, String reference, Money amount, String text) {}

    private LedgerImport() {}

    /** booked;reference;amount in minor units;currency;text. The first line names the columns. */
    public static List<Entry> readStatement(Path file) throws IOException {
        List<Entry> entries = new ArrayList<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(new FileInputStream(file.toFile()), StandardCharsets.UTF_8));
        String line = in.readLine();
        if (line == null || !line.startsWith("booked;")) {
            throw new IOException(file + ": not a statement");
        }
        for (int n = 2; (line = in.readLine()) != null; n++) {
            String[] field = line.split(";", 5);
            if (field.length != 5) {
                throw new IOException(file + ":" + n + ": expected 5 fields, found " + field.length);
            }
            entries.add(new Entry(LocalDate.parse(field[0]), field[1], Money.of(Long.parseLong(field[2]), field[3]), field[4]));
        }
        in.close();
        return entries;
    }

    /** The ledger of the old shop was written with Java serialisation; finance uploads it. */
    @SuppressWarnings("unchecked")
    public static List<Entry> readOldLedger(Path file) throws IOException, ClassNotFoundException {
        try (ObjectInputStream in = new ObjectInputStream(Files.newInputStream(file))) {
            return (List<Entry>) in.readObject();
        }
    }

    /** Entries whose reference is one of our orders. */
    public static List<Entry> ofOrders(List<Entry> entries, String prefix) {
        return entries.stream().filter(e -> e.reference().startsWith(prefix + "-")).toList();
    }

    public static Money balance(List<Entry> entries, String currency) {
        Money sum = Money.zero(currency);
        for (Entry e : entries) {
            sum = sum.plus(e.amount());
        }
        return sum;
    }
}
