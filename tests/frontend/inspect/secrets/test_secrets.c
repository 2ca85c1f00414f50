/* The detectors: secrets of many kinds wherever code and configuration write them, and what only looks like one. */
#include "frontend/inspect/secrets/secrets.h"
#include "frontend/inspect/secrets/sha256.h"

#include "fake_secrets.h"
#include "tests/frontend/inspect/hostile.h"

static void test_sha256(void **unused)
{
    static const struct {
        const char *text;
        uint32_t times;
        const char *hex;
    } row[] = {
        /* FIPS 180-4, examples */
        {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_sha256 s;
        unsigned char d[MYTH_SHA256_BYTES];
        char hex[65];
        myth_sha256_start(&s);
        for (uint32_t k = 0; k < row[i].times; k++)
            myth_sha256_add(&s, row[i].text, strlen(row[i].text));
        myth_sha256_end(&s, d);
        myth_sha256_hex(hex, d, 64);
        assert_string_equal(hex, row[i].hex);
    }
}

/* Whether every byte of the secret that stands at `at` lies in spans; its kind in *kind. */
static bool is_covered(const char *text, size_t at, size_t len, const char **kind)
{
    myth_secret s;
    size_t from = 0, done = at;
    while (done < at + len && myth_secret_next(&s, text, strlen(text), from)) {
        from = s.off + s.len;
        if (s.off <= done && from > done) {
            *kind = done == at ? myth_secret_kind_name(s.kind) : *kind;
            done = from;
        }
    }
    return done >= at + len;
}

/* %s the name, %v the value */
static const char *const forms[] = {
    "%s = \"%v\"",
    "const char *%s = \"%v\";",
    "static const char %s[] = \"%v\";",
    "%s: '%v'",
    "\"%s\": \"%v\",",
    "    '%s' => '%v',",
    "%s=%v",
    "export %s=%v\n",
    "%s: %v\n",
    "os.environ[\"%s\"] = \"%v\"",
    "let %s: &str = \"%v\";",
    "%s := `%v`",
    "<%s>%v</%s>",
    "// old: %s = \"%v\"",
    "?a=1&%s=%v&b=2",
    "{\\\"%s\\\": \\\"%v\\\"}",
    "config.set(\"%s\", \"%v\")",
    "private String %s = \"%v\";",
    "var %s = @\"%v\";",
    "--%s %v\n",
    "%s: str = \"%v\"",
    "x\t%s =\t\"%v\"",
    "%s = b'%v'",
};

static size_t fill(char *dst, size_t cap, const char *form, const char *name, const char *value)
{
    size_t n = 0, at = 0;
    for (const char *p = form; *p; p++) {
        const char *put = p[0] == '%' && p[1] == 's' ? name : p[0] == '%' && p[1] == 'v' ? value : NULL;
        if (put == value)
            at = n;
        n += (size_t)snprintf(dst + n, cap - n, put ? "%s" : "%.1s", put ? put : p);
        p += put != NULL;
    }
    return at;
}

static void test_kinds(void **unused)
{
    (void)unused;
    uint64_t rng = check_seed();
    uint32_t n = 0, rounds = check_is_full() ? 2000 : check_sample(40), n_kind = 0;
    for (uint32_t i = 0; i < FAKE_KINDS; i++) {
        n_kind += i == 0 || strcmp(fake_kinds[i].kind, fake_kinds[i - 1].kind) != 0;
        for (uint32_t k = 0; k < rounds; k++) {
            char secret[FAKE_MAX], text[1024];
            const char *kind = "none", *name = fake_kinds[i].name,
                       *form = forms[k % (sizeof(forms) / sizeof(forms[0]))];
            size_t len = fake_make(secret, &fake_kinds[i], &rng);
            size_t at = fill(text, sizeof(text), form, name ? name : "value", secret);
            /* of an address the host is no secret */
            const char *part = strstr(secret, "services/") ? strstr(secret, "services/") + 9 : secret;
            bool ok = is_covered(text, at + (size_t)(part - secret), len - (size_t)(part - secret), &kind);
            if (!ok || strcmp(kind, fake_kinds[i].kind) != 0)
                print_error("%s: %s: found as %s\n", fake_kinds[i].kind, text, kind);
            assert_true(ok);
            assert_string_equal(kind, fake_kinds[i].kind);
            n++;
        }
    }
    assert_true(n_kind >= 20);
    printf("%u secrets of %u kinds in %zu forms\n", n, n_kind, sizeof(forms) / sizeof(forms[0]));
}

static void test_blocks_and_addresses(void **unused)
{
    static const struct {
        const char *text, *secret, *kind;
    } row[] = {
        {"k = \"\"\"-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----\"\"\"",
         "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----", "private-key"},
        {"-----BEGIN PRIVATE KEY-----\\nMIIEow\\n-----END PRIVATE KEY-----\\n",
         "-----BEGIN PRIVATE KEY-----\\nMIIEow\\n-----END PRIVATE KEY-----", "private-key"},
        {"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNza", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNza",
         "private-key"},
        {"-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQ\n-----END PGP PRIVATE KEY BLOCK-----",
         "-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQ\n", "private-key"},
        {"db = \"postgres://app:s3cr3t-pw@db.local:5432/app\"", "s3cr3t-pw", "url-password"},
        {"git clone https://me:p%40ss@host/x.git", "p%40ss", "url-password"},
        {"DB_PASSWORD=postgres://app:s3cr3t-pw@db.local/app", "postgres://app:s3cr3t-pw@db.local/app", "password"},
        {"token = \"://app:s3cr3t-pw@db.local/app\"", "://app:s3cr3t-pw@db.local/app", "url-password"},
        {"git clone https://ghp_abcdefghijklmnopqrst0123456789:x-oauth-basic@github.com/a",
         "ghp_abcdefghijklmnopqrst0123456789:x-oauth-basic", "github-token"},
        {"https://6da89121079f83b2eb6accc9d2f1@host/1", "6da89121079f83b2eb6accc9d2f1", "token"},
        {"Authorization: Bearer abcdef1234567890abcdef", "abcdef1234567890abcdef", "bearer-token"},
        {"\"Authorization\": \"Basic dXNlcjpwYXNzd29yZA==\"", "dXNlcjpwYXNzd29yZA==", "basic-auth"},
        {"strcmp(password, \"hunter2\") == 0", "hunter2", "password"},
        {"#define DB_PASSWORD \"hunter\"", "hunter", "password"},
        {"const std::string kPassword{\"hunter2\"};", "hunter2", "password"},
        {"password := os.Getenv(\"X\"); if password == \"hunter2\" {", "hunter2", "password"},
        {"DefaultEndpointsProtocol=https;AccountName=x;AccountKey=kd8F7sd6f8sd7f6s8d7f6s8d7f6sd8f7AAAA==",
         "kd8F7sd6f8sd7f6s8d7f6s8d7f6sd8f7AAAA==", "key"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        const char *at = strstr(row[i].text, row[i].secret), *kind = "none";
        assert_non_null(at);
        bool ok = is_covered(row[i].text, (size_t)(at - row[i].text), strlen(row[i].secret), &kind);
        if (!ok)
            print_error("%s: not found\n", row[i].text);
        assert_true(ok);
        assert_string_equal(kind, row[i].kind);
    }
}

static void test_no_secrets(void **unused)
{
    static const char *const row[] = {
        "password = getenv(\"DB_PASSWORD\");",
        "char *password = NULL;",
        "token = lexer_next(&lx);",
        "if (token.kind == TOKEN_STRING)",
        "secret = os.environ[\"APP_SECRET\"]",
        "password: ${DB_PASSWORD}",
        "password: <your password>",
        "password = \"****\"",
        "\"type\": \"password\"",
        "api_key_header = \"X-Api-Key\"",
        "tokenizer = \"gpt2tokenizer-fast\"",
        "for (size_t i = 0; i < n_token; i++)",
        "https://example.org/a:b@c",
        "static const char hex[] = \"0123456789abcdef\";",
        "password=\"\"",
        "return token == END ? 0 : 1;",
        "printf(\"password: %s\\n\", p);",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7",
        "-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----",
        "commit 4a5e1e4baab89f3a32518a88c31bc87f618f7667",
        "uuid = \"123e4567-e89b-12d3-a456-426614174000\"",
        "task-force-one-two-three-four-five",
        "bypass = \"some-route-1\"",
        "int pass = 1;",
        "sk-folding-cube-container-element",
        "Basic usage of the module",
        "bearer of bad news",
        "secretary = \"Jane Doe 42 of Springfield\"",
        "token_url = \"https://auth.local/oauth2/token\"",
        "#include \"password_store.h\"",
        "assert(password_len >= 12);",
        "password[0] = '\\0';",
        "pwd.getpwnam('nobody')",
        "self.password.encode('utf-8')",
        "or pass 'ignore' to ignore",
        "token.append('</div>')",
    };
    (void)unused;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_secret s;
        bool has = myth_secret_next(&s, row[i], strlen(row[i]), 0);
        if (has)
            print_error("%s: taken for a secret: %.*s (%s)\n", row[i], (int)s.len, row[i] + s.off,
                        myth_secret_kind_name(s.kind));
        assert_false(has);
    }
}

/* Spans lie in the text, in order, and do not depend on what was asked before. */
static void test_any_bytes(void **unused)
{
    static const char *const piece[] = {"password", "=",  "\"",        "token", "AKIA",        ":",
                                        "//",       "@",  "eyJ",       ".",     "-----BEGIN ", "PRIVATE KEY-----",
                                        "Bearer ",  "\\", "1234567890"};
    static unsigned char text[4096];
    (void)unused;
    uint64_t rng = check_seed();
    uint32_t n_span = 0, n_round = check_is_full() ? 200000 : check_sample(3000);
    for (uint32_t round = 0; round < n_round; round++) {
        size_t len = hostile_fill(&rng, text, sizeof(text) / 8), end = 0;
        while (len < sizeof(text) / 4 && check_below(&rng, 12)) {
            const char *p = piece[check_below(&rng, sizeof(piece) / sizeof(piece[0]))];
            memcpy(text + len, p, strlen(p));
            len += strlen(p);
        }
        char *tight = malloc(len ? len : 1); /* the sanitizer sees a byte read behind it */
        memcpy(tight, text, len);
        myth_secret s;
        while (myth_secret_next(&s, tight, len, end)) {
            assert_true(s.len > 0 && s.off >= end && s.off + s.len <= len && s.kind < MYTH_SECRET_KIND_N);
            end = s.off + s.len;
            n_span++;
        }
        free(tight);
    }
    printf("%u spans\n", n_span);
    assert_true(n_span > n_round / 30);
}

/* What could make a detector look at the same bytes again and again: a megabyte of each. A detector without a bound
 * takes hours here. */
static void test_long_runs(void **unused)
{
    static const char *const unit[] = {"sk-",         "eyJ",         "eyJ-",
                                       "password=",   "a1",          "-",
                                       "https://a:",  "token ",      "-----BEGIN RSA PRIVATE KEY-----\n",
                                       "key = \"",    "Bearer ",     "MNO-",
                                       "12345678:",   " -p",         "mysql -u m ",
                                       " -u a",       "a:1234:b:c:", "pwd = 'zz yy ",
                                       "password b ", "x login "};
    enum { LEN = 1 << 20 };
    (void)unused;
    char *text = malloc(LEN);
    for (size_t k = 0; k < sizeof(unit) / sizeof(unit[0]); k++) {
        size_t n = strlen(unit[k]), end = 0;
        myth_secret s;
        for (size_t i = 0; i < LEN; i++)
            text[i] = unit[k][i % n];
        while (myth_secret_next(&s, text, LEN, end))
            end = s.off + s.len;
        assert_true(end <= LEN);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_blocks_and_addresses),
        cmocka_unit_test(test_no_secrets),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_long_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
