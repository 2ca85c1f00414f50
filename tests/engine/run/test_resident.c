/* test_resident.c - the pages of keys and values that the system holds for the CPU: all of them from the start where
 * the ledger reserves, else those of the tokens that are held, and the same results either way. */
#include "tests/support/rig.h"

#include "engine/base/asan.h"
#include "engine/run/engine_impl.h"

#include <sys/mman.h>
#include <unistd.h>

enum { N_CTX = 8192, PART = 512 };

/* Resident bytes of the whole pages of a part's pool. */
static uint64_t resident(const rig *r, int pool)
{
    static unsigned char in[4096];
    const myth_buf *b = r->engine->part->buf[pool];
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), at = (uint64_t)(uintptr_t)myth_buf_host(b),
                   from = (at + page - 1) / page * page, n = ((at + myth_buf_bytes(b)) / page * page - from) / page;
    uint64_t sum = 0;
    assert_true(n > 0 && n <= sizeof(in));
    assert_int_equal(mincore((void *)(uintptr_t)from, n * page, in), 0);
    for (uint64_t i = 0; i < n; i++)
        sum += (in[i] & 1) * page;
    return sum;
}

/* Feeds n random ids, and keeps the best id and its logit behind the last. */
static void feed(rig *r, myth_seq *s, uint32_t n, uint64_t *rng, float *best)
{
    int32_t ids[PART];
    for (uint32_t done = 0; done < n; done += PART) {
        myth_result out;
        const uint32_t m = n - done < PART ? n - done : PART;
        rig_random_ids(ids, m, r, rng);
        const myth_batch_run run = {.seq = s, .token = ids, .n = m, .want_last = MYTH_WANT_LOGITS};
        assert_int_equal(myth_forward(r->engine, &(myth_batch){.run = &run, .n_run = 1}, &out, NULL), MYTH_OK);
        best[0] = (float)out.top_id[0];
        best[1] = out.top_logit[0];
    }
}

/* What the system holds at the five points of the walk below. */
typedef struct {
    uint64_t at[5], all;
    float best[4][2];
} walk;

static void run_walk(walk *w, bool reserves)
{
    rig r = {0};
    uint64_t rng = 11;
    const myth_engine_opts o = {
        .device = "cpu", .n_ctx = N_CTX, .n_seq = 2, .n_ubatch = PART, .type_k = MYTH_F32, .type_v = MYTH_F32};
    assert_int_equal(myth_mem_open(&r.mem, 0, NULL), MYTH_OK);
    if (reserves)
        myth_mem_reserve(r.mem, NULL);
    assert_int_equal(myth_mem_reserves(r.mem), reserves);
    assert_int_equal(myth_model_open(&r.model, r.mem, "random:gemma3-tiny:q8_0",
                                     &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, NULL),
                     MYTH_OK);
    assert_int_equal(myth_engine_open(&r.engine, &r.model, &o, NULL), MYTH_OK);
    const uint64_t booked = myth_mem_total(r.mem, MYTH_MEM_HOST).live;
    w->all = myth_buf_bytes(r.engine->part->buf[MYTH_BUF_kv_global]);
    w->at[0] = resident(&r, MYTH_BUF_kv_global);
    myth_seq *s = rig_seq(&r), *other = rig_seq(&r);
    feed(&r, s, 4096, &rng, w->best[0]);
    w->at[1] = resident(&r, MYTH_BUF_kv_global);
    assert_int_equal(myth_seq_evict(s, 1024, 2048, NULL), MYTH_OK);
    w->at[2] = resident(&r, MYTH_BUF_kv_global);
    feed(&r, s, 600, &rng, w->best[1]);
    feed(&r, other, 700, &rng, w->best[2]); /* in pages that were given back */
    myth_seq_close(s);
    w->at[3] = resident(&r, MYTH_BUF_kv_global);
    feed(&r, other, 900, &rng, w->best[3]);
    myth_seq_close(other);
    w->at[4] = resident(&r, MYTH_BUF_kv_global);
    assert_int_equal(myth_mem_total(r.mem, MYTH_MEM_HOST).live, booked);
    rig_close(&r);
}

static void dropped_tokens_give_back_their_pages(void **state)
{
    (void)state;
    static walk share, reserve;
    run_walk(&share, false);
    run_walk(&reserve, true);
    assert_memory_equal(share.best, reserve.best, sizeof(share.best));
    if (MYTH_HAS_ASAN) /* blocks are the C library's */
        return;
    printf("of %llu KiB resident:", (unsigned long long)share.all >> 10);
    for (int i = 0; i < 5; i++)
        printf(" %llu", (unsigned long long)share.at[i] >> 10);
    printf("; reserved: %llu\n", (unsigned long long)reserve.at[0] >> 10);
    const uint64_t row = share.all / (2 * N_CTX);
    assert_true(share.at[0] == 0 && share.at[1] >= 4000 * row && share.at[1] <= 4300 * row);
    assert_true(share.at[2] <= share.at[1] - 1400 * row); /* the ends of pages lie in other pages of the system */
    assert_true(share.at[3] <= share.at[1] / 2 && share.at[4] <= share.at[1] / 3);
    for (int i = 0; i < 5; i++)
        assert_true(reserve.at[i] + (64 << 10) >= reserve.all && reserve.at[i] <= reserve.all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dropped_tokens_give_back_their_pages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
