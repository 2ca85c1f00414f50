// examples.java - for each row of the rules about Java a method in which it finds a place, marked at the end of its
// line, and for each rule one in which the same call or construct is harmless.
package examples;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Map;

class Examples {
    private Node head;
    private Lock mutex;

    // ---- bounds and numbers ----

    static String dayName(String[] names, int day) {
        return names[day]; // FIRES missing-bounds-check/element missing-null-check/parameter
    }

    static void readDigits(Reader in, char[] digits) throws IOException {
        int at = 0;
        while (in.ready()) { // FIRES missing-null-check/parameter
            digits[at] = next(in); // FIRES missing-bounds-check/index-loop
            at++;
        }
    }

    static String quiet_missing_bounds_check(String[] names, int day) {
        if (day < 0 || day >= names.length) { // FIRES missing-null-check/parameter
            return "";
        }
        return names[day];
    }

    static int total(int[] prices) {
        int sum = 0;
        for (int i = 0; i <= prices.length; i++) { // FIRES missing-null-check/parameter off-by-one/behind
            sum += prices[i];
        }
        return sum;
    }

    static int seek(Cursor cursor, byte[] data) {
        int at = cursor.position(); // FIRES missing-null-check/parameter
        if (at > data.length) { // FIRES off-by-one/more
            return -1;
        }
        return cursor.byteAt(at);
    }

    static int advance(Cursor cursor, List<Integer> marks) {
        int at = cursor.position(); // FIRES missing-null-check/parameter
        if (at > marks.size()) { // FIRES off-by-one/more-size
            return -1;
        }
        return cursor.byteAt(at);
    }

    static int quiet_off_by_one(int[] prices) {
        int sum = 0;
        for (int i = 0; i < prices.length; i++) { // FIRES missing-null-check/parameter
            sum += prices[i];
        }
        return sum;
    }

    static ByteBuffer makeTable(int rows, int columns) {
        return ByteBuffer.allocate(rows * columns); // FIRES integer-overflow/size
    }

    static Image makeImage(int width, int height) {
        int size = width * height; // FIRES integer-overflow/kept
        return new Image(size);
    }

    static ByteBuffer quiet_integer_overflow(int rows) {
        return ByteBuffer.allocate(rows);
    }

    static int mean(int sum, int count) {
        return sum / count; // FIRES division-by-zero/divisor
    }

    static int mean(Basket basket, int sum) {
        return sum / basket.units(); // FIRES division-by-zero/result missing-null-check/parameter
    }

    static int quiet_division_by_zero_result(Basket basket, int sum) {
        if (basket.units() == 0) { // FIRES missing-null-check/parameter
            return 0;
        }
        return sum / basket.units();
    }

    static int quiet_division_by_zero(int sum, int count) {
        if (count == 0) {
            return 0;
        }
        return sum / count + sum / 2;
    }

    // ---- texts ----

    static ResultSet findUser(Statement statement, String name) throws SQLException {
        return statement.executeQuery("select id from users where name = '" + name + "'"); // FIRES missing-null-check/parameter sql-injection/quoted
    }

    static ResultSet findOrder(Statement statement, String name) throws SQLException {
        String sql = String.format("select id from orders where name = '%s'", name);
        return statement.executeQuery(sql); // FIRES missing-null-check/parameter sql-injection/quoted
    }

    static String usersBy(String column) {
        String sql = "SELECT name FROM users ORDER BY " + column; // FIRES sql-injection/text
        return sql;
    }

    static String quiet_sql_injection_text(String name) {
        String line = "Select a user, or write " + name;
        return line;
    }

    static ResultSet quiet_sql_injection(Statement statement) throws SQLException {
        return statement.executeQuery("select id from users"); // FIRES missing-null-check/parameter
    }

    static Process archive(String folder) throws IOException {
        return Runtime.getRuntime().exec("tar cf backup.tar " + folder); // FIRES missing-null-check/result-of-call shell-injection/given
    }

    static Process quiet_shell_injection() throws IOException {
        return Runtime.getRuntime().exec("sync"); // FIRES missing-null-check/result-of-call
    }

    static Object load(ObjectInputStream in) throws Exception {
        return in.readObject(); // FIRES missing-null-check/parameter unsafe-deserialization/call
    }

    static int quiet_unsafe_deserialization(ObjectInputStream in) throws Exception {
        return in.readInt(); // FIRES missing-null-check/parameter
    }

    static byte[] readPage(String name) throws IOException {
        return Files.readAllBytes(pages("pages/" + name));
    }

    static File fileOf(String name) {
        return new File("pages/" + name); // FIRES path-traversal/joined
    }

    static File uploadOf(Request request) {
        String name = request.getOriginalFilename(); // FIRES missing-null-check/parameter
        return new File(name); // FIRES path-traversal/request
    }

    static File quiet_path_traversal() {
        return new File("pages/index.html");
    }

    static void greet(PrintWriter out, String name) {
        out.println("<b>Hello " + name + "</b>"); // FIRES missing-null-check/parameter unescaped-output/call
    }

    static void quiet_unescaped_output(PrintWriter out) {
        out.println("<b>Hello</b>"); // FIRES missing-null-check/parameter
    }

    // ---- resources ----

    static void goodbye(Channel channel) {
        channel.close(); // FIRES missing-null-check/parameter
        channel.send("bye"); // FIRES use-after-free/closed
    }

    static void quiet_use_after_free(Channel channel) {
        channel.send("bye"); // FIRES missing-null-check/parameter
        channel.close();
    }

    static int firstByte() throws IOException {
        FileInputStream in = new FileInputStream("/etc/motd"); // FIRES resource-leak/file
        int first = in.read();
        return first;
    }

    int firstRow(Pool pool) throws Exception {
        Connection connection = pool.getConnection(); // FIRES missing-null-check/parameter resource-leak/opened
        if (pool.isEmpty())
            return -1;
        int row = readRow(connection);
        connection.close(); // FIRES missing-null-check/result-of-any
        return row;
    }

    String quiet_resource_leak_wrapped() throws Exception {
        FileInputStream in = new FileInputStream("/etc/motd");
        BufferedReader reader = new BufferedReader(new InputStreamReader(in));
        String line = reader.readLine();
        reader.close();
        return line;
    }

    static int quiet_resource_leak() throws IOException {
        try (FileInputStream in = new FileInputStream("/etc/motd")) {
            int first = in.read();
            return first;
        }
    }

    // ---- values that may be absent ----

    static String cityOf(Map<String, Address> addresses, String name) {
        Address address = addresses.get(name); // FIRES missing-null-check/parameter
        return address.city(); // FIRES missing-null-check/result
    }

    static String titleOf(Page page) {
        String title = page.title(); // FIRES missing-null-check/used-first
        if (page == null) {
            return "";
        }
        return title;
    }

    static String childLabel(Node node) {
        if (node.child == null) { // FIRES missing-null-check/parameter
            return "";
        }
        return node.child.label;
    }

    static boolean isLeaf(Node node) {
        return node.child == null; // FIRES missing-null-check/parameter
    }

    static String childLabels(Node node) {
        return node.child.label + "s"; // FIRES missing-null-check/field
    }

    static String nextLabel(Node node) {
        if (node.next != null) { // FIRES missing-null-check/parameter
            return node.next.label;
        }
        return "";
    }

    static void skipOne(Node node) {
        node.label = node.next.label; // FIRES missing-null-check/field-sometimes missing-null-check/parameter
    }

    static void skipTwo(Node node) {
        node.size = node.next.size; // FIRES missing-null-check/field-sometimes missing-null-check/parameter
    }

    static String labelOf(Node node, boolean isLong) {
        String text = "";
        if (node != null) {
            text = "node";
        }
        if (isLong) {
            text += node.label; // FIRES missing-null-check/other-branch
        }
        return text;
    }

    static String resetLabel() {
        Node node = null;
        return node.label; // FIRES missing-null-check/null
    }

    static String quiet_missing_null_check(Map<String, Address> addresses, String name) {
        if (addresses == null) {
            return "";
        }
        Address address = addresses.get(name);
        if (address == null) {
            return "";
        }
        return address.city();
    }

    static String ownerName(Account account) {
        if (account == null) {
            return account.owner(); // FIRES inverted-condition/absent-used
        }
        return "";
    }

    static String quiet_inverted_condition(Account account) {
        if (account != null) {
            return account.owner();
        }
        return "";
    }

    // ---- order ----

    static int resize(int width, int height) {
        return areaOf(width, height);
    }

    static int turn(int width, int height) {
        return resize(height, width); // FIRES swapped-arguments/both
    }

    static int turnWide(int height, int limit) {
        return resize(height, limit); // FIRES swapped-arguments/names
    }

    static int quiet_swapped_arguments(int width, int height) {
        return resize(width, height);
    }

    static void copyBox(Box target, Box source) {
        target.left = source.left; // FIRES missing-null-check/parameter
        target.right = source.left; // FIRES copied-block/stayed
    }

    static void resetBox(Box target, int left) {
        target.left = left; // FIRES missing-null-check/parameter
        target.top = left; // FIRES copied-block/name
    }

    static void quiet_copied_block(Box target, Box source) {
        target.left = source.left; // FIRES missing-null-check/parameter
        target.right = source.right;
    }

    static void removeCache() throws IOException {
        Path path = cachePath();
        if (Files.exists(path)) {
            Files.delete(path); // FIRES check-use-race/path
        }
    }

    static void quiet_check_use_race() throws IOException {
        Path path = cachePath();
        Files.deleteIfExists(path);
    }

    String takeJob(Queue<String> jobs) {
        mutex.lock(); // FIRES missing-unlock/one-way
        if (jobs.isEmpty()) { // FIRES missing-null-check/parameter
            return "";
        }
        String job = nextJob(jobs);
        mutex.unlock();
        return job;
    }

    void takeAll(Queue<String> jobs) {
        mutex.lock(); // FIRES missing-unlock/path
        useJobs(jobs);
    }

    void dropJob(Queue<String> jobs) {
        mutex.lock();
        dropFirst(jobs);
        mutex.lock(); // FIRES missing-unlock/twice
        mutex.unlock();
    }

    String quiet_missing_unlock(Queue<String> jobs) {
        mutex.lock();
        String job = "";
        try {
            job = nextJob(jobs);
        } finally {
            mutex.unlock();
        }
        return job;
    }

    // ---- results and errors ----

    static void removeUpload(File upload) {
        upload.delete(); // FIRES missing-null-check/parameter unchecked-return/dropped
    }

    static int syncFirst(Jobs jobs) {
        if (!syncJobs(jobs)) {
            return -1;
        }
        return 0;
    }

    static int syncSecond(Jobs jobs) {
        if (!syncJobs(jobs)) {
            return -2;
        }
        return 0;
    }

    static void syncThird(Jobs jobs) {
        syncJobs(jobs); // FIRES unchecked-return/elsewhere
    }

    static boolean quiet_unchecked_return(File upload) {
        return upload.delete(); // FIRES missing-null-check/parameter
    }

    static void loadPlugins(List<String> names) {
        for (String name : names) {
            try {
                loadPlugin(name);
            } catch (IOException error) { // FIRES error-swallowed/empty
            }
        }
    }

    static int pluginState(String name) {
        try {
            return loadPlugin(name);
        } catch (Exception error) { // FIRES error-swallowed/broad
            return -1;
        }
    }

    static void quiet_error_swallowed(List<String> names) {
        for (String name : names) {
            try {
                loadPlugin(name);
            } catch (IOException error) {
                report(name, error);
            }
        }
    }

    // ---- secrets ----

    static Database connect() {
        String password = "hunter2-9f8b"; // FIRES hardcoded-secret/assigned
        return openDatabase(password);
    }

    static Database quiet_hardcoded_secret() {
        String password = System.getenv("DB_PASSWORD");
        return openDatabase(password);
    }

    static byte[] digest(byte[] text) {
        return DigestUtils.md5(text); // FIRES weak-hash/call
    }

    static byte[] namedDigest(byte[] text) throws Exception {
        return MessageDigest.getInstance("MD5").digest(text); // FIRES missing-null-check/result-of-call weak-hash/named
    }

    static byte[] quiet_weak_hash(byte[] text) throws Exception {
        return MessageDigest.getInstance("SHA-256").digest(text); // FIRES missing-null-check/result-of-call
    }

    static int agesOf(Person person) {
        if (person == null) {
            return 0;
        }
        Address home = chooseHome(person);
        return home.age(); // FIRES missing-null-check/result-of-any
    }

    static int quiet_missing_null_check_home(Person person) {
        if (person == null) {
            return 0;
        }
        Address home = chooseHome(person);
        return home == null ? 0 : home.age();
    }

    int ageOfOwner() {
        return this.owner.age(); // FIRES missing-null-check/chain
    }

    // ---- texts that the program itself puts together, and what a request says ----

    static ResultSet findOwnUser(Statement statement) throws SQLException {
        return statement.executeQuery("select id from users where name = '" + ownName() + "'"); // FIRES missing-null-check/parameter sql-injection/joined
    }

    static ResultSet findOwnOrder(Statement statement) throws SQLException {
        String sql = String.format("select id from orders where name = '%s'", ownName());
        return statement.executeQuery(sql); // FIRES missing-null-check/parameter sql-injection/made
    }

    static ResultSet findShelf(Statement statement, String shelf) throws SQLException {
        return statement.executeQuery("select id from shelves where code = " + shelf); // FIRES missing-null-check/parameter sql-injection/compared
    }

    static ResultSet sortedUsers(Statement statement, Request request) throws SQLException {
        String order = request.getParameter("order"); // FIRES missing-null-check/parameter
        return statement.executeQuery("SELECT name FROM users ORDER BY " + order); // FIRES sql-injection/request
    }

    static Process archiveOwn() throws IOException {
        return Runtime.getRuntime().exec("tar cf backup.tar " + ownFolder()); // FIRES missing-null-check/result-of-call shell-injection/command
    }

    static JsonObject quiet_unsafe_deserialization_json(Reader reader) {
        return Json.createReader(reader).readObject();
    }

    static byte[] readUpload(Request request) throws IOException {
        return new FileInputStream("uploads/" + request.getParameter("name")).readAllBytes(); // FIRES path-traversal/request // FIRES missing-null-check/parameter
    }

    static String textOf(Request request) throws IOException {
        String name = request.getParameter("name"); // FIRES missing-null-check/parameter
        return Files.readString(Paths.get("uploads", name)); // FIRES path-traversal/request
    }

    static Upload quiet_path_traversal_key(Request request, Uploads uploads) {
        return uploads.download(request.getParameter("key")); // FIRES missing-null-check/parameter
    }

    static void deleteNear(String folder) throws IOException {
        Path file = Paths.get(folder, "notes.txt"); // FIRES path-traversal/joined
        Files.delete(file); // FIRES path-traversal/made
    }

    static Database connectPlain() {
        String password = "opensesame"; // FIRES hardcoded-secret/plain
        return openDatabase(password);
    }

    static byte[] keepPassword(byte[] password) {
        return DigestUtils.md5(password); // FIRES weak-hash/password
    }

    static byte[] markOf(String secret, String body) {
        return DigestUtils.md5(secret + body); // FIRES weak-hash/secret
    }

    static byte[] quiet_weak_hash_etag(byte[] text) {
        byte[] etag = DigestUtils.md5(text);
        return etag;
    }

    static String usersNamed(String name) {
        String sql = "SELECT id FROM users WHERE name = '" + name + "'"; // FIRES sql-injection/text-quoted
        return sql;
    }

    // ---- values that are there, or seem to be ----

    static boolean isNamed(HttpServletRequest request) {
        String name = request.getParameter("name"); // FIRES missing-null-check/parameter
        return name.equals("root"); // FIRES missing-null-check/absent
    }

    static String titleIf(Page page, boolean isLong) {
        String title = "";
        if (isLong) {
            title = page.title(); // FIRES missing-null-check/later
        }
        if (page == null) {
            return "";
        }
        return title;
    }

    static void warmUp(List<String> names) {
        try {
            loadPlugins(names);
            checkPlugins();
        } catch (Exception error) // FIRES error-swallowed/silent
        {
        }
    }

    static void warmUpOne(String name) {
        try {
            loadPlugin(name);
        } catch (Exception error) // FIRES error-swallowed/silent-one
        {
        }
    }

    static int weightOfAll() {
        int weight = 0;
        Peer a = peer(1);
        if (a != null) {
            weight += a.weight;
        }
        Peer b = peer(2);
        if (b != null) {
            weight += b.weight;
        }
        Peer c = peer(3);
        if (c != null) {
            weight += c.weight;
        }
        Peer d = peer(4);
        if (d != null) {
            weight += d.weight;
        }
        Peer e = peer(5);
        return weight + e.weight; // FIRES missing-null-check/looked-up
    }

    static String secretOf(String line) {
        return line.split(":")[1]; // FIRES missing-bounds-check/part-at-once missing-null-check/parameter
    }

    static String quiet_missing_bounds_check_asked(String pair) {
        String[] parts = pair.split(":"); // FIRES missing-null-check/parameter
        return parts[1]; // FIRES missing-null-check/result-of-any
    }

    static String secondOrAll(String pair) {
        if (!pair.contains(":")) { // FIRES missing-null-check/parameter
            return pair;
        }
        return quiet_missing_bounds_check_asked(pair);
    }

    static String hostOf(String line) {
        String[] parts = line.split(":"); // FIRES missing-null-check/parameter
        return parts[1]; // FIRES missing-bounds-check/part-taken missing-null-check/result-of-any
    }

    static byte[] quiet_missing_bounds_check_lengths(byte[] message) {
        byte[][] parts = Bytes.split(message, message.length - 8, 8); // FIRES missing-null-check/parameter
        return parts[1]; // FIRES missing-null-check/result-of-any
    }

    static String quiet_missing_bounds_check_host(String line) {
        String[] parts = line.split(":"); // FIRES missing-null-check/parameter
        return parts.length > 1 ? parts[1] : ""; // FIRES missing-null-check/result-of-any
    }

    static String quiet_missing_bounds_check_secret(String line) {
        return line.contains(":") ? line.split(":")[1] : ""; // FIRES missing-null-check/parameter
    }

    static int takeUpTo(int[] prices, int last, int sum) {
        for (int i = 0; i <= last; i++) { // FIRES off-by-one/at-most
            sum += prices[i]; // FIRES missing-null-check/parameter
        }
        return sum;
    }

    static int meanOf(List<Integer> marks, int sum) {
        return sum / marks.size(); // FIRES division-by-zero/count missing-null-check/parameter
    }

    static int meanKept(List<Integer> marks, int sum) {
        int n = marks.size(); // FIRES missing-null-check/parameter
        return sum / n; // FIRES division-by-zero/count-kept
    }

    static int share(int[] prices, int sum) {
        return sum / prices.length; // FIRES division-by-zero/length missing-null-check/parameter
    }

    static int quiet_division_by_zero_share(int[] prices, int sum) {
        if (prices.length == 0) { // FIRES missing-null-check/parameter
            return 0;
        }
        return sum / prices.length;
    }

    static int markAt(int[] marks, int at) {
        if (at > marks.length) { // FIRES missing-null-check/parameter off-by-one/more-own
            return 0;
        }
        return marks[at];
    }

    static String firstOwner(Store store) {
        List<String> owners = store.owners(); // FIRES missing-null-check/parameter
        return owners.get(0); // FIRES missing-bounds-check/first-got missing-null-check/result-of-any
    }

    static String quiet_missing_bounds_check_owner(Store store) {
        List<String> owners = store.owners(); // FIRES missing-null-check/parameter
        return owners.isEmpty() ? "" : owners.get(0); // FIRES missing-null-check/result-of-any
    }

    static String encoded(String scheme, String password) {
        switch (scheme) {
        case "MD5":
            return DigestUtils.md5Hex(password); // FIRES weak-hash/password-named
        default:
            return slowHash(password);
        }
    }

    static boolean isAnswer(String password, String nonce, String response) {
        String expected = DigestUtils.md5Hex(password + nonce); // FIRES weak-hash/password-answer
        return expected.equals(response); // FIRES missing-null-check/result-of-any
    }

    static String quiet_weak_hash_scheme(String scheme, String password) {
        if (scheme.equals("BCRYPT")) { // FIRES missing-null-check/parameter
            return slowHash(password);
        }
        return null;
    }

    static String quiet_missing_bounds_check_uuid() {
        String[] parts = UUID.randomUUID().toString().split("-");
        return parts[4]; // FIRES missing-null-check/result-of-any
    }

    String quiet_resource_leak_finally(Connection connection, String name) throws Exception {
        PreparedStatement statement = null;
        try {
            statement = connection.prepareStatement("SELECT title FROM albums WHERE name = ?"); // FIRES missing-null-check/parameter
            statement.setString(1, name); // FIRES missing-null-check/result-of-any
            return titleOf(statement);
        } finally {
            JdbcUtils.closeStatement(statement);
        }
    }

    String titleLeft(Connection connection, String name) throws Exception {
        PreparedStatement statement = null;
        try {
            statement = connection.prepareStatement("SELECT title FROM albums WHERE name = ?"); // FIRES missing-null-check/parameter resource-leak/file
            statement.setString(1, name); // FIRES missing-null-check/result-of-any
            return "";
        } finally {
            JdbcUtils.note(name);
        }
    }

    static String quiet_resource_leak_in_memory(Exception e) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        e.printStackTrace(out); // FIRES missing-null-check/parameter
        return text.toString();
    }
}
