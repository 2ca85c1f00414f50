/* test_fts_tokenizer.c - words and their parts, Porter's stems against FTS5's own, what an FTS5 table finds by them,
 * and any bytes. */
#include "tests/support/check.h"
#include "retrieval/store/fts_tokenizer.h"

static sqlite3 *open_db(void)
{
    sqlite3 *db = NULL;
    myth_error err = {0};
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(myth_fts_register(db, &err), MYTH_OK);
    return db;
}

static void run(sqlite3 *db, const char *sql)
{
    char *text = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &text) != SQLITE_OK)
        fail_msg("%s: %s", sql, text);
}

/* "whole: part part" of every word, joined by " | ". */
static const char *cut(const char *text)
{
    static char out[4096];
    myth_word w;
    size_t pos = 0, at = 0;
    out[0] = '\0';
    while (myth_word_next(&w, text, strlen(text), &pos)) {
        at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%.*s:", at ? " | " : "", (int)w.n_whole, w.whole);
        for (unsigned i = 0; i < w.n_part; i++)
            at += (size_t)snprintf(out + at, sizeof(out) - at, " %.*s", w.part[i].bytes, w.whole + w.part[i].off);
    }
    return out;
}

static void words(void **state)
{
    (void)state;
    static const struct {
        const char *text, *is;
    } row[] = {
        {"", ""},
        {" \n\t+-*/", ""},
        {"parse", "parse: parse"},
        {"parseFile", "parsefile: parse file"},
        {"ParseFile", "parsefile: parse file"},
        {"parse_file", "parse_file: parse file"},
        {"HTTPServerError", "httpservererror: http server error"},
        {"parseURLs(x)", "parseurls: parse urls | x: x"},
        {"URLsplit", "urlsplit: ur lsplit"},
        {"sha256sum", "sha256sum: sha 256 sum"},
        {"int32_t", "int32_t: int 32 t"},
        {"__init__", "__init__: init"},
        {"__", "__:"},
        {"$scope", "$scope: scope"},
        {"MAX_PATH", "max_path: max path"},
        {"os.path.join", "os: os | path: path | join: join"},
        {"std::vector<int>", "std: std | vector: vector | int: int"},
        {"a->b", "a: a | b: b"},
        {"src/foo-bar.c", "src: src | foo: foo | bar: bar | c: c"},
        {"0x1F 3.14e5 10_000", "0x1f: 0x1f | 3: 3 | 14e5: 14e5 | 10_000: 10_000"},
        {"Gr\xc3\xb6\xc3\x9f"
         "eMax",
         "gr\xc3\xb6\xc3\x9f"
         "emax: gr\xc3\xb6\xc3\x9f"
         "e max"},
        {"\xc3\x89t\xc3\x89", "\xc3\xa9t\xc3\xa9: \xc3\xa9t \xc3\xa9"},
        {"\xd0\x9f\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82",
         "\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82: \xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82"},
        {"\xe2\x80\x9cquoted\xe2\x80\x9d", "quoted: quoted"},
        {"\xe6\x96\x87\xe4\xbb\xb6name", "\xe6\x96\x87: \xe6\x96\x87 | \xe4\xbb\xb6: \xe4\xbb\xb6 | name: name"},
        {"caf\xe9 \xff", "caf\xe9: caf\xe9 | \xff: \xff"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        assert_string_equal(cut(row[i].text), row[i].is);
}

/* Offsets name the word in the text, also when it is longer than what is kept of it. */
static void long_words(void **state)
{
    (void)state;
    char text[1000];
    myth_word w;
    size_t pos = 0;
    memset(text, 'a', sizeof(text));
    memcpy(text, "ab ", 3);
    for (size_t i = 3; i < sizeof(text); i += 2)
        text[i] = 'B';
    assert_true(myth_word_next(&w, text, sizeof(text), &pos));
    assert_int_equal(w.bytes, 2);
    assert_true(myth_word_next(&w, text, sizeof(text), &pos));
    assert_int_equal(w.off, 3);
    assert_int_equal(w.bytes, sizeof(text) - 3);
    assert_int_equal(w.n_whole, MYTH_WORD_BYTES);
    assert_int_equal(w.n_part, MYTH_WORD_PARTS);
    assert_false(myth_word_next(&w, text, sizeof(text), &pos));
}

/* ---- stems ---- */

static int keep_stem(void *arg, int flags, const char *token, int n, int start, int end)
{
    (void)flags;
    (void)start;
    (void)end;
    snprintf(arg, 80, "%.*s", n, token);
    return SQLITE_OK;
}

typedef struct {
    fts5_tokenizer methods;
    Fts5Tokenizer *t;
} porter;

static void same_stem(porter *p, const char *word)
{
    char wanted[80] = "", got[80];
    p->methods.xTokenize(p->t, wanted, FTS5_TOKENIZE_DOCUMENT, word, (int)strlen(word), keep_stem);
    got[myth_word_stem(got, word, strlen(word))] = '\0';
    if (strcmp(got, wanted) != 0)
        fail_msg("%s: %s, FTS5 says %s", word, got, wanted);
}

static void stems_as_fts5(void **state)
{
    (void)state;
    static const char *const suffix[] = {
        "",        "s",      "es",    "sses",  "ies",     "ss",      "eed",     "ed",    "ing",   "y",
        "ational", "tional", "enci",  "anci",  "izer",    "bli",     "alli",    "entli", "eli",   "ousli",
        "ization", "ation",  "ator",  "alism", "iveness", "fulness", "ousness", "aliti", "iviti", "biliti",
        "logi",    "icate",  "ative", "alize", "iciti",   "ical",    "ful",     "ness",  "al",    "ance",
        "ence",    "er",     "ic",    "able",  "ible",    "ant",     "ement",   "ment",  "ent",   "ion",
        "sion",    "tion",   "ou",    "ism",   "ate",     "iti",     "ous",     "ive",   "ize",   "e",
        "l",       "ll",     "le",    "at",    "bl",      "iz",      "ly",      "ying",  "yed",
    };
    static const char *const plain[] = {"caresses",    "ponies",
                                        "ties",        "cats",
                                        "feed",        "agreed",
                                        "plastered",   "bled",
                                        "motoring",    "sing",
                                        "conflated",   "troubled",
                                        "sized",       "hopping",
                                        "tanned",      "falling",
                                        "hissing",     "fizzed",
                                        "failing",     "filing",
                                        "happy",       "sky",
                                        "relational",  "conditional",
                                        "rational",    "generalization",
                                        "oscillators", "probate",
                                        "rate",        "cease",
                                        "controll",    "roll",
                                        "parsing",     "parser",
                                        "parse",       "parsed",
                                        "indices",     "indexes",
                                        "queries",     "query",
                                        "as",          "is",
                                        "the",         "yyy",
                                        "sss",         "eee",
                                        "ied",         "ies",
                                        "ing",         "inging",
                                        "eed",         "seed"};
    enum { N_SUFFIX = sizeof(suffix) / sizeof(suffix[0]) };
    sqlite3 *db = open_db();
    fts5_api *api = NULL;
    sqlite3_stmt *q;
    porter p;
    void *user;
    const char *arg[] = {"ascii"};
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &q, NULL), SQLITE_OK);
    sqlite3_bind_pointer(q, 1, &api, "fts5_api_ptr", NULL);
    sqlite3_step(q);
    sqlite3_finalize(q);
    assert_int_equal(api->xFindTokenizer(api, "porter", &user, &p.methods), SQLITE_OK);
    assert_int_equal(p.methods.xCreate(user, arg, 1, &p.t), SQLITE_OK);
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        same_stem(&p, plain[i]);
    uint64_t rng = check_seed();
    uint32_t n = check_is_full() ? 5000000 : 200000;
    for (uint32_t i = 0; i < n; i++) {
        static const char letters[] = "aeiouybcdlmnprstwxz";
        char word[64];
        size_t len = 0, root = 1 + check_below(&rng, 6);
        while (len < root)
            word[len++] = letters[check_below(&rng, sizeof(letters) - 1)];
        word[len] = '\0';
        for (uint32_t k = check_below(&rng, 4); k > 0; k--)
            strcat(word, suffix[check_below(&rng, N_SUFFIX)]);
        same_stem(&p, word);
    }
    p.methods.xDelete(p.t);
    sqlite3_close(db);
}

/* ---- an FTS5 table ---- */

/* Row ids found by a text, "1 3 "; the text goes through the quoting. */
static const char *found(sqlite3 *db, const char *text, size_t n)
{
    static char out[2048];
    sqlite3_stmt *q;
    size_t at = 0, len = myth_fts_quote(NULL, 0, text, n);
    char *query = malloc(len + 1);
    assert_non_null(query);
    assert_int_equal(myth_fts_quote(query, len + 1, text, n), len);
    assert_int_equal(strlen(query), len);
    out[0] = '\0';
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT rowid FROM fts WHERE fts MATCH ?1 ORDER BY rowid", -1, &q, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(q, 1, query, -1, SQLITE_STATIC);
    int rc;
    while ((rc = sqlite3_step(q)) == SQLITE_ROW)
        at += (size_t)snprintf(out + at, sizeof(out) - at, "%lld ", (long long)sqlite3_column_int64(q, 0));
    if (rc != SQLITE_DONE && len)
        fail_msg("%s: %s", query, sqlite3_errmsg(db));
    sqlite3_finalize(q);
    free(query);
    return out;
}

static const char *find(sqlite3 *db, const char *text) { return found(db, text, strlen(text)); }

static void table_finds(void **state)
{
    (void)state;
    sqlite3 *db = open_db();
    run(db, "CREATE VIRTUAL TABLE fts USING fts5(body, path, names, content='', tokenize='mythos')");
    run(db, "INSERT INTO fts(rowid, path, names, body) VALUES"
            "(1, 'src/parse_file.c', 'parseFile', 'int parseFile(const char *name)'),"
            "(2, 'src/b.c', '', 'parsing a file by os.path.join(name)'),"
            "(3, 'src/c.c', '', 'the parser parses; join the path of os'),"
            "(4, 'src/d.c', '', 'sha256 of HTTPServer NEAR OR AND NOT body')");
    assert_string_equal(find(db, "parseFile"), "1 ");
    assert_string_equal(find(db, "parse_file"), "1 ");
    assert_string_equal(find(db, "parse"), "1 2 3 ");
    assert_string_equal(find(db, "parsing"), "1 2 3 ");
    assert_string_equal(find(db, "os.path.join"), "2 ");
    assert_string_equal(find(db, "os path"), "2 ");
    assert_string_equal(find(db, "server"), "4 ");
    assert_string_equal(find(db, "256"), "4 ");
    assert_string_equal(find(db, "httpserver"), "4 ");
    assert_string_equal(find(db, "src/parse_file.c"), "1 ");
    assert_string_equal(find(db, "NEAR OR AND NOT"), "4 ");
    assert_string_equal(find(db, "path of os"), "3 ");
    assert_string_equal(find(db, "of the"), "");
    assert_string_equal(find(db, "body:file"), "");
    assert_string_equal(find(db, "\"name\" OR \"os\""), "");
    assert_string_equal(find(db, "name* ^(-)"), "1 2 ");
    assert_string_equal(found(db, "char\0name", 9), "1 ");
    assert_string_equal(find(db, "+-*\"'"), "");
    sqlite3_close(db);
}

static int keep_all(void *arg, int flags, const char *token, int n, int start, int end)
{
    char *out = arg;
    (void)start;
    (void)end;
    snprintf(out + strlen(out), 400 - strlen(out), "%s%.*s", flags & FTS5_TOKEN_COLOCATED ? "=" : " ", n, token);
    return SQLITE_OK;
}

/* The tokens of a position: the word and the stems of its parts, each once. */
static void tokens(void **state)
{
    (void)state;
    static const struct {
        int flags;
        const char *text, *is;
    } row[] = {
        {FTS5_TOKENIZE_DOCUMENT, "parseFiles", " parsefiles=pars=file"},
        {FTS5_TOKENIZE_DOCUMENT, "parsing x", " pars"},
        {FTS5_TOKENIZE_DOCUMENT, "a_file_file", " a_file_file=file"},
        {FTS5_TOKENIZE_DOCUMENT, "tables of v2s", " tabl v2s"},
        {FTS5_TOKENIZE_DOCUMENT, "i + 7 - 17 of the file, to_the", " 17 file to_the=to=the"},
        {FTS5_TOKENIZE_QUERY, "i of 17", " 17"},
        {FTS5_TOKENIZE_QUERY, "of", " of"},
        {FTS5_TOKENIZE_QUERY, "of the", ""},
        {FTS5_TOKENIZE_QUERY, "i", ""},
        {FTS5_TOKENIZE_AUX, "v2", " v2"},
        {FTS5_TOKENIZE_QUERY, "parsing", " pars"},
        {FTS5_TOKENIZE_QUERY, "parseFiles", " parsefiles"},
        {FTS5_TOKENIZE_QUERY | FTS5_TOKENIZE_PREFIX, "Parsing", " parsing"},
    };
    sqlite3 *db = open_db();
    fts5_api *api = NULL;
    sqlite3_stmt *q;
    fts5_tokenizer methods;
    Fts5Tokenizer *t;
    void *user;
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &q, NULL), SQLITE_OK);
    sqlite3_bind_pointer(q, 1, &api, "fts5_api_ptr", NULL);
    sqlite3_step(q);
    sqlite3_finalize(q);
    assert_int_equal(api->xFindTokenizer(api, "mythos", &user, &methods), SQLITE_OK);
    assert_int_equal(methods.xCreate(user, NULL, 0, &t), SQLITE_OK);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char got[400] = "";
        assert_int_equal(methods.xTokenize(t, got, row[i].flags, row[i].text, (int)strlen(row[i].text), keep_all),
                         SQLITE_OK);
        assert_string_equal(got, row[i].is);
    }
    methods.xDelete(t);
    sqlite3_close(db);
}

/* Any bytes: every row finds itself by any run of its own words, and the table stays whole when rows go again by their
 * text. */
static void any_bytes(void **state)
{
    (void)state;
    enum { ROWS = 200, BYTES = 300 };
    static char text[ROWS][BYTES];
    sqlite3 *db = open_db();
    sqlite3_stmt *put, *gone;
    uint64_t rng = check_seed();
    run(db, "CREATE VIRTUAL TABLE fts USING fts5(body, path, names, content='', tokenize='mythos')");
    assert_int_equal(sqlite3_prepare_v2(db, "INSERT INTO fts(rowid, body) VALUES(?1, ?2)", -1, &put, NULL), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "INSERT INTO fts(fts, rowid, body) VALUES('delete', ?1, ?2)", -1, &gone, NULL),
        SQLITE_OK);
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < BYTES; k++) {
            static const char some[] = "aZ_ 9sg\xc3\xa9.";
            text[i][k] = check_below(&rng, 3) ? some[check_below(&rng, sizeof(some) - 1)] : (char)check_rand(&rng);
        }
        sqlite3_bind_int(put, 1, i);
        sqlite3_bind_text(put, 2, text[i], BYTES, SQLITE_STATIC);
        assert_int_equal(sqlite3_step(put), SQLITE_DONE);
        sqlite3_reset(put);
    }
    for (int i = 0; i < ROWS; i++) {
        size_t pos = 0, n_word = 0;
        myth_word w;
        char id[16];
        snprintf(id, sizeof(id), "%d ", i);
        while (myth_word_next(&w, text[i], BYTES, &pos)) {
            if (w.n_whole < 5) /* one letter, or one of those that hold sentences together */
                continue;
            assert_true(w.bytes > 0 && w.off + w.bytes == pos && pos <= BYTES);
            const char *hit = found(db, text[i] + w.off, w.bytes);
            while (hit && strncmp(hit, id, strlen(id)) != 0)
                hit = (hit = strchr(hit, ' ')) && hit[1] ? hit + 1 : NULL;
            if (!hit)
                fail_msg("row %d: its word %zu is not found", i, n_word);
            n_word++;
        }
    }
    for (int i = 0; i < ROWS; i++) {
        sqlite3_bind_int(gone, 1, i);
        sqlite3_bind_text(gone, 2, text[i], BYTES, SQLITE_STATIC);
        assert_int_equal(sqlite3_step(gone), SQLITE_DONE);
        sqlite3_reset(gone);
    }
    run(db, "INSERT INTO fts(fts) VALUES('optimize')");
    run(db, "CREATE VIRTUAL TABLE vocabulary USING fts5vocab(fts, row)");
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM vocabulary", -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(q, 0), 0);
    sqlite3_finalize(q);
    sqlite3_finalize(put);
    sqlite3_finalize(gone);
    sqlite3_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),       cmocka_unit_test(long_words), cmocka_unit_test(stems_as_fts5),
        cmocka_unit_test(table_finds), cmocka_unit_test(tokens),     cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
