/* test_gbnf_tokens.c - grammars that name tokens: how they are written, which ids they take and which not, masks over a
 * vocabulary, and random ones against a matcher that tries everything. */
#include "engine/text/pushdown.h"
#include "tests/support/check.h"

static myth_mem *mem;
static myth_tokenizer *tok;
static myth_pushdown *states;
static myth_grammar *masks;
static myth_error err;
static int32_t stops[2];

static int begin(void **state)
{
    char path[1024];
    (void)state;
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK ||
        myth_tokenizer_open_file(&tok, mem, check_path(path, sizeof(path), "tests/golden/tokenizer/small_new.json"),
                                 NULL) != MYTH_OK ||
        myth_pushdown_open(&states, mem, NULL) != MYTH_OK)
        return -1;
    stops[0] = myth_tokenizer_special(tok)->eos;
    stops[1] = myth_tokenizer_special(tok)->end_of_turn;
    return myth_grammar_open(&masks, mem, tok, myth_tokenizer_n_vocab(tok) + 3, stops, 2, 8, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    myth_grammar_close(masks);
    myth_pushdown_close(states);
    myth_tokenizer_close(tok);
    return (int)myth_mem_close(mem);
}

static int32_t id_of(const char *piece)
{
    const int32_t id = myth_tokenizer_find(tok, piece, strlen(piece));
    if (id < 0)
        fail_msg("no piece %s", piece);
    return id;
}

static myth_gbnf *start(const char *text)
{
    myth_gbnf *g;
    myth_automaton a;
    if (myth_gbnf_parse(&g, mem, text, strlen(text), "g", tok, &err) != MYTH_OK)
        fail_msg("%s\n%s", text, err.msg);
    myth_pushdown_use(states, g, &a);
    myth_grammar_start(masks, &a);
    return g;
}

/* ---- how they are written ---- */

static void mistakes(void **state)
{
    static const struct {
        const char *grammar, *why;
    } row[] = {
        {"root ::= <think>", "g:1:10: <think> is no token of this model: write a text in quotes, \"<think>\""},
        {"root ::= \"a\" |\n  <bos> !<[1048576]>", "g:2:9: no such token: the vocabulary has ids up to "},
        {"root ::= <[99999999999999999999]>", "g:1:10: no such token"},
        {"root ::= <[]>", "g:1:10: expected a token: <[id]> as in <[106]>, or its text as in <end_of_turn>"},
        {"root ::= <[1a]>", "g:1:10: expected a token"},
        {"root ::= <[-1]>", "g:1:10: expected a token"},
        {"root ::= <[1]", "g:1:10: expected a token"},
        {"root ::= <[1", "g:1:10: expected a token"},
        {"root ::= <bos\n>", "g:1:10: expected a token"},
        {"root ::= \"a\" <bos", "g:1:14: expected a token"},
        {"root ::= !", "g:1:10: expected a token"},
        {"root ::= !bos", "g:1:10: expected a token"},
        {"root ::= ! <bos>", "g:1:10: expected a token"},
        {"root ::= !!<bos>", "g:1:10: expected a token"},
        {"root ::= <>", "g:1:10: <> is no token"},
        {"root ::= <bos> root", "g:1:1: rule \"root\" never ends"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_gbnf *g = NULL;
        const myth_status st = myth_gbnf_parse(&g, mem, row[i].grammar, strlen(row[i].grammar), "g", tok, &err);
        if (st != MYTH_EFORMAT || g || !strstr(err.msg, row[i].why))
            fail_msg("%s\n%s\nnot: %s", row[i].grammar, st == MYTH_OK ? "is read" : err.msg, row[i].why);
    }
    myth_gbnf *g = NULL;
    assert_int_equal(myth_gbnf_parse(&g, mem, "root ::= <[2]>", 14, "g", NULL, &err), MYTH_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "g:1:10: a token can be named only where there is a model's vocabulary"));
}

/* ---- which ids they take ---- */

/* Words of a line: pieces; the answer takes them all ('+'), and may end behind them ('.'), or not the last one. */
static void what_is_taken(void **state)
{
    static const struct {
        const char *grammar, *words, *how;
    } row[] = {
        {"root ::= <start_of_turn>", "<start_of_turn>", "+."},
        {"root ::= \"<start_of_turn>\"", "<start_of_turn>", ""}, /* text, which a control token never is */
        {"root ::= .*", "<start_of_turn>", ""},
        {"root ::= [^x]* <start_of_turn>", "in t <start_of_turn>", "+."},
        {"root ::= [^x]* <start_of_turn>", "in <start_of_turn> in", ""},
        {"root ::= <bos>* \"i\"", "<bos> <bos> i", "+."},
        {"root ::= <bos>{2,3} \"i\"", "<bos> <bos> <bos> <bos>", ""},
        {"root ::= <bos>{2,3} \"i\"", "<bos> i", ""},
        {"root ::= !<bos>", "<start_of_turn>", "+."},
        {"root ::= !<bos>", "in", "+."},
        {"root ::= !<bos>", "<bos>", ""},
        {"root ::= (!<bos>)*", "<eos>", "+."}, /* ends it, which it may */
        {"root ::= !<bos> \"i\"", "<eos>", ""},
        {"root ::= \"i\" !<bos>", "i <eos>", ""},                  /* it is another, but ends nothing that is whole */
        {"root ::= \"i\" <end_of_turn>", "i <end_of_turn>", "+."}, /* whole with it */
        {"root ::= \"i\" <end_of_turn> \"i\"", "i <end_of_turn>", ""},
        {"root ::= \"int\" | <bos> \"x\"", "in t", "+."},
        {"root ::= !<bos> \"x\" | \"int\"", "in t", "+."}, /* one id as a token, and as the beginning of a text */
        {"root ::= !<bos> \"x\" | \"int\"", "in x", "+."},
        {"root ::= !<bos> \"x\" | \"int\"", "in n", ""},
        {"root ::= \"i\" !<bos>? \"t\"", "in", ""}, /* a token begins where one does */
        {"root ::= \"i\" !<bos>? \"t\"", "i n t", "+."},
        {"root ::= \"i\" (a | <bos>)\na ::= \"n\" (<start_of_turn> | a)", "in n n <start_of_turn>", "+."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_gbnf *g = start(row[i].grammar);
        char words[128], *save = NULL;
        bool goes_on = true;
        snprintf(words, sizeof(words), "%s", row[i].words);
        for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
            if (!goes_on)
                fail_msg("%s: %s ends too early", row[i].grammar, row[i].words);
            goes_on = myth_grammar_allows(masks, id_of(w));
            if (myth_grammar_accept(masks, id_of(w)) != goes_on)
                fail_msg("%s: %s", row[i].grammar, w);
        }
        const bool is_end = myth_grammar_is_done(masks) || myth_grammar_may_end(masks);
        if (goes_on != (row[i].how[0] == '+') || (goes_on && is_end != (row[i].how[1] == '.')))
            fail_msg("%s: %s is %s", row[i].grammar, row[i].words, goes_on ? "taken" : "not taken");
        myth_gbnf_close(g);
    }
}

/* A token's number is that of its text. */
static void by_number(void **state)
{
    char text[64];
    (void)state;
    for (int k = 0; k < 2; k++) {
        snprintf(text, sizeof(text), "root ::= %s<[%d]>", k ? "!" : "", id_of("<bos>"));
        myth_gbnf *g = start(text);
        assert_int_equal(myth_grammar_allows(masks, id_of("<bos>")), k == 0);
        assert_int_equal(myth_grammar_allows(masks, id_of("<start_of_turn>")), k == 1);
        assert_false(myth_grammar_allows(masks, -1));
        assert_false(myth_grammar_allows(masks, (int32_t)myth_tokenizer_n_vocab(tok))); /* a row without a piece */
        myth_gbnf_close(g);
    }
}

/* ---- masks ---- */

static void masks_are_what_is_taken(void **state)
{
    static const char *const text[] = {
        "root ::= (<start_of_turn> [a-z]{0,40} (<unused1> | <end_of_turn>)? | !<bos> \"x\")*",
        "root ::= (!<start_of_turn>)* <start_of_turn> (!<bos>){2,5}",
        "root ::= ([^<] | <bos> | <[3]>){0,400}",
        "root ::= \"(\" (root | !<bos> | !<eos>)? \")\"",
    };
    uint64_t rng = check_seed();
    (void)state;
    const uint32_t n_row = myth_tokenizer_n_vocab(tok) + 3;
    for (uint32_t round = 0; round < (check_is_full() ? 80 : 8); round++) {
        myth_gbnf *g = start(text[round % 4]);
        for (uint32_t step = 0; step < 100 && !myth_grammar_is_done(masks); step++) {
            const uint32_t *mask = myth_grammar_mask(masks);
            uint32_t seen = 0;
            int32_t pick = stops[0];
            for (uint32_t id = 0; id < n_row; id++) {
                const bool ok = myth_grammar_allows(masks, (int32_t)id);
                if ((mask[id / 32] >> (id % 32) & 1) != ok)
                    fail_msg("%s\nstep %u: id %u is %s", text[round % 4], step, id, ok ? "allowed" : "not allowed");
                if (ok && (int32_t)id != stops[0] && (int32_t)id != stops[1] && check_below(&rng, ++seen) == 0)
                    pick = (int32_t)id;
            }
            assert_true(myth_grammar_accept(masks, pick));
        }
        assert_false(myth_pushdown_is_full(states));
        myth_gbnf_close(g);
    }
}

/* ---- against a matcher that tries everything ---- */

/* A part of a random grammar. Places in an answer of ids: the bytes of all of them, and where each begins. */
typedef struct {
    int kind; /* 0 text, 1 token, 2 sequence, 3 choice, 4 any number of times */
    const char *text;
    int32_t id;
    bool is_negated;
    int a, b; /* parts */
} part;

enum { PARTS = 40, IDS = 5, PLACES = 64 };

static const char *const pieces[] = {"i", "n", "t", "in", "int", "<bos>", "<start_of_turn>"};
enum { N_PIECE = sizeof(pieces) / sizeof(pieces[0]) };

typedef struct {
    part part[PARTS];
    int n;
    char text[2048];
} tree;

static int make(tree *t, uint64_t *rng, int depth)
{
    static const char *const texts[] = {"i", "n", "int", "nt", ""};
    const int at = t->n++;
    part *p = &t->part[at];
    p->kind = (int)check_below(rng, depth > 3 || t->n > PARTS - 12 ? 2 : 5);
    p->text = texts[check_below(rng, 5)];
    p->id = id_of(pieces[check_below(rng, N_PIECE)]);
    p->is_negated = check_below(rng, 3) == 0;
    if (p->kind >= 2)
        t->part[at].a = make(t, rng, depth + 1);
    if (p->kind == 2 || p->kind == 3)
        t->part[at].b = make(t, rng, depth + 1);
    return at;
}

static void spell(tree *t, int at)
{
    const part *p = &t->part[at];
    char *to = t->text + strlen(t->text);
    const size_t cap = sizeof(t->text) - strlen(t->text);
    switch (p->kind) {
    case 0: snprintf(to, cap, "\"%s\" ", p->text); break;
    case 1: snprintf(to, cap, "%s<[%d]> ", p->is_negated ? "!" : "", p->id); break;
    case 2:
        spell(t, p->a);
        spell(t, p->b);
        break;
    default:
        snprintf(to, cap, "(");
        spell(t, p->a);
        if (p->kind == 3) {
            strcat(t->text, "| ");
            spell(t, p->b);
        }
        strcat(t->text, p->kind == 4 ? ")* " : ") ");
    }
}

typedef struct {
    int32_t id[IDS];
    uint32_t n, begin[IDS + 1]; /* places, of which a control token takes one that is no byte */
    char byte[PLACES];
    bool is_text[PLACES];
} answer;

/* Places that the part can lead to from any of `from`. */
static uint64_t reach(const tree *t, int at, const answer *a, uint64_t from)
{
    const part *p = &t->part[at];
    uint64_t to = 0;
    switch (p->kind) {
    case 0:
        for (uint32_t i = 0; i <= a->begin[a->n]; i++) {
            const uint32_t n = (uint32_t)strlen(p->text);
            bool is = from >> i & 1 && i + n <= a->begin[a->n];
            for (uint32_t k = 0; k < n && is; k++)
                is = a->is_text[i + k] && a->byte[i + k] == p->text[k];
            to |= is ? 1ull << (i + n) : 0;
        }
        return to;
    case 1:
        for (uint32_t i = 0; i < a->n; i++)
            if (from >> a->begin[i] & 1 && (a->id[i] == p->id) != p->is_negated)
                to |= 1ull << a->begin[i + 1];
        return to;
    case 2: return reach(t, p->b, a, reach(t, p->a, a, from));
    case 3: return reach(t, p->a, a, from) | reach(t, p->b, a, from);
    default:
        for (to = from; (reach(t, p->a, a, to) | to) != to;)
            to |= reach(t, p->a, a, to);
        return to;
    }
}

static void random_grammars(void **state)
{
    uint64_t rng = check_seed() + 1;
    uint32_t n_taken = 0, n_grammar = check_is_full() ? 20000 : 600;
    (void)state;
    for (uint32_t round = 0; round < n_grammar; round++) {
        tree t = {.text = "root ::= "};
        make(&t, &rng, 0);
        spell(&t, 0);
        myth_gbnf *g = start(t.text);
        myth_automaton a;
        myth_pushdown_use(states, g, &a);
        for (uint32_t k = 0; k < 40; k++) {
            answer w = {.n = check_below(&rng, IDS + 1)};
            bool is = true;
            for (uint32_t i = 0; i < w.n; i++) {
                w.id[i] = id_of(pieces[check_below(&rng, N_PIECE)]);
                const bool is_text = !myth_tokenizer_is_control(tok, w.id[i]);
                const size_t n = is_text ? myth_tokenizer_bytes_of(tok, w.id[i], w.byte + w.begin[i], 8) : 1;
                memset(w.is_text + w.begin[i], is_text, n);
                w.begin[i + 1] = w.begin[i] + (uint32_t)n;
            }
            myth_grammar_start(masks, &a);
            for (uint32_t i = 0; i < w.n && is; i++)
                is = myth_grammar_accept(masks, w.id[i]);
            is = is && myth_grammar_may_end(masks);
            if (is != (reach(&t, 0, &w, 1) >> w.begin[w.n] & 1))
                fail_msg("%s\n%u ids from %d: %s", t.text, w.n, w.id[0], is ? "taken" : "not taken");
            n_taken += is && w.n > 1;
        }
        myth_gbnf_close(g);
    }
    printf("%u grammars, %u answers of more than one id taken\n", n_grammar, n_taken);
    assert_true(n_taken > n_grammar / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes),        cmocka_unit_test(what_is_taken),           cmocka_unit_test(by_number),
        cmocka_unit_test(random_grammars), cmocka_unit_test(masks_are_what_is_taken),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
