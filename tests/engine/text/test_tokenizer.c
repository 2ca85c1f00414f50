/* test_tokenizer.c - the small tokenizers in tests/golden/tokenizer: ids, entries, round trips, memory, incremental
 * decoding. */
#include "tokenizer_texts.h"
#include "tests/support/files.h"
#include "engine/text/tokenizer_impl.h"

#include <unistd.h>

static const char *const files[3] = {"small_new.json", "small_old.json", "small.model"};

typedef struct {
    myth_mem *mem;
    myth_tokenizer *tok[4]; /* files, then the byte vocabulary */
    fragments frag;
} fixture;

static int open_all(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    myth_error err = {0};
    assert_non_null(f);
    assert_int_equal(myth_mem_open(&f->mem, 0, &err), MYTH_OK);
    for (int i = 0; i < 3; i++) {
        char rest[128], path[1024];
        snprintf(rest, sizeof rest, "tests/golden/tokenizer/%s", files[i]);
        if (myth_tokenizer_open_file(&f->tok[i], f->mem, check_path(path, sizeof path, rest), &err) != MYTH_OK)
            fail_msg("%s", err.msg);
    }
    assert_int_equal(myth_tok_open_bytes(&f->tok[3], f->mem, 600, false, "bytes", &err), MYTH_OK);
    fragments_load(&f->frag);
    *state = f;
    return 0;
}

static int close_all(void **state)
{
    fixture *f = *state;
    for (int i = 0; i < 4; i++)
        myth_tokenizer_close(f->tok[i]);
    assert_int_equal(myth_mem_close(f->mem), 0);
    free(f->frag.base);
    free(f);
    return 0;
}

/* Column 0 is small_new.json, column 1 both small_old.json and small.model. */
static void golden_ids(void **state)
{
    fixture *f = *state;
    size_t len, n_row = 0;
    char *text = read_golden("small.golden.json", &len);
    myth_json j;
    static golden_row row;
    static int32_t ids[TEXT_CAP];
    rows_start(&j, text, len);
    for (; next_row(&j, &row); n_row++) {
        for (int i = 0; i < 3; i++) {
            size_t n = encode(f->tok[i], f->mem, MYTH_TOK_SPECIAL, row.text, row.len, ids);
            assert_ids(row.text, row.len, ids, n, row.ids[i > 0], row.n[i > 0]);
        }
    }
    assert_true(n_row > 250);
    free(text);
}

/* Does the text hold a spelling that content takes apart? */
static bool holds_control(const myth_tokenizer *t, const int32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (myth_tokenizer_is_control(t, ids[i]))
            return true;
    return false;
}

static void content_is_equal_without_control(void **state)
{
    fixture *f = *state;
    static char text[TEXT_CAP];
    static int32_t a[TEXT_CAP], b[TEXT_CAP];
    size_t n_equal = 0, n_apart = 0;
    for (uint64_t i = 0; i < 4000; i++) {
        for (int k = 0; k < 3; k++) {
            const myth_tokenizer *t = f->tok[k];
            size_t len = text_of(i, t, &f->frag, text), n = encode(t, f->mem, MYTH_TOK_SPECIAL, text, len, a);
            size_t m = encode(t, f->mem, MYTH_TOK_CONTENT, text, len, b);
            assert_false(holds_control(t, b, m));
            if (holds_control(t, a, n)) {
                n_apart++;
                continue;
            }
            assert_ids(text, len, b, m, a, n);
            n_equal++;
        }
    }
    assert_true(n_equal > 5000 && n_apart > 500);
}

/* Merges that lead to a marker's spelling end before it in content: here "<mask>", whose type is that of ordinary
 * pieces in the file, and "<eos>", a control piece. */
static void merges_make_no_control(void **state)
{
    static const char *const spelled[] = {"<mask>", "<eos>", "a<mask><eos>b"};
    fixture *f = *state;
    size_t len;
    char *json = read_golden("small_new.json", &len);
    char *more = text_replace(json, "\"vocab\":{",
                              "\"vocab\":{\"<m\":1391,\"<ma\":1392,\"<mas\":1393,\"<mask\":1394,"
                              "\"<e\":1395,\"<eo\":1396,\"<eos\":1397,");
    char *made = text_replace(more, "\"merges\":[",
                              "\"merges\":[[\"<\",\"m\"],[\"<m\",\"a\"],[\"<ma\",\"s\"],"
                              "[\"<mas\",\"k\"],[\"<mask\",\">\"],[\"<\",\"e\"],"
                              "[\"<e\",\"o\"],[\"<eo\",\"s\"],[\"<eos\",\">\"],");
    myth_tokenizer *t;
    myth_error err = {0};
    int32_t ids[32];
    if (myth_tok_open_json(&t, f->mem, made, strlen(made), "merges", &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    for (size_t i = 0; i < sizeof(spelled) / sizeof(spelled[0]); i++) {
        const size_t n = encode(t, f->mem, MYTH_TOK_CONTENT, spelled[i], strlen(spelled[i]), ids);
        assert_false(holds_control(t, ids, n));
        assert_true(n >= 2); /* "<mask" and ">" */
        assert_true(holds_control(t, ids, encode(t, f->mem, MYTH_TOK_TEMPLATE, spelled[i], strlen(spelled[i]), ids)));
    }
    myth_tokenizer_close(t);
    free(made);
    free(more);
    free(json);
}

/* White-space runs and tags are user-defined pieces too, and must match in content. */
static void runs_and_tags_match(void **state)
{
    fixture *f = *state;
    char text[200];
    int32_t ids[200];
    for (int k = 0; k < 3; k++) {
        const myth_tokenizer *t = f->tok[k];
        for (int c = 0; c < 3; c++) {
            for (size_t len = 2; len <= 100; len++) {
                memset(text, " \n\t"[c], len);
                size_t n = encode(t, f->mem, MYTH_TOK_CONTENT, text, len, ids);
                assert_int_equal(n, (len + 30) / 31); /* cut 31 + 31 + ... from the left */
                for (size_t i = 0, left = len; i < n; i++, left -= 31)
                    assert_int_equal(myth_tokenizer_bytes_of(t, ids[i], NULL, 0), left < 31 ? left : 31);
            }
        }
        assert_int_equal(encode(t, f->mem, MYTH_TOK_CONTENT, "<td></td><h1>", 13, ids), 3);
        size_t n = encode(t, f->mem, MYTH_TOK_CONTENT, "x <table>\n\n    y", 16, ids);
        assert_true(n == 6 && ids[2] == myth_tokenizer_find(t, "<table>", 7));
    }
}

static void control_is_inert_in_content(void **state)
{
    fixture *f = *state;
    size_t n_control = 0;
    for (int k = 0; k < 4; k++) {
        const myth_tokenizer *t = f->tok[k];
        for (int32_t id = 0; id < (int32_t)myth_tokenizer_n_vocab(t); id++) {
            char text[256];
            myth_str p = myth_tokenizer_piece(t, id);
            bool byte = myth_tokenizer_type(t, id) == MYTH_PIECE_BYTE;
            if (!myth_tokenizer_is_control(t, id) && !byte && myth_tokenizer_type(t, id) != MYTH_PIECE_USER)
                continue;
            if (memchr(p.text, 0xe2, p.len))
                continue; /* ▁ comes back as a space */
            n_control += myth_tokenizer_is_control(t, id);
            assert_inert(t, f->mem, text, (size_t)snprintf(text, sizeof text, "A%.*sB", (int)p.len, p.text));
            assert_inert(t, f->mem, text, (size_t)snprintf(text, sizeof text, "%.*s", (int)p.len, p.text));
            assert_inert(t, f->mem, text,
                         (size_t)snprintf(text, sizeof text, "<%.*s%.*s>", (int)p.len, p.text, (int)p.len, p.text));
        }
    }
    assert_true(n_control > 400);
}

static void template_takes_control(void **state)
{
    fixture *f = *state;
    static const char text[] = "<bos><start_of_turn>user\nHi<end_of_turn>\n<unused5>";
    for (int k = 0; k < 4; k++) {
        const myth_special_ids *s = myth_tokenizer_special(f->tok[k]);
        int32_t a[64], b[64];
        size_t n = encode(f->tok[k], f->mem, MYTH_TOK_TEMPLATE, text, sizeof text - 1, a);
        size_t m = encode(f->tok[k], f->mem, MYTH_TOK_SPECIAL, text, sizeof text - 1, b);
        assert_ids(text, sizeof text - 1, a, n, b, m);
        assert_true(a[0] == s->bos && a[1] == s->start_of_turn && a[n - 3] == s->end_of_turn && a[n - 2] == s->newline);
        assert_int_equal(a[n - 1], myth_tokenizer_find(f->tok[k], "<unused5>", 9));
    }
}

static void special_ids_are_found_by_piece(void **state)
{
    fixture *f = *state;
    static const int32_t want[4][7] = {
        /* pad eos bos unk, turns, newline */
        {0, 1, 2, 3, 105, 106, 107},
        {0, 1, 2, 3, 106, 107, 108},
        {0, 1, 2, 3, 106, 107, 108},
        {0, 1, 2, 3, 105, 106, 238 + 10},
    };
    for (int k = 0; k < 4; k++) {
        const myth_special_ids *s = myth_tokenizer_special(f->tok[k]);
        const int32_t got[7] = {s->pad, s->eos, s->bos, s->unk, s->start_of_turn, s->end_of_turn, s->newline};
        assert_memory_equal(got, want[k], sizeof got);
        assert_true(s->fim_prefix < 0 && s->fim_middle < 0 && s->fim_suffix < 0 && s->file_separator < 0);
        assert_true(myth_tokenizer_is_control(f->tok[k], s->bos) &&
                    myth_tokenizer_is_control(f->tok[k], s->end_of_turn));
        assert_false(myth_tokenizer_is_control(f->tok[k], s->newline));
    }
    assert_int_equal(myth_tokenizer_type(f->tok[0], 300), MYTH_PIECE_BYTE);
    assert_int_equal(myth_tokenizer_find(f->tok[0], "no such piece", 13), -1);
    assert_int_equal(myth_tokenizer_find(f->tok[0], "", 0), -1);
    assert_int_equal(myth_tokenizer_find(f->tok[1], "\t", 1), 217 + 9);
}

/* Every id is found by its own piece, and bytes_of cuts at cap without changing its answer. */
static void pieces_and_bytes(void **state)
{
    fixture *f = *state;
    for (int k = 0; k < 4; k++) {
        const myth_tokenizer *t = f->tok[k];
        size_t longest = 0;
        for (int32_t id = 0; id < (int32_t)myth_tokenizer_n_vocab(t); id++) {
            char whole[256], cut[256];
            myth_str p = myth_tokenizer_piece(t, id);
            assert_int_equal(myth_tokenizer_find(t, p.text, p.len), id);
            size_t n = myth_tokenizer_bytes_of(t, id, whole, sizeof whole);
            assert_true(n <= sizeof whole && n <= myth_tokenizer_max_piece(t));
            for (size_t cap = 0; cap <= n; cap++) {
                memset(cut, 0x55, sizeof cut);
                assert_int_equal(myth_tokenizer_bytes_of(t, id, cut, cap), n);
                assert_memory_equal(cut, whole, cap);
                assert_int_equal(cut[cap], 0x55);
            }
            if (myth_tokenizer_type(t, id) == MYTH_PIECE_CONTROL)
                assert_int_equal(n, 0);
            longest = n > longest ? n : longest;
        }
        assert_true(longest > 0);
    }
}

static bool has_mark(const char *s, size_t n)
{
    for (size_t i = 0; i + 2 < n; i++)
        if (memcmp(s + i, "\xe2\x96\x81", 3) == 0)
            return true;
    return false;
}

/* Random bytes of several kinds: bytes, ASCII, pieces of UTF-8 cut anywhere, few letters. */
static size_t random_bytes(uint64_t *rng, char *dst, size_t cap)
{
    size_t n = check_below(rng, (uint32_t)cap + 1), i = 0;
    uint32_t kind = check_below(rng, 4);
    while (i < n) {
        if (kind == 0) {
            dst[i++] = (char)check_rand(rng);
        } else if (kind == 1) {
            dst[i++] = (char)(check_below(rng, 8) ? 32 + check_below(rng, 95) : 9 + check_below(rng, 2));
        } else if (kind == 2) {
            char u[4];
            int k = myth_utf8_encode(u, check_below(rng, 0xd800));
            k = check_below(rng, 8) ? k : 1;
            for (int b = 0; b < k && i < n; b++)
                dst[i++] = u[b];
        } else {
            dst[i++] = "ab <>\n\xe2\x96"[check_below(rng, 8)];
        }
    }
    return n;
}

static void round_trip(void **state)
{
    fixture *f = *state;
    uint64_t rng = check_seed();
    int count = check_is_full() ? 1000000 : (int)check_sample(20000);
    char text[96], back[96];
    int32_t ids[96];
    for (int i = 0; i < count; i++) {
        const myth_tokenizer *t = f->tok[i % 4];
        size_t len = random_bytes(&rng, text, sizeof text);
        if (has_mark(text, len))
            continue;
        size_t n = encode(t, f->mem, MYTH_TOK_CONTENT, text, len, ids);
        assert_true(n <= myth_tokenizer_bound(len));
        assert_int_equal(decode(t, ids, n, back, sizeof back), len);
        assert_memory_equal(back, text, len);
    }
}

/* Long segments take another path than short ones, and long texts remember segments: both give what the short path
 * gives. */
static void paths_agree(void **state)
{
    fixture *f = *state;
    enum { PART = 40, N = 400 };
    static char text[TEXT_CAP];
    static int32_t ids[TEXT_CAP], part[TEXT_CAP];
    uint64_t rng = check_seed();
    for (int k = 0; k < 4; k++) {
        for (int round = 0; round < 20; round++) {
            size_t len = 0, n_part = 0;
            for (int i = 0; i < N; i++) { /* newlines between, so that the parts are independent */
                size_t first = len, n = 1 + check_below(&rng, PART);
                for (size_t b = 0; b < n; b++)
                    text[len++] = "aeinorst_ (){};=abcdefghijklmnop"[check_below(&rng, 32)];
                n_part += encode(f->tok[k], f->mem, MYTH_TOK_CONTENT, text + first, len - first, part + n_part);
                text[len++] = '\n';
                part[n_part++] = myth_tokenizer_special(f->tok[k])->newline;
            }
            size_t n = encode(f->tok[k], f->mem, MYTH_TOK_CONTENT, text, len, ids);
            assert_ids("random words", 12, ids, n, part, n_part);
        }
    }
    /* Letters without a space, against the definition applied by hand. */
    const myth_tokenizer *t = f->tok[2];
    for (size_t len = 30; len <= 600; len += 3) {
        int32_t sym[600];
        size_t n = len;
        for (size_t i = 0; i < len; i++) {
            text[i] = 'e'; /* few places to cut: letters that some piece has side by side */
            for (int try = 0; try < 100; try++) {
                char c = (char)('a' + check_below(&rng, 26));
                if (i == 0 || myth_tok_has(&t->joins[(unsigned char)text[i - 1]], (unsigned char)c)) {
                    text[i] = c;
                    break;
                }
            }
            sym[i] = myth_tokenizer_find(t, text + i, 1);
        }
        for (;;) { /* the best pair, the leftmost of equals */
            size_t best = n;
            uint32_t best_prio = UINT32_MAX;
            int32_t result = -1;
            for (size_t i = 0; i + 1 < n; i++) {
                char pair[512];
                myth_str a = myth_tokenizer_piece(t, sym[i]), b = myth_tokenizer_piece(t, sym[i + 1]);
                memcpy(pair, a.text, a.len);
                memcpy(pair + a.len, b.text, b.len);
                int32_t id = myth_tokenizer_find(t, pair, a.len + b.len);
                if (id >= 0 && t->prio[id] < best_prio) {
                    best = i;
                    best_prio = t->prio[id];
                    result = id;
                }
            }
            if (best == n)
                break;
            sym[best] = result;
            memmove(sym + best + 1, sym + best + 2, (n - best - 2) * sizeof *sym);
            n--;
        }
        size_t m = encode(t, f->mem, MYTH_TOK_CONTENT, text, len, ids);
        assert_ids(text, len, ids, m, sym, n);
    }
}

/* b + c first, then a + bc is worse than bc + d although a + b was better: an outdated pair must not be taken, on
 * either path. */
static void outdated_pairs(void **state)
{
    fixture *f = *state;
    static const char *const head[] = {"<pad>", "<eos>", "<bos>", "<unk>"}, *const tail[] = {"bc",  "ab", "bcd",
                                                                                             "abc", "da", "a",
                                                                                             "b",   "c",  "d"};
    enum { N_TAIL = sizeof tail / sizeof *tail, FIRST = 4 + 256 };
    myth_tokenizer *t;
    char text[400], name[8];
    int32_t ids[400];
    assert_int_equal(
        myth_tok_new(&t, f->mem, &(myth_tok_size){.n_vocab = FIRST + N_TAIL, .text_bytes = 4096}, "made", NULL),
        MYTH_OK);
    for (uint32_t i = 0; i < FIRST + N_TAIL; i++) {
        snprintf(name, sizeof name, "<0x%02X>", (i - 4) & 0xff);
        const char *piece = i < 4 ? head[i] : i < FIRST ? name : tail[i - FIRST];
        unsigned type = i < 4 ? MYTH_PIECE_CONTROL : i < FIRST ? MYTH_PIECE_BYTE : MYTH_PIECE_NORMAL;
        assert_int_equal(myth_tok_put(t, i, piece, strlen(piece), type, -(float)i, NULL), MYTH_OK);
    }
    assert_int_equal(myth_tok_index(t, NULL), MYTH_OK);
    assert_int_equal(myth_tok_ready(t, NULL), MYTH_OK);
    for (size_t repeat = 1; repeat <= 100; repeat++) {
        memcpy(text + 4 * (repeat - 1), "abcd", 4);
        size_t n = encode(t, f->mem, MYTH_TOK_CONTENT, text, 4 * repeat, ids);
        assert_int_equal(n, 2 * repeat);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(ids[i], i % 2 ? FIRST + 2 : FIRST + 5);
    }
    myth_tokenizer_close(t);
}

/* One megabyte without a place to cut: ends, and gives the bytes back. Time is ctest's to limit. */
static void hostile_megabyte(void **state)
{
    fixture *f = *state;
    enum { N = 1 << 20 };
    static const char *const unit[] = {"a", " ", "\n", "0", "ab", "<", "=", "\x80", "<unused", "a ", "\xe2\x96"};
    char *text = malloc(N), *back = malloc(N);
    int32_t *ids = malloc(N * sizeof *ids);
    assert_true(text && back && ids);
    for (int k = 0; k < 3; k++) {
        for (size_t u = 0; u < sizeof unit / sizeof *unit + 1; u++) {
            uint64_t rng = check_seed();
            for (size_t i = 0; i < N; i++)
                text[i] =
                    u < sizeof unit / sizeof *unit ? unit[u][i % strlen(unit[u])] : (char)(check_rand(&rng) % 128);
            size_t n = encode(f->tok[k], f->mem, MYTH_TOK_CONTENT, text, N, ids);
            assert_int_equal(decode(f->tok[k], ids, n, back, N), N);
            assert_memory_equal(back, text, N);
        }
    }
    free(text);
    free(back);
    free(ids);
}

static void memory_is_what_was_said(void **state)
{
    fixture *f = *state;
    uint64_t said = 0;
    for (int k = 0; k < 4; k++)
        said += myth_tokenizer_bytes(f->tok[k]);
    assert_true(myth_mem_get(f->mem, MYTH_MEM_HOST, MYTH_MEM_TOKENIZER).live == said);
    assert_true(myth_mem_get(f->mem, MYTH_MEM_HOST, MYTH_MEM_STAGING).live == 0);

    static char text[TEXT_CAP];
    static int32_t ids[TEXT_CAP];
    static const size_t lens[] = {0, 1, 31, 32, 33, 64, 2047, 2048, 50000};
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        myth_mem_reset_peak(f->mem);
        encode(f->tok[0], f->mem, MYTH_TOK_CONTENT, text, lens[i], ids);
        assert_true(myth_mem_get(f->mem, MYTH_MEM_HOST, MYTH_MEM_STAGING).peak == myth_tokenizer_scratch(lens[i]));
        assert_true(myth_mem_get(f->mem, MYTH_MEM_HOST, MYTH_MEM_STAGING).live == 0);
    }
    size_t n = 0;
    myth_error err = {0};
    myth_mem_set_fault(f->mem, &(myth_fault){.fail_nth = 1});
    assert_int_equal(myth_tokenizer_encode(f->tok[0], f->mem, MYTH_TOK_CONTENT, text, 1000, ids, 1000, &n, &err),
                     MYTH_ENOMEM);
    myth_mem_set_fault(f->mem, NULL);
    assert_int_equal(myth_tokenizer_encode(f->tok[0], f->mem, MYTH_TOK_CONTENT, text, 1000, ids, 1000, &n, &err),
                     MYTH_OK);
}

/* Opening with every single allocation failing once: an error, nothing left, and the next time it works. */
static void open_fails_cleanly(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        char rest[128], path[1024];
        myth_mem *mem;
        myth_error err = {0};
        assert_int_equal(myth_mem_open(&mem, 0, &err), MYTH_OK);
        snprintf(rest, sizeof rest, "tests/golden/tokenizer/%s", files[k]);
        check_path(path, sizeof path, rest);
        for (uint64_t nth = 1;; nth++) {
            myth_tokenizer *t = NULL;
            myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
            myth_status st = myth_tokenizer_open_file(&t, mem, path, &err);
            myth_mem_set_fault(mem, NULL);
            myth_tokenizer_close(t);
            assert_true(myth_mem_total(mem, MYTH_MEM_HOST).live == 0);
            if (st == MYTH_OK) {
                assert_true(nth > 1);
                break;
            }
            assert_int_equal(st, MYTH_ENOMEM);
            assert_true(nth < 100);
        }
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

/* A file is known by its name or its first byte, a folder by what lies in it, a made model by its rows. */
static void where_tokenizers_are(void **state)
{
    fixture *f = *state;
    char dir[] = "/tmp/mythos-tokenizer-XXXXXX", at[64], path[1024], source[1024];
    static const char *const place[] = {"tokenizer.json", "anything", "tokenizer.model", "something"},
                             *const from[] = {"small_new.json", "small_old.json", "small.model", "small.model"};
    myth_tokenizer *t;
    myth_error err = {0};
    assert_non_null(mkdtemp(dir));
    assert_int_equal(myth_tokenizer_open_file(&t, f->mem, dir, &err), MYTH_ENOTFOUND);
    assert_null(t);
    for (int i = 3; i >= 0; i--) {
        char rest[128];
        snprintf(rest, sizeof rest, "tests/golden/tokenizer/%s", from[i]);
        assert_non_null(realpath(check_path(path, sizeof path, rest), source));
        snprintf(at, sizeof at, "%s/%s", dir, place[i]);
        assert_int_equal(symlink(source, at), 0);
        const bool by_dir = strncmp(place[i], "tokenizer", 9) == 0; /* tokenizer.json is put last and comes first */
        assert_int_equal(myth_tokenizer_open_file(&t, f->mem, by_dir ? dir : at, &err), MYTH_OK);
        assert_int_equal(myth_tokenizer_special(t)->start_of_turn, i == 0 ? 105 : 106);
        myth_tokenizer_close(t);
    }
    for (int i = 0; i < 4; i++) {
        snprintf(at, sizeof at, "%s/%s", dir, place[i]);
        unlink(at);
    }
    assert_int_equal(myth_tokenizer_open_file(&t, f->mem, at, &err), MYTH_ENOTFOUND);
    rmdir(dir);

    myth_weights *w;
    assert_int_equal(myth_weights_open(&w, f->mem, "random:gemma3-tiny:f32",
                                       &(myth_weights_opts){.level = MYTH_WEIGHTS_CONFIG}, &err),
                     MYTH_OK);
    assert_int_equal(myth_tokenizer_open(&t, f->mem, w, &err), MYTH_OK);
    assert_int_equal(myth_tokenizer_n_vocab(t), 512);
    myth_tokenizer_close(t);
    myth_weights_close(w);
}

static void too_small_a_buffer(void **state)
{
    fixture *f = *state;
    static const char text[] = "one two three";
    int32_t all[32], some[32];
    size_t n = encode(f->tok[0], f->mem, MYTH_TOK_CONTENT, text, sizeof text - 1, all), need = 0;
    for (size_t cap = 0; cap < n; cap++) {
        memset(some, 0x77, sizeof some);
        assert_int_equal(
            myth_tokenizer_encode(f->tok[0], f->mem, MYTH_TOK_CONTENT, text, sizeof text - 1, some, cap, &need, NULL),
            MYTH_EFULL);
        assert_int_equal(need, n);
        assert_int_equal(some[cap], 0x77777777);
    }
}

/* A piece that no merge makes stays out of encode in a GGUF file too: the merges go along there. */
static void gguf_keeps_the_merges(void **state)
{
    fixture *f = *state;
    size_t len;
    char *json = read_golden("small_new.json", &len), *at;
    static char text[TEXT_CAP];
    static int32_t want[TEXT_CAP], got[TEXT_CAP];
    static const char gone[] = "[\"in\",\"t\"],"; /* the only way to make "int" */
    assert_false(myth_tokenizer_needs_merges(f->tok[0]) || myth_tokenizer_needs_merges(f->tok[1]) ||
                 myth_tokenizer_needs_merges(f->tok[2]));
    for (int without = 0; without < 2; without++) {
        myth_tokenizer *t, *g;
        gguf_vocab v;
        myth_error err = {0};
        size_t n_differ = 0;
        if (without) { /* blanks in its place are white space of the JSON */
            assert_non_null(at = strstr(json, gone));
            memset(at, ' ', sizeof gone - 1);
        }
        if (myth_tok_open_json(&t, f->mem, json, len, "small", &err) != MYTH_OK)
            fail_msg("%s", err.msg);
        assert_int_equal(myth_tokenizer_needs_merges(t), without);
        gguf_vocab_make(&v, t, myth_tokenizer_n_vocab(t), f->mem);
        if (myth_tok_open_gguf(&g, f->mem, v.meta, "made.gguf", &err) != MYTH_OK)
            fail_msg("%s", err.msg);
        for (uint64_t i = 0; i < 3000; i++) {
            size_t n_text = text_of(i, t, &f->frag, text);
            if (has_mark(text, n_text))
                continue;
            size_t n = encode(t, f->mem, MYTH_TOK_SPECIAL, text, n_text, want),
                   m = encode(g, f->mem, MYTH_TOK_SPECIAL, text, n_text, got);
            assert_ids(text, n_text, got, m, want, n);
            m = encode(f->tok[0], f->mem, MYTH_TOK_SPECIAL, text, n_text, got);
            n_differ += m != n || memcmp(got, want, n * sizeof *got) != 0;
        }
        assert_true(without ? n_differ > 0 : n_differ == 0);
        myth_tokenizer_close(g);
        myth_tokenizer_close(t);
        gguf_vocab_free(&v);
    }
    free(json);
}

static uint64_t hash_of_json(myth_mem *mem, const char *json)
{
    myth_tokenizer *t;
    myth_error err = {0};
    if (myth_tok_open_json(&t, mem, json, strlen(json), "small", &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    const uint64_t hash = myth_tokenizer_hash(t);
    myth_tokenizer_close(t);
    return hash;
}

/* One merge less, two merges in another order, another text or type of a piece, an option: each is another tokenizer.
 * How the file is laid out is not. */
static void every_part_is_in_the_hash(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *from, *to;
        bool is_same;
    } row[] = {
        {"[\"in\",\"t\"],", "", false},
        {"[[\"", "[ [\"", true},
        {"\"id\":7,\"content\":\"<unused1>\"", "\"content\":\"<unused1>\",\"id\":7", true},
        {"\"<unused64>\"", "\"<thought>\"", false},
        {"[\"▁memcpy(dst\",\",\"],[\"▁lo\",\"w\"]", "[\"▁lo\",\"w\"],[\"▁memcpy(dst\",\",\"]", false},
        {"\"<unused1>\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,\"special\":false",
         "\"<unused1>\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,\"special\":true",
         false},
        {"\"<unused1>\",\"single_word\":false,\"lstrip\":false", "\"<unused1>\",\"single_word\":false,\"lstrip\":true",
         false},
    };
    size_t len;
    char *json = read_golden("small_new.json", &len), *other = malloc(len + 64);
    const uint64_t hash = hash_of_json(f->mem, json);
    assert_true(hash == myth_tokenizer_hash(f->tok[0]));
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        const char *at = strstr(json, row[i].from);
        assert_non_null(at);
        snprintf(other, len + 64, "%.*s%s%s", (int)(at - json), json, row[i].to, at + strlen(row[i].from));
        const uint64_t got = hash_of_json(f->mem, other);
        if ((got == hash) != row[i].is_same)
            fail_msg("%s to %s", row[i].from, row[i].to);
    }
    free(other);
    free(json);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            assert_true(myth_tokenizer_hash(f->tok[i]) != myth_tokenizer_hash(f->tok[k]));
    gguf_vocab v; /* one score */
    uint64_t scored[2];
    gguf_vocab_make(&v, f->tok[2], myth_tokenizer_n_vocab(f->tok[2]), f->mem);
    for (int i = 0; i < 2; i++) {
        myth_tokenizer *t;
        const float score = -7.25f;
        assert_int_equal(myth_tok_open_gguf(&t, f->mem, v.meta, "made.gguf", NULL), MYTH_OK);
        scored[i] = myth_tokenizer_hash(t);
        myth_tokenizer_close(t);
        memcpy((char *)v.scores.base + 4 * 900, &score, 4);
    }
    assert_true(scored[0] != scored[1]);
    gguf_vocab_free(&v);
}

/* ---- incremental decoding ---- */

static bool is_utf8(const char *s, size_t n)
{
    uint32_t cp;
    for (size_t i = 0; i < n;) {
        int k = myth_utf8_decode((const unsigned char *)s + i, n - i, &cp);
        if (!k)
            return false;
        i += (size_t)k;
    }
    return true;
}

/* Any ids: with replacement every push is whole UTF-8; raw, the pushes are the bytes, and never end inside a sequence
 * that goes on. */
static void pushes_are_whole(void **state)
{
    fixture *f = *state;
    uint64_t rng = check_seed();
    int count = check_is_full() ? 100000 : (int)check_sample(5000);
    for (int round = 0; round < count; round++) {
        const myth_tokenizer *t = f->tok[round % 4];
        char raw[4096], fixed[4096 * 3], whole[4096];
        int32_t ids[24];
        size_t n_raw = 0, n_fixed = 0, n_ids = 1 + check_below(&rng, 24), n_bytes;
        myth_detok a, b;
        int32_t first_byte = myth_tokenizer_find(t, "<0x00>", 6);
        for (size_t i = 0; i < n_ids; i++)
            ids[i] = check_below(&rng, 4) ? first_byte + (int32_t)(128 + check_below(&rng, 128))
                                          : (int32_t)check_below(&rng, myth_tokenizer_n_vocab(t));
        myth_detok_start(&a, t, true);
        myth_detok_start(&b, t, false);
        for (size_t i = 0; i < n_ids; i++) {
            n_raw += myth_detok_push(&a, ids[i], raw + n_raw);
            size_t n = myth_detok_push(&b, ids[i], fixed + n_fixed);
            assert_true(n <= 3 * (myth_tokenizer_max_piece(t) + 4));
            assert_true(is_utf8(fixed + n_fixed, n));
            n_fixed += n;
            /* What is held back is a beginning: at most three bytes, the first a lead byte. */
            assert_in_range(a.n_held, 0, 3);
            if (a.n_held)
                assert_true(a.held[0] >= 0xc2 && a.held[0] <= 0xf4);
        }
        n_raw += myth_detok_finish(&a, raw + n_raw);
        n_fixed += myth_detok_finish(&b, fixed + n_fixed);
        assert_true(is_utf8(fixed, n_fixed));
        n_bytes = decode(t, ids, n_ids, whole, sizeof whole);
        assert_int_equal(n_raw, n_bytes);
        assert_memory_equal(raw, whole, n_bytes);
        if (is_utf8(whole, n_bytes)) {
            assert_int_equal(n_fixed, n_bytes);
            assert_memory_equal(fixed, whole, n_bytes);
        }
    }
}

static void characters_come_with_their_last_byte(void **state)
{
    fixture *f = *state;
    const myth_tokenizer *t = f->tok[3];
    static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\x89"
                               "b";
    static const size_t out[] = {1, 0, 2, 0, 0, 3, 0, 0, 0, 4, 1};
    myth_detok d;
    char dst[3 * 64];
    myth_detok_start(&d, t, false);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        assert_int_equal(myth_detok_push(&d, 238 + (unsigned char)text[i], dst), out[i]);
    assert_int_equal(myth_detok_finish(&d, dst), 0);
    /* A lead byte, then a letter: the lead byte is replaced as soon as it cannot go on. */
    assert_int_equal(myth_detok_push(&d, 238 + 0xe2, dst), 0);
    assert_int_equal(myth_detok_push(&d, 238 + 'x', dst), 4);
    assert_memory_equal(dst, "\xef\xbf\xbdx", 4);
    assert_int_equal(myth_detok_push(&d, 238 + 0xf0, dst), 0);
    assert_int_equal(myth_detok_finish(&d, dst), 3);
}

/* ---- the byte vocabulary ---- */

static void byte_vocabulary(void **state)
{
    (void)state;
    myth_mem *mem;
    myth_error err = {0};
    assert_int_equal(myth_mem_open(&mem, 0, &err), MYTH_OK);
    static const uint32_t rows[] = {263, 493, 494, 600, 256000, 262144};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        myth_tokenizer *t;
        int32_t ids[16], byte0 = rows[i] < 494 ? 7 : 238, turn = rows[i] < 494 ? 5 : 105;
        assert_int_equal(myth_tok_open_bytes(&t, mem, rows[i], false, "random", &err), MYTH_OK);
        assert_int_equal(myth_tokenizer_n_vocab(t), rows[i]);
        assert_int_equal(myth_tokenizer_special(t)->start_of_turn, turn);
        assert_int_equal(encode(t, mem, MYTH_TOK_CONTENT, "h \xff<bos>", 8, ids), 8);
        assert_true(ids[0] == byte0 + 'h' && ids[1] == byte0 + ' ' && ids[2] == byte0 + 0xff);
        assert_int_equal(encode(t, mem, MYTH_TOK_TEMPLATE, "h<bos>", 6, ids), 2);
        if (rows[i] > 494)
            assert_true(myth_tokenizer_is_control(t, (int32_t)rows[i] - 1));
        myth_tokenizer_close(t);
    }
    myth_tokenizer *t = NULL;
    assert_int_equal(myth_tok_open_bytes(&t, mem, 262, false, "random", &err), MYTH_EFORMAT);
    assert_int_equal(myth_tok_open_bytes(&t, mem, 0, false, "random", &err), MYTH_EFORMAT);
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_ids),
        cmocka_unit_test(content_is_equal_without_control),
        cmocka_unit_test(merges_make_no_control),
        cmocka_unit_test(runs_and_tags_match),
        cmocka_unit_test(control_is_inert_in_content),
        cmocka_unit_test(template_takes_control),
        cmocka_unit_test(special_ids_are_found_by_piece),
        cmocka_unit_test(pieces_and_bytes),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(paths_agree),
        cmocka_unit_test(outdated_pairs),
        cmocka_unit_test(hostile_megabyte),
        cmocka_unit_test(memory_is_what_was_said),
        cmocka_unit_test(open_fails_cleanly),
        cmocka_unit_test(where_tokenizers_are),
        cmocka_unit_test(too_small_a_buffer),
        cmocka_unit_test(gguf_keeps_the_merges),
        cmocka_unit_test(every_part_is_in_the_hash),
        cmocka_unit_test(pushes_are_whole),
        cmocka_unit_test(characters_come_with_their_last_byte),
        cmocka_unit_test(byte_vocabulary),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
