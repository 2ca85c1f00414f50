/* test_tokenizer_four.c - the two forms of Gemma 4's tokenizer: a tokenizer.json whose only added tokens are special
 * ones, and GGUF's "gemma4", in which merges decide. */
#include "engine/text/tokenizer_impl.h"
#include "tokenizer_texts.h"

enum { FROM_JSON, FROM_GGUF, N_FROM };

typedef struct {
    myth_mem *mem;
    myth_tokenizer *tok[N_FROM];
    gguf_vocab gguf;
    fragments frag;
} fixture;

/* The vocabulary as published GGUF files of Gemma 4 have it: no spaces for ▁, one score for all, all merges. */
static void make_gguf(gguf_vocab *v, const myth_tokenizer *t, myth_mem *mem, const char *model, bool has_merges)
{
    const float score = -1000.0f;
    const uint32_t n = myth_tokenizer_n_vocab(t), n_rank = myth_tokenizer_n_merge(t);
    uint64_t n_merge = 0;
    *v = (gguf_vocab){0};
    for (int32_t id = 0; id < (int32_t)n; id++) {
        const myth_str p = myth_tokenizer_piece(t, id);
        const int32_t type =
            id == myth_tokenizer_special(t)->unk ? MYTH_PIECE_CONTROL : (int32_t)myth_tokenizer_type(t, id);
        raw_u64(&v->tokens, p.len);
        raw_put(&v->tokens, p.text, p.len);
        raw_put(&v->scores, &score, 4);
        raw_put(&v->types, &type, 4);
    }
    for (uint32_t rank = 0; rank < n_rank; rank++) {
        int32_t l, r;
        if (!myth_tokenizer_merge(t, rank, &l, &r))
            continue;
        const myth_str a = myth_tokenizer_piece(t, l), b = myth_tokenizer_piece(t, r);
        raw_u64(&v->merges, a.len + 1 + b.len);
        raw_put(&v->merges, a.text, a.len);
        raw_put(&v->merges, " ", 1);
        raw_put(&v->merges, b.text, b.len);
        n_merge++;
    }
    const myth_meta_value list[] = {
        {.key = {"tokenizer.ggml.model", 20}, .type = MYTH_META_STRING, .v.s = {model, strlen(model)}},
        gguf_array("tokenizer.ggml.tokens", MYTH_META_STRING, 8, n, &v->tokens),
        gguf_array("tokenizer.ggml.scores", MYTH_META_FLOAT, 6, n, &v->scores),
        gguf_array("tokenizer.ggml.token_type", MYTH_META_INT, 5, n, &v->types),
        gguf_array("tokenizer.ggml.merges", MYTH_META_STRING, 8, n_merge, &v->merges),
    };
    assert_int_equal(myth_meta_open(&v->meta, mem, &(myth_meta_size){.n_value = 5}, NULL), MYTH_OK);
    for (int i = 0; i < (has_merges ? 5 : 4); i++)
        assert_true(myth_meta_add(v->meta, &list[i]));
}

static int open_all(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    char path[1024];
    myth_error err = {0};
    assert_non_null(f);
    assert_int_equal(myth_mem_open(&f->mem, 0, NULL), MYTH_OK);
    if (myth_tokenizer_open_file(&f->tok[FROM_JSON], f->mem,
                                 check_path(path, sizeof path, "tests/golden/tokenizer/small_four.json"),
                                 &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    make_gguf(&f->gguf, f->tok[FROM_JSON], f->mem, "gemma4", true);
    if (myth_tok_open_gguf(&f->tok[FROM_GGUF], f->mem, f->gguf.meta, "four.gguf", &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    fragments_load(&f->frag);
    *state = f;
    return 0;
}

static int close_all(void **state)
{
    fixture *f = *state;
    for (int k = 0; k < N_FROM; k++)
        myth_tokenizer_close(f->tok[k]);
    gguf_vocab_free(&f->gguf);
    assert_int_equal(myth_mem_close(f->mem), 0);
    free(f->frag.base);
    free(f);
    return 0;
}

static void golden_ids(void **state)
{
    fixture *f = *state;
    static golden_row row;
    static int32_t ids[TEXT_CAP];
    size_t len;
    uint32_t n_row = 0;
    char *text = read_golden("small_four.golden.json", &len);
    myth_json j;
    rows_start(&j, text, len);
    for (; next_row(&j, &row); n_row++)
        for (int k = 0; k < N_FROM; k++) {
            const size_t n = encode(f->tok[k], f->mem, MYTH_TOK_SPECIAL, row.text, row.len, ids);
            assert_ids(row.text, row.len, ids, n, row.ids[0], row.n[0]);
        }
    assert_true(n_row > 150);
    free(text);
}

/* Both files give the same ids for any text, by every entry, and content holds no control id. */
static void both_alike(void **state)
{
    fixture *f = *state;
    static char text[TEXT_CAP];
    static int32_t ids[N_FROM][TEXT_CAP];
    for (uint64_t i = 0; i < (check_is_full() ? 20000 : 1000); i++) {
        const size_t len = text_of(0x4000 + check_seed() * 100000 + i, f->tok[FROM_JSON], &f->frag, text);
        size_t n[N_FROM];
        for (int entry = MYTH_TOK_CONTENT; entry <= MYTH_TOK_SPECIAL; entry++) {
            for (int k = 0; k < N_FROM; k++)
                n[k] = encode(f->tok[k], f->mem, (myth_tok_entry)entry, text, len, ids[k]);
            assert_ids(text, len, ids[FROM_GGUF], n[FROM_GGUF], ids[FROM_JSON], n[FROM_JSON]);
            for (size_t k = 0; entry == MYTH_TOK_CONTENT && k < n[0]; k++)
                assert_false(myth_tokenizer_is_control(f->tok[0], ids[0][k]));
        }
    }
}

/* Markers: found by piece, one id as template, text as content; those of calls and thoughts are printed when decoded.
 */
static void markers(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *piece;
        bool is_shown;
    } row[] = {
        {"<|turn>", false},     {"<turn|>", false},     {"<|think|>", false},       {"<|tool>", false},
        {"<tool|>", false},     {"<|image>", false},    {"<|channel>", true},       {"<channel|>", true},
        {"<|tool_call>", true}, {"<tool_call|>", true}, {"<|tool_response>", true}, {"<tool_response|>", true},
        {"<|\"|>", true},
    };
    for (int k = 0; k < N_FROM; k++) {
        const myth_tokenizer *t = f->tok[k];
        const myth_special_ids *s = myth_tokenizer_special(t);
        const int32_t found[] = {s->start_of_turn, s->end_of_turn,   s->think,
                                 s->tool,          s->tool_end,      myth_tokenizer_find(t, "<|image>", 8),
                                 s->channel_open,  s->channel_close, s->tool_call,
                                 s->tool_call_end, s->tool_response, s->tool_response_end,
                                 s->tool_quote};
        assert_true(myth_tokenizer_is_gemma4(t));
        for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
            int32_t ids[32];
            char out[32];
            const size_t len = strlen(row[i].piece);
            assert_int_equal(encode(t, f->mem, MYTH_TOK_TEMPLATE, row[i].piece, len, ids), 1);
            assert_int_equal(ids[0], found[i]);
            assert_true(myth_tokenizer_is_control(t, ids[0]));
            assert_int_equal(myth_tokenizer_bytes_of(t, ids[0], out, sizeof out), row[i].is_shown ? len : 0);
            assert_inert(t, f->mem, row[i].piece, len);
        }
        /* An <unusedN> is no added token here: text in every entry, and never the id. */
        int32_t ids[32];
        const int32_t unused = myth_tokenizer_find(t, "<unused1>", 9);
        const size_t n = encode(t, f->mem, MYTH_TOK_TEMPLATE, "<unused1>", 9, ids);
        assert_true(n > 1 && unused >= 0);
        for (size_t i = 0; i < n; i++)
            assert_int_not_equal(ids[i], unused);
    }
    assert_false(myth_tokenizer_special(f->tok[0])->fim_prefix >= 0);
}

static void refusals(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *model;
        bool has_merges;
        myth_status st;
        const char *says;
    } row[] = {
        {"gemma4", false, MYTH_EFORMAT, "tokenizer.ggml.merges"},
        {"gpt2", true, MYTH_EUNSUPPORTED, "expected llama or gemma4"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        gguf_vocab v;
        myth_tokenizer *t = NULL;
        myth_error err = {0};
        make_gguf(&v, f->tok[FROM_JSON], f->mem, row[i].model, row[i].has_merges);
        assert_int_equal(myth_tok_open_gguf(&t, f->mem, v.meta, "bad.gguf", &err), row[i].st);
        assert_null(t);
        if (!strstr(err.msg, row[i].says))
            fail_msg("%s", err.msg);
        gguf_vocab_free(&v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden_ids), cmocka_unit_test(both_alike),
                                       cmocka_unit_test(markers), cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
