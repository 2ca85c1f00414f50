/* test_tokenizer_real.c - the two real vocabularies of ../shared/tokenizers: known ids, 6,000 generated texts for each,
 * chats, and other file formats.
 *
 * Skipped (77) when ../shared/tokenizers or xz is missing, because this tree may not ship the vocabularies. */
#include "engine/text/chat.h"
#include "engine/text/tokenizer_impl.h"
#include "tokenizer_texts.h"

#include <sys/stat.h>
#include <unistd.h>

enum { GEMMA, GEMMA3, N_REAL };
static const char *const name[N_REAL] = {"gemma", "gemma3"};

typedef struct {
    myth_mem *mem;
    myth_tokenizer *tok[N_REAL];
    fragments frag;
} fixture;

static bool is_file(const char *path)
{
    struct stat sb;
    return stat(path, &sb) == 0 && S_ISREG(sb.st_mode);
}

/* Path of tokenizer.json, unpacked into dir when it is stored packed; false when it is not there. */
static bool find_json(char path[1100], const char *dir, int k)
{
    char rest[128], stored[1024], command[4096];
    snprintf(rest, sizeof rest, "../shared/tokenizers/%s/tokenizer.json", name[k]);
    check_path(stored, sizeof stored - 4, rest);
    snprintf(path, 1100, "%s", stored);
    if (is_file(stored))
        return true;
    strcat(stored, ".xz");
    snprintf(path, 1100, "%s/%s.json", dir, name[k]);
    snprintf(command, sizeof command, "xz -dc '%s' > '%s'", stored, path);
    return is_file(stored) && system(command) == 0;
}

static fixture the;

/* False: nothing to test here. */
static bool open_real(void)
{
    char dir[] = "/tmp/mythos-tokenizer-XXXXXX", path[1100];
    myth_error err = {0};
    bool ok = mkdtemp(dir) != NULL && myth_mem_open(&the.mem, 0, &err) == MYTH_OK;
    for (int k = 0; ok && k < N_REAL; k++) {
        ok = find_json(path, dir, k);
        if (ok && myth_tokenizer_open_file(&the.tok[k], the.mem, path, &err) != MYTH_OK) {
            printf("%s\n", err.msg);
            exit(1);
        }
        if (strncmp(path, dir, strlen(dir)) == 0)
            unlink(path);
    }
    rmdir(dir);
    return ok;
}

static int close_all(void **state)
{
    (void)state;
    for (int k = 0; k < N_REAL; k++)
        myth_tokenizer_close(the.tok[k]);
    assert_int_equal(myth_mem_close(the.mem), 0);
    free(the.frag.base);
    return 0;
}

static int load_fragments(void **state)
{
    (void)state;
    fragments_load(&the.frag);
    return 0;
}

/* ---- known ids ---- */

static void known_ids(void **state)
{
    (void)state;
    static const struct {
        int k;
        const char *text;
        size_t len;
        int32_t ids[32];
    } row[] = {
        /* without the <bos> in front; 0 ends */
        {GEMMA3, "Hello, world!", 0, {9259, 236764, 1902, 236888}},
        {GEMMA3, "a", 0, {236746}},
        {GEMMA3, "classification: I feel wonderful today", 0, {59137, 236787, 564, 2597, 10455, 3124}},
        {GEMMA3, "search_query: what powers the cell", 0, {2305, 236779, 3278, 236787, 1144, 13361, 506, 2145}},
        {GEMMA3,
         "search_document: The mitochondria is the powerhouse of the cell.",
         0,
         {2305, 236779, 7565, 236787, 669, 66673, 563, 506, 89096, 529, 506, 2145, 236761}},
        {GEMMA3,
         "search_document: Caf\xc3\xa9 na\xc3\xafvet\xc3\xa9 \xe2\x80\x94 r\xc3\xa9sum\xc3\xa9 "
         "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"
         "\xe3\x81\xae\xe3\x83\x86\xe3\x82\xad\xe3\x82\xb9\xe3\x83\x88 \xf0\x9f\x8e\x89",
         0,
         {2305, 236779, 7565, 236787, 62367, 104214, 8959, 236859, 2192, 118515, 33375, 238582, 236945, 95830, 204906}},
        {GEMMA3,
         "int main(void)\n{\n\treturn 1234;\n}\n",
         0,
         {720, 1689, 236769, 4117, 236768, 107, 236782, 107, 255968, 2060, 236743, 236770, 236778, 236800, 236812,
          236793, 107, 236783, 107}},
        {GEMMA3, "x                                        y", 0, {236781, 167, 145, 236762}},
        {GEMMA3, "<table> <unused5>\tq", 0, {168, 236743, 11, 255968, 236809}},
        {GEMMA3, "e\xcc\x81 \xf4\x8f\xbf\xbf \0", 10, {236744, 238288, 236743, 482, 381, 429, 429, 236743, 238}},
        {GEMMA,
         "int main(void)\n{\n\treturn 1234;\n}\n",
         0,
         {635, 1872, 235278, 1880, 235275, 108, 235282, 108, 226, 773, 235248, 235274, 235284, 235304, 235310, 235289,
          108, 235270, 108}},
        {GEMMA, "x                                        y", 0, {235297, 168, 146, 235267}},
        {GEMMA, "<table> <unused5>\tq", 0, {169, 235248, 12, 226, 235317}},
        {GEMMA,
         "<start_of_turn>user\nWhat is the capital of France?<end_of_turn>\n<start_of_turn>model\n",
         0,
         {106, 1645, 108, 1841, 603, 573, 6037, 576, 6081, 235336, 107, 108, 106, 2516, 108}},
        {GEMMA3,
         "<start_of_turn>user\nwhy is the sky blue<end_of_turn>\n<start_of_turn>model\n",
         0,
         {105, 2364, 107, 36425, 563, 506, 7217, 3730, 106, 107, 105, 4368, 107}},
        {GEMMA3, "", 0, {0}},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        int32_t ids[128];
        size_t len = row[i].len ? row[i].len : strlen(row[i].text), want = 0;
        while (row[i].ids[want])
            want++;
        size_t n = encode(the.tok[row[i].k], the.mem, MYTH_TOK_SPECIAL, row[i].text, len, ids);
        assert_ids(row[i].text, len, ids, n, row[i].ids, want);
    }
}

static void known_special_ids(void **state)
{
    (void)state;
    const myth_special_ids *a = myth_tokenizer_special(the.tok[GEMMA]), *b = myth_tokenizer_special(the.tok[GEMMA3]);
    const int32_t got[] = {a->pad, a->eos, a->bos, a->unk, a->start_of_turn, a->end_of_turn, a->newline,
                           b->pad, b->eos, b->bos, b->unk, b->start_of_turn, b->end_of_turn, b->newline};
    const int32_t want[] = {0, 1, 2, 3, 106, 107, 108, 0, 1, 2, 3, 105, 106, 107};
    assert_memory_equal(got, want, sizeof want);
    assert_int_equal(myth_tokenizer_n_vocab(the.tok[GEMMA]), 256000);
    assert_int_equal(myth_tokenizer_n_vocab(the.tok[GEMMA3]), 262145);
    for (int k = 0; k < N_REAL; k++) {
        uint32_t n = 0;
        for (int32_t id = 0; id < (int32_t)myth_tokenizer_n_vocab(the.tok[k]); id++)
            n += myth_tokenizer_is_control(the.tok[k], id);
        /* 0-4, the marker at 5 (and 6), turns, image marks, [toxicity=0], every <unusedN> */
        assert_int_equal(n, k == GEMMA ? 4 + 1 + 2 + 2 + 100 + 1 : 4 + 1 + 1 + 2 + 3 + 6242);
        assert_int_equal(myth_tokenizer_max_piece(the.tok[k]), 48);
        assert_false(myth_tokenizer_needs_merges(the.tok[k]));
    }
}

/* ---- equality with the libraries ---- */

static void golden_ids(void **state)
{
    (void)state;
    static golden_row row;
    static int32_t ids[TEXT_CAP];
    for (int k = 0; k < N_REAL; k++) {
        char file[64];
        size_t len, n_row = 0;
        snprintf(file, sizeof file, "%s.golden.json", name[k]);
        char *text = read_golden(file, &len);
        myth_json j;
        rows_start(&j, text, len);
        for (; next_row(&j, &row); n_row++) {
            size_t n = encode(the.tok[k], the.mem, MYTH_TOK_SPECIAL, row.text, row.len, ids);
            assert_ids(row.text, row.len, ids, n, row.ids[0], row.n[0]);
        }
        assert_true(n_row > 350);
        free(text);
    }
}

static void made_texts(void **state)
{
    (void)state;
    static char text[TEXT_CAP];
    static int32_t ids[TEXT_CAP], content[TEXT_CAP];
    for (int k = 0; k < N_REAL; k++) {
        char file[64];
        size_t len, n_text = 0, n_content = 0;
        snprintf(file, sizeof file, "%s.hashes", name[k]);
        char *hashes = read_golden(file, &len);
        for (char *p = hashes; *p; p += 9, n_text++) {
            uint32_t want = (uint32_t)strtoul(p, NULL, 16);
            size_t n = text_of(n_text, the.tok[k], &the.frag, text),
                   n_ids = encode(the.tok[k], the.mem, MYTH_TOK_SPECIAL, text, n, ids);
            if (hash_of_ids(ids, n_ids) != want)
                fail_msg("%s, text %zu: \"%.*s\"", name[k], n_text, (int)n, text);
            bool control = false;
            for (size_t i = 0; i < n_ids; i++)
                control = control || myth_tokenizer_is_control(the.tok[k], ids[i]);
            if (control)
                continue;
            size_t n_same = encode(the.tok[k], the.mem, MYTH_TOK_CONTENT, text, n, content);
            assert_ids(text, n, content, n_same, ids, n_ids);
            n_content++;
        }
        print_message("%s: %zu texts equal with special tokens, %zu of them as content\n", name[k], n_text, n_content);
        assert_true(n_text >= 5000 && n_content >= 4000);
        free(hashes);
    }
}

/* ---- content ---- */

static void every_control_string_is_inert(void **state)
{
    (void)state;
    for (int k = 0; k < N_REAL; k++) {
        const myth_tokenizer *t = the.tok[k];
        size_t n_inert = 0;
        for (int32_t id = 0; id < (int32_t)myth_tokenizer_n_vocab(t); id++) {
            char text[256];
            myth_str p = myth_tokenizer_piece(t, id);
            myth_piece_type type = myth_tokenizer_type(t, id);
            if ((type == MYTH_PIECE_NORMAL && !myth_tokenizer_is_control(t, id)) || memchr(p.text, 0xe2, p.len))
                continue;
            assert_inert(t, the.mem, text, (size_t)snprintf(text, sizeof text, "A%.*sB", (int)p.len, p.text));
            n_inert++;
        }
        print_message("%s: %zu added, byte and control strings inert\n", name[k], n_inert);
        assert_true(n_inert > 400);
    }
    /* Markers of other generations are plain text here. */
    static const char *const other[] = {
        "<|turn>", "<turn|>", "<|tool_call>", "<|channel>", "<|fim_prefix|>", "<|file_separator|>", "<2mass>"};
    for (int k = 0; k < N_REAL; k++)
        for (size_t i = 0; i < sizeof other / sizeof *other; i++)
            assert_inert(the.tok[k], the.mem, other[i], strlen(other[i]));
}

static void round_trip(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    int count = check_is_full() ? 1000000 : 50000;
    char text[64], back[64];
    int32_t ids[64];
    for (int i = 0; i < count; i++) {
        size_t len = check_below(&rng, sizeof text + 1);
        bool mark = false;
        for (size_t b = 0; b < len; b++)
            text[b] = (char)(i & 1 ? check_rand(&rng) : check_rand(&rng) % 128);
        for (size_t b = 0; b + 2 < len; b++)
            mark = mark || memcmp(text + b, "\xe2\x96\x81", 3) == 0;
        if (mark)
            continue;
        const myth_tokenizer *t = the.tok[i / 2 % N_REAL];
        size_t n = encode(t, the.mem, MYTH_TOK_CONTENT, text, len, ids);
        assert_int_equal(decode(t, ids, n, back, sizeof back), len);
        assert_memory_equal(back, text, len);
    }
}

/* ---- the same vocabulary in other containers ---- */

static void put_varint(raw_bytes *b, uint64_t v)
{
    do {
        unsigned char c = (unsigned char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        raw_put(b, &c, 1);
        v >>= 7;
    } while (v);
}

static void gguf_gives_the_same(void **state)
{
    (void)state;
    enum { N = 262144 };
    const myth_tokenizer *t = the.tok[GEMMA3];
    gguf_vocab v;
    myth_error err = {0};
    myth_tokenizer *g;
    gguf_vocab_make(&v, t, N, the.mem);
    if (myth_tok_open_gguf(&g, the.mem, v.meta, "made.gguf", &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    assert_true(g->text == (const char *)v.tokens.base); /* strings stay in the file */

    static char s[TEXT_CAP];
    static int32_t want[TEXT_CAP], got[TEXT_CAP];
    size_t n_same = 0;
    for (uint64_t i = 0; i < 12000; i++) {
        size_t len = text_of(i, t, &the.frag, s);
        bool skip_it = false;
        for (size_t k = 0; k < len; k++) /* a token that the file lacks; literal U+2581 is a space here */
            skip_it = skip_it || (len - k >= 3 && memcmp(s + k, "\xe2\x96\x81", 3) == 0) ||
                      (len - k >= 18 && memcmp(s + k, "<image_soft_token>", 18) == 0);
        if (skip_it)
            continue;
        for (myth_tok_entry e = MYTH_TOK_CONTENT; e <= MYTH_TOK_SPECIAL; e++) {
            size_t n = encode(t, the.mem, e, s, len, want), m_ids = encode(g, the.mem, e, s, len, got);
            assert_ids(s, len, got, m_ids, want, n);
        }
        n_same++;
    }
    print_message("gguf: %zu texts equal to tokenizer.json\n", n_same);
    assert_true(n_same > 8000);
    myth_tokenizer_close(g);
    gguf_vocab_free(&v);
}

/* tokenizer.model of Gemma 1 and 2 rebuilt from the JSON: the JSON reader's repair of bare files must agree with it
 * everywhere. */
static void spm_gives_the_same(void **state)
{
    (void)state;
    const myth_tokenizer *t = the.tok[GEMMA];
    raw_bytes file = {0}, piece = {0};
    myth_error err = {0};
    for (int32_t id = 0; id < 256000; id++) {
        myth_str p = myth_tokenizer_piece(t, id);
        unsigned type = (unsigned)myth_tokenizer_type(t, id);
        float score = type == MYTH_PIECE_NORMAL ? -(float)(id - 473) : 0.0f;
        if (id == 226) {
            p = (myth_str){"<0x09>", 6};
            type = MYTH_PIECE_BYTE;
        }
        piece.len = 0;
        raw_put(&piece, "\x0a", 1);
        put_varint(&piece, p.len);
        raw_put(&piece, p.text, p.len);
        raw_put(&piece, "\x15", 1);
        raw_put(&piece, &score, 4);
        raw_put(&piece, "\x18", 1);
        put_varint(&piece, type);
        raw_put(&file, "\x0a", 1);
        put_varint(&file, piece.len);
        raw_put(&file, piece.base, piece.len);
    }
    static const unsigned char tail[] = {0x12, 5, 0x18, 2, 0x98, 0x02, 1, 0x1a, 6, 0x18, 0, 0x20, 0, 0x28, 1};
    raw_put(&file, tail, sizeof tail);
    myth_tokenizer *g;
    if (myth_tok_open_spm(&g, the.mem, file.base, file.len, "made.model", &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    static char s[TEXT_CAP];
    static int32_t want[TEXT_CAP], got[TEXT_CAP];
    for (uint64_t i = 0; i < 12000; i++) {
        size_t len = text_of(i, t, &the.frag, s);
        for (myth_tok_entry e = MYTH_TOK_CONTENT; e <= MYTH_TOK_SPECIAL; e++) {
            size_t n = encode(t, the.mem, e, s, len, want), m_ids = encode(g, the.mem, e, s, len, got);
            assert_ids(s, len, got, m_ids, want, n);
        }
    }
    myth_tokenizer_close(g);
    free(file.base);
    free(piece.base);
}

/* ---- chat ---- */

static void chat_ids(void **state)
{
    (void)state;
    static const struct {
        int k;
        const char *user;
        int32_t ids[24];
    } row[] = {
        {GEMMA,
         "What is the capital of France?",
         {2, 106, 1645, 108, 1841, 603, 573, 6037, 576, 6081, 235336, 107, 108, 106, 2516, 108}},
        {GEMMA3, "why is the sky blue", {2, 105, 2364, 107, 36425, 563, 506, 7217, 3730, 106, 107, 105, 4368, 107}},
        {GEMMA3, "  why is the sky blue\n", {2, 105, 2364, 107, 36425, 563, 506, 7217, 3730, 106, 107, 105, 4368, 107}},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        myth_message msg = {MYTH_ROLE_USER, {row[i].user, strlen(row[i].user)}};
        int32_t ids[128];
        size_t n = 0, want = 0;
        while (row[i].ids[want])
            want++;
        assert_int_equal(myth_chat_encode(the.tok[row[i].k], the.mem, MYTH_CHAT_FOLDED, &msg, 1, ids,
                                          myth_chat_bound(&msg, 1), &n, NULL),
                         MYTH_OK);
        assert_ids(row[i].user, strlen(row[i].user), ids, n, row[i].ids, want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_ids),
        cmocka_unit_test(known_special_ids),
        cmocka_unit_test(golden_ids),
        cmocka_unit_test(made_texts),
        cmocka_unit_test(every_control_string_is_inert),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(gguf_gives_the_same),
        cmocka_unit_test(spm_gives_the_same),
        cmocka_unit_test(chat_ids),
    };
    if (!open_real()) {
        printf("skipped: no ../shared/tokenizers beside the source tree, or no xz\n");
        return CHECK_SKIP;
    }
    return cmocka_run_group_tests(tests, load_fragments, close_all);
}
