/* test_soak.c - thousands of requests of all kinds to an engine: answers that end, are cancelled, refused or wrong, at
 * random; sequences that grow, lose their oldest tokens, fork, are cut, saved and restored; several answers at once. In
 * between the engine is closed and opened with other sizes. No request takes memory; behind each engine the ledger has
 * what it had; threads and open files are as many at the end, and the process has no more memory of its own. */
#include "tests/support/rig.h"

#include "engine/base/asan.h"

#include <dirent.h>
#include <unistd.h>

enum { CTX = 160, LONG = 2, SLOTS = 3, SEQ = LONG + SLOTS + 1, MOST = 24, OPEN_FOR = 250 };

typedef struct {
    rig r;
    myth_seq *lasting[LONG];
    myth_slots *slots;
    uint64_t *rng, n_alloc, live;
    unsigned char *saved;
    uint64_t saved_cap;
    uint32_t cancel_at, n_said; /* 0 = not cancelled */
    myth_cancel cancel;
} soak;

static uint32_t n_of[MYTH_FINISH_LOGITS + 1], n_wrong, n_evict, n_fork, n_restore, n_open;

static uint32_t entries(const char *folder)
{
    uint32_t n = 0;
    DIR *d = opendir(folder);
    if (!d)
        return 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Resident bytes that no file backs; 0 = unknown. */
static uint64_t resident(void)
{
    unsigned long long all = 0, here = 0, shared = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%llu %llu %llu", &all, &here, &shared) != 3)
        here = shared = 0;
    if (f)
        fclose(f);
    return (here - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void begin(soak *k)
{
    const myth_engine_opts o = {
        .device = "cpu",
        .n_threads = n_open % 4 == 1 ? 2 : 1,
        .n_ctx = CTX,
        .n_seq = SEQ,
        .n_checkpoint = 2,
        .n_ubatch = 8 + check_below(k->rng, 90),
        .n_logit_rows = SLOTS,
        .top_k = 40,
    };
    rig_open(&k->r, "random:gemma3-tiny:q8_0", &o);
    assert_ok(myth_slots_open(&k->slots, k->r.engine, SLOTS, &rig_err));
    for (int i = 0; i < LONG; i++)
        k->lasting[i] = rig_seq(&k->r);
    k->n_alloc = myth_mem_n_alloc(k->r.mem);
    k->live = myth_mem_total(k->r.mem, MYTH_MEM_HOST).live;
    n_open++;
}

static void end(soak *k)
{
    for (int i = 0; i < LONG; i++)
        myth_seq_close(k->lasting[i]);
    myth_slots_close(k->slots);
    rig_close(&k->r); /* checks that nothing is left */
}

static bool on_token(void *user, int32_t id)
{
    soak *k = user;
    (void)id;
    return !k->cancel_at || ++k->n_said < k->cancel_at;
}

static myth_generate_opts request(soak *k, int32_t *prompt, uint32_t n)
{
    rig_random_ids(prompt, n, &k->r, k->rng);
    k->n_said = 0;
    k->cancel_at = check_below(k->rng, 4) ? 0 : 1 + check_below(k->rng, 6);
    myth_cancel_clear(&k->cancel);
    if (check_below(k->rng, 12) == 0)
        myth_cancel_set(&k->cancel);
    return (myth_generate_opts){
        .prompt = prompt,
        .n_prompt = n,
        .n_max = check_below(k->rng, MOST),
        .sample = {.temp = check_below(k->rng, 2) ? 0.8f : 0.0f, .top_k = 40, .seed = 7},
        .on_token = on_token,
        .user = k,
        .cancel = &k->cancel,
    };
}

static void answer(soak *k)
{
    static int32_t prompt[2 * CTX], ids[MOST];
    uint32_t n_ids;
    myth_finish why;
    myth_seq *s = rig_seq(&k->r);
    const myth_generate_opts o =
        request(k, prompt, 1 + check_below(k->rng, check_below(k->rng, 6) ? CTX / 2 : 2 * CTX));
    assert_ok(myth_generate(k->r.engine, s, &o, ids, &n_ids, &why, &rig_err));
    assert_true(n_ids <= o.n_max && (why != MYTH_FINISH_REFUSED || myth_seq_len(s) == 0));
    n_of[why]++;
    myth_seq_close(s);
}

static void answers_at_once(soak *k)
{
    static int32_t prompt[SLOTS][2 * CTX], ids[SLOTS][MOST];
    static myth_generate_opts o[SLOTS];
    myth_seq *s[SLOTS];
    bool goes_on = true;
    for (uint32_t i = 0; i < SLOTS; i++) {
        s[i] = rig_seq(&k->r);
        o[i] = request(k, prompt[i], 1 + check_below(k->rng, CTX + 20));
        myth_cancel_clear(&k->cancel); /* one flag for all of them */
        assert_ok(myth_slots_start(k->slots, i, s[i], &o[i], ids[i], &rig_err));
    }
    while (goes_on) {
        assert_ok(myth_slots_step(k->slots, &rig_err));
        goes_on = false;
        for (uint32_t i = 0; i < SLOTS; i++) {
            uint32_t n;
            myth_finish why;
            goes_on |= myth_slots_get(k->slots, i, &n, &why);
        }
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
        uint32_t n;
        myth_finish why;
        myth_slots_get(k->slots, i, &n, &why);
        n_of[why]++;
        myth_seq_close(s[i]);
    }
}

/* What is asked wrongly, which changes nothing. */
static void mistake(soak *k)
{
    myth_seq *s = k->lasting[check_below(k->rng, LONG)], *more[SEQ];
    const uint32_t len = myth_seq_len(s);
    int32_t id[2 * CTX] = {0};
    uint32_t at, n = 0;
    id[check_below(k->rng, 2)] = check_below(k->rng, 2) ? -1 : (int32_t)k->r.model.config.n_vocab;
    const myth_batch_run wrong = {.seq = s, .token = id, .n = 2}, too_long = {.seq = s, .token = id + 2, .n = CTX + 1};
    myth_status st = MYTH_OK;
    switch (check_below(k->rng, 4)) {
    case 0: st = myth_forward(k->r.engine, &(myth_batch){.run = &wrong, .n_run = 1}, NULL, &rig_err); break;
    case 1: st = myth_forward(k->r.engine, &(myth_batch){.run = &too_long, .n_run = 1}, NULL, &rig_err); break;
    case 2: st = myth_seq_truncate(s, len + 1, &at, &rig_err); break;
    case 3: st = myth_seq_restore(s, id, sizeof(id), &rig_err); break;
    default: break;
    }
    assert_true(st != MYTH_OK && myth_seq_len(s) == len);
    while (n < SEQ && (st = myth_seq_open(&more[n], k->r.engine, &rig_err)) == MYTH_OK)
        n++;
    assert_true(n == SEQ - LONG && st == MYTH_EFULL);
    while (n > 0)
        myth_seq_close(more[--n]);
    n_wrong++;
}

/* A lasting sequence takes more, for which its oldest tokens may go, or is cut. */
static void go_on(soak *k)
{
    myth_seq *s = k->lasting[check_below(k->rng, LONG)];
    int32_t id[CTX];
    const uint32_t n = 1 + check_below(k->rng, 40);
    uint32_t at;
    rig_random_ids(id, n, &k->r, k->rng);
    if (check_below(k->rng, 8) == 0)
        assert_ok(myth_seq_truncate(s, check_below(k->rng, myth_seq_len(s) + 1), &at, &rig_err));
    if (n > myth_seq_room(s)) {
        const uint32_t len = myth_seq_len(s), from = len / 8;
        if (myth_seq_evict(s, from, len / 2, &rig_err) == MYTH_OK)
            n_evict++;
        if (n > myth_seq_room(s))
            assert_ok(myth_seq_truncate(s, 0, &at, &rig_err));
    }
    rig_feed(&k->r, s, id, n, 0, NULL);
    if (check_below(k->rng, 6) == 0 && myth_seq_checkpoint(s, &rig_err) != MYTH_OK)
        myth_seq_forget(s, 0);
}

static void fork_and_restore(soak *k)
{
    myth_seq *s = k->lasting[check_below(k->rng, LONG)], *fork, *copy = rig_seq(&k->r);
    int32_t id[1];
    assert_ok(myth_seq_fork(&fork, s, &rig_err));
    rig_random_ids(id, 1, &k->r, k->rng);
    if (myth_seq_room(fork))
        rig_decode(&k->r, fork, id[0], NULL);
    n_fork++;
    const uint64_t bytes = myth_seq_save_bytes(s);
    assert_true(bytes <= k->saved_cap);
    assert_ok(myth_seq_save(s, k->saved, k->saved_cap, &rig_err));
    if (check_below(k->rng, 4) == 0) { /* damaged */
        k->saved[check_below(k->rng, (uint32_t)bytes)] ^= 1;
        assert_int_equal(myth_seq_restore(copy, k->saved, bytes, &rig_err), MYTH_EFORMAT);
        n_wrong++;
    } else {
        assert_ok(myth_seq_restore(copy, k->saved, bytes, &rig_err));
        assert_int_equal(myth_seq_len(copy), myth_seq_len(s));
        n_restore++;
    }
    myth_seq_close(copy);
    myth_seq_close(fork);
}

static void requests_leave_nothing(void **state)
{
    (void)state;
    uint64_t rng = check_seed(), warm = 0;
    const uint32_t n = check_trials(100000, 3000), n_thread = entries("/proc/self/task"),
                   n_file = entries("/proc/self/fd");
    soak k = {.rng = &rng, .saved_cap = 8 << 20};
    k.saved = malloc(k.saved_cap);
    assert_non_null(k.saved);
    for (uint32_t i = 0; i < n; i++) {
        if (i % OPEN_FOR == 0) {
            if (i)
                end(&k);
            warm = i == 2 * OPEN_FOR ? resident() : warm;
            begin(&k);
        }
        switch (check_below(&rng, 8)) {
        case 0:
        case 1: answer(&k); break;
        case 2: answers_at_once(&k); break;
        case 3: mistake(&k); break;
        case 4: fork_and_restore(&k); break;
        default: go_on(&k); break;
        }
        assert_int_equal(myth_mem_n_alloc(k.r.mem), k.n_alloc);
        assert_int_equal(myth_mem_total(k.r.mem, MYTH_MEM_HOST).live, k.live);
    }
    end(&k);
    const uint64_t now = resident();
    free(k.saved);
    printf(
        "%u requests, %u engines: %u to their length, %u context, %u refused, %u cancelled, %u wrong, %u evictions, %u "
        "forks, %u restored; %.2f MiB resident behind the second engine, %.2f at the end\n",
        n, n_open, n_of[MYTH_FINISH_LENGTH], n_of[MYTH_FINISH_CONTEXT], n_of[MYTH_FINISH_REFUSED],
        n_of[MYTH_FINISH_CANCELLED], n_wrong, n_evict, n_fork, n_restore, (double)warm / 1048576,
        (double)now / 1048576);
    assert_int_equal(entries("/proc/self/task"), n_thread);
    assert_int_equal(entries("/proc/self/fd"), n_file);
    if (n >= 1000)
        assert_true(n_of[MYTH_FINISH_REFUSED] && n_of[MYTH_FINISH_CANCELLED] && n_wrong && n_evict && n_restore);
    if (warm && !MYTH_HAS_ASAN)
        assert_true(now <= warm + (4 << 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(requests_leave_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
