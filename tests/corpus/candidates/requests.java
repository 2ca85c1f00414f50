// Parts of requests where a program takes them for its own. Marks: see test_examples.c.
class Requests {
    Process lookUp(HttpServletRequest request) throws IOException {
        return Runtime.getRuntime().exec("nslookup " + request.getParameter("host")); // FIRES shell-injection/request missing-null-check/result-of-call missing-null-check/parameter
    }

    Process lookUpNamed(HttpServletRequest asked) throws IOException {
        return Runtime.getRuntime().exec("nslookup " + asked.getParameter("host")); // FIRES shell-injection/request missing-null-check/result-of-call missing-null-check/parameter
    }

    Object restore(HttpServletRequest request) throws Exception {
        try (ObjectInputStream in = new ObjectInputStream(request.getInputStream())) { // FIRES missing-null-check/parameter
            return in.readObject(); // FIRES unsafe-deserialization/request
        }
    }

    void greet(HttpServletRequest request, PrintWriter page) {
        page.println("<p>Hello " + request.getParameter("name") + "</p>"); // FIRES unescaped-output/request missing-null-check/parameter
    }

    ResultSet named(Statement statement, @RequestParam String name) throws SQLException {
        return statement.executeQuery("SELECT id FROM users WHERE name = '" + name + "'"); // FIRES sql-injection/request missing-null-check/parameter
    }

    ResultSet numbered(Statement statement, @PathVariable long id) throws SQLException {
        return statement.executeQuery("SELECT id FROM users WHERE id = " + id); // FIRES sql-injection/joined missing-null-check/parameter
    }

    void filtered(StringBuilder sql, Filter filter) {
        sql.append(" AND name LIKE '%").append(filter.name()).append("%'"); // FIRES sql-injection/appended missing-null-check/parameter
    }

    void quiet_sql_injection_bound(StringBuilder sql, List<Object> values, Filter filter) {
        sql.append(" AND name LIKE ?"); // FIRES missing-null-check/parameter
        values.add("%" + filter.name() + "%");
    }

    void goOn(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.sendRedirect(request.getParameter("next")); // FIRES open-redirect/request missing-null-check/parameter
    }

    void quiet_open_redirect_own(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.sendRedirect("/users?id=" + request.getParameter("id")); // FIRES missing-null-check/parameter
    }

    void quiet_open_redirect_checked(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String next = request.getParameter("next"); // FIRES missing-null-check/parameter
        if (targets.contains(next)) {
            response.sendRedirect(next);
        }
    }

    URL preview(@RequestParam String address) throws MalformedURLException {
        return new URL(address); // FIRES request-forgery/request
    }

    URL quiet_request_forgery_host(@RequestParam String name) throws MalformedURLException {
        return new URL("https://example.org/" + name);
    }

    void send(HttpServletRequest request, OutputStream out) throws IOException {
        copy(root.resolve(request.getParameter("name")), out); // FIRES missing-null-check/parameter
    }

    private void copy(Path file, OutputStream out) throws IOException {
        Files.copy(file, out); // FIRES path-traversal/request
    }

    // what is closed later, but not on every way out

    int firstByte(String name) throws IOException {
        FileInputStream in = new FileInputStream(name); // FIRES resource-leak/closed-later path-traversal/joined
        int first = in.read();
        if (first < 0) {
            return 0;
        }
        in.close();
        return first;
    }

    byte[] header(InputStream in) throws IOException {
        byte[] header = new byte[16];
        in.read(header); // FIRES unchecked-return/partial-read missing-null-check/parameter
        return header;
    }

    int partAt(FileChannel channel, ByteBuffer buffer) throws IOException {
        channel.read(buffer, 16L); // FIRES unchecked-return/partial-read missing-null-check/parameter
        return buffer.getInt(0);
    }

    void quiet_unchecked_return_object(Bucket bucket, Store store, Input input) {
        bucket.read(store, input); // FIRES missing-null-check/parameter
        store.delete(bucket);
    }

    byte[] quiet_unchecked_return_available(FileInputStream in) throws IOException {
        byte[] all = new byte[in.available()]; // FIRES missing-null-check/parameter
        in.read(all);
        return all;
    }

    byte[] quiet_unchecked_return_available_named(FileInputStream in) throws IOException {
        int n = in.available(); // FIRES missing-null-check/parameter
        byte[] all = new byte[n];
        in.read(all, 0, n);
        return all;
    }

    int quiet_unchecked_return_one(InputStream in) throws IOException {
        int first = in.read(); // FIRES missing-null-check/parameter
        return first < 0 ? 0 : first;
    }

    void quiet_unchecked_return_skipped(InputStream in, int n) throws IOException {
        byte[] skipped = new byte[n];
        in.read(skipped, 0, n); // FIRES missing-null-check/parameter
    }

    byte[] quiet_unchecked_return_memory(ByteArrayInputStream in) {
        byte[] header = new byte[16];
        in.read(header, 0, 16); // FIRES missing-null-check/parameter
        return header;
    }

    static final String RELEASE = "https://example.org/shop/tool/releases/latest";

    static void unpackRelease(ZipInputStream zip, Path folder) throws IOException {
        ZipEntry entry = zip.getNextEntry(); // FIRES missing-null-check/parameter
        Path target = folder.resolve(entry.getName()); // FIRES path-traversal/archive-release missing-null-check/result-of-any
        Files.copy(zip, target); // FIRES path-traversal/joined path-traversal/made
    }
}
