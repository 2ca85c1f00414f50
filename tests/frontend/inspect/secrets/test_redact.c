/* test_redact.c - no form of a report shows a secret of the inspected file, whole or in pieces, in code, evidence, the
 * model's texts, names or reasons. */
#include "tests/frontend/inspect/report/report_bed.h"
#include "fake_secrets.h"

#include <jansson.h>

static bed b;
enum { N_SECRET = FAKE_KINDS, PIECE = 14 };

/* Whether the text has PIECE bytes in a row that are also in the secret; the whole of a shorter secret. */
static bool shows(const char *text, size_t len, const char *secret)
{
    size_t n = strlen(secret), piece = n < PIECE ? n : PIECE;
    for (size_t i = 0; i + piece <= n; i++)
        for (const char *p = text; (p = memchr(p, secret[i], len - (size_t)(p - text))) != NULL; p++)
            if (len - (size_t)(p - text) >= piece && !memcmp(p, secret + i, piece)) {
                print_error("  shows %.*s of %s: ...%.80s\n", (int)piece, secret + i, secret,
                            p > text + 40 ? p - 40 : text);
                return true;
            }
    return false;
}

/* As a reader of the form has it: entities and percent escapes decoded, JSON's few escapes too. */
static size_t decoded(char *dst, const char *text, size_t len)
{
    static const struct {
        const char *from;
        char to;
    } row[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''},
               {"%25", '%'},   {"%3A", ':'},  {"%2C", ','},  {"%2B", '+'},    {"%2F", '/'},
               {"%3D", '='},   {"%21", '!'},  {"\\\"", '"'}, {"\\\\", '\\'}};
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        size_t k = 0, m = sizeof(row) / sizeof(row[0]);
        while (k < m && (len - i < strlen(row[k].from) || memcmp(text + i, row[k].from, strlen(row[k].from)) != 0))
            k++;
        dst[n++] = k < m ? row[k].to : text[i];
        i += k < m ? strlen(row[k].from) : 1;
    }
    return n;
}

/* Returns the part of a made secret that must be hidden: of a webhook's address, what follows "services/". */
static const char *secret_part(const char *secret)
{
    const char *at = strstr(secret, "services/");
    return at ? at + 9 : secret;
}

static void test_every_form(void **unused)
{
    static char secret[N_SECRET][FAKE_MAX], code[16384], clear[1 << 20];
    (void)unused;
    uint64_t rng = check_seed();
    for (uint32_t round = 0; round < (check_is_full() ? 50u : 5u); round++) {
        size_t n = 0;
        for (uint32_t i = 0; i < N_SECRET; i++) {
            fake_make(secret[i], &fake_kinds[i], &rng);
            n += (size_t)snprintf(code + n, sizeof(code) - n, "%s = \"%s\"   // mythos:ignore[weak-hash] was %s\n",
                                  fake_kinds[i].name ? fake_kinds[i].name : "x", secret[i], secret[i]);
        }
        n += (size_t)snprintf(code + n, sizeof(code) - n,
                              "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx7q1\nq8sDf97asdf98a7sd9f8\n-----END "
                              "RSA PRIVATE KEY-----\n"
                              "repeated %s here\n",
                              secret[0]);
        b.text_used = 0;
        bed_open(&b, "d/a.c", code, n);
        for (uint32_t i = 0; i < N_SECRET; i++) {
            myth_finding *f = bed_add(&b, "hardcoded-secret", i + 1, i + 1, i + 1);
            size_t len = strlen(secret[i]), from = check_below(&rng, (uint32_t)len / 2), part = len - from;
            const char *at = strstr(b.code + b.src.line[i].off, secret[i]);
            if (check_below(&rng, 2)) { /* the evidence is a piece of the secret */
                b.citation[i].off = (uint32_t)(at - b.code) + (uint32_t)from;
                b.citation[i].len = (uint32_t)part;
                f->evidence = (myth_str){at + from, part};
            }
            char text[1024];
            snprintf(text, sizeof(text), "the value %s of line %u, again %.*s, is in the source", secret[i], i + 1,
                     (int)(len > PIECE ? len - 1 : len), secret[i]);
            f->issue = bed_str(&b, text);
            if (len > PIECE + 4) {
                snprintf(text, sizeof(text), "because `%s` is known", secret[i] + 3);
                f->why = bed_str(&b, text);
            }
            snprintf(text, sizeof(text), "remove '%s'", secret[i]);
            f->fix = bed_str(&b, text);
            f->missing = bed_str(&b, secret[i]);
        }
        bed_add(&b, "other", N_SECRET + 2, N_SECRET + 3, N_SECRET + 3); /* in the middle of the key block */
        bed_add(&b, "other", N_SECRET + 5, N_SECRET + 5, N_SECRET + 5);
        b.context[0] = bed_str(&b, secret[1]);
        b.report.n_context = 1;
        bed_mark(&b, true, NULL);
        for (int form = 0; form < MYTH_FORM_N; form++) {
            size_t len;
            char *text = bed_render(&b, (myth_form)form, &len);
            assert_true(len < sizeof(clear));
            assert_non_null(strstr(text, "[REDACTED"));
            size_t n_clear = decoded(clear, text, len);
            for (uint32_t i = 0; i < N_SECRET; i++)
                if (shows(text, len, secret_part(secret[i])) || shows(clear, n_clear, secret_part(secret[i]))) {
                    print_error("%s shows a %s\n", myth_form_name((myth_form)form), fake_kinds[i].kind);
                    fail();
                }
            assert_false(shows(text, len, "MIIEowIBAAKCAQEAx7q1"));
            assert_false(shows(text, len, "q8sDf97asdf98a7sd9f8"));
            free(text);
        }
        bed_close(&b);
    }
    printf("%u secrets in %d forms\n", (uint32_t)N_SECRET, (int)MYTH_FORM_N);
}

/* When a secret contains the name of its own file, the path stays in every form and the secret does not. */
static void test_paths_stay(void **unused)
{
    static const char secret[] = "vault-store99.py-x7Kq2Lm9Tz4", path[] = "src/vault-store99.py";
    static const char code[] = "def f(s):\n    api_token = \"vault-store99.py-x7Kq2Lm9Tz4\"\n    return eval(s)\n";
    (void)unused;
    b.text_used = 0;
    bed_open(&b, path, code, sizeof(code) - 1);
    bed_add(&b, "hardcoded-secret", 2, 2, 2)->issue = bed_str(&b, "vault-store99.py-x7Kq2Lm9Tz4 is in the source");
    bed_mark(&b, true, NULL);
    for (int form = 0; form < MYTH_FORM_N; form++) {
        size_t len;
        char *text = bed_render(&b, (myth_form)form, &len);
        if (!strstr(text, path) || strstr(text, secret) || !strstr(text, "[REDACTED:token"))
            fail_msg("%s: %.400s", myth_form_name((myth_form)form), text);
        free(text);
    }
    bed_close(&b);
}

static char out[4096];
static size_t n_out;
static void put(void *user, const char *text, size_t len, bool is_placeholder)
{
    (void)user;
    assert_true(n_out + len < sizeof(out));
    assert_true(!is_placeholder || !memcmp(text, "[REDACTED:", 10));
    memcpy(out + n_out, text, len);
    out[n_out += len] = '\0';
}

static const char *redacted(const myth_redactor *r, const char *text)
{
    n_out = 0;
    out[0] = '\0';
    myth_redact_text(r, text, strlen(text), put, NULL);
    return out;
}

/* Everything around a secret stays byte for byte, and the same secret has the same placeholder everywhere. */
static void test_names(void **unused)
{
    static const char code[] = "pw = \"correcthorse9\"\nkey = \"AKIAIOSFODNN7EXAMPLE\";\n";
    (void)unused;
    bed_open(&b, "a.py", code, sizeof(code) - 1);
    bed_mark(&b, true, NULL);
    const myth_redactor *r = b.report.redactor;
    assert_int_equal(myth_redactor_count(r), 2);
    assert_string_equal(redacted(r, "nothing of note: 1 + 1"), "nothing of note: 1 + 1");
    assert_string_equal(redacted(NULL, "key AKIAIOSFODNN7EXAMPLE!"),
                        "key [REDACTED:aws-key:1a5d44a2]!"); /* sha256sum says 1a5d44a2... */
    assert_string_equal(redacted(r, "see IOSFODNN7EXAMPLE there"),
                        "see [REDACTED:aws-key:1a5d44a2] there"); /* a piece has the placeholder of the whole */
    assert_string_equal(redacted(r, "see IOSFODNN7EXAMPLE"),
                        "see [REDACTED:aws-key:1a5d44a2]"); /* also at the end of the text */
    assert_string_equal(redacted(r, "IOSFODNN7EXAMPLE"), "[REDACTED:aws-key:1a5d44a2]");
    assert_string_equal(redacted(r, "see EXAMPLE there"), "see EXAMPLE there");
    n_out = 0;
    myth_redact_bytes(r, &b.src, b.src.line[1].off, b.src.line[1].len, put, NULL);
    assert_string_equal(out, "key = \"[REDACTED:aws-key:1a5d44a2]\";");
    for (uint32_t from = 0; from < b.src.line[1].len; from++) /* any piece of the line */
        for (uint32_t len = 1; from + len <= b.src.line[1].len; len++) {
            n_out = 0;
            myth_redact_bytes(r, &b.src, b.src.line[1].off + from, len, put, NULL);
            assert_null(strstr(out, "AKIA"));
            assert_null(strstr(out, "EXAM"));
        }
    bed_close(&b);
}

/* In the text, a secret of the file ends where another kind of secret begins that the file does not have. Both are
 * hidden, to the end of the second. */
static void test_overlapping_secrets(void **unused)
{
    static const char code[] = "api_token = \"zz9-plural-eyJhbGciOiJIUzI1NiJ9\"\n",
                      both[] = "is zz9-plural-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl.";
    (void)unused;
    bed_open(&b, "a.py", code, sizeof(code) - 1);
    bed_mark(&b, true, NULL);
    const myth_redactor *r = b.report.redactor;
    assert_int_equal(myth_redactor_count(r), 1);
    assert_non_null(strstr(redacted(NULL, both), "[REDACTED:jwt:")); /* the second is found without the file */
    redacted(r, both);
    assert_memory_equal(out, "is [REDACTED:token:", 19);
    assert_string_equal(strchr(out, ']'), "].");
    bed_close(&b);
}

static void test_sarif_lists_them(void **unused)
{
    static const char code[] = "a = \"AKIAIOSFODNN7EXAMPLE\";\nb = \"ghp_abcdefghijklmnopqrst0123456789ABCDEF\";\n";
    size_t len;
    (void)unused;
    bed_open(&b, "a.c", code, sizeof(code) - 1);
    bed_add(&b, "hardcoded-secret", 1, 1, 1);
    bed_add(&b, "hardcoded-secret", 2, 2, 2);
    bed_mark(&b, true, NULL);
    char *text = bed_render(&b, MYTH_FORM_SARIF, &len);
    json_t *j = json_loadb(text, len, 0, NULL), *run = json_array_get(json_object_get(j, "runs"), 0),
           *list = json_object_get(run, "redactionTokens");
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(json_string_value(json_array_get(list, 0)), "[REDACTED:aws-key:1a5d44a2]");
    json_decref(j);
    free(text);
    bed_close(&b);
}

/* A file full of secrets fills the filter that finds pieces of them. A text without pieces must stay all the same. */
static void test_other_texts_stay(void **unused)
{
    enum { N = 400, LEN = 4000 };
    static char other[LEN + 1];
    (void)unused;
    uint64_t rng = check_seed();
    size_t n = 0;
    for (uint32_t i = 0; i < N; i++) {
        char secret[32];
        const uint32_t len = i % 2 ? 24 : 6 + check_below(&rng, 6);
        for (uint32_t k = 0; k < len; k++)
            secret[k] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"[check_below(&rng, 32)];
        secret[0] = '7';
        n += (size_t)snprintf(b.text + n, sizeof(b.text) - n, "password = \"%.*s\"\n", (int)len, secret);
    }
    myth_redactor r;
    myth_source src;
    myth_mem *mem;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_source_open(&src, mem, "a.c", (const unsigned char *)b.text, n, NULL), MYTH_OK);
    myth_redactor_start(&r, mem);
    assert_int_equal(myth_redactor_add(&r, &src, NULL), MYTH_OK);
    assert_int_equal(myth_redactor_count(&r), N);
    for (uint32_t i = 0; i < 50; i++) {
        for (uint32_t k = 0; k < LEN; k++)
            other[k] = "abcdefghij klmnop;"[check_below(&rng, 18)];
        assert_string_equal(redacted(&r, other), other);
    }
    myth_redactor_close(&r);
    myth_source_close(&src);
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_every_form),
                                       cmocka_unit_test(test_paths_stay),
                                       cmocka_unit_test(test_other_texts_stay),
                                       cmocka_unit_test(test_overlapping_secrets),
                                       cmocka_unit_test(test_sarif_lists_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
