package example.fernhill.billing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;

/** Rendered receipts on disk, one file per invoice, in a folder per year. */
public final class ReceiptFiles {
    private final Path root;

    public ReceiptFiles(Path root) {
        this.root = root;
    }

    public void write(String number, int year, String text) throws IOException {
        Path folder = Files.createDirectories(root.resolve(Integer.toString(year)));
        Path temporary = Files.createTempFile(folder, number, ".tmp");
        Files.writeString(temporary, text, StandardCharsets.UTF_8);
        Files.move(temporary, folder.resolve(number + ".txt"), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** A receipt by the name in the URL: year/number. */
    public Optional<String> read(String name) throws IOException {
        try {
            return Optional.of(Files.readString(root.resolve(name + ".txt")));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    /** Moves the receipts of a year to the archive. */
    public int archive(int year, Path archive) throws IOException {
        Path folder = root.resolve(Integer.toString(year));
        if (!Files.isDirectory(folder)) {
            return 0;
        }
        int n = 0;
        try (var files = Files.list(folder)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Files.move(file, archive.resolve(file.getFileName()));
                n++;
            }
        }
        return n;
    }
}
