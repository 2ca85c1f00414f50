/* test_sentences.c - answers in sentences: every text that the automaton lets through parses and cites lines that were
 * shown, an answer cut anywhere can be closed, from every state the answer can be finished, and states with one key
 * allow the same bytes. */
#include "tests/frontend/inspect/hostile.h"

#include "frontend/inspect/answer/sentences.h"
#include "frontend/inspect/answer/verify.h"

enum { FILE_MAX = 300, TEXT_MAX = 32768, FINISH_MAX = 4096 };

typedef struct {
    myth_mem *mem;
    unsigned char bytes[2][FILE_MAX];
    myth_source src[2];
    myth_block block[2];
    uint32_t n_block;
    myth_findings_limits limits;
    myth_findings_grammar g;
    myth_automaton a;
} bed;

static void bed_start(bed *b)
{
    b->g = (myth_findings_grammar){.block = b->block, .n_block = b->n_block, .limits = &b->limits};
    myth_sentences_automaton(&b->a, &b->g);
}

static void bed_add(bed *b, const char *path, const void *bytes, size_t len)
{
    myth_source *src = &b->src[b->n_block];
    assert_int_equal(myth_source_open(src, b->mem, path, bytes, len, NULL), MYTH_OK);
    b->block[b->n_block++] = (myth_block){.src = src, .first = 1, .last = src->n_line};
}

static void bed_open(bed *b)
{
    memset(b, 0, sizeof(*b));
    assert_int_equal(myth_mem_open(&b->mem, 0, NULL), MYTH_OK);
    b->limits = *myth_findings_limits_of(MYTH_PROMPT_QUESTION);
}

/* Two hostile files, with limits so small that random answers reach them. */
static void bed_random(bed *b, uint64_t *rng)
{
    bed_open(b);
    for (int i = 0; i < 2; i++)
        bed_add(b, i ? "dir/\"q\\.py" : "a.c", b->bytes[i], hostile_fill(rng, b->bytes[i], FILE_MAX));
    b->block[1].skip = (int32_t)check_below(rng, 2) * -7;
    b->limits.n_finding = 1 + (int)check_below(rng, MYTH_SENTENCE_MAX);
    b->limits.span = 1 + (int)check_below(rng, 12);
    b->limits.evidence = 48 + (int)check_below(rng, 40);
    b->limits.issue = 1 + (int)check_below(rng, 30);
    b->limits.missing = 1 + (int)check_below(rng, 5);
    b->limits.n_context = (int)check_below(rng, 3);
    b->limits.context = 8 + (int)check_below(rng, 8);
    bed_start(b);
}

static void bed_close(bed *b)
{
    myth_source_close(&b->src[0]);
    myth_source_close(&b->src[1]);
    assert_int_equal(myth_mem_close(b->mem), 0);
}

typedef struct {
    uint64_t w[MYTH_AUTOMATON_STATE_MAX / 8];
} state;

/* Lists the bytes that step accepts and returns how many; `allowed` must name the same ones. */
static uint32_t next_bytes(const bed *b, const state *s, uint8_t dst[256])
{
    uint32_t bits[8], n = 0;
    b->a.allowed(b->a.self, s, bits);
    for (int c = 0; c < 256; c++) {
        state t = *s;
        const bool ok = b->a.step(b->a.self, &t, (uint8_t)c);
        assert_int_equal(ok, bits[c >> 5] >> (c & 31) & 1);
        if (ok)
            dst[n++] = (uint8_t)c;
    }
    return n;
}

/* One byte on; after `patience` bytes it ends texts and lists where it can. */
static uint8_t pick_byte(const bed *b, const state *s, uint64_t *rng, bool is_patient)
{
    uint8_t c[256];
    const uint32_t n = next_bytes(b, s, c);
    assert_true(n > 0);
    uint8_t pick = c[check_below(rng, n)];
    for (uint32_t i = 0; !is_patient && i < n; i++)
        if (c[i] == '"' || c[i] == ']')
            pick = c[i];
    return pick;
}

static size_t random_walk(const bed *b, uint64_t *rng, char *text, size_t patience)
{
    state s = {0};
    size_t len = 0;
    b->a.start(b->a.self, &s);
    for (; !b->a.may_end(b->a.self, &s); len++) {
        assert_true(len < TEXT_MAX);
        text[len] = (char)pick_byte(b, &s, rng, len < patience);
        assert_true(b->a.step(b->a.self, &s, (uint8_t)text[len]));
    }
    uint8_t c[256];
    assert_int_equal(next_bytes(b, &s, c), 0);
    return len;
}

/* Reads an answer and checks each citation against the bytes of its file. Returns the number of sentences. */
static uint32_t check_answer(const bed *b, const char *text, size_t len, bool is_whole)
{
    static char room[TEXT_MAX];
    static myth_reply got;
    myth_error err = {0};
    if (myth_sentences_read(&got, room, b->block, b->n_block, text, len, &err) != MYTH_OK)
        fail_msg("%s\n%.*s", err.msg, (int)len, text);
    assert_true(got.is_answered == (got.n_sentence > 0) && got.n_sentence <= (uint32_t)b->limits.n_finding);
    assert_true(got.is_answered || !is_whole || got.missing.len > 0);
    for (uint32_t i = 0; i < got.n_sentence; i++) {
        const myth_sentence *s = &got.sentence[i];
        assert_true(s->n_quote >= 1 && s->n_quote <= MYTH_QUOTE_MAX && s->text.len > 0 && s->text.text[0] != ' ');
        assert_null(memchr(s->text.text, '\n', s->text.len));
        for (uint32_t k = s->quote; k < s->quote + s->n_quote; k++) {
            const myth_quote *q = &got.quote[k];
            const myth_source *src = b->block[q->block].src;
            myth_citation c;
            char shown[4096];
            assert_int_equal(myth_verify_quote(&c, b->block, b->n_block, q->block, q->first, q->last, q->quote),
                             MYTH_CITES);
            assert_true(c.line >= q->first && c.line <= q->last && q->last - q->first < (uint32_t)b->limits.span);
            assert_int_equal(myth_spell_lossy(shown, sizeof(shown), src->bytes + c.off, c.len), q->quote.len);
            assert_memory_equal(shown, q->quote.text, q->quote.len);
        }
    }
    assert_true(got.n_context <= (uint32_t)b->limits.n_context);
    return got.n_sentence;
}

static void test_walks_parse_and_cite(void **unused)
{
    (void)unused;
    static char text[TEXT_MAX];
    static bed b;
    uint64_t rng = check_seed();
    uint32_t n_walk = check_is_full() ? 4000 : check_sample(300), n_sentence = 0;
    for (uint32_t i = 0; i < n_walk; i++) {
        bed_random(&b, &rng);
        const size_t len = random_walk(&b, &rng, text, check_below(&rng, 1500));
        n_sentence += check_answer(&b, text, len, true);
        assert_true(len + MYTH_ANSWER_TAIL <= myth_sentences_bound(&b.limits, b.src[1].path_len));
        bed_close(&b);
    }
    printf("%u walks, %u sentences\n", n_walk, n_sentence);
    assert_true(n_sentence > n_walk / 4);
}

static void test_close_anywhere(void **unused)
{
    (void)unused;
    static char text[TEXT_MAX], closed[TEXT_MAX + MYTH_ANSWER_TAIL];
    static bed b;
    uint64_t rng = check_seed();
    for (uint32_t i = 0, n_walk = check_is_full() ? 200 : check_sample(12); i < n_walk; i++) {
        bed_random(&b, &rng);
        const size_t len = random_walk(&b, &rng, text, 500);
        uint32_t before = 0, dropped = 0;
        for (size_t cut = 0; cut <= len; cut++) {
            const size_t n = myth_sentences_close(closed, &b.g, text, cut, &dropped);
            assert_true(n <= cut + MYTH_ANSWER_TAIL);
            const uint32_t found = check_answer(&b, closed, n, false);
            assert_true(found >= before && dropped <= 1);
            before = found;
        }
        assert_int_equal(dropped, 0);
        assert_int_equal(before, check_answer(&b, text, len, true));
        bed_close(&b);
    }
}

/* An answer with bytes changed is refused, or its quotes can be verified, without a byte outside touched. */
static void test_mutated_answers(void **unused)
{
    (void)unused;
    static char text[TEXT_MAX], room[TEXT_MAX];
    static myth_reply got;
    static bed b;
    uint64_t rng = check_seed();
    uint32_t n_read = 0;
    for (uint32_t i = 0, n = check_is_full() ? 8000 : check_sample(300); check_goes_on(i, n, n_read); i++) {
        myth_error err = {0};
        bed_random(&b, &rng);
        const size_t len = random_walk(&b, &rng, text, check_below(&rng, 300));
        for (uint32_t k = 1 + check_below(&rng, 3); k--;)
            text[check_below(&rng, (uint32_t)len)] = (char)(check_below(&rng, 2) ? check_below(&rng, 256) : '1');
        const myth_status st = myth_sentences_read(&got, room, b.block, b.n_block, text, len, &err);
        assert_true(st == MYTH_OK || (st == MYTH_EFORMAT && err.msg[0]));
        n_read += st == MYTH_OK;
        for (uint32_t k = 0; st == MYTH_OK && k < got.n_quote; k++) {
            myth_citation c;
            const myth_quote *q = &got.quote[k];
            myth_verify_quote(&c, b.block, b.n_block, q->block, q->first, q->last, q->quote);
        }
        bed_close(&b);
    }
    assert_true(n_read > 0);
}

/* From any state, an answer that ends texts and lists as soon as it can is finished within FINISH_MAX bytes. */
static void test_every_state_can_finish(void **unused)
{
    (void)unused;
    static bed b;
    uint64_t rng = check_seed();
    for (uint32_t i = 0, n = check_is_full() ? 200 : check_sample(12); i < n; i++) {
        bed_random(&b, &rng);
        state s = {0};
        b.a.start(b.a.self, &s);
        for (size_t len = 0; len < 400 && !b.a.may_end(b.a.self, &s); len++) {
            state t = s;
            for (uint32_t left = FINISH_MAX; !b.a.may_end(b.a.self, &t); left--) {
                uint32_t bits[8];
                int pick = -1;
                assert_true(left > 0);
                b.a.allowed(b.a.self, &t, bits);
                for (int q = 255; q >= 0; q--)
                    pick = bits[q >> 5] >> (q & 31) & 1 ? q : pick;
                pick = bits['"' >> 5] >> ('"' & 31) & 1 ? '"' : pick;
                pick = bits[']' >> 5] >> (']' & 31) & 1 ? ']' : pick;
                assert_true(pick >= 0 && b.a.step(b.a.self, &t, (uint8_t)pick));
            }
            assert_true(b.a.step(b.a.self, &s, pick_byte(&b, &s, &rng, true)));
        }
        bed_close(&b);
    }
}

/* States of one key allow the same bytes for every string of up to `horizon` bytes, here near the end of a text. */
static void test_keys(void **unused)
{
    (void)unused;
    enum { LIMIT = 16 };
    static bed b;
    static const char one[] = "int f(char *s)\n", head[] = "{\"answered\":true,\"sentences\":[{\"text\":\"";
    state at[LIMIT + 1];
    uint32_t n_same = 0;
    bed_open(&b);
    bed_add(&b, "a.c", one, sizeof(one) - 1);
    b.limits.issue = LIMIT;
    bed_start(&b);
    memset(at, 0, sizeof(at));
    b.a.start(b.a.self, &at[0]);
    for (const char *p = head; *p; p++)
        assert_true(b.a.step(b.a.self, &at[0], (uint8_t)*p));
    for (int n = 0; n < LIMIT; n++) {
        at[n + 1] = at[n];
        assert_true(b.a.step(b.a.self, &at[n + 1], 'a'));
    }
    for (uint32_t horizon = 1; horizon < LIMIT; horizon++)
        for (int n = 0; n <= LIMIT; n++) {
            state x = {0}, y = {0};
            b.a.key(b.a.self, &at[1], horizon, &x);
            b.a.key(b.a.self, &at[n], horizon, &y);
            if (memcmp(&x, &y, b.a.state_bytes) != 0)
                continue;
            assert_true(n > 0);
            n_same++;
            x = at[1];
            y = at[n];
            for (uint32_t i = 0; i < horizon; i++) {
                uint8_t cx[256], cy[256];
                const uint32_t nx = next_bytes(&b, &x, cx);
                assert_int_equal(nx, next_bytes(&b, &y, cy));
                assert_memory_equal(cx, cy, nx);
                assert_true(b.a.step(b.a.self, &x, 'a') && b.a.step(b.a.self, &y, 'a'));
            }
        }
    assert_true(n_same > LIMIT);
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

static void test_goldens(void **unused)
{
    (void)unused;
    static bed b;
    static const char source[] = "int f(char *s)\n{\n\n\treturn strlen(s) + 1;   \n}\n";
    bed_open(&b);
    bed_add(&b, "a.c", source, sizeof(source) - 1);
    bed_start(&b);
#define CITE "{\"file\":\"a.c\",\"lines\":[4,4],\"quote\":\"strlen(s) + 1;\"}"
#define SAY  "{\"answered\":true,\"sentences\":[{\"text\":\"It adds \\\"one\\\".\",\"citations\":["
    assert_true(accepts(&b, SAY CITE "]}],\"missing_context\":[]}"));
    assert_true(accepts(&b, SAY CITE "," CITE "," CITE "]},{\"text\":\"x"));
    assert_true(accepts(&b, SAY CITE "]}],\"missing_context\":[\"b.c::strlen\"]}"));
    assert_true(accepts(&b, "{\"answered\":false,\"missing\":\"b.c\",\"missing_context\":[\"b.c::f\"]}"));
    assert_false(accepts(&b, SAY "]"));                                /* a sentence without a citation */
    assert_false(accepts(&b, SAY CITE "," CITE "," CITE ","));         /* more than three */
    assert_false(accepts(&b, "{\"answered\":true,\"sentences\":[]"));  /* an answer without a sentence */
    assert_false(accepts(&b, "{\"answered\":false,\"missing\":\"\"")); /* a refusal that says nothing */
    assert_false(accepts(&b, "{\"answered\":true,\"sentences\":[{\"text\":\" "));
    assert_false(accepts(&b, "{\"answered\":true,\"sentences\":[{\"text\":\"x\\n"));
    assert_false(accepts(&b, SAY "{\"file\":\"a.c\",\"lines\":[4,4],\"quote\":\"strlen(t"));
    assert_false(accepts(&b, SAY "{\"file\":\"b"));
    assert_false(accepts(&b, SAY "{\"file\":\"a.c\",\"lines\":[6"));
    bed_close(&b);
    bed_open(&b); /* where nothing can be cited, nothing is answered */
    bed_add(&b, "a.c", "\n \n", 3);
    bed_start(&b);
    assert_false(accepts(&b, "{\"answered\":t"));
    assert_true(accepts(&b, "{\"answered\":false,\"missing\":\"x\",\"missing_context\":[]}"));
    bed_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goldens),        cmocka_unit_test(test_walks_parse_and_cite),
        cmocka_unit_test(test_close_anywhere), cmocka_unit_test(test_mutated_answers),
        cmocka_unit_test(test_keys),           cmocka_unit_test(test_every_state_can_finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
