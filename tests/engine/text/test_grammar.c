/* test_grammar.c - masks against the plain question "can the automaton step over this token's bytes?", for automata
 * with and without hints, on vocabularies with merges. */
#include "engine/text/grammar.h"
#include "tests/support/check.h"

/* ---- two small automata ---- */

/* [1-9][0-9]{0,5} (, the same)* ;      state: digits of the number, terminator seen */
typedef struct {
    uint8_t n, done, zero[6];
} list_state;

static void list_start(const void *self, void *s)
{
    (void)self;
    memset(s, 0, sizeof(list_state));
}
static bool list_step(const void *self, void *st, uint8_t b)
{
    (void)self;
    list_state *s = st;
    if (s->done)
        return false;
    if (b >= '0' && b <= '9') {
        if (s->n == 6 || (s->n == 0 && b == '0'))
            return false;
        s->n++;
        return true;
    }
    if (s->n == 0 || (b != ',' && b != ';'))
        return false;
    s->n = 0;
    s->done = b == ';';
    return true;
}
static bool list_end(const void *self, const void *s)
{
    (void)self;
    return ((const list_state *)s)->done;
}

/* UTF-8 text without newlines, any length, at most 40 bytes; hints and keys are given. */
typedef struct {
    uint8_t need, len, zero[6];
} text_state;
enum { TEXT_CAP = 40 };

static void text_start(const void *self, void *s)
{
    (void)self;
    memset(s, 0, sizeof(text_state));
}
static bool text_step(const void *self, void *st, uint8_t b)
{
    (void)self;
    text_state *s = st;
    if (s->need) {
        if ((b & 0xc0) != 0x80)
            return false;
        s->need--;
    } else {
        int width = b < 0x80 ? 1 : b < 0xc2 ? 0 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : b < 0xf5 ? 4 : 0;
        if (!width || b == '\n' || s->len + width > TEXT_CAP)
            return false;
        s->need = (uint8_t)(width - 1);
    }
    s->len++;
    return true;
}
static bool text_end(const void *self, const void *s)
{
    (void)self;
    return !((const text_state *)s)->need;
}
static void text_allowed(const void *self, const void *st, uint32_t bits[8])
{
    memset(bits, 0, 8 * sizeof(bits[0]));
    for (int b = 0; b < 256; b++) {
        text_state t = *(const text_state *)st;
        if (text_step(self, &t, (uint8_t)b))
            bits[b >> 5] |= 1u << (b & 31);
    }
}
static void text_key(const void *self, const void *st, uint32_t horizon, void *key)
{
    text_state *k = key;
    (void)self;
    *k = *(const text_state *)st;
    if (k->len + horizon <= TEXT_CAP)
        k->len = 0;
}

static const myth_automaton automata[] = {
    {.state_bytes = sizeof(list_state), .start = list_start, .step = list_step, .may_end = list_end},
    {.state_bytes = sizeof(text_state), .start = text_start, .step = text_step, .may_end = text_end},
    {
        .state_bytes = sizeof(text_state),
        .start = text_start,
        .step = text_step,
        .may_end = text_end,
        .allowed = text_allowed,
        .key = text_key,
    },
};
enum { N_AUTOMATON = sizeof(automata) / sizeof(automata[0]) };

/* ---- */

static myth_mem *mem;
static myth_tokenizer *tok;

static int open_all(void **state)
{
    char path[1024];
    (void)state;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_tokenizer_open_file(
                         &tok, mem, check_path(path, sizeof(path), "tests/golden/tokenizer/small_new.json"), NULL),
                     MYTH_OK);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    myth_tokenizer_close(tok);
    assert_int_equal(myth_mem_close(mem), 0);
    return 0;
}

static bool bit(const uint32_t *mask, uint32_t id) { return mask[id / 32] >> (id % 32) & 1; }

/* Tokens of random bytes are walked; at every state the mask is what allows says, for every id. */
static void test_mask_is_allows(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    uint32_t n_tok = myth_tokenizer_n_vocab(tok), n_vocab = n_tok + 70; /* a file may have more rows than ids */
    int32_t stop[2] = {myth_tokenizer_special(tok)->eos, (int32_t)n_tok + 3};
    myth_grammar *g;
    assert_int_equal(myth_grammar_open(&g, mem, tok, n_vocab, stop, 2, 4, NULL), MYTH_OK);
    uint32_t n_state = 0, n_allowed = 0, n_long = 0;
    for (int round = 0; round < (check_is_full() ? 200 : 20); round++) {
        myth_grammar_start(g, &automata[round % N_AUTOMATON]);
        for (int step = 0; step < 30 && !myth_grammar_is_done(g); step++, n_state++) {
            const uint32_t *mask = myth_grammar_mask(g);
            uint32_t seen = 0;
            int32_t pick = -1;
            for (uint32_t id = 0; id < n_vocab; id++) {
                bool ok = myth_grammar_allows(g, (int32_t)id);
                assert_int_equal(bit(mask, id), ok);
                if (!ok)
                    continue;
                if (id < n_tok && (int32_t)id != stop[0])
                    assert_false(myth_tokenizer_is_control(tok, (int32_t)id));
                n_long += id < n_tok && myth_tokenizer_bytes_of(tok, (int32_t)id, NULL, 0) > 1;
                n_allowed++;
                if (check_below(&rng, ++seen) == 0)
                    pick = (int32_t)id;
            }
            assert_true(pick >= 0);
            assert_int_equal(mask, myth_grammar_mask(g)); /* cached */
            assert_true(myth_grammar_accept(g, pick));
        }
    }
    printf("%u states, %u allowed tokens, %u of several bytes\n", n_state, n_allowed, n_long);
    assert_true(n_long > 0);
    myth_grammar_close(g);
}

static void test_stop(void **state)
{
    (void)state;
    int32_t eos = myth_tokenizer_special(tok)->eos, ids[16];
    size_t n;
    myth_grammar *g;
    assert_int_equal(myth_grammar_open(&g, mem, tok, myth_tokenizer_n_vocab(tok), &eos, 1, 1, NULL), MYTH_OK);
    myth_grammar_start(g, &automata[0]);
    assert_false(myth_grammar_accept(g, eos));
    assert_int_equal(myth_tokenizer_encode(tok, mem, MYTH_TOK_CONTENT, "12,7", 4, ids, 16, &n, NULL), MYTH_OK);
    for (size_t i = 0; i < n; i++)
        assert_true(myth_grammar_accept(g, ids[i]));
    assert_false(myth_grammar_may_end(g));
    assert_int_equal(myth_tokenizer_encode(tok, mem, MYTH_TOK_CONTENT, ";", 1, ids, 16, &n, NULL), MYTH_OK);
    assert_true(myth_grammar_accept(g, ids[0]));
    assert_true(myth_grammar_may_end(g) && !myth_grammar_is_done(g));
    assert_true(bit(myth_grammar_mask(g), (uint32_t)eos));
    assert_true(myth_grammar_accept(g, eos));
    assert_true(myth_grammar_is_done(g));
    for (uint32_t id = 0; id < myth_tokenizer_n_vocab(tok); id++)
        assert_false(bit(myth_grammar_mask(g), id) || myth_grammar_allows(g, (int32_t)id));
    myth_grammar_start(g, &automata[0]);
    assert_false(myth_grammar_is_done(g));
    assert_false(myth_grammar_allows(g, -1) || myth_grammar_allows(g, INT32_MAX));
    myth_grammar_close(g);
}

/* A vocabulary that is longer than the row: ids past it are not allowed and not written. */
static void test_fewer_logits_than_ids(void **state)
{
    (void)state;
    myth_grammar *g;
    assert_int_equal(myth_grammar_open(&g, mem, tok, 300, NULL, 0, 1, NULL), MYTH_OK);
    myth_grammar_start(g, &automata[1]);
    const uint32_t *mask = myth_grammar_mask(g);
    for (uint32_t id = 0; id < 300; id++)
        assert_int_equal(bit(mask, id), myth_grammar_allows(g, (int32_t)id));
    assert_false(myth_grammar_allows(g, 300));
    myth_grammar_close(g);
}

/* Two grammars over the same tokens walk two automata in turn; each is as if it were alone. */
static void test_a_second_grammar_has_its_own_state(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    const int32_t eos = myth_tokenizer_special(tok)->eos;
    const uint32_t n_vocab = myth_tokenizer_n_vocab(tok), words = (n_vocab + 31) / 32;
    myth_grammar *g[2], *alone[2];
    uint32_t n_step = 0;
    assert_int_equal(myth_grammar_open(&g[0], mem, tok, n_vocab, &eos, 1, 2, NULL), MYTH_OK);
    const uint64_t before = myth_mem_get(mem, MYTH_MEM_HOST, MYTH_MEM_OTHER).live;
    assert_int_equal(myth_grammar_open_second(&g[1], g[0], 3, NULL), MYTH_OK);
    assert_int_equal(myth_mem_get(mem, MYTH_MEM_HOST, MYTH_MEM_OTHER).live - before,
                     myth_grammar_plan_second(tok, n_vocab, 3));
    assert_true(myth_grammar_plan_second(tok, n_vocab, 3) < myth_grammar_plan(tok, n_vocab, 3));
    for (uint64_t nth = 1; nth <= 6; nth++) {
        myth_grammar *none = NULL;
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        assert_int_equal(myth_grammar_open_second(&none, g[0], 1, NULL), MYTH_ENOMEM);
        myth_mem_set_fault(mem, NULL);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(myth_grammar_open(&alone[i], mem, tok, n_vocab, &eos, 1, 2, NULL), MYTH_OK);
        myth_grammar_start(g[i], &automata[i]);
        myth_grammar_start(alone[i], &automata[i]);
    }
    for (; n_step < 40; n_step++) {
        const uint32_t i = (uint32_t)check_below(&rng, 2);
        if (myth_grammar_is_done(g[i]))
            continue;
        const uint32_t *mask = myth_grammar_mask(g[i]);
        assert_memory_equal(mask, myth_grammar_mask(alone[i]), words * sizeof(uint32_t));
        uint32_t id = (uint32_t)check_below(&rng, n_vocab);
        while (!bit(mask, id))
            id = (id + 1) % n_vocab;
        assert_true(myth_grammar_accept(g[i], (int32_t)id) && myth_grammar_accept(alone[i], (int32_t)id));
    }
    myth_grammar_close(g[1]);
    assert_memory_equal(myth_grammar_mask(g[0]), myth_grammar_mask(alone[0]), words * sizeof(uint32_t));
    myth_grammar_close(g[0]);
    myth_grammar_close(alone[0]);
    myth_grammar_close(alone[1]);
}

static void test_plan_is_the_ledger(void **state)
{
    (void)state;
    for (uint32_t n_cached = 1; n_cached < 40; n_cached += 13) {
        uint64_t before = myth_mem_get(mem, MYTH_MEM_HOST, MYTH_MEM_OTHER).live;
        myth_grammar *g;
        assert_int_equal(myth_grammar_open(&g, mem, tok, 5000, NULL, 0, n_cached, NULL), MYTH_OK);
        assert_int_equal(myth_mem_get(mem, MYTH_MEM_HOST, MYTH_MEM_OTHER).live - before,
                         myth_grammar_plan(tok, 5000, n_cached));
        uint64_t n_alloc = myth_mem_n_alloc(mem);
        myth_grammar_start(g, &automata[1]);
        myth_grammar_mask(g);
        assert_int_equal(myth_mem_n_alloc(mem), n_alloc);
        myth_grammar_close(g);
    }
    for (uint64_t nth = 1; nth <= 10; nth++) {
        myth_grammar *g = NULL;
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        assert_int_equal(myth_grammar_open(&g, mem, tok, 5000, NULL, 0, 1, NULL), MYTH_ENOMEM);
        myth_mem_set_fault(mem, NULL);
    }
    assert_int_equal(myth_mem_get(mem, MYTH_MEM_HOST, MYTH_MEM_OTHER).live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mask_is_allows),        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_fewer_logits_than_ids), cmocka_unit_test(test_a_second_grammar_has_its_own_state),
        cmocka_unit_test(test_plan_is_the_ledger),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
