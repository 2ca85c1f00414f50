/* test_pushdown.c - the automaton of a grammar against a matcher that tries everything: random grammars, written out
 * and read back, on random texts, byte by byte: which byte steps, and whether the text may end. Then masks over a
 * vocabulary, what is forgotten and what is not, and the bounds of its memory. */
#include "engine/base/utf8.h"
#include "engine/text/pushdown.h"
#include "tests/support/check.h"

enum { N_RULE = 4, N_NODE = 220, TEXT = 14, OUT = 1 << 16 };

/* ---- random grammars ---- */

typedef enum { LETTERS, CLASS, RULE, SEQUENCE, CHOICE, REPEAT } kind;

typedef struct {
    kind kind;
    uint32_t chars[3], n; /* LETTERS, or the children's number */
    struct {
        uint32_t lo, hi;
    } range[3]; /* CLASS */
    bool is_negated;
    int child[3], rule, min, max; /* max -1 = any */
} node;

static const uint32_t alphabet[] = {'a', 'b', 'c', 0xe9, 0x20ac, 0x1f600, '\n', ']'};
enum { N_CHAR = sizeof(alphabet) / sizeof(alphabet[0]) };
static const char bytes[] = "abc]\n\xc3\xa9\xa8\xe2\x82\xac\xf0\x9f\x98\x80\xff\xed";

typedef struct {
    node node[N_NODE];
    int n, root[N_RULE];
} tree;

static int new_node(tree *t, kind k)
{
    assert_true(t->n < N_NODE);
    t->node[t->n] = (node){.kind = k};
    return t->n++;
}

static uint32_t any_char(uint64_t *rng) { return alphabet[check_below(rng, N_CHAR)]; }

/* A part of rule `rule`. has_read: a byte was read before it, so any rule may follow; else a later one alone. must_end:
 * no earlier rule at all, so that every rule has an end. */
static int make(tree *t, uint64_t *rng, int rule, int depth, bool has_read, bool must_end)
{
    const uint32_t pick = check_below(rng, depth > 3 || t->n > N_NODE - 60 ? 3 : 8);
    int at = new_node(t, LETTERS);
    if (pick == 2 && (rule + 1 < N_RULE || (has_read && !must_end))) {
        t->node[at].kind = RULE;
        const int from = has_read && !must_end ? 0 : rule + 1;
        t->node[at].rule = from + (int)check_below(rng, (uint32_t)(N_RULE - from));
    } else if (pick == 1) {
        node *n = &t->node[at];
        n->kind = CLASS;
        n->n = 1 + check_below(rng, 3);
        n->is_negated = check_below(rng, 3) == 0;
        for (uint32_t i = 0; i < n->n; i++) {
            const uint32_t a = any_char(rng), b = check_below(rng, 2) ? a : any_char(rng);
            n->range[i].lo = a < b ? a : b;
            n->range[i].hi = a < b ? b : a;
        }
    } else if (pick < 3) {
        t->node[at].n = check_below(rng, 8) ? 1 + check_below(rng, 2) : 0;
        for (uint32_t i = 0; i < t->node[at].n; i++)
            t->node[at].chars[i] = any_char(rng);
    } else if (pick < 5) {
        t->node[at].kind = SEQUENCE;
        t->node[at].n = 1 + check_below(rng, 3);
        for (uint32_t i = 0; i < t->node[at].n; i++) {
            const int c = make(t, rng, rule, depth + 1, has_read, must_end);
            t->node[at].child[i] = c;
            has_read |= t->node[c].kind == CLASS || (t->node[c].kind == LETTERS && t->node[c].n);
        }
    } else if (pick < 6) {
        t->node[at].kind = CHOICE;
        t->node[at].n = 1 + check_below(rng, 3);
        for (uint32_t i = 0; i < t->node[at].n; i++)
            t->node[at].child[i] = make(t, rng, rule, depth + 1, has_read, must_end && i == 0);
    } else {
        static const int bound[][2] = {{0, 1}, {0, -1}, {1, -1}, {2, 2}, {2, 3}, {2, -1}, {0, 4}, {0, 0}, {1, 1}};
        const uint32_t b = check_below(rng, sizeof(bound) / sizeof(bound[0]));
        t->node[at].kind = REPEAT;
        t->node[at].min = bound[b][0];
        t->node[at].max = bound[b][1];
        t->node[at].n = 1;
        t->node[at].child[0] = make(t, rng, rule, depth + 1, has_read, must_end);
    }
    return at;
}

/* ---- written out ---- */

typedef struct {
    char *s;
    size_t n;
    uint64_t *rng;
} writer;

static void put(writer *w, const char *s) { w->n += (size_t)snprintf(w->s + w->n, OUT - w->n, "%s", s); }

static void put_char(writer *w, uint32_t cp)
{
    char raw[5] = {0};
    const uint32_t how = check_below(w->rng, 4);
    if (how == 0 && cp < 0x100)
        snprintf(w->s + w->n, OUT - w->n, "\\x%02x", (unsigned)cp);
    else if (how == 1 && cp < 0x10000)
        snprintf(w->s + w->n, OUT - w->n, "\\u%04X", (unsigned)cp);
    else if (how == 2)
        snprintf(w->s + w->n, OUT - w->n, "\\U%08x", (unsigned)cp);
    else if (cp == '\n' || cp == ']')
        snprintf(w->s + w->n, OUT - w->n, cp == ']' ? "\\]" : "\\n");
    else {
        raw[myth_utf8_encode(raw, cp)] = 0;
        snprintf(w->s + w->n, OUT - w->n, "%s", raw);
    }
    w->n += strlen(w->s + w->n);
}

static void put_node(writer *w, const tree *t, int at)
{
    const node *n = &t->node[at];
    char number[32];
    switch (n->kind) {
    case LETTERS:
        put(w, "\"");
        for (uint32_t i = 0; i < n->n; i++)
            put_char(w, n->chars[i]);
        put(w, "\"");
        break;
    case CLASS:
        put(w, n->is_negated ? "[^" : "[");
        for (uint32_t i = 0; i < n->n; i++) {
            put_char(w, n->range[i].lo);
            if (n->range[i].lo != n->range[i].hi) {
                put(w, "-");
                put_char(w, n->range[i].hi);
            }
        }
        put(w, "]");
        break;
    case RULE:
        snprintf(number, sizeof(number), n->rule ? "r-%d" : "root", n->rule);
        put(w, number);
        break;
    case SEQUENCE:
    case CHOICE:
        put(w, "(");
        for (uint32_t i = 0; i < n->n; i++) {
            put(w, i == 0 ? "" : n->kind == CHOICE ? "\n| " : " ");
            put_node(w, t, n->child[i]);
        }
        put(w, ") # part\n");
        w->n -= check_below(w->rng, 2) ? 8 : 0;
        break;
    case REPEAT:
        put(w, "(");
        put_node(w, t, n->child[0]);
        put(w, ")");
        if (n->max < 0 && n->min < 2)
            put(w, n->min ? "+" : "*");
        else if (n->max == 1 && n->min == 0)
            put(w, "?");
        else {
            snprintf(number, sizeof(number),
                     n->max < 0         ? "{%d,}"
                     : n->max == n->min ? "{%d}"
                                        : "{%d, %d}",
                     n->min, n->max);
            put(w, number);
        }
        break;
    }
}

/* ---- the slow matcher ---- */

/* Where a part that begins at a character can end, a bit for each number of characters; and whether the text can stop
 * inside it. */
typedef struct {
    uint32_t ends;
    bool is_open;
} reach;

typedef struct {
    const tree *t;
    uint32_t chars[TEXT], n; /* whole characters; then n_rest bytes of one that is not whole */
    unsigned char rest[4];
    uint32_t n_rest;
    reach known[N_NODE][TEXT + 1];
    bool is_known[N_NODE][TEXT + 1];
} matcher;

static bool class_has(const node *n, uint32_t cp)
{
    bool is = false;
    for (uint32_t i = 0; i < n->n; i++)
        is |= cp >= n->range[i].lo && cp <= n->range[i].hi;
    return is != n->is_negated;
}

/* Whether the bytes at the end begin the character. */
static bool begins(const matcher *m, uint32_t cp)
{
    char all[4];
    return m->n_rest < (uint32_t)myth_utf8_encode(all, cp) && memcmp(all, m->rest, m->n_rest) == 0;
}

/* Whether a character of the class begins with the bytes at the end. */
static bool class_begins(const matcher *m, const node *n)
{
    if (!m->n_rest)
        return true; /* no class is empty */
    const uint32_t lead = m->rest[0], len = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || m->n_rest >= len)
        return false;
    uint32_t lo = lead & (0x7fu >> len);
    for (uint32_t i = 1; i < m->n_rest; i++)
        lo = lo << 6 | (m->rest[i] & 0x3f);
    const uint32_t n_free = 6 * (len - m->n_rest);
    for (uint32_t cp = lo << n_free; cp < (lo + 1) << n_free && cp <= 0x10ffff; cp++)
        if ((cp < 0xd800 || cp > 0xdfff) && class_has(n, cp) && begins(m, cp))
            return true;
    return false;
}

static reach from(matcher *m, int at, uint32_t i);

/* All ends of child c begun at each of the places in `at`. */
static reach from_all(matcher *m, int c, uint32_t at)
{
    reach r = {0, false};
    for (uint32_t i = 0; i <= m->n; i++)
        if (at >> i & 1) {
            const reach one = from(m, c, i);
            r.ends |= one.ends;
            r.is_open |= one.is_open;
        }
    return r;
}

static reach find(matcher *m, int at, uint32_t i)
{
    const node *n = &m->t->node[at];
    reach r = {1u << i, false}, one;
    switch (n->kind) {
    case LETTERS:
        for (uint32_t k = 0; k < n->n; k++) {
            if (i + k == m->n)
                return (reach){0, begins(m, n->chars[k])};
            if (m->chars[i + k] != n->chars[k])
                return (reach){0, false};
        }
        return (reach){1u << (i + n->n), false};
    case CLASS:
        if (i == m->n)
            return (reach){0, class_begins(m, n)};
        return (reach){class_has(n, m->chars[i]) ? 1u << (i + 1) : 0, false};
    case RULE: return from(m, m->t->root[n->rule], i);
    case SEQUENCE:
        for (uint32_t k = 0; k < n->n; k++) {
            one = from_all(m, n->child[k], r.ends);
            r.ends = one.ends;
            r.is_open |= one.is_open;
        }
        return r;
    case CHOICE:
        r.ends = 0;
        for (uint32_t k = 0; k < n->n; k++) {
            one = from(m, n->child[k], i);
            r.ends |= one.ends;
            r.is_open |= one.is_open;
        }
        return r;
    case REPEAT: break;
    }
    uint32_t now = 1u << i;
    r.ends = n->min == 0 ? now : 0;
    for (int turn = 1; (n->max < 0 ? turn <= n->min + TEXT + 1 : turn <= n->max) && now; turn++) {
        one = from_all(m, n->child[0], now);
        now = one.ends;
        r.is_open |= one.is_open;
        r.ends |= turn >= n->min ? now : 0;
    }
    return r;
}

static reach from(matcher *m, int at, uint32_t i)
{
    if (!m->is_known[at][i]) {
        m->known[at][i] = find(m, at, i);
        m->is_known[at][i] = true;
    }
    return m->known[at][i];
}

/* Whether the text is the beginning of one of the grammar, and whether it is one. */
static bool is_beginning(matcher *m, const tree *t, const unsigned char *text, uint32_t len, bool *is_whole)
{
    uint32_t i = 0;
    memset(m->is_known, 0, sizeof(m->is_known));
    m->t = t;
    m->n = m->n_rest = 0;
    for (int k; i < len && (k = myth_utf8_decode(text + i, len - i, &m->chars[m->n])) > 0; i += (uint32_t)k)
        m->n++;
    *is_whole = false;
    if (len - i > 3)
        return false;
    memcpy(m->rest, text + i, len - i);
    m->n_rest = len - i;
    const reach r = from(m, t->root[0], 0);
    *is_whole = m->n_rest == 0 && (r.ends >> m->n & 1);
    return r.is_open || *is_whole;
}

/* ---- */

static myth_mem *mem;
static myth_pushdown *states;
static myth_error err;

static int open_all(void **state)
{
    (void)state;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_pushdown_open(&states, mem, NULL), MYTH_OK);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    myth_pushdown_close(states);
    assert_int_equal(myth_mem_close(mem), 0);
    return 0;
}

static myth_gbnf *parse(const char *text, size_t len)
{
    myth_gbnf *g;
    if (myth_gbnf_parse(&g, mem, text, len, "g", NULL, &err) != MYTH_OK)
        fail_msg("%.*s\n%s", (int)len, text, err.msg);
    return g;
}

static void same_as_the_slow_matcher(void **state)
{
    static matcher m;
    static tree t;
    static char text[OUT];
    uint64_t rng = check_seed(), n_step = 0, n_refused = 0, n_whole = 0, n_full = 0;
    const uint32_t n_wanted = check_is_full() ? 2000 : check_sample(40);
    uint32_t n_grammar = 0;
    bool has_met = false;
    (void)state;
    for (; check_goes_on(n_grammar, n_wanted, has_met); n_grammar++) {
        writer w = {text, 0, &rng};
        t.n = 0;
        for (int r = 0; r < N_RULE; r++) {
            /* The first alternative of a rule needs later rules alone, so each has an end. */
            const int choice = new_node(&t, CHOICE);
            t.root[r] = choice;
            t.node[choice].n = 2;
            t.node[choice].child[0] = make(&t, &rng, r, 0, false, true);
            t.node[choice].child[1] = make(&t, &rng, r, 1, false, false);
            w.n += (size_t)snprintf(text + w.n, OUT - w.n, r ? "\nr-%d ::= (" : "root ::= (", r);
            put_node(&w, &t, t.node[choice].child[0]);
            put(&w, check_below(&rng, 2) ? " | " : "|\n");
            put_node(&w, &t, t.node[choice].child[1]);
            put(&w, ")");
        }
        myth_gbnf *g = parse(text, w.n);
        myth_automaton a;
        myth_pushdown_use(states, g, &a);
        for (uint32_t k = 0; k < 12; k++) {
            unsigned char s[TEXT + 1];
            uint32_t len = 0, at;
            bool is_whole;
            a.start(a.self, &at);
            is_beginning(&m, &t, s, 0, &is_whole);
            assert_int_equal(a.may_end(a.self, &at), is_whole);
            while (len < TEXT && !myth_pushdown_is_full(states)) {
                uint32_t seen = 0, next = at;
                unsigned char pick = 0;
                for (size_t b = 0; b + 1 < sizeof(bytes); b++) {
                    uint32_t to = at;
                    s[len] = (unsigned char)bytes[b];
                    const bool wants = is_beginning(&m, &t, s, len + 1, &is_whole), got = a.step(a.self, &to, s[len]);
                    if (myth_pushdown_is_full(states)) {
                        assert_false(got); /* a text that can be read in too many ways */
                        break;
                    }
                    if (got != wants || (got && a.may_end(a.self, &to) != is_whole))
                        fail_msg("%.*s\nafter %u bytes of \"%.*s\": byte %02x %s, may end %d; matcher %d, %d", (int)w.n,
                                 text, len, (int)len, s, s[len], got ? "steps" : "does not step",
                                 got && a.may_end(a.self, &to), wants, is_whole);
                    n_step += got;
                    n_refused += !got;
                    n_whole += got && is_whole;
                    if (got && check_below(&rng, ++seen) == 0) {
                        pick = s[len];
                        next = to;
                    }
                }
                if (!seen)
                    break;
                s[len++] = pick;
                at = next;
                if (check_below(&rng, 3) == 0)
                    a.settle(a.self, &at);
            }
            n_full += myth_pushdown_is_full(states);
        }
        myth_gbnf_close(g);
        has_met = n_full <= n_grammar && n_step > 1000 && n_refused > 1000 && n_whole > 100;
    }
    printf("%u grammars, %llu bytes that step, %llu that do not, %llu whole texts; %llu texts were too much\n",
           n_grammar, (unsigned long long)n_step, (unsigned long long)n_refused, (unsigned long long)n_whole,
           (unsigned long long)n_full);
    assert_true(n_full < n_grammar && n_step > 1000 && n_refused > 1000 && n_whole > 100);
}

/* ---- masks ---- */

static const char *const lists[] = {
    "root ::= (\"[\" [0-9]{1,3} (\", \" [0-9]{1,3}){0,90} \"]\"){1,40}",
    "root ::= [a-z ]{3,300} \"\\n\" [^\\n]{200,} \"\\n\" root?",
    "root ::= \"(\" (root | \"x\"{2,60} | \".\")* \")\"",
    "root ::= (. | \"ab\"){0,400}",
};

static void masks_are_what_steps(void **state)
{
    char path[1024];
    uint64_t rng = check_seed() + 3;
    myth_tokenizer *tok;
    myth_grammar *masks;
    uint32_t n_state = 0;
    (void)state;
    assert_int_equal(myth_tokenizer_open_file(
                         &tok, mem, check_path(path, sizeof(path), "tests/golden/tokenizer/small_new.json"), NULL),
                     MYTH_OK);
    const uint32_t n_tok = myth_tokenizer_n_vocab(tok);
    const int32_t eos = myth_tokenizer_special(tok)->eos;
    assert_int_equal(myth_grammar_open(&masks, mem, tok, n_tok, &eos, 1, 8, NULL), MYTH_OK);
    for (uint32_t round = 0; round < (check_is_full() ? 40 : 4); round++) {
        const char *text = lists[round % 4];
        myth_gbnf *g = parse(text, strlen(text));
        myth_automaton a;
        myth_pushdown_use(states, g, &a);
        myth_grammar_start(masks, &a);
        for (uint32_t step = 0; step < 120 && !myth_grammar_is_done(masks); step++, n_state++) {
            const uint32_t *mask = myth_grammar_mask(masks);
            uint32_t seen = 0;
            int32_t pick = -1;
            for (uint32_t id = 0; id < n_tok; id++) {
                const bool ok = myth_grammar_allows(masks, (int32_t)id);
                if ((mask[id / 32] >> (id % 32) & 1) != ok)
                    fail_msg("%s\nstep %u: id %u is %s", text, step, id, ok ? "allowed" : "not allowed");
                if (ok && (int32_t)id != eos && check_below(&rng, ++seen) == 0)
                    pick = (int32_t)id;
            }
            assert_true(pick >= 0 || (myth_grammar_may_end(masks) && !seen));
            assert_true(myth_grammar_accept(masks, pick >= 0 ? pick : eos));
        }
        assert_false(myth_pushdown_is_full(states));
        myth_gbnf_close(g);
    }
    printf("%u states\n", n_state);
    myth_grammar_close(masks);
    myth_tokenizer_close(tok);
}

/* The states of a counted text that is far from its end share a key, so they share a mask. */
static void far_counts_have_one_key(void **state)
{
    static const char text[] = "root ::= \"<\" [a-z]{10,1000} \">\"";
    (void)state;
    myth_gbnf *g = parse(text, sizeof(text) - 1);
    myth_automaton a;
    uint32_t at, first = 0, n_other = 0;
    myth_pushdown_use(states, g, &a);
    a.start(a.self, &at);
    assert_true(a.step(a.self, &at, '<'));
    for (uint32_t i = 1; i <= 1000; i++) {
        uint32_t k = 0;
        assert_true(a.step(a.self, &at, 'x'));
        assert_int_equal(a.may_end(a.self, &at), 0);
        a.key(a.self, &at, 30, &k);
        first = i == 10 ? k : first;
        n_other += i > 10 && k != first;
    }
    assert_int_equal(n_other, 32); /* those of which 30 bytes come to the 1000th, and two to be safe */
    assert_false(a.step(a.self, &at, 'x'));
    myth_gbnf_close(g);
}

/* ---- bounds ---- */

static void a_long_text_is_forgotten(void **state)
{
    static const char text[] = "root ::= (\"a\" | \"b\" | [0-9]){0,1000000} \";\"",
                      list[] = "root ::= \"a\" root | \"b\"";
    (void)state;
    myth_gbnf *g = parse(text, sizeof(text) - 1);
    myth_automaton a;
    uint32_t at, n_settled = 0;
    myth_pushdown_use(states, g, &a);
    a.start(a.self, &at);
    for (uint32_t i = 0; i < 100000; i++) {
        assert_true(a.step(a.self, &at, "ab7"[i % 3]));
        n_settled += a.settle(a.self, &at);
    }
    assert_true(n_settled > 20 && !myth_pushdown_is_full(states));
    assert_true(a.step(a.self, &at, ';') && a.may_end(a.self, &at));
    myth_gbnf_close(g);
    /* A rule that calls itself at its end leaves nothing on the stack. */
    g = parse(list, sizeof(list) - 1);
    myth_pushdown_use(states, g, &a);
    a.start(a.self, &at);
    assert_true(a.step(a.self, &at, 'a'));
    for (uint32_t i = 0, one = at; i < 100000; i++)
        assert_true(a.step(a.self, &at, 'a') && at == one);
    myth_gbnf_close(g);
}

static void what_does_not_fit_ends(void **state)
{
    static const char deep[] = "root ::= \"(\" root* \")\"", wide[] = "root ::= ([ab]{1,900} | [bc]{1,900}){0,900000}";
    (void)state;
    myth_gbnf *g = parse(deep, sizeof(deep) - 1);
    myth_automaton a;
    uint32_t at, n = 0;
    myth_pushdown_use(states, g, &a);
    a.start(a.self, &at);
    while (a.step(a.self, &at, '(')) {
        n++;
        a.settle(a.self, &at);
        assert_true(n < 2 * MYTH_PUSHDOWN_NODES);
    }
    assert_true(n >= 10000);
    assert_true(myth_pushdown_is_full(states));
    assert_false(a.may_end(a.self, &at) || a.step(a.self, &at, ')'));
    a.start(a.self, &at); /* a new text is not full */
    assert_true(!myth_pushdown_is_full(states) && a.step(a.self, &at, '(') && a.step(a.self, &at, ')'));
    assert_true(a.may_end(a.self, &at));
    myth_gbnf_close(g);

    g = parse(wide, sizeof(wide) - 1); /* as many ways to read "bbb..." as it has parts */
    myth_pushdown_use(states, g, &a);
    a.start(a.self, &at);
    for (n = 0; n < 5000 && a.step(a.self, &at, 'b'); n++)
        a.settle(a.self, &at);
    assert_true(n < 5000 && myth_pushdown_is_full(states));
    myth_gbnf_close(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_the_slow_matcher), cmocka_unit_test(masks_are_what_steps),
        cmocka_unit_test(far_counts_have_one_key),  cmocka_unit_test(a_long_text_is_forgotten),
        cmocka_unit_test(what_does_not_fit_ends),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
