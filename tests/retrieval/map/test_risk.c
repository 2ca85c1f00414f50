/* test_risk.c - the ten tags on pieces of code in several languages: each is found with its line, none in harmless
 * code, and precision and recall over all pieces. */
#include "tests/support/check.h"
#include "frontend/eval/definition.h"
#include "retrieval/map/risk.h"

static myth_mem *mem;
static myth_risks *risks;

static int begin(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK && myth_risks_open(&risks, mem, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    myth_risks_close(risks);
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

/* ---- what a file is said to be: written by hand, '>' before the line that is the evidence of the tag in front of it
 * ---- */

typedef struct {
    const char *name, *language;
    const char *imports; /* as a parser gives them: "line:module line:module" */
    const char *text;
    const char *tags; /* "sql:3 network:1", in the order of the tags       */
} fixture;

static const fixture fixtures[] = {
    /* one tag each, several languages */
    {"raw sql", "python", "1:sqlite3",
     "import sqlite3\n\ndef find(db, name):\n    return db.execute(\"SELECT id FROM users WHERE name = '%s'\" % "
     "name)\n",
     "sql:4"},
    {"lower-case sql", "javascript", "",
     "function find(db, id) {\n  return db.query('select * from orders where id = ' + id);\n}\n", "sql:2"},
    {"sql in C", "c", "1:sqlite3.h",
     "#include <sqlite3.h>\nint run(sqlite3 *db)\n{\n    return sqlite3_exec(db, q, 0, 0, 0);\n}\n", "sql:4"},
    {"a table", "sql", "", "-- what we keep\nCREATE TABLE users(id INTEGER);\n", "sql:2"},
    {"jdbc", "java", "3:java.sql.Connection",
     "package a;\n\nimport java.sql.Connection;\n\nclass A {\n    void f(Connection c) { "
     "c.prepareStatement(q).executeQuery(); }\n}\n",
     "sql:6"},
    {"files", "python", "1:os 2:shutil", "import os\nimport shutil\n\ndef clean(path):\n    os.remove(path)\n",
     "filesystem:5"},
    {"files in C", "c", "1:stdio.h",
     "#include <stdio.h>\nFILE *read_all(const char *path)\n{\n    return fopen(path, \"rb\");\n}\n", "filesystem:4"},
    {"files in Go", "go", "1:os", "import \"os\"\nfunc f(p string) { os.RemoveAll(p) }\n", "filesystem:2"},
    {"files in Rust", "rust", "1:std::fs", "use std::fs;\nfn f(p: &str) -> String { fs::read_to_string(p).unwrap() }\n",
     "filesystem:2"},
    {"shell", "bash", "", "#!/bin/sh\nset -e\nrm -rf \"$dir\"\n", "filesystem:3"},
    {"sockets", "c", "1:sys/socket.h",
     "#include <sys/socket.h>\nint open_it(void)\n{\n    return socket(AF_INET, SOCK_STREAM, 0);\n}\n", "network:4"},
    {"requests", "python", "1:requests", "import requests\n\ndef get(url):\n    return requests.get(url)\n",
     "network:4"},
    {"fetch", "typescript", "",
     "export async function load(u: string) {\n  const r = await fetch(u);\n  return r.json();\n}\n", "network:2"},
    {"http in Go", "go", "2:net/http", "import (\n\t\"net/http\"\n)\nfunc f() { http.ListenAndServe(\":80\", nil) }\n",
     "network:4"},
    {"curl", "bash", "", "curl -s https://example.org | head\n", "network:1"},
    {"subprocess", "python", "1:subprocess",
     "import subprocess\n\ndef run(cmd):\n    subprocess.run(cmd, shell=True)\n", "subprocess:4"},
    {"system", "c", "", "int go(const char *cmd)\n{\n    return system(cmd);\n}\n", "subprocess:3"},
    {"child process", "javascript", "1:child_process", "const cp = require('child_process');\ncp.exec(line);\n",
     "subprocess:1"},
    {"exec in Go", "go", "1:os/exec", "import \"os/exec\"\nfunc f(a string) { exec.Command(a).Run() }\n",
     "subprocess:2"},
    {"command in Rust", "rust", "1:std::process::Command",
     "use std::process::Command;\nfn f() { Command::new(\"ls\").spawn(); }\n", "subprocess:2"},
    {"pickle", "python", "1:pickle", "import pickle\n\ndef load(b):\n    return pickle.loads(b)\n",
     "deserialization:4"},
    {"yaml", "python", "1:yaml", "import yaml\n\ndef load(s):\n    return yaml.load(s)\n", "deserialization:4"},
    {"objects in Java", "java", "1:java.io.ObjectInputStream",
     "import java.io.ObjectInputStream;\nclass A { Object f(ObjectInputStream s) { return s.readObject(); } }\n",
     "deserialization:2"},
    {"unserialize", "php", "", "<?php\nfunction f($x) { return unserialize($x); }\n", "deserialization:2"},
    {"marshal", "ruby", "", "def load(s)\n  Marshal.load(s)\nend\n", "deserialization:2"},
    {"arguments", "python", "1:argparse", "import argparse\n\np = argparse.ArgumentParser()\n", "user-input:1"},
    {"a request", "javascript", "", "app.use((req, res) => {\n  res.send(req.body.name);\n});\n", "user-input:2"},
    {"main", "c", "", "int main(int argc, char **argv)\n{\n    return argc > 1 && argv[1][0];\n}\n", "user-input:1"},
    {"get", "php", "", "<?php\necho $_GET['name'];\n", "user-input:2"},
    {"flags", "go", "1:flag", "import \"flag\"\nvar n = flag.Int(\"n\", 1, \"\")\n", "user-input:1"},
    {"hashes", "python", "1:hashlib", "import hashlib\n\ndef f(b):\n    return hashlib.md5(b).hexdigest()\n",
     "crypto:1"},
    {"evp", "c", "1:openssl/evp.h",
     "#include <openssl/evp.h>\nvoid f(EVP_CIPHER_CTX *c) { EVP_EncryptInit_ex(c, 0, 0, 0, 0); }\n", "crypto:2"},
    {"java crypto", "java", "1:javax.crypto.Cipher",
     "import javax.crypto.Cipher;\nclass A { void f() { Cipher.getInstance(\"AES\"); } }\n", "crypto:2"},
    {"encrypt", "go", "1:crypto/aes", "import \"crypto/aes\"\nfunc encryptBlock(b []byte) { aes.NewCipher(b) }\n",
     "crypto:2"},
    {"password", "python", "", "DB_PASSWORD = 'x'\n", "secrets:1"},
    {"api key", "javascript", "", "const apiKey = load();\n", "secrets:1"},
    {"environment", "go", "1:os", "import \"os\"\nvar s = os.Getenv(\"CLIENT_SECRET\")\n", "secrets:2"},
    {"settings", "yaml", "", "db:\n  host: localhost\n  password: x\n", "secrets:3"},
    {"json settings", "json", "", "{\n  \"api_key\": \"x\"\n}\n", "secrets:2"},
    {"chmod", "c", "1:sys/stat.h", "#include <sys/stat.h>\nint f(const char *p)\n{\n    return chmod(p, 0600);\n}\n",
     "permissions:4"},
    {"roles", "typescript", "", "export function canEdit(u: User) {\n  return hasPermission(u, 'edit');\n}\n",
     "permissions:2"},
    {"is admin", "python", "", "def delete(user, item):\n    if not user.is_admin:\n        raise Forbidden()\n",
     "permissions:2"},
    {"chmod in shell", "bash", "", "chmod 600 key\n", "permissions:1"},
    {"login", "python", "", "def login(name):\n    return name\n", "auth:1"},
    {"middleware", "go", "", "package a\nfunc Authenticate(next Handler) Handler { return next }\n", "auth:2"},
    {"passport", "javascript", "1:passport", "const passport = require('passport');\n", "auth:1"},
    {"oauth", "java", "1:org.springframework.security.oauth2",
     "import org.springframework.security.oauth2.A;\nclass A {}\n", "auth:1"},
    {"a route", "python", "1:flask", "from flask import Flask\napp = Flask(__name__)\n", ""},
    {"a page", "html", "", "<p>fetch( and process.argv</p>\n<script>\nfetch(url);\n</script>\n<p>prompt(x)</p>\n",
     "network:3"},
    /* several */
    {"a login page", "python", "1:flask 2:sqlite3",
     "from flask import request\nimport sqlite3\n\ndef login():\n    name = request.form['name']\n    password = "
     "request.form['password']\n"
     "    return db.execute(\"SELECT 1 FROM users WHERE name='\" + name + \"'\")\n",
     "auth:4 sql:7 user-input:5 secrets:6"},
    {"an upload", "php", "", "<?php\nmove_uploaded_file($_FILES['f']['tmp_name'], $dir);\nexec('convert ' . $dir);\n",
     "filesystem:2 subprocess:3 user-input:2"},
    {"a daemon", "c", "1:unistd.h 2:sys/socket.h",
     "#include <unistd.h>\n#include <sys/socket.h>\nvoid run(void)\n{\n    int fd = socket(1, 2, 3);\n    if (fork() "
     "== 0)\n"
     "        setuid(1000);\n}\n",
     "network:5 subprocess:6 permissions:7"},
    /* none: look-alikes, comments, prose, declarations */
    {"arithmetic", "c", "1:math.h", "#include <math.h>\ndouble f(double x)\n{\n    return sqrt(x) + pow(x, 2);\n}\n",
     ""},
    {"a comment", "python", "",
     "# os.system(cmd) and SELECT x FROM y; the password is secret\ndef f():\n    return 1\n", ""},
    {"a block comment", "c", "",
     "/* system(cmd);\n * fopen(path, \"r\");\n * socket(1, 2, 3) */\nint f(void) { return 1; }\n", ""},
    {"a method of that name", "python", "", "def f(door):\n    door.open()\n    door.system.check()\n", ""},
    {"its own open", "c", "", "static int open(struct door *d)\n{\n    d->is_open = 1;\n    return 0;\n}\n", ""},
    {"prose in a string", "python", "", "def f():\n    return 'Please select an item from the list'\n", ""},
    {"a message", "javascript", "", "const text = \"Enter your password to update your account, then set it again\";\n",
     ""},
    {"a lexer", "c", "",
     "enum token { T_NAME, T_NUMBER };\nstruct token_list { int n_token; };\nint next_token(void) { return T_NAME; }\n",
     ""},
    {"a lifetime", "rust", "", "struct A<'a> { s: &'a str }\nfn f<'a>(x: &'a str) -> &'a str { x }\n", ""},
    {"words of a shell", "bash", "", "echo read the manual, then remove it\necho --exec-path=/x/rm/y\n", ""},
    {"a path", "javascript", "1:./requests 2:./net/http", "import a from './requests';\nimport b from './net/http';\n",
     ""},
    {"a manual", "markdown", "", "# os.system\n\nSELECT x FROM y with a password\n", ""},
    {"geometry", "java", "", "class Point { int x, y; Point add(Point o) { return new Point(x + o.x, y + o.y); } }\n",
     ""},
    {"a list", "go", "1:fmt",
     "import \"fmt\"\nfunc Sum(a []int) int { n := 0; for _, x := range a { n += x }; fmt.Println(n); return n }\n",
     ""},
    {"one weak word", "python", "", "def parse(role):\n    return role + 1\n", ""},
    {"sort", "typescript", "", "export const by = (k: string) => (a: any, b: any) => a[k] - b[k];\n", ""},
};
enum { N_FIXTURE = sizeof(fixtures) / sizeof(fixtures[0]) };

static uint32_t line_at(const char *text, size_t off)
{
    uint32_t line = 1;
    for (size_t i = 0; i < off; i++)
        line += text[i] == '\n';
    return line;
}

/* As map_make does, but with the definitions that can be read off lines. */
static uint32_t look(const fixture *f, myth_risk_found found[MYTH_RISK_N])
{
    size_t n = strlen(f->text), pos = 0, n_name;
    const char *name;
    char word[128];
    if (!myth_risks_begin(risks, f->language))
        return 0;
    for (const char *p = f->imports; *p;) {
        unsigned line = (unsigned)strtoul(p, NULL, 10);
        p = strchr(p, ':') + 1;
        size_t len = strcspn(p, " ");
        snprintf(word, sizeof(word), "%.*s", (int)len, p);
        myth_risks_import(risks, word, line);
        p += len + (p[len] == ' ');
    }
    while (myth_definition_next(&name, &n_name, f->text, n, &pos)) {
        snprintf(word, sizeof(word), "%.*s", (int)n_name, name);
        myth_risks_define(risks, word, MYTH_SYMBOL_FUNCTION, line_at(f->text, (size_t)(name - f->text)));
    }
    return myth_risks_find(risks, found, (const unsigned char *)f->text, n);
}

static void tags_and_lines(void **state)
{
    (void)state;
    uint32_t right = 0, wrong = 0, missed = 0, has[MYTH_RISK_N] = {0};
    for (int i = 0; i < N_FIXTURE; i++) {
        myth_risk_found found[MYTH_RISK_N];
        char got[256] = "";
        uint32_t n = look(&fixtures[i], found);
        for (uint32_t k = 0; k < n; k++) {
            size_t at = strlen(got);
            snprintf(got + at, sizeof(got) - at, "%s%s:%u", k ? " " : "", myth_risk_name(found[k].tag), found[k].line);
        }
        for (int t = 0; t < MYTH_RISK_N; t++) {
            char tag[32];
            snprintf(tag, sizeof(tag), "%s:", myth_risk_name((myth_risk)t));
            bool is = strstr(fixtures[i].tags, tag) != NULL, says = strstr(got, tag) != NULL;
            has[t] += is;
            right += is && says;
            wrong += !is && says;
            missed += is && !says;
        }
        if (strcmp(got, fixtures[i].tags) != 0)
            print_error("%s: \"%s\", expected \"%s\"\n", fixtures[i].name, got, fixtures[i].tags);
    }
    print_message("risk tags: %u right, %u wrong, %u missed\n", right, wrong, missed);
    for (int t = 0; t < MYTH_RISK_N; t++)
        assert_true(has[t] >= 2); /* every tag is asked for */
    assert_int_equal(wrong, 0);
    assert_int_equal(missed, 0);
}

static void evidence_is_its_line(void **state)
{
    (void)state;
    for (int i = 0; i < N_FIXTURE; i++) {
        myth_risk_found found[MYTH_RISK_N];
        uint32_t n = look(&fixtures[i], found);
        const char *text = fixtures[i].text;
        for (uint32_t k = 0; k < n; k++) {
            char want[32];
            snprintf(want, sizeof(want), "%s:%u", myth_risk_name(found[k].tag), found[k].line);
            assert_true(strstr(fixtures[i].tags, want) != NULL);
            assert_int_equal(line_at(text, found[k].off), found[k].line);
            assert_true(found[k].off == 0 || text[found[k].off - 1] == '\n');
            assert_true(text[found[k].off + found[k].bytes] == '\n' || text[found[k].off + found[k].bytes] == '\0');
        }
    }
}

/* Whatever the bytes are: an end is reached, lines are inside, the next file knows nothing of this one. */
static void any_bytes(void **state)
{
    (void)state;
    static const char *const pieces[] = {"\"", "'",    "`",        "/*",       "*/",    "//",  "#",       "\"\"\"",
                                         "\\", "\n",   "system(",  "SELECT ",  " FROM", "->",  "::",      ".",
                                         "os", "\xff", "\xe2\x80", "password", "<!--",  "-->", "<script", "</script",
                                         "<%", "%>",   "#include", "$",        "_",     "(",   " ",       "a"};
    static const char *const languages[] = {"c",   "python", "javascript", "html", "rust",   "bash",   "sql",
                                            "php", "yaml",   "lua",        "xml",  "erlang", "clojure"};
    uint64_t rng = check_seed();
    uint32_t n_run = check_is_full() ? 20000 : 500;
    for (uint32_t i = 0; i < n_run; i++) {
        unsigned char text[600];
        uint64_t n = 0, most = check_below(&rng, 500);
        myth_risk_found found[MYTH_RISK_N];
        while (n < most) {
            const char *s = pieces[check_below(&rng, sizeof(pieces) / sizeof(pieces[0]))];
            memcpy(text + n, s, strlen(s));
            n += strlen(s);
        }
        unsigned char *exact = malloc(n + !n); /* so that a byte too many is seen */
        memcpy(exact, text, n);
        assert_true(myth_risks_begin(risks, languages[i % (sizeof(languages) / sizeof(languages[0]))]));
        uint32_t k = myth_risks_find(risks, found, exact, n);
        for (uint32_t t = 0; t < k; t++)
            assert_true(found[t].off + found[t].bytes <= n);
        free(exact);
        assert_true(myth_risks_begin(risks, "c"));
        assert_int_equal(myth_risks_find(risks, found, (const unsigned char *)"int x;\n", 7), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tags_and_lines), cmocka_unit_test(evidence_is_its_line),
                                       cmocka_unit_test(any_bytes)};
    return cmocka_run_group_tests(tests, begin, end);
}
