/* test_endless_chat.c - a chat that is far longer than the context: the system prompt stays, and when there is no room
 * for the next turn the oldest turns are evicted, down to a low-water mark. The cache always has the system prompt and
 * the last turns, whole. At positions many times the context it takes no more bytes and no more allocations.
 *
 * CPU      a context of 2,048 rows on the fastest level; every count is checked
 * Devices  a context of a few splits of decode attention, in exact mode. The CPU is fed the same, and the logits agree
 *          at every position within the tolerance of test_model_golden */
#include "tests/support/rig.h"

#include <math.h>

enum {
    SYS = 37,
    MAX_CTX = 2048,
    DEVICE_CTX = 640,
    SMALL_CTX = 288,
    TIMES = 3
}; /* small: two leaves of decode attention and a part */
static const float TOLERANCE_DEVICE = 2e-3f;

typedef struct {
    int32_t text[MAX_CTX]; /* the tokens that should be held */
    uint32_t turn[MAX_CTX], n_turn, len, n_ctx, n_evict;
    uint64_t n_fed;
} chat;

/* Room for n more: the oldest turns leave every sequence. */
static void make_room(chat *c, myth_seq **s, int n_seq, uint32_t n)
{
    if (n <= myth_seq_room(s[0]))
        return;
    uint32_t gone = 0, k = 0;
    while (k < c->n_turn && c->len - gone > c->n_ctx / 2)
        gone += c->turn[k++];
    for (int i = 0; i < n_seq; i++) {
        assert_ok(myth_seq_evict(s[i], SYS, gone, &rig_err));
        assert_true(n <= myth_seq_room(s[i]));
    }
    memmove(c->text + SYS, c->text + SYS + gone, 4 * (size_t)(c->len - SYS - gone));
    memmove(c->turn, c->turn + k, (c->n_turn - k) * sizeof(c->turn[0]));
    c->n_turn -= k;
    c->len -= gone;
    c->n_evict++;
}

static void check_held(const chat *c, myth_seq *s)
{
    assert_int_equal(myth_seq_len(s), c->len);
    assert_int_equal(myth_seq_pos(s), SYS + c->n_fed);
    assert_memory_equal(myth_seq_tokens(s), c->text, 4 * (size_t)c->len);
}

static uint64_t live_bytes(const rig *r)
{
    uint64_t sum = 0;
    for (int d = 0; d < MYTH_MEM_DEVICE_MAX; d++)
        sum += myth_mem_total(r->mem, d).live;
    return sum;
}

static void begin(chat *c, uint32_t n_ctx, uint64_t *rng)
{
    *c = (chat){.n_ctx = n_ctx, .len = SYS};
    for (uint32_t i = 0; i < SYS; i++)
        c->text[i] = (int32_t)check_below(rng, 512);
}

/* The next turn's tokens, n of them. */
static void say(chat *c, uint32_t n, uint64_t *rng)
{
    for (uint32_t i = 0; i < n; i++)
        c->text[c->len + i] = (int32_t)check_below(rng, 512);
    c->len += n;
    c->n_fed += n;
    c->turn[c->n_turn++] = n;
}

static bool has_cpu, has_device;
static char device[RIG_TARGET_MAX][32];
static uint32_t n_device;

static int find_devices(void **state)
{
    (void)state;
    n_device = rig_devices(device);
    for (uint32_t i = 0; i < n_device; i++) {
        bool is_cpu = strcmp(device[i], "cpu") == 0;
        has_cpu |= is_cpu;
        has_device |= !is_cpu;
    }
    return 0;
}

static void the_cpu_chats_on(void **state)
{
    (void)state;
    const myth_engine_opts o = {.device = "cpu", .n_threads = 1, .n_ctx = MAX_CTX, .n_ubatch = 256};
    uint64_t rng = check_seed(), goal = check_is_full() ? 300000 : check_sample(20000);
    static chat c;
    rig r;
    if (!has_cpu)
        return;
    begin(&c, MAX_CTX, &rng);
    rig_open(&r, "random:gemma3-tiny:q8_0", &o);
    myth_seq *s = rig_seq(&r);
    rig_feed(&r, s, c.text, SYS, 0, NULL);
    const uint64_t n_alloc = myth_mem_n_alloc(r.mem), live = live_bytes(&r),
                   peak = myth_mem_total(r.mem, MYTH_MEM_HOST).peak;
    while (c.n_fed < goal || c.n_evict <= 4) {
        uint32_t n = 20 + check_below(&rng, 140), answer = n / 8, at;
        make_room(&c, &s, 1, n);
        at = c.len;
        say(&c, n, &rng);
        rig_feed(&r, s, c.text + at, n - answer, 0, NULL);
        for (uint32_t i = n - answer; i < n; i++) {
            uint8_t want = MYTH_WANT_LOGITS;
            myth_result out;
            rig_tokens one = {.n_tok = 1, .token = c.text + at + i, .seq = &s, .want = &want, .is_decode = true};
            assert_ok(rig_forward(r.engine, &one, &out, &rig_err));
            assert_true(isfinite(out.top_logit[0]) && isfinite(out.lse[0]));
        }
        check_held(&c, s);
        assert_int_equal(myth_mem_n_alloc(r.mem), n_alloc);
        assert_int_equal(live_bytes(&r), live);
        assert_int_equal(myth_mem_total(r.mem, MYTH_MEM_HOST).peak, peak);
    }
    printf("cpu: %llu tokens, %u evictions, %u held\n", (unsigned long long)c.n_fed, c.n_evict, myth_seq_len(s));
    assert_true(c.n_evict > 4);
    myth_seq_close(s);
    rig_close(&r);
}

/* The last rows of a prompt and every decoded one, on the device and on the CPU. */
static void chat_on(const char *name, uint32_t n_ctx, uint64_t *rng)
{
    enum { DEV, HOST, TAIL = 3 };
    static chat c;
    rig r[2];
    rows got[2];
    myth_seq *s[2];
    uint64_t n_alloc[2], live[2];
    float worst = 0.0f;
    uint64_t goal = (uint64_t)n_ctx * TIMES * (check_is_full() ? 6 : 1);
    begin(&c, n_ctx, rng);
    for (int i = 0; i < 2; i++) {
        rig_open(&r[i], "random:gemma3-tiny:q8_0",
                 &(myth_engine_opts){
                     .device = i == DEV ? name : "cpu",
                     .n_threads = 1,
                     .is_exact = true,
                     .n_ctx = n_ctx,
                     .n_ubatch = 96,
                     .page_tok = 48,
                     .want_full_logits = true,
                 });
        rows_open(&got[i], &r[i], TAIL, false);
        s[i] = rig_seq(&r[i]);
        rig_feed(&r[i], s[i], c.text, SYS, 0, NULL);
        rig_decode(&r[i], s[i], 5, NULL); /* the recorded step is what it is from now on */
        uint32_t at;
        assert_ok(myth_seq_truncate(s[i], SYS, &at, &rig_err));
        assert_int_equal(at, SYS);
        n_alloc[i] = myth_mem_n_alloc(r[i].mem);
        live[i] = live_bytes(&r[i]);
    }
    while (c.n_fed < goal) {
        uint32_t n = 40 + check_below(rng, 60), answer = TAIL, at;
        make_room(&c, s, 2, n);
        at = c.len;
        say(&c, n, rng);
        for (int prompt = 1; prompt >= 0; prompt--) { /* the prompt's last rows, then the answer's */
            for (int i = 0; i < 2; i++) {
                rows_clear(&got[i]);
                if (prompt) {
                    rig_feed(&r[i], s[i], c.text + at, n - answer - TAIL, 0, NULL);
                    rig_feed(&r[i], s[i], c.text + at + n - answer - TAIL, TAIL, 0, &got[i]);
                }
                for (uint32_t t = n - answer; !prompt && t < n; t++)
                    rig_decode(&r[i], s[i], c.text[at + t], &got[i]);
            }
            worst = fmaxf(worst, share_apart(got[DEV].logits, got[HOST].logits, (size_t)TAIL * got[DEV].n_vocab));
        }
        for (int i = 0; i < 2; i++) {
            check_held(&c, s[i]);
            assert_int_equal(myth_mem_n_alloc(r[i].mem), n_alloc[i]);
            assert_int_equal(live_bytes(&r[i]), live[i]);
        }
        if (!(worst <= TOLERANCE_DEVICE))
            fail_msg("%s: %g from the CPU at position %u of a context of %u", name, (double)worst, myth_seq_pos(s[0]),
                     n_ctx);
    }
    printf("%s: %llu tokens, %u evictions, positions to %u in a context of %u; share of the tolerance %.3f\n", name,
           (unsigned long long)c.n_fed, c.n_evict, myth_seq_pos(s[0]), n_ctx, (double)(worst / TOLERANCE_DEVICE));
    assert_true(c.n_evict >= 2);
    for (int i = 0; i < 2; i++) {
        myth_seq_close(s[i]);
        rows_close(&got[i]);
        rig_close(&r[i]);
    }
}

static void devices_chat_on_as_the_cpu(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    for (uint32_t i = 0; i < n_device && has_device; i++)
        if (strcmp(device[i], "cpu") != 0)
            chat_on(device[i], check_sample(16) > 1 ? DEVICE_CTX : SMALL_CTX, &rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_cpu_chats_on),
                                       cmocka_unit_test(devices_chat_on_as_the_cpu)};
    return cmocka_run_group_tests(tests, find_devices, NULL);
}
