import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.Stream;

// What is shared without a lock, and directories that stay open.
class Board {
    private static final SimpleDateFormat DAY = new SimpleDateFormat("yyyy-MM-dd"); // FIRES missing-lock/date-format
    private final SimpleDateFormat ownDay = new SimpleDateFormat("yyyy-MM-dd");
    private final ReentrantLock gate = new ReentrantLock();
    private final Map<String, Integer> scores = new HashMap<>();
    private final Map<String, Integer> marks = new HashMap<>();

    String day(Date date) {
        return DAY.format(date);
    }

    public void put(String name, int score) {
        gate.lock();
        try {
            scores.put(name, score);
            marks.put(name, score);
        } finally {
            gate.unlock();
        }
    }

    public int count(String name) {
        gate.lock();
        try {
            return scores.containsKey(name) && marks.containsKey(name) ? 1 : 0;
        } finally {
            gate.unlock();
        }
    }

    public void drop(String name) {
        scores.remove(name); // FIRES missing-lock/unlocked
    }

    public void quiet_missing_lock_drop(String name) {
        gate.lock();
        try {
            forget(name);
        } finally {
            gate.unlock();
        }
    }

    public String quiet_missing_lock_day(Date date) {
        return ownDay.format(date);
    }

    private void forget(String name) {
        marks.remove(name);
    }

    static List<Path> names(Path folder) throws IOException {
        return Files.list(folder).sorted().collect(Collectors.toList()); // FIRES resource-leak/directory
    }

    static List<Path> quiet_resource_leak_directory(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().collect(Collectors.toList()); // FIRES missing-null-check/result-of-any
        }
    }

    static Stream<Path> quiet_resource_leak_given(Path folder) throws IOException {
        return Files.list(folder).sorted();
    }
}
