// readers.java - what reads texts from outside as more than texts. The marks are those of test_examples.c.
class Readers {
    static Document fromUpload(InputStream upload) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance(); // FIRES xml-entities/factory
        DocumentBuilder builder = factory.newDocumentBuilder();
        return builder.parse(upload);
    }

    static Document quiet_xml_entities_set(InputStream upload) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
        DocumentBuilder builder = factory.newDocumentBuilder();
        return builder.parse(upload);
    }

    static Document quiet_xml_entities_own(File settings) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        DocumentBuilder builder = factory.newDocumentBuilder();
        return builder.parse(settings);
    }

    static Document quiet_xml_entities_helper(InputStream upload) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        harden(factory);
        DocumentBuilder builder = factory.newDocumentBuilder();
        return builder.parse(upload);
    }

    static void find(LdapTemplate ldap, String login) {
        String filter = "(&(objectClass=person)(uid=" + login + "))"; // FIRES ldap-injection/filter
        ldap.list(filter); // FIRES missing-null-check/parameter
    }

    static void findAt(LdapTemplate ldap, String login) {
        ldap.search("ou=people", "(uid=" + login + ")", MAPPER); // FIRES ldap-injection/search missing-null-check/parameter
    }

    static void quiet_ldap_injection_escaped(LdapTemplate ldap, String login, int number) {
        ldap.search("ou=people", "(uid=" + LdapEncoder.filterEncode(login) + ")", MAPPER); // FIRES missing-null-check/parameter
        ldap.search("ou=people", "(uidNumber=" + number + ")", MAPPER);
        ldap.search("ou=people", "(objectClass=person)", MAPPER);
    }

    static Pattern asked(HttpServletRequest request) {
        return Pattern.compile(request.getParameter("pattern")); // FIRES regex-injection/request missing-null-check/parameter
    }

    static Pattern quiet_regex_injection_quoted(HttpServletRequest request) {
        return Pattern.compile(Pattern.quote(request.getParameter("word"))); // FIRES missing-null-check/parameter
    }

    static void unpack(ZipInputStream zip, Path folder) throws IOException {
        ZipEntry entry = zip.getNextEntry(); // FIRES missing-null-check/parameter
        Path target = folder.resolve(entry.getName()); // FIRES path-traversal/archive missing-null-check/result-of-any
        Files.copy(zip, target); // FIRES path-traversal/joined path-traversal/made
    }

    static void unpackAsked(ZipInputStream zip, Path folder) throws IOException {
        ZipEntry entry = zip.getNextEntry(); // FIRES missing-null-check/parameter
        Path target = folder.resolve(entry.getName()); // FIRES missing-null-check/result-of-any
        refuseTraversal(folder, target);
        Files.copy(zip, target); // FIRES path-traversal/joined path-traversal/made
    }

    static void quiet_path_traversal_checked(ZipInputStream zip, Path folder) throws IOException {
        ZipEntry entry = zip.getNextEntry(); // FIRES missing-null-check/parameter
        Path target = folder.resolve(entry.getName()).normalize(); // FIRES missing-null-check/result-of-call missing-null-check/result-of-any
        if (!target.startsWith(folder)) {
            throw new IOException("outside");
        }
        write(target, zip);
    }

    static Process list(String folder) throws IOException {
        return new ProcessBuilder("sh", "-c", "ls -l " + folder).start(); // FIRES shell-injection/inner
    }

    static Process listAll(String folder) throws IOException {
        return new ProcessBuilder(new String[] {"sh", "-c", "ls -l " + folder}).start(); // FIRES shell-injection/inner
    }

    static Process quiet_shell_injection_parts(String folder) throws IOException {
        Process first = new ProcessBuilder("ls", "-l", folder).start();
        return new ProcessBuilder("sh", "-c", "ls -l /tmp | wc").start();
    }
}
