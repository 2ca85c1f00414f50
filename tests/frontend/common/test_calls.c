/* test_calls.c - calls of tools read from the ids of an answer, with the marks of Gemma 4 and of FunctionGemma: what
 * has the form, what has not and stays text, and random calls that the template writes and the reader gives back. */
#include "engine/text/chat.h"
#include "engine/text/json_tree.h"
#include "frontend/common/calls.h"
#include "tests/engine/text/function_marks.h"

enum { N_OUT = 1 << 16 };

static myth_mem *mem;
static myth_tokenizer *tok[2]; /* Gemma 4, FunctionGemma */
static char *piece;
static int32_t ids[TEXT_CAP];
static char json[N_OUT], text[N_OUT];
static size_t n_json, n_text;

static int open_all(void **state)
{
    (void)state;
    char path[1024];
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_tokenizer_open_file(
                         &tok[0], mem, check_path(path, sizeof(path), "tests/golden/tokenizer/small_four.json"), NULL),
                     MYTH_OK);
    function_marks_open(&tok[1], mem);
    const size_t a = myth_tokenizer_max_piece(tok[0]), b = myth_tokenizer_max_piece(tok[1]);
    piece = malloc(3 * ((a > b ? a : b) + 4));
    assert_non_null(piece);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    free(piece);
    myth_tokenizer_close(tok[0]);
    myth_tokenizer_close(tok[1]);
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

/* Reads the calls of n ids into json and the rest into text; returns how many. */
static uint32_t read_ids(int k, const int32_t *from, size_t n)
{
    myth_answer_ids a = {tok[k], {.open = -1, .close = -1}, from, (uint32_t)n, piece};
    myth_jout_block b;
    myth_channel_start(&a.channel, tok[k], NULL, 0);
    myth_calls_print(&a, myth_jout_block_begin(&b, json, sizeof(json)), 1);
    assert_int_equal(myth_jout_block_end(&b, &n_json), MYTH_OK);
    json[--n_json] = '\0';
    n_text = myth_calls_text(&a, text, sizeof(text) - 1);
    text[n_text] = '\0';
    return myth_calls_count(&a);
}

/* Reads an answer that is written with Gemma 4's marks. */
static uint32_t read_answer(int k, const char *answer)
{
    char *named = k ? function_marks(answer) : strdup(answer);
    assert_non_null(named);
    const size_t n = encode(tok[k], mem, MYTH_TOK_SPECIAL, named, strlen(named), ids);
    free(named);
    return read_ids(k, ids, n);
}

#define Q          "<|\"|>"
#define CALL(body) "<|tool_call>call:" body "<tool_call|>"
#define ONE(name, args) \
    "{\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"" name "\",\"arguments\":" args "}}"

static const struct {
    const char *answer, *calls, *rest;
} good[] = {
    {CALL("f{}"), "[" ONE("f", "{}") "]", ""},
    {CALL("f{city:" Q "Paris" Q ",days:3}"), "[" ONE("f", "{\"city\":\"Paris\",\"days\":3}") "]", ""},
    {CALL("f{a:-1.5e-3,b:true,c:null,d:[1,2],e:{x:" Q "y" Q "}}"),
     "[" ONE("f", "{\"a\":-1.5e-3,\"b\":true,\"c\":null,\"d\":[1,2],\"e\":{\"x\":\"y\"}}") "]", ""},
    {CALL("f{s:" Q "a}b,c]:{\\\"\n" Q "}"), "[" ONE("f", "{\"s\":\"a}b,c]:{\\\\\\\"\\n\"}") "]", ""},
    {CALL("f{s:" Q Q "}"), "[" ONE("f", "{\"s\":\"\"}") "]", ""},
    {CALL("f{" Q "a b" Q ":[]}"), "[" ONE("f", "{\"a b\":[]}") "]", ""},
    /* blanks, bare words, and what only looks like a number */
    {"<|tool_call> call: f { a : b c , d : 01, e: 1. , g: 2024-01-02 }\n<tool_call|>",
     "[" ONE("f", "{\"a\":\"b c\",\"d\":\"01\",\"e\":\"1.\",\"g\":\"2024-01-02\"}") "]", ""},
    {CALL("f{a:\"b\"}"), "[" ONE("f", "{\"a\":\"b\"}") "]", ""},
    {"I look. " CALL("f{a:1}") " Done", "[" ONE("f", "{\"a\":1}") "]", "I look.  Done"},
    {CALL("f{}") CALL("g{x:0}"),
     "[" ONE("f",
             "{}") ",{\"id\":\"call_2\",\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":{\"x\":0}}}]",
     ""},
    /* the same key in objects beside each other and inside */
    {CALL("f{a:{a:{a:1}},b:{a:2}}"), "[" ONE("f", "{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":2}}") "]", ""},
};

static void calls_that_are(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
            assert_true(read_answer(k, good[i].answer) > 0);
            assert_string_equal(json, good[i].calls);
            assert_string_equal(text, good[i].rest);
        }
}

static void calls_that_are_not(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "call:f{}", /* no marks */
        "<|tool_call>call:f{}",
        "<|tool_call><tool_call|>",
        CALL("f"),
        CALL("{}"),
        CALL("f{a}"),
        CALL("f{a:}"),
        CALL("f{a:1"),
        CALL("f{a:1}}"),
        CALL("f{a:1}x"),
        CALL("f{a:1 b:" Q "2" Q "}"),
        CALL("f{a:1,}"),
        CALL("f{,}"),
        CALL("f{a:[1,]}"),
        CALL("f{a:" Q "x}"),
        CALL("f{a:x" Q "y" Q "}"),
        CALL("f{a:1,a:2}"),
        CALL("f{b:{" Q "a" Q ":1,a:2}}"),
        "<|tool_call>cal:f{}<tool_call|>",
    };
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
            char *want = k ? function_marks(bad[i]) : strdup(bad[i]);
            assert_non_null(want);
            if (read_answer(k, bad[i]) != 0)
                fail_msg("%s: read as %s", bad[i], json);
            assert_string_equal(json, "[]");
            assert_string_equal(text, want);
            free(want);
        }
    /* too deep, too long a name, too many keys: no call either */
    char deep[512] = "<|tool_call>call:f{a:";
    for (int i = 0; i < MYTH_CALL_DEPTH; i++)
        strcat(deep, "[");
    for (int i = 0; i < MYTH_CALL_DEPTH; i++)
        strcat(deep, "]");
    strcat(deep, "}<tool_call|>");
    assert_int_equal(read_answer(0, deep), 0);
    char name[400] = "<|tool_call>call:";
    memset(name + strlen(name), 'n', MYTH_CALL_NAME_MAX);
    strcpy(name + strlen("<|tool_call>call:") + MYTH_CALL_NAME_MAX, "{}<tool_call|>");
    assert_int_equal(read_answer(0, name), 0);
    char *keys = malloc(1 << 15), *at = keys + sprintf(keys, "<|tool_call>call:f{k:0");
    assert_non_null(keys);
    for (int i = 0; i < 1000; i++)
        at += sprintf(at, ",key%d:%d", i, i);
    strcpy(at, "}<tool_call|>");
    assert_int_equal(read_answer(0, keys), 0);
    free(keys);
}

/* A broken call beside a whole one, and a call inside a thought. */
static void among_others(void **state)
{
    (void)state;
    assert_int_equal(read_answer(0, CALL("f{a") CALL("g{}")), 1);
    assert_string_equal(json, "[" ONE("g", "{}") "]");
    assert_string_equal(text, CALL("f{a"));
    assert_int_equal(read_answer(0, "<|tool_call>call:f{" CALL("g{}")), 1);
    assert_string_equal(json, "[" ONE("g", "{}") "]");
    assert_int_equal(read_answer(0, "<|channel>thought\n" CALL("f{}") "<channel|>" CALL("g{}") "ok"), 1);
    assert_string_equal(json, "[" ONE("g", "{}") "]");
    assert_string_equal(text, "ok");
}

/* ---- what the template writes is read ---- */

typedef struct {
    char text[4096];
    size_t n;
    uint64_t *random;
} writer;

static void put(writer *w, const char *s)
{
    const size_t n = strlen(s);
    assert_true(w->n + n < sizeof(w->text));
    memcpy(w->text + w->n, s, n + 1);
    w->n += n;
}

/* In JSON. Marks in it are text; strings that the reader would take otherwise than a quoted one are there, too. */
static void put_string(writer *w)
{
    static const char *const parts[] = {"a",
                                        "Paris",
                                        "}",
                                        "]",
                                        "{",
                                        ",",
                                        ":",
                                        "\\\"",
                                        "\\\\",
                                        "\\n",
                                        "<|tool_call>",
                                        "1",
                                        "true",
                                        " ",
                                        "\xc3\xa9",
                                        "call:f{}",
                                        "<escape>",
                                        "<tool_call|>",
                                        "null",
                                        "\xf0\x9f\x98\x80",
                                        "\\u0001"};
    put(w, "\"");
    for (uint32_t i = check_below(w->random, 6); i > 0; i--)
        put(w, parts[check_below(w->random, sizeof(parts) / sizeof(parts[0]))]);
    put(w, "\"");
}

static void put_value(writer *w, int depth)
{
    static const char *const plain[] = {"true", "false", "null", "0", "-7", "3.25", "12345678901234567890"};
    const uint32_t kind = check_below(w->random, depth < 4 ? 5 : 3);
    char key[32];
    if (kind == 0) {
        put(w, plain[check_below(w->random, sizeof(plain) / sizeof(plain[0]))]);
    } else if (kind < 3) {
        put_string(w);
    } else {
        const uint32_t n = check_below(w->random, 4);
        put(w, kind == 3 ? "[" : "{");
        for (uint32_t i = 0; i < n; i++) {
            put(w, i ? "," : "");
            snprintf(key, sizeof(key), "\"k%u\":", i);
            put(w, kind == 4 ? key : "");
            put_value(w, depth + 1);
        }
        put(w, kind == 3 ? "]" : "}");
    }
}

static void assert_same(const myth_json_tree *a, const myth_json_node *x, const myth_json_tree *b,
                        const myth_json_node *y)
{
    assert_int_equal(x->type, y->type);
    assert_int_equal(x->n, y->n);
    assert_true(x->key.len == y->key.len && memcmp(x->key.text, y->key.text, x->key.len) == 0);
    if (x->type == MYTH_JSON_STRING || x->type == MYTH_JSON_NUMBER)
        assert_true(x->text.len == y->text.len && memcmp(x->text.text, y->text.text, x->text.len) == 0);
    x = myth_json_tree_first(a, x);
    for (y = myth_json_tree_first(b, y); y; x = myth_json_tree_next(a, x), y = myth_json_tree_next(b, y))
        assert_same(a, x, b, y);
}

static void written_and_read(void **state)
{
    (void)state;
    uint64_t random = check_seed();
    writer *w = calloc(1, sizeof(*w));
    assert_non_null(w);
    w->random = &random;
    for (int i = 0; i < (check_is_full() ? 20000 : 1000); i++) {
        const int k = i % 2;
        const uint32_t n_call = 1 + check_below(&random, 3);
        const myth_message msg[2] = {{MYTH_ROLE_USER, {"Go", 2}}, {MYTH_ROLE_ASSISTANT, {"", 0}}};
        size_t n = 0, from = 0;
        myth_json_tree a = {0}, b = {0};
        w->n = 0;
        put(w, "[");
        for (uint32_t c = 0; c < n_call; c++) {
            put(w,
                c ? ",{\"function\":{\"name\":\"f\",\"arguments\":{" : "{\"function\":{\"name\":\"f\",\"arguments\":{");
            for (uint32_t m = 0, n_arg = check_below(&random, 4); m < n_arg; m++) {
                char key[32];
                snprintf(key, sizeof(key), "%s\"a%u\":", m ? "," : "", m);
                put(w, key);
                put_value(w, 0);
            }
            put(w, "}}}");
        }
        put(w, "]");
        const myth_message_more more[2] = {[1].calls = {w->text, w->n}};
        const myth_chat_opts o = {.more = more};
        assert_int_equal(myth_chat_encode_with(tok[k], mem, k ? MYTH_CHAT_CALLS : MYTH_CHAT_TURNS, msg, 2, &o, ids,
                                               TEXT_CAP, &n, NULL),
                         MYTH_OK);
        while (from < n && ids[from] != myth_tokenizer_special(tok[k])->tool_call)
            from++;
        if (read_ids(k, ids + from, n - from) != n_call)
            fail_msg("%s: %u calls, read as %s", w->text, n_call, json);
        assert_int_equal(myth_json_tree_open(&a, mem, w->text, w->n, "written", NULL), MYTH_OK);
        assert_int_equal(myth_json_tree_open(&b, mem, json, n_json, "read", NULL), MYTH_OK);
        const myth_json_node *x = myth_json_tree_first(&a, a.node), *y = myth_json_tree_first(&b, b.node);
        for (; x && y; x = myth_json_tree_next(&a, x), y = myth_json_tree_next(&b, y))
            assert_same(&a, myth_json_tree_get(&a, myth_json_tree_get(&a, x, "function"), "arguments"), &b,
                        myth_json_tree_get(&b, myth_json_tree_get(&b, y, "function"), "arguments"));
        assert_true(!x && !y);
        myth_json_tree_close(&a);
        myth_json_tree_close(&b);
    }
    free(w);
}

/* Any ids are read without a fault, and what is written is JSON. */
static void any_ids(void **state)
{
    (void)state;
    uint64_t random = check_seed();
    uint32_t n_found = 0;
    for (int i = 0; i < (check_is_full() ? 100000 : 5000); i++) {
        const int k = i % 2;
        const myth_special_ids *s = myth_tokenizer_special(tok[k]);
        const uint32_t n = check_below(&random, 40);
        myth_json_tree t = {0};
        for (uint32_t m = 0; m < n; m++) {
            int32_t syntax[16];
            const size_t n_syntax = encode(tok[k], mem, MYTH_TOK_CONTENT, "call:f{}[],:", 12, syntax);
            const uint32_t kind = check_below(&random, 8);
            ids[m] = kind == 0 ? s->tool_call
                   : kind == 1 ? s->tool_call_end
                   : kind == 2 ? s->tool_quote
                   : kind < 6  ? syntax[check_below(&random, (uint32_t)n_syntax)]
                               : (int32_t)check_below(&random, myth_tokenizer_n_vocab(tok[k]));
        }
        size_t n_all = n;
        if (i % 4 == 0) { /* so that some are calls: one with a string of any ids */
            static const char begin[] = "<|tool_call>call:f{a:<|\"|>", end[] = "<|\"|>}<tool_call|>";
            int32_t front[64], back[16];
            char *named = k ? function_marks(begin) : strdup(begin), *rest = k ? function_marks(end) : strdup(end);
            const size_t n_front = encode(tok[k], mem, MYTH_TOK_SPECIAL, named, strlen(named), front),
                         n_back = encode(tok[k], mem, MYTH_TOK_SPECIAL, rest, strlen(rest), back);
            memmove(ids + n_front, ids, n * sizeof(*ids));
            memcpy(ids, front, n_front * sizeof(*ids));
            memcpy(ids + n_front + n, back, n_back * sizeof(*ids));
            n_all = n_front + n + n_back;
            free(named);
            free(rest);
        }
        n_found += read_ids(k, ids, n_all) > 0;
        assert_int_equal(myth_json_tree_open(&t, mem, json, n_json, "read", NULL), MYTH_OK);
        myth_json_tree_close(&t);
    }
    assert_true(n_found > 20); /* those whose string is empty or has no marks: a tenth of a quarter */
}

static void finish_reason(void **state)
{
    (void)state;
    myth_jout_block b;
    static const char *const answer[] = {CALL("f{}"), "no call"};
    static const char *const want[][2] = {
        {"{\"tool_calls\":[" ONE("f", "{}") "],\"finish_reason\":\"tool_calls\"}",
         "{\"tool_calls\":[" ONE("f", "{}") "],\"finish_reason\":\"length\"}"},
        {"{\"finish_reason\":\"stop\"}", "{\"finish_reason\":\"length\"}"},
    };
    for (int i = 0; i < 2; i++)
        for (int is_cut = 0; is_cut < 2; is_cut++) {
            const size_t n = encode(tok[0], mem, MYTH_TOK_SPECIAL, answer[i], strlen(answer[i]), ids);
            const myth_answer_ids a = {tok[0], {.open = -1, .close = -1}, ids, (uint32_t)n, piece};
            myth_json_out *j = myth_jout_block_begin(&b, json, sizeof(json));
            myth_jout_object(j);
            myth_calls_print_finish(&a, j, is_cut ? MYTH_FINISH_LENGTH : MYTH_FINISH_STOP);
            myth_jout_end(j);
            assert_int_equal(myth_jout_block_end(&b, &n_json), MYTH_OK);
            json[--n_json] = '\0';
            assert_string_equal(json, want[i][is_cut]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_are), cmocka_unit_test(calls_that_are_not),
        cmocka_unit_test(among_others),   cmocka_unit_test(written_and_read),
        cmocka_unit_test(any_ids),        cmocka_unit_test(finish_reason),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
