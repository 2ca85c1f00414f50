/* test_sets.c - several tokens at one position: what they and later tokens compute, the rows that they take, and what
 * is left when some are removed.
 *
 * Oracles  transformers, with positions and masks that say the same (tests/golden/make_sets.py): sets of both kinds,
 *          later tokens, removals, windows that wrap. The engine itself, bit for bit: a member alone in a fork; a
 *          sequence from which every set's other members were removed at once, against one that never had them. For the
 *          room of a set: a simulation of all later steps */
#include "tests/support/rig.h"

#include <math.h>

enum { CTX = 96, SET_MAX = 5, MASS = 5 };
static const float TOLERANCE = 1e-4f, TOLERANCE_DEVICE = 2e-3f, TOLERANCE_FAST = 8e-2f;

static bool is_cpu(const char *target) { return strchr(target, ':') == NULL; }

static myth_engine_opts opts_of(const char *target, uint32_t n_set_rows)
{
    myth_engine_opts o = {
        .n_threads = 1,
        .n_ctx = CTX,
        .n_ubatch = 16,
        .n_logit_rows = 16,
        .n_seq = 2,
        .page_tok = 8,
        .want_full_logits = true,
        .n_set_rows = n_set_rows,
        .n_mass = MASS,
    };
    rig_at(&o, target);
    return o;
}

static myth_status feed_status(rig *r, myth_seq *s, const int32_t *ids, uint32_t n, myth_set_kind set, bool is_decode,
                               rows *w)
{
    const myth_batch_run run = {
        .seq = s,
        .token = ids,
        .n = n,
        .set = set,
        .want = w ? MYTH_WANT_FULL_LOGITS : 0,
    };
    const myth_batch b = {
        .run = &run,
        .n_run = 1,
        .is_decode = is_decode,
        .on_full_logits = w ? rows_on_logits : NULL,
        .user = w,
    };
    return myth_forward(r->engine, &b, NULL, &rig_err);
}

static void feed(rig *r, myth_seq *s, const int32_t *ids, uint32_t n, myth_set_kind set, bool is_decode, rows *w)
{
    assert_ok(feed_status(r, s, ids, n, set, is_decode, w));
}

/* ---- transformers ---- */

typedef struct {
    uint32_t kind, n, n_removed, first; /* first: its first row of logits */
    int32_t ids[16];
    uint32_t removed[16];
    uint32_t n_mass;
    float mass[16 * MASS]; /* [n, n_mass] */
} step;

typedef struct {
    uint32_t n_step, n_row, n_vocab;
    step step[32];
    float *logits;
} walk;

static void take_words(FILE *f, void *dst, size_t n) { assert_int_equal(fread(dst, 4, n, f), n); }

static void load_walk(walk *g, const char *name)
{
    char path[1024], rest[128];
    uint32_t head[4], row = 0;
    snprintf(rest, sizeof(rest), "tests/golden/sets/%s.bin", name);
    FILE *f = fopen(check_path(path, sizeof(path), rest), "rb");
    assert_non_null(f);
    take_words(f, head, 4);
    assert_int_equal(head[0], 0x5445534d);
    *g = (walk){.n_step = head[1], .n_row = head[2], .n_vocab = head[3]};
    assert_true(g->n_step <= 32);
    for (uint32_t i = 0; i < g->n_step; i++) {
        step *p = &g->step[i];
        take_words(f, p, 3);
        assert_true(p->n <= 16 && p->n_removed <= 16);
        take_words(f, p->ids, p->n);
        take_words(f, p->removed, p->n_removed);
        p->first = row;
        row += p->n;
    }
    assert_int_equal(row, g->n_row);
    g->logits = malloc((size_t)g->n_row * g->n_vocab * 4);
    take_words(f, g->logits, (size_t)g->n_row * g->n_vocab);
    for (uint32_t i = 0, held = 0; i < g->n_step; i++) {
        step *p = &g->step[i];
        p->n_mass = held < MASS ? held : MASS;
        take_words(f, p->mass, (size_t)p->n * p->n_mass);
        held += p->n - p->n_removed;
    }
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

/* Feeds a step as a set; the attention it gives the rows before it is that of the walk. Returns how far it is off. */
static float feed_step(rig *r, myth_seq *s, const step *p, myth_set_kind kind, bool is_decode, rows *w)
{
    const myth_batch_run run = {
        .seq = s,
        .token = p->ids,
        .n = p->n,
        .set = kind,
        .want = MYTH_WANT_FULL_LOGITS | MYTH_WANT_LOGITS,
        .n_mass = p->n_mass,
    };
    myth_result out;
    float apart = 0.0f;
    assert_ok(myth_forward(r->engine,
                           &(myth_batch){
                               .run = &run,
                               .n_run = 1,
                               .is_decode = is_decode,
                               .on_full_logits = rows_on_logits,
                               .user = w,
                           },
                           &out, &rig_err));
    assert_int_equal(out.n_mass, p->n_mass);
    for (uint32_t i = 0; i < p->n * p->n_mass; i++)
        apart = fmaxf(apart, fabsf(out.mass[i] - p->mass[i]));
    return apart;
}

/* Walks through the steps; sets whose tokens do not see each other by the decode path where `decodes`. */
static float walk_apart(const walk *g, rig *r, bool decodes)
{
    float mass_apart = 0.0f;
    rows w;
    rows_open(&w, r, g->n_row, false);
    myth_seq *s = rig_seq(r);
    uint32_t held = 0, place = 0;
    assert_int_equal(r->model.config.n_vocab, g->n_vocab);
    for (uint32_t i = 0; i < g->n_step; i++) {
        const step *p = &g->step[i];
        const bool is_set = p->kind != 0 || myth_seq_extra(s);
        const myth_set_kind kind = p->kind == 2 ? MYTH_SET_VISIBLE : is_set ? MYTH_SET_ISOLATED : MYTH_SET_NONE;
        w.base = p->first;
        const bool is_decode = decodes && is_set && (p->kind != 2 || p->n == 1);
        if (p->n > 1 ? kind != MYTH_SET_NONE : myth_seq_extra(s) > 0)
            mass_apart = fmaxf(mass_apart, feed_step(r, s, p, kind, is_decode, &w));
        else
            feed(r, s, p->ids, p->n, kind, is_decode, &w);
        held += p->n;
        place += p->kind ? 1 : p->n;
        assert_ok(myth_seq_remove(s, p->removed, p->n_removed, &rig_err));
        held -= p->n_removed;
        assert_int_equal(myth_seq_len(s), held); /* a member is a row, and a removed one is none */
        assert_int_equal(myth_seq_len(s) - myth_seq_extra(s), place);
        assert_int_equal(myth_seq_pos_of(s, held - 1), place - 1);
    }
    assert_int_equal(w.n_logits, g->n_row);
    myth_seq_close(s);
    const float apart = share_apart(w.logits, g->logits, (size_t)g->n_row * g->n_vocab);
    rows_close(&w);
    return fmaxf(apart, mass_apart);
}

static void one_walk(const char *name, const char *target, const char *what, const myth_engine_opts *o, float tolerance,
                     uint32_t *n_failed)
{
    char path[1024], rest[128];
    walk g;
    rig r;
    load_walk(&g, name);
    snprintf(rest, sizeof(rest), "tests/golden/models/%s", name);
    rig_open(&r, check_path(path, sizeof(path), rest), o);
    const float decoded = walk_apart(&g, &r, true), prefilled = walk_apart(&g, &r, false);
    printf("%-18s %-15s %-10s share of the tolerance: decode %.3f, prefill %.3f\n", name, target, what,
           (double)(decoded / tolerance), (double)(prefilled / tolerance));
    *n_failed += !(decoded <= tolerance) + !(prefilled <= tolerance);
    rig_close(&r);
    free(g.logits);
}

static void sets_equal_transformers(void **state)
{
    (void)state;
    static const char *const name[] = {
        "gemma1-mqa",     "gemma2-gqa", "gemma3-layers", "gemma3-gqa-linear", "gemma3n",
        "gemma4-unified", "gemma4-e",   "gemma4-shared", "gemma4-moe",
    };
    enum { N = sizeof(name) / sizeof(name[0]) };
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target);
    uint32_t n_failed = 0, n_device = 0;
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t v = 0; v < n_target && check_is_kept(i, N); v++) {
            const bool exact = rig_is_exact(target[v]);
            const float tolerance = is_cpu(target[v]) && exact ? TOLERANCE : exact ? TOLERANCE_DEVICE : TOLERANCE_FAST;
            myth_engine_opts o = opts_of(target[v], 20);
            one_walk(name[i], target[v], "", &o, tolerance, &n_failed);
            if (is_cpu(target[v]) || !exact)
                continue;
            n_device++;
            o.offload = MYTH_OFFLOAD_KV;
            one_walk(name[i], target[v], "offload kv", &o, tolerance, &n_failed);
            o.offload = MYTH_OFFLOAD_NONE;
            o.n_host_kv = 1;
            one_walk(name[i], target[v], "keys and values of a layer in host memory", &o, tolerance, &n_failed);
            o.n_host_kv = 0;
            o.has_gpu_layers = true;
            o.n_gpu_layers = 2;
            one_walk(name[i], target[v], "two parts", &o, tolerance, &n_failed);
        }
    assert_int_equal(n_failed, 0);
    if (!n_device)
        check_count_skipped("sets_equal_transformers: offload kv, two parts", "no device but the CPU is tested here");
}

/* ---- bit for bit ---- */

static const char *const spec[] = {
    "random:gemma1-tiny:q8_0",  "random:gemma2-tiny:q4_0", "random:gemma3-tiny:q8_0",   "random:gemma3-tiny:bf16",
    "random:gemma3n-tiny:q8_0", "random:gemma4-tiny:q8_0", "random:gemma4-e-tiny:bf16", "random:gemma4-moe-tiny:f32",
};
enum { SPEC_N = sizeof(spec) / sizeof(spec[0]) };

/* Takes cache types in turn, so that every one of them is moved on every device over the specs. */
static void cache_type(myth_engine_opts *o, uint32_t i)
{
    static const myth_dtype type[] = {MYTH_F32, MYTH_F16, MYTH_Q8_0, MYTH_BF16};
    o->has_cache_type = true;
    o->type_k = type[i % 4];
    o->type_v = type[(i / 4 + i) % 4];
}

/* Members that do not see each other have the bits of the token alone. A VISIBLE set of one is the token too. */
static void isolated_members_are_alone(const char *model, const char *target, uint32_t type, uint64_t *rng)
{
    rig r;
    rows got, want;
    int32_t ids[32];
    myth_engine_opts o = opts_of(target, 24);
    cache_type(&o, type);
    rig_open(&r, model, &o);
    rig_random_ids(ids, 32, &r, rng);
    rows_open(&got, &r, SET_MAX, false);
    rows_open(&want, &r, SET_MAX, false);
    myth_seq *s = rig_seq(&r);
    const uint32_t n_prompt = 1 + check_below(rng, 15), n = 2 + check_below(rng, SET_MAX - 1);
    rig_feed(&r, s, ids, n_prompt, 0, NULL);
    for (uint32_t i = 0; i < n; i++) {
        myth_seq *alone;
        assert_ok(myth_seq_fork(&alone, s, &rig_err));
        want.base = i;
        feed(&r, alone, ids + 16 + i, 1, i % 2 ? MYTH_SET_VISIBLE : MYTH_SET_NONE, true, &want);
        assert_int_equal(myth_seq_extra(alone), 0);
        myth_seq_close(alone);
    }
    feed(&r, s, ids + 16, n, MYTH_SET_ISOLATED, true, &got);
    assert_int_equal(myth_seq_len(s), n_prompt + n);
    assert_int_equal(myth_seq_extra(s), n - 1);
    assert_same_bits(got.logits, want.logits, (size_t)n * got.n_vocab, model);
    myth_seq_close(s);
    rows_close(&got);
    rows_close(&want);
    rig_close(&r);
}

/* One sequence gets sets and loses all members but one of each at once; the other gets that one alone. Which member
 * stays is random, so rows behind holes move, over pages and rings that wrap. */
static void removed_members_leave_no_trace(const char *model, const char *target, uint32_t type, uint64_t *rng)
{
    rig r;
    rows got, want;
    int32_t ids[SET_MAX];
    myth_engine_opts o = opts_of(target, SET_MAX);
    cache_type(&o, type);
    rig_open(&r, model, &o);
    rows_open(&got, &r, SET_MAX, false);
    rows_open(&want, &r, 1, false);
    myth_seq *with = rig_seq(&r), *without = rig_seq(&r);
    const uint32_t n_free = myth_seq_room(with);
    for (uint32_t place = 0; place < 40; place++) {
        const uint32_t n = place % 3 ? 1 + check_below(rng, SET_MAX) : 1, stays = check_below(rng, n);
        uint32_t gone[SET_MAX], n_gone = 0;
        rig_random_ids(ids, n, &r, rng);
        got.base = want.base = 0;
        feed(&r, with, ids, n, n == 1 && place % 2 ? MYTH_SET_NONE : MYTH_SET_ISOLATED, true, &got);
        feed(&r, without, ids + stays, 1, MYTH_SET_NONE, true, &want);
        assert_same_bits(got.logits + (size_t)stays * got.n_vocab, want.logits, got.n_vocab, model);
        for (uint32_t i = 0; i < n; i++)
            if (i != stays)
                gone[n_gone++] = place + i;
        assert_ok(myth_seq_remove(with, gone, n_gone, &rig_err));
        assert_int_equal(myth_seq_extra(with), 0);
        assert_int_equal(myth_seq_room(with), n_free - place - 1);
        assert_memory_equal(myth_seq_tokens(with), myth_seq_tokens(without), (place + 1) * 4);
    }
    myth_seq_close(with);
    myth_seq_close(without);
    rows_close(&got);
    rows_close(&want);
    rig_close(&r);
}

/* A walk with members that are removed long after they left the window, in an engine whose rings wrap (with a GPU now
 * and then in host memory) and in one whose rings hold the whole context: the same bits. */
static void ring_length_changes_no_bit(const char *model, const char *target, uint32_t type, uint64_t *rng)
{
    rig r[2];
    rows w[2];
    myth_seq *s[2];
    int32_t ids[SET_MAX];
    for (int i = 0; i < 2; i++) {
        myth_engine_opts o = opts_of(target, i ? CTX : SET_MAX + 3);
        cache_type(&o, type);
        if (i == 0 && !is_cpu(target) && check_below(rng, 2))
            o.offload = MYTH_OFFLOAD_KV;
        rig_open(&r[i], model, &o);
        rows_open(&w[i], &r[i], SET_MAX, false);
        s[i] = rig_seq(&r[i]);
    }
    for (uint32_t place = 0; place < 44; place++) {
        const uint32_t room = myth_seq_set_room(s[0], 0), most = room < SET_MAX ? room : SET_MAX,
                       n = place % 4 == 0 ? 1 + check_below(rng, most) : 1;
        uint32_t gone[CTX], n_gone = 0;
        rig_random_ids(ids, n, &r[0], rng);
        for (int i = 0; i < 2; i++) {
            w[i].base = 0;
            feed(&r[i], s[i], ids, n, MYTH_SET_ISOLATED, true, &w[i]);
        }
        assert_same_bits(w[0].logits, w[1].logits, (size_t)n * w[0].n_vocab, model);
        for (uint32_t k = 1; k < myth_seq_len(s[0]) && place % 7 == 6; k++)
            if (myth_seq_pos_of(s[0], k) == myth_seq_pos_of(s[0], k - 1) && check_below(rng, 3) == 0)
                gone[n_gone++] = k;
        for (int i = 0; i < 2; i++)
            assert_ok(myth_seq_remove(s[i], gone, n_gone, &rig_err));
    }
    for (int i = 0; i < 2; i++) {
        myth_seq_close(s[i]);
        rows_close(&w[i]);
        rig_close(&r[i]);
    }
}

static void bits(void **state)
{
    (void)state;
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target);
    uint64_t rng = check_seed();
    for (uint32_t i = 0; i < SPEC_N; i++)
        for (uint32_t v = 0; v < n_target; v++)
            if (check_is_kept(i * n_target + v, SPEC_N * n_target)) {
                isolated_members_are_alone(spec[i], target[v], i + v, &rng);
                removed_members_leave_no_trace(spec[i], target[v], i + v, &rng);
                ring_length_changes_no_bit(spec[i], target[v], i + v, &rng);
            }
}

/* A cut behind, before and inside sets, and a fork of a sequence that holds some. */
static void cuts_and_forks(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    for (uint32_t i = 0; i < SPEC_N; i++) {
        if (!check_is_kept(i, SPEC_N))
            continue;
        rig r;
        rows got, want;
        int32_t ids[16];
        uint32_t at;
        myth_engine_opts o = opts_of(rig_target(), 24);
        rig_open(&r, spec[i], &o);
        rig_random_ids(ids, 16, &r, &rng);
        rows_open(&got, &r, 4, false);
        rows_open(&want, &r, 4, false);
        myth_seq *s = rig_seq(&r), *fork;
        feed(&r, s, ids, 5, MYTH_SET_NONE, false, NULL);
        feed(&r, s, ids + 5, 3, MYTH_SET_ISOLATED, true, NULL);
        assert_ok(myth_seq_fork(&fork, s, &rig_err));
        feed(&r, s, ids + 8, 2, MYTH_SET_VISIBLE, false, &want);
        feed(&r, fork, ids + 8, 2, MYTH_SET_VISIBLE, false, &got);
        assert_same_bits(got.logits, want.logits, 2 * (size_t)got.n_vocab, spec[i]);
        myth_seq_close(fork);
        assert_int_equal(myth_seq_extra(s), 3);
        assert_ok(myth_seq_truncate(s, 8, &at, &rig_err));
        assert_int_equal(at, 8);
        assert_int_equal(myth_seq_extra(s), 2);
        got.base = 0;
        feed(&r, s, ids + 8, 2, MYTH_SET_VISIBLE, false, &got);
        assert_same_bits(got.logits, want.logits, 2 * (size_t)got.n_vocab, spec[i]);
        assert_ok(myth_seq_truncate(s, 6, &at, &rig_err));
        assert_int_equal(at, 6);
        assert_int_equal(myth_seq_extra(s), 0);
        feed(&r, s, ids + 8, 1, MYTH_SET_NONE, true, NULL); /* plain tokens again */
        assert_int_equal(myth_seq_len(s), 7);
        myth_seq_close(s);
        rows_close(&got);
        rows_close(&want);
        rig_close(&r);
    }
}

/* ---- room ---- */

/* Whether a set of n, then n_after single tokens fit, found by counting rows position by position. `at` has the rows of
 * each position so far. */
static bool fits(const uint32_t *at, uint32_t n_place, uint32_t n, uint32_t n_after, uint32_t window, uint32_t ring,
                 bool has_rings)
{
    uint32_t rows_at[4 * CTX], all = 0;
    for (uint32_t i = 0; i < n_place; i++)
        all += rows_at[i] = at[i];
    for (uint32_t i = 0; i <= n_after; i++) {
        uint32_t seen = rows_at[n_place + i] = i == 0 ? n : 1;
        all += seen;
        for (uint32_t k = 1; k < window && k <= n_place + i; k++)
            seen += rows_at[n_place + i - k];
        if (all > CTX || (has_rings && seen > ring))
            return false;
    }
    return true;
}

static void room_equals_brute_force(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    uint32_t n_bound_by_ring = 0, n_bound_by_context = 0;
    for (uint32_t round = 0; round < 40; round++) {
        static const struct {
            const char *model;
            uint32_t window; /* 0 = no local layer */
        } model[] = {{"random:gemma3-tiny:q8_0", 8}, {"random:gemma1-tiny:q8_0", 0}, {"random:gemma2-tiny:q4_0", 8}};
        rig r;
        int32_t ids[16];
        uint32_t at[CTX], n_place = 0;
        const uint32_t m = check_below(&rng, 3), n_set_rows = 1 + check_below(&rng, 20),
                       window = model[m].window ? model[m].window : CTX,
                       ring = window + n_set_rows < CTX ? window + n_set_rows : CTX;
        myth_engine_opts o = opts_of("ref", n_set_rows);
        rig_open(&r, model[m].model, &o);
        if (model[m].window)
            assert_int_equal(r.model.config.window, model[m].window);
        rig_random_ids(ids, 16, &r, &rng);
        myth_seq *s = rig_seq(&r);
        for (;;) {
            const uint32_t n_after = check_below(&rng, 30), room = myth_seq_set_room(s, n_after);
            uint32_t most = 0;
            for (uint32_t n = 1; n <= 16 && fits(at, n_place, n, n_after, window, ring, model[m].window > 0); n++)
                most = n;
            if (room != most)
                fail_msg("%s, %u extra rows, %u positions, %u rows, %u after: room %u, by counting %u", model[m].model,
                         n_set_rows, n_place, myth_seq_len(s), n_after, room, most);
            const bool has_context = fits(at, n_place, most + 1, n_after, window, UINT32_MAX, false);
            n_bound_by_ring += most < 16 && has_context;
            n_bound_by_context += !has_context;
            const uint32_t left = myth_seq_room(s), now = myth_seq_set_room(s, left > 8 ? 8 : left ? left - 1 : 0);
            if (!now) /* who leaves room for as many positions as a window has gets to the context's end */
                break;
            at[n_place] = 1 + check_below(&rng, now < 4 ? now : 4);
            feed(&r, s, ids, at[n_place], MYTH_SET_ISOLATED, true, NULL);
            n_place++;
        }
        assert_int_equal(myth_seq_room(s), 0);
        myth_seq_close(s);
        rig_close(&r);
    }
    assert_true(n_bound_by_ring > 10 && n_bound_by_context > 10);
}

/* ---- what is refused, and changes nothing ---- */

static void refuses(myth_status st, myth_status want, const char *word)
{
    assert_int_equal(st, want);
    if (!strstr(rig_err.msg, word))
        fail_msg("\"%s\" does not say %s", rig_err.msg, word);
}

static void wrong_use_is_refused(void **state)
{
    (void)state;
    rig r;
    rows w[2];
    static unsigned char saved[1 << 20];
    const int32_t ids[] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
    myth_engine_opts o = opts_of(rig_target(), 4);
    o.n_checkpoint = 1;
    rig_open(&r, "random:gemma3-tiny:q8_0", &o);
    rows_open(&w[0], &r, 2, false);
    rows_open(&w[1], &r, 2, false);
    myth_seq *s = rig_seq(&r), *fork;
    feed(&r, s, ids, 6, MYTH_SET_NONE, false, NULL);
    refuses(myth_seq_remove(s, (uint32_t[]){2}, 1, &rig_err), MYTH_EARG, "no token");
    feed(&r, s, ids, 2, MYTH_SET_ISOLATED, true, NULL);
    refuses(feed_status(&r, s, ids, 3, MYTH_SET_NONE, false, NULL), MYTH_EUNSUPPORTED, "set");
    refuses(feed_status(&r, s, ids, 2, MYTH_SET_VISIBLE, true, NULL), MYTH_EARG, "decode");
    refuses(feed_status(&r, s, ids, 17, MYTH_SET_ISOLATED, true, NULL), MYTH_EFULL, "micro-batch");
    refuses(feed_status(&r, s, ids, 6, MYTH_SET_ISOLATED, true, NULL), MYTH_EFULL, "n_set_rows");
    const myth_batch_run looks = {.seq = s, .token = ids, .n = 2, .set = MYTH_SET_ISOLATED, .n_mass = MASS};
    refuses(myth_forward(r.engine, &(myth_batch){.run = &looks, .n_run = 1, .is_decode = true}, NULL, &rig_err),
            MYTH_EARG, "want logits");
    refuses(myth_seq_remove(s, (uint32_t[]){6, 7}, 2, &rig_err), MYTH_EARG, "row 7");
    refuses(myth_seq_remove(s, (uint32_t[]){7, 6}, 2, &rig_err), MYTH_EARG, "ascend");
    refuses(myth_seq_remove(s, (uint32_t[]){8}, 1, &rig_err), MYTH_EARG, "below 8");
    refuses(myth_seq_remove(s, (uint32_t[]){2}, 1, &rig_err), MYTH_EARG, "no token");
    refuses(myth_seq_evict(s, 1, 2, &rig_err), MYTH_EUNSUPPORTED, "sets");
    assert_true(myth_seq_save_bytes(s) <= sizeof(saved));
    refuses(myth_seq_save(s, saved, sizeof(saved), &rig_err), MYTH_EUNSUPPORTED, "sets");
    const myth_batch_run two[2] = {{.seq = s, .token = ids, .n = 2, .set = MYTH_SET_ISOLATED},
                                   {.seq = s, .token = ids, .n = 1, .is_ephemeral = true}};
    refuses(myth_forward(r.engine, &(myth_batch){.run = two, .n_run = 2}, NULL, &rig_err), MYTH_EUNSUPPORTED, "alone");
    assert_ok(myth_seq_fork(&fork, s, &rig_err));
    refuses(myth_seq_remove(s, (uint32_t[]){7}, 1, &rig_err), MYTH_EUNSUPPORTED, "shared");
    feed(&r, fork, ids + 4, 2, MYTH_SET_ISOLATED, true, &w[0]);
    myth_seq_close(fork);
    feed(&r, s, ids + 4, 2, MYTH_SET_ISOLATED, true, &w[1]); /* none of these calls has changed it */
    assert_same_bits(w[1].logits, w[0].logits, 2 * (size_t)w[0].n_vocab, "after refusals");
    assert_int_equal(myth_seq_len(s), 10);
    myth_seq_close(s);
    s = rig_seq(&r);
    feed(&r, s, ids, 6, MYTH_SET_NONE, false, NULL);
    assert_ok(myth_seq_evict(s, 1, 2, &rig_err));
    refuses(feed_status(&r, s, ids, 2, MYTH_SET_ISOLATED, true, NULL), MYTH_EUNSUPPORTED, "evicted");
    assert_int_equal(myth_seq_set_room(s, 0), 1);
    myth_seq_close(s);
    rows_close(&w[0]);
    rows_close(&w[1]);
    rig_close(&r);

    o.n_set_rows = 0;
    rig_open(&r, "random:gemma3-tiny:q8_0", &o);
    s = rig_seq(&r);
    feed(&r, s, ids, 1, MYTH_SET_ISOLATED, true, NULL); /* a set of one is a token */
    refuses(feed_status(&r, s, ids, 2, MYTH_SET_ISOLATED, true, NULL), MYTH_EARG, "without sets");
    myth_seq_close(s);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_equal_transformers), cmocka_unit_test(bits),
        cmocka_unit_test(cuts_and_forks),          cmocka_unit_test(room_equals_brute_force),
        cmocka_unit_test(wrong_use_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
