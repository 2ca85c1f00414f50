/* test_findings.c - the automaton that limits an answer to what is allowed: every text that it lets through parses and
 * cites lines that exist, and from every state the answer can be finished. */
#include "tests/frontend/inspect/hostile.h"

#include "frontend/inspect/answer/verify.h"

#include <jansson.h>

enum { FILE_MAX = 400, TEXT_MAX = 65536, FINISH_MAX = 4096 };

typedef struct {
    myth_mem *mem;
    unsigned char bytes[2][FILE_MAX];
    myth_source src[2];
    myth_block block[4];
    uint32_t n_block;
    myth_findings_limits limits;
    myth_findings_grammar g;
    myth_automaton a;
} bed;

static void bed_blocks(bed *b)
{
    b->g = (myth_findings_grammar){.block = b->block, .n_block = b->n_block, .limits = &b->limits};
    myth_findings_automaton(&b->a, &b->g);
}

static void bed_open(bed *b, const char *path, const void *bytes, size_t len)
{
    memset(b, 0, sizeof(*b));
    assert_int_equal(myth_mem_open(&b->mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_source_open(&b->src[0], b->mem, path, bytes, len, NULL), MYTH_OK);
    b->block[0] = (myth_block){.src = &b->src[0], .first = 1, .last = b->src[0].n_line};
    b->n_block = 1;
    b->limits = *myth_findings_limits_of(MYTH_PROMPT_FULL);
    bed_blocks(b);
}

static void bed_close(bed *b)
{
    myth_source_close(&b->src[0]);
    myth_source_close(&b->src[1]);
    assert_int_equal(myth_mem_close(b->mem), 0);
}

/* Makes one or two hostile files in one to four blocks, with limits so small that random answers reach them. Half of
 * the beds have the numbers of a part of its own, with the blocks in any order. */
static void bed_random(bed *b, uint64_t *rng)
{
    static const char *const path[] = {"a.c", "a.cc", "dir/\"q\\.py", "\xff\n.js"};
    memset(b, 0, sizeof(*b));
    assert_int_equal(myth_mem_open(&b->mem, 0, NULL), MYTH_OK);
    uint32_t n_src = 1 + check_below(rng, 2), at = check_below(rng, 4);
    for (uint32_t i = 0; i < n_src; i++) {
        size_t len = hostile_fill(rng, b->bytes[i], FILE_MAX);
        assert_int_equal(myth_source_open(&b->src[i], b->mem, path[(at + i) % 4], b->bytes[i], len, NULL), MYTH_OK);
        uint32_t n = b->src[i].n_line, cut = n ? check_below(rng, n + 1) : 0;
        if (cut)
            b->block[b->n_block++] = (myth_block){.src = &b->src[i], .first = 1, .last = cut};
        if (cut < n || !n)
            b->block[b->n_block++] = (myth_block){.src = &b->src[i], .first = cut + 1, .last = n};
    }
    if (check_below(rng, 2)) {
        for (uint32_t i = b->n_block; i > 1; i--) {
            uint32_t k = check_below(rng, i);
            myth_block other = b->block[k];
            b->block[k] = b->block[i - 1];
            b->block[i - 1] = other;
        }
        myth_blocks_number(b->block, 0, b->n_block);
    }
    static const myth_prompt_style style[] = {MYTH_PROMPT_FULL, MYTH_PROMPT_COMPACT, MYTH_PROMPT_CHANGE};
    b->limits = *myth_findings_limits_of(style[check_below(rng, 3)]);
    b->limits.n_finding = 1 + (int)check_below(rng, MYTH_FINDING_MAX);
    b->limits.span = 1 + (int)check_below(rng, 12);
    b->limits.evidence = 48 + (int)check_below(rng, 40);
    b->limits.issue = (int)check_below(rng, 30);
    b->limits.fix = (int)check_below(rng, 5);
    b->limits.n_context = (int)check_below(rng, 3);
    b->limits.context = 8 + (int)check_below(rng, 8);
    bed_blocks(b);
}

typedef struct {
    uint64_t w[MYTH_AUTOMATON_STATE_MAX / 8];
} state;

/* Lists the bytes that step accepts in a state and returns how many; `allowed` must name the same ones. */
static uint32_t next_bytes(const bed *b, const state *s, uint8_t dst[256])
{
    uint32_t bits[8], n = 0;
    b->a.allowed(b->a.self, s, bits);
    for (int c = 0; c < 256; c++) {
        state t = *s;
        bool ok = b->a.step(b->a.self, &t, (uint8_t)c);
        assert_int_equal(ok, bits[c >> 5] >> (c & 31) & 1);
        if (ok)
            dst[n++] = (uint8_t)c;
    }
    return n;
}

/* Writes a random answer that the automaton allows and returns its length. After `patience` bytes it ends texts and
 * lists where it can. Every state on the way must allow a byte or be an end. */
static size_t random_walk(const bed *b, uint64_t *rng, char *text, size_t patience)
{
    state s = {0};
    size_t len = 0;
    b->a.start(b->a.self, &s);
    while (!b->a.may_end(b->a.self, &s)) {
        uint8_t c[256];
        uint32_t n = next_bytes(b, &s, c);
        assert_true(n > 0);
        assert_true(len < TEXT_MAX);
        uint8_t pick = c[check_below(rng, n)];
        for (uint32_t i = 0; len >= patience && i < n; i++) /* quotes and brackets end things */
            if (c[i] == '"' || c[i] == ']')
                pick = c[i];
        text[len++] = (char)pick;
        assert_true(b->a.step(b->a.self, &s, pick));
    }
    uint8_t c[256];
    assert_int_equal(next_bytes(b, &s, c), 0);
    return len;
}

static const char *json_text(const json_t *v, const char *key, size_t *len)
{
    const json_t *s = json_object_get(v, key);
    assert_true(json_is_string(s));
    *len = json_string_length(s);
    return json_string_value(s);
}

/* Checks an answer against the contract with a JSON library and the bytes of the files, without the code under test.
 * Returns the number of findings. */
static uint32_t check_answer(const bed *b, const char *text, size_t len)
{
    static char room[TEXT_MAX];
    myth_answer answer;
    myth_error err = {0};
    json_error_t jerr;
    json_t *v = json_loadb(text, len, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &jerr);
    if (!v)
        fail_msg("%s\n%.*s", jerr.text, (int)len, text);
    assert_int_equal(myth_answer_read(&answer, room, b->block, b->n_block, text, len, &err), MYTH_OK);
    const json_t *list = json_object_get(v, "findings");
    assert_int_equal(json_array_size(list), answer.n_finding);
    assert_true(answer.n_finding <= (uint32_t)b->limits.n_finding);
    for (uint32_t i = 0; i < answer.n_finding; i++) {
        const json_t *f = json_array_get(list, i);
        size_t n;
        const char *evidence = json_text(f, "evidence", &n);
        assert_int_equal(n, answer.finding[i].evidence.len);
        assert_memory_equal(evidence, answer.finding[i].evidence.text, n);
        myth_citation c;
        myth_verdict verdict = myth_verify(&c, &answer.finding[i], b->block, b->n_block, answer.finding, i);
        if (verdict != MYTH_CITES)
            fail_msg("finding %u %s\n%.*s", i, myth_verdict_text(verdict), (int)len, text);
        const myth_source *src = b->block[answer.finding[i].block].src;
        char shown[4096]; /* the cited bytes as they are shown, which must be the evidence */
        assert_int_equal(myth_spell_lossy(shown, sizeof(shown), src->bytes + c.off, c.len), n);
        assert_memory_equal(shown, evidence, n);
        assert_true(c.line >= answer.finding[i].first && c.line <= answer.finding[i].last);
        assert_true(answer.finding[i].last - answer.finding[i].first < (uint32_t)b->limits.span);
    }
    const json_t *context = json_object_get(v, "missing_context");
    assert_int_equal(json_array_size(context), answer.n_context);
    assert_true(answer.n_context <= (uint32_t)b->limits.n_context);
    for (uint32_t i = 0; i < answer.n_context; i++)
        assert_non_null(strstr(json_string_value(json_array_get(context, i)), "::"));
    json_decref(v);
    return answer.n_finding;
}

static void test_walks_parse_and_cite(void **unused)
{
    (void)unused;
    static char text[TEXT_MAX];
    static bed b;
    uint64_t rng = check_seed();
    uint32_t n_walk = check_is_full() ? 4000 : check_sample(600), n_finding = 0;
    for (uint32_t i = 0; i < n_walk; i++) {
        bed_random(&b, &rng);
        size_t len = random_walk(&b, &rng, text, check_below(&rng, 3000));
        n_finding += check_answer(&b, text, len);
        size_t path_len = b.src[0].path_len > b.src[1].path_len ? b.src[0].path_len : b.src[1].path_len;
        assert_true(len + MYTH_ANSWER_TAIL <= myth_answer_bound(&b.limits, path_len));
        bed_close(&b);
    }
    printf("%u walks, %u findings\n", n_walk, n_finding);
    assert_true(n_finding > n_walk / 4);
}

/* An answer that is cut anywhere and then closed by myth_answer_close parses, and has the findings that were whole
 * before the cut. */
static void test_close_anywhere(void **unused)
{
    (void)unused;
    static char text[TEXT_MAX], closed[TEXT_MAX + MYTH_ANSWER_TAIL];
    static bed b;
    uint64_t rng = check_seed();
    for (uint32_t i = 0, n_walk = check_is_full() ? 200 : check_sample(12); i < n_walk; i++) {
        bed_random(&b, &rng);
        size_t len = random_walk(&b, &rng, text, 700);
        uint32_t before = 0, dropped = 0;
        for (size_t cut = 0; cut <= len; cut++) {
            size_t n = myth_answer_close(closed, &b.g, text, cut, &dropped);
            assert_true(n <= cut + MYTH_ANSWER_TAIL);
            uint32_t found = check_answer(&b, closed, n);
            assert_true(found >= before && dropped <= 1);
            before = found;
        }
        assert_int_equal(dropped, 0);
        assert_int_equal(before, check_answer(&b, text, len));
        bed_close(&b);
    }
}

/* An answer with bytes changed or lost is refused, or its findings can be verified; no byte outside of it is touched,
 * which the sanitizers notice. */
static void test_mutated_answers(void **unused)
{
    (void)unused;
    static char text[TEXT_MAX], room[TEXT_MAX];
    static bed b;
    uint64_t rng = check_seed();
    uint32_t n_read = 0, n_holds = 0;
    for (uint32_t i = 0, n = check_is_full() ? 8000 : check_sample(600); check_goes_on(i, n, n_read); i++) {
        myth_answer answer;
        myth_error err = {0};
        if (i % 50 == 0) {
            if (i)
                bed_close(&b);
            bed_random(&b, &rng);
        }
        size_t len = random_walk(&b, &rng, text, check_below(&rng, 600));
        for (uint32_t k = 1 + check_below(&rng, 3); k-- && len > 2;) {
            size_t at = check_below(&rng, (uint32_t)len);
            switch (check_below(&rng, 3)) {
            case 0: text[at] = (char)check_below(&rng, 256); break;
            case 1: text[at] = (char)('0' + check_below(&rng, 10)); break;
            default: memmove(text + at, text + at + 1, --len - at); break;
            }
        }
        myth_status st = myth_answer_read(&answer, room, b.block, b.n_block, text, len, &err);
        assert_true(st == MYTH_OK || (st == MYTH_EFORMAT && err.msg[0]));
        n_read += st == MYTH_OK;
        for (uint32_t k = 0; st == MYTH_OK && k < answer.n_finding; k++) {
            myth_citation c;
            n_holds += myth_verify(&c, &answer.finding[k], b.block, b.n_block, answer.finding, k) == MYTH_CITES;
        }
    }
    bed_close(&b);
    printf("%u answers read, %u findings hold\n", n_read, n_holds);
    assert_true(n_read > 0);
}

/* A second pass, which is given the heads of the first one's findings, has exactly their citations and rules. */
static void test_second_pass(void **unused)
{
    (void)unused;
    static char text[TEXT_MAX], again[TEXT_MAX], room[TEXT_MAX], room2[TEXT_MAX];
    static bed b;
    uint64_t rng = check_seed();
    uint32_t n_seen = 0;
    for (uint32_t i = 0, n = check_is_full() ? 1000 : check_sample(60); check_goes_on(i, n, n_seen); i++) {
        myth_str heads[MYTH_FINDING_MAX];
        myth_answer first, second;
        bed_random(&b, &rng);
        size_t len = random_walk(&b, &rng, text, check_below(&rng, 3000));
        uint32_t n_head = myth_answer_heads(heads, &b.g, text, len);
        assert_int_equal(myth_answer_read(&first, room, b.block, b.n_block, text, len, NULL), MYTH_OK);
        assert_int_equal(n_head, first.n_finding);
        b.g.fixed = heads;
        b.g.n_fixed = n_head;
        size_t len2 = random_walk(&b, &rng, again, 5000);
        assert_int_equal(check_answer(&b, again, len2), n_head);
        assert_int_equal(myth_answer_read(&second, room2, b.block, b.n_block, again, len2, NULL), MYTH_OK);
        for (uint32_t k = 0; k < n_head; k++, n_seen++) {
            const myth_finding *x = &first.finding[k], *y = &second.finding[k];
            assert_true(x->block == y->block && x->first == y->first && x->last == y->last && x->rule == y->rule);
            assert_int_equal(x->evidence.len, y->evidence.len);
            assert_memory_equal(x->evidence.text, y->evidence.text, x->evidence.len);
        }
        bed_close(&b);
    }
    printf("%u findings expanded\n", n_seen);
    assert_true(n_seen > 0);
}

/* From any state, an answer that ends texts and lists as soon as it can is finished within FINISH_MAX bytes. */
static void test_every_state_can_finish(void **unused)
{
    (void)unused;
    static bed b;
    uint64_t rng = check_seed();
    for (uint32_t i = 0, n = check_is_full() ? 400 : check_sample(40); i < n; i++) {
        bed_random(&b, &rng);
        state s = {0};
        b.a.start(b.a.self, &s);
        for (size_t len = 0; len < 900 && !b.a.may_end(b.a.self, &s); len++) {
            uint8_t c[256];
            uint32_t k = next_bytes(&b, &s, c);
            assert_true(k > 0);
            state t = s;
            for (uint32_t left = FINISH_MAX; !b.a.may_end(b.a.self, &t); left--) {
                uint32_t bits[8];
                assert_true(left > 0);
                b.a.allowed(b.a.self, &t, bits);
                int pick = -1;
                for (int q = 255; q >= 0; q--)
                    if (bits[q >> 5] >> (q & 31) & 1)
                        pick = q;
                if (bits['"' >> 5] >> ('"' & 31) & 1)
                    pick = '"';
                if (bits[']' >> 5] >> (']' & 31) & 1)
                    pick = ']';
                assert_true(pick >= 0);
                assert_true(b.a.step(b.a.self, &t, (uint8_t)pick));
            }
            assert_true(b.a.step(b.a.self, &s, c[check_below(&rng, k)]));
        }
        bed_close(&b);
    }
}

/* Two states with the same cache key allow the same bytes for as many steps as the horizon says. */
static void test_keys(void **unused)
{
    (void)unused;
    static bed b;
    uint64_t rng = check_seed();
    enum { HORIZON = 24 };
    uint32_t n_same = 0;
    for (uint32_t i = 0; i < 30; i++) {
        bed_random(&b, &rng);
        state a[64] = {0}, k[64] = {0};
        int n_state = 0;
        state s = {0};
        b.a.start(b.a.self, &s);
        for (size_t len = 0; len < 4000 && n_state < 64 && !b.a.may_end(b.a.self, &s); len++) {
            uint8_t c[256];
            uint32_t n = next_bytes(&b, &s, c);
            b.a.step(b.a.self, &s, c[check_below(&rng, n)]);
            state key = {0};
            b.a.key(b.a.self, &s, HORIZON, &key);
            if (memcmp(&key, &s, b.a.state_bytes)) {
                a[n_state] = s;
                k[n_state++] = key;
            }
        }
        for (int x = 0; x < n_state; x++)
            for (int y = 0; y < x; y++) {
                if (memcmp(&k[x], &k[y], b.a.state_bytes))
                    continue;
                n_same++;
                state p = a[x], q = a[y];
                for (int step = 0; step < HORIZON; step++) {
                    uint8_t cp[256], cq[256];
                    uint32_t np = next_bytes(&b, &p, cp), nq = next_bytes(&b, &q, cq);
                    assert_int_equal(np, nq);
                    assert_memory_equal(cp, cq, np);
                    if (np == 0)
                        break;
                    uint8_t c = cp[check_below(&rng, np)];
                    b.a.step(b.a.self, &p, c);
                    b.a.step(b.a.self, &q, c);
                }
            }
        bed_close(&b);
    }
    assert_true(n_same > 0);
}

/* Near the limit of a text, states must not share a key when a character of several bytes fits in one of them only. */
static void test_keys_near_the_end_of_a_text(void **unused)
{
    (void)unused;
    static bed b;
    static const char one[] = "int f(char *s)\n",
                      head[] = "{\"findings\":[{\"file\":\"a.c\",\"lines\":[1,1],\"evidence\":\"int f(char "
                               "*s)\",\"rule\":\"other\",\"issue\":\"";
    enum { LIMIT = 24 };
    uint32_t n_same = 0;
    bed_open(&b, "a.c", one, sizeof(one) - 1);
    b.limits = *myth_findings_limits_of(MYTH_PROMPT_FULL);
    b.limits.issue = LIMIT;
    state at[LIMIT + 1];
    memset(at, 0, sizeof(at));
    b.a.start(b.a.self, &at[0]);
    for (const char *p = head; *p; p++)
        assert_true(b.a.step(b.a.self, &at[0], (uint8_t)*p));
    for (int n = 0; n < LIMIT; n++) {
        at[n + 1] = at[n];
        assert_true(b.a.step(b.a.self, &at[n + 1], 'a'));
    }
    for (uint32_t horizon = 1; horizon < LIMIT; horizon++)
        for (int n = 1; n <= LIMIT; n++) {
            state x = {0}, y = {0};
            b.a.key(b.a.self, &at[0], horizon, &x);
            b.a.key(b.a.self, &at[n], horizon, &y);
            if (memcmp(&x, &y, b.a.state_bytes))
                continue;
            n_same++;
            x = at[0];
            y = at[n];
            for (uint32_t i = 0; i < horizon; i++) {
                uint8_t cx[256], cy[256];
                uint32_t nx = next_bytes(&b, &x, cx), ny = next_bytes(&b, &y, cy);
                assert_int_equal(nx, ny);
                assert_memory_equal(cx, cy, nx);
                assert_true(b.a.step(b.a.self, &x, 'a') && b.a.step(b.a.self, &y, 'a'));
            }
        }
    assert_true(n_same > 0);
    bed_close(&b);
}

static bool accepts(const bed *b, const char *text)
{
    state s = {0};
    b->a.start(b->a.self, &s);
    for (; *text; text++)
        if (!b->a.step(b->a.self, &s, (uint8_t)*text))
            return false;
    return true;
}

static const char source[] = "int f(char *s)\n{\n\n\treturn strlen(s) + 1;   \n}\n";

static void test_goldens(void **unused)
{
    (void)unused;
    static bed b;
    bed_open(&b, "a.c", source, sizeof(source) - 1);
    assert_true(accepts(&b, "{\"findings\":[],\"missing_context\":[]}"));
    assert_true(accepts(&b, "{\"findings\":[],\"missing_context\":[\"b.c::strlen\",\"src/x-y.h::A.b\"]}"));
    assert_true(accepts(&b, "{\"findings\":[{\"file\":\"a.c\",\"lines\":[4,4],\"evidence\":\"strlen(s) + "
                            "1;\",\"rule\":\"missing-null-check\","
                            "\"issue\":\"\",\"why\":\"\",\"severity\":\"HIGH\",\"status\":\"likely\",\"fix\":\"\","
                            "\"missing\":\"\"}],\"missing_context\":[]}"));
    static const char start[] = "{\"findings\":[{\"file\":\"a.c\",\"lines\":[";
    char t[256];
#define AFTER(rest) (snprintf(t, sizeof(t), "%s%s", start, rest), accepts(&b, t))
    assert_false(accepts(&b, "{\"findings\":[{\"file\":\"b"));
    assert_false(accepts(&b, "{\"findings\":[{\"file\":\"a.\""));
    assert_true(AFTER("3,4],\"evidence\":\"return ")); /* a range may begin with a blank line */
    assert_false(AFTER("3,3]"));                       /* but not have blank lines only       */
    assert_false(AFTER("6"));
    assert_false(AFTER("0"));
    assert_false(AFTER("4,3"));
    assert_true(AFTER("5,5],\"evidence\":\"}\""));       /* the whole trimmed line */
    assert_false(AFTER("4,4],\"evidence\":\"return\"")); /* fewer than eight bytes */
    assert_true(AFTER("4,4],\"evidence\":\"return s\""));
    assert_false(AFTER("4,4],\"evidence\":\"strlen(s) + 1; ")); /* past the trimmed end   */
    assert_false(AFTER("4,4],\"evidence\":\"int f"));           /* another line           */
    assert_false(AFTER("1,1],\"evidence\":\"int f(char *s)\",\"rule\":\"no-such"));
    /* lines that a change removed are shown and cannot be cited: neither their text nor a number for them */
    static const char gone[] = "if (!guard) return 0;\n";
    static const myth_removed removed[] = {{4, 1, gone, sizeof(gone) - 1, NULL, NULL, 0},
                                           {6, 1, gone, sizeof(gone) - 1, NULL, NULL, 0}};
    b.src[0].removed = removed;
    b.src[0].n_removed = 2;
    b.block[0].removed_most = 1000;
    assert_true(AFTER("4,4],\"evidence\":\"return s\""));
    assert_false(AFTER("4,4],\"evidence\":\"i"));
    assert_false(AFTER("3,4],\"evidence\":\"if (!guard)"));
    assert_false(AFTER("6"));
    bed_close(&b);
}

/* A second finding with the same place must have another rule. */
static void test_no_repetition(void **unused)
{
    (void)unused;
    static bed b;
    char t[1024];
    static const char one[] = "{\"file\":\"a.c\",\"lines\":[1,1],\"evidence\":\"int f(char *s)\",\"rule\":\"%s";
    static const char rest[] =
        "\",\"issue\":\"\",\"why\":\"\",\"severity\":\"LOW\",\"status\":\"likely\",\"fix\":\"\",\"missing\":\"\"},";
    bed_open(&b, "a.c", source, sizeof(source) - 1);
    int n = snprintf(t, sizeof(t), "{\"findings\":[");
    n += snprintf(t + n, sizeof(t) - (size_t)n, one, "other");
    n += snprintf(t + n, sizeof(t) - (size_t)n, "%s", rest);
    snprintf(t + n, sizeof(t) - (size_t)n, one, "off-by-one\"");
    assert_true(accepts(&b, t));
    snprintf(t + n, sizeof(t) - (size_t)n, one, "oth");
    assert_false(accepts(&b, t));
    bed_close(&b);
}

/* The rules of a change are words only in an answer about a change, those of candidates in none. */
static void test_rules_of_a_change(void **unused)
{
    (void)unused;
    static bed b;
    char t[512];
    static const char one[] = "{\"findings\":[{\"file\":\"a.c\",\"lines\":[1,1],\"evidence\":\"int f(char "
                              "*s)\",\"rule\":\"%s";
    bed_open(&b, "a.c", source, sizeof(source) - 1);
    for (int is_change = 0; is_change < 2; is_change++) {
        b.limits = *myth_findings_limits_of(is_change ? MYTH_PROMPT_CHANGE : MYTH_PROMPT_FULL);
        for (uint32_t i = 0; i < myth_rule_count(); i++) {
            snprintf(t, sizeof(t), one, myth_rules[i].id);
            assert_int_equal(accepts(&b, t), i < MYTH_RULE_CODE_N || (is_change && i < MYTH_RULE_ANSWER_N));
        }
    }
    b.limits = *myth_findings_limits_of(MYTH_PROMPT_COMPACT);
    snprintf(t, sizeof(t), one, "regression");
    assert_false(accepts(&b, t));
    bed_close(&b);
}

static void test_nothing_to_cite(void **unused)
{
    (void)unused;
    static bed b;
    static const char *const blank[] = {"", "\n", " \t\r\n\n  "};
    for (int i = 0; i < 3; i++) {
        bed_open(&b, "a.c", blank[i], strlen(blank[i]));
        assert_true(accepts(&b, "{\"findings\":[]"));
        assert_false(accepts(&b, "{\"findings\":[{"));
        bed_close(&b);
    }
}

/* Characters are spelled as JSON wants, and a byte that is not UTF-8 as U+FFFD. Without room the length is still
 * counted. */
static void test_spelling(void **unused)
{
    (void)unused;
    char dst[8];
    static const struct {
        const char *in, *out;
    } row[] = {
        {"\"", "\\\""},           {"\\", "\\\\"},    {"\n", "\\n"}, {"\t", "\\t"},    {"\r", "\\r"},
        {"\x1b", "\\u001b"},      {"\b", "\\u0008"}, {"/", "/"},    {"\x7f", "\x7f"}, {"\xff", "\xef\xbf\xbd"},
        {"\xc3\xa9", "\xc3\xa9"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        size_t n = myth_spell(dst, sizeof(dst), row[i].in, strlen(row[i].in));
        assert_int_equal(n, strlen(row[i].out));
        assert_memory_equal(dst, row[i].out, n);
    }
    assert_int_equal(myth_spell(dst, 0, "\0\0", 2), 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spelling),
        cmocka_unit_test(test_goldens),
        cmocka_unit_test(test_no_repetition),
        cmocka_unit_test(test_rules_of_a_change),
        cmocka_unit_test(test_nothing_to_cite),
        cmocka_unit_test(test_walks_parse_and_cite),
        cmocka_unit_test(test_close_anywhere),
        cmocka_unit_test(test_second_pass),
        cmocka_unit_test(test_mutated_answers),
        cmocka_unit_test(test_every_state_can_finish),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_keys_near_the_end_of_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
