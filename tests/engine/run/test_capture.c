/* test_capture.c - means of residual rows: the same bits for every batch, order and chunk, equal to those of the
 * hidden rows; memory that does not grow with the number of prompts; unchanged logits; an error for a sum that
 * cannot be made. */
#include "engine/make/convert.h"
#include "engine/run/engine_impl.h"
#include "kernels/device_impl.h"
#include "tests/support/rig.h"

#include <math.h>
#include <unistd.h>

enum { PROMPT_TOK = 12, N_LABEL = 3, CAPTURE_MAX = 8, D_MAX = 512, BATCH_MAX = 128 };

static const char *const spec[] = {"random:gemma1-tiny:f32", "random:gemma2-tiny:bf16", "random:gemma3-tiny:q8_0"};
enum { SPEC_N = sizeof(spec) / sizeof(spec[0]) };

/* ---- toy prompts: a function of their number ---- */

typedef struct {
    uint32_t n_tok;
    int32_t id[PROMPT_TOK], label;
} prompt;

static prompt make_prompt(uint32_t number, uint32_t n_vocab)
{
    uint64_t rng = 77 + number;
    prompt p = {
        .n_tok = 1 + check_below(&rng, PROMPT_TOK),
        .label = (int32_t)(number % (N_LABEL + 1)) - 1,
    }; /* every fourth: none */
    for (uint32_t i = 0; i < p.n_tok; i++)
        p.id[i] = (int32_t)check_below(&rng, n_vocab);
    return p;
}

/* Everything that is read out, so that memcmp compares it. */
typedef struct {
    double mean[N_LABEL][CAPTURE_MAX][D_MAX];
    uint64_t n[N_LABEL][CAPTURE_MAX];
} means;

static void read_means(rig *r, const uint32_t *layer, uint32_t n_layer, means *m)
{
    memset(m, 0, sizeof(*m));
    assert_true(n_layer <= CAPTURE_MAX && r->model.config.d_model <= D_MAX);
    for (uint32_t l = 0; l < n_layer; l++)
        for (uint32_t k = 0; k < N_LABEL; k++)
            assert_ok(myth_capture_read(r->engine, k, layer[l], m->mean[k][l], &m->n[k][l], &rig_err));
}

static uint32_t every_layer(uint32_t layer[CAPTURE_MAX], const char *name)
{
    myth_mem *mem;
    myth_model m = {0};
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&m, mem, name, &(myth_weights_opts){.level = MYTH_WEIGHTS_CONFIG}, &rig_err));
    uint32_t n = m.config.n_layer + 1;
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
    assert_true(n <= CAPTURE_MAX);
    for (uint32_t i = 0; i < n; i++)
        layer[i] = n - 1 - i; /* their order is the caller's */
    return n;
}

/* Prompts number[0 .. n - 1] as ephemeral runs off an empty sequence, the last token of each (every token with
 * is_every), one forward. */
static void capture_batch(rig *r, myth_seq *s, const uint32_t *number, uint32_t n, bool is_every)
{
    int32_t id[BATCH_MAX * PROMPT_TOK], label[BATCH_MAX * PROMPT_TOK], run_label[BATCH_MAX];
    myth_seq *seq[BATCH_MAX * PROMPT_TOK];
    uint8_t ephemeral[BATCH_MAX * PROMPT_TOK], end[BATCH_MAX * PROMPT_TOK];
    uint32_t n_tok = 0;
    for (uint32_t k = 0; k < n; k++) {
        prompt p = make_prompt(number[k], r->model.config.n_vocab);
        run_label[k] = p.label;
        for (uint32_t i = 0; i < p.n_tok; i++, n_tok++) {
            id[n_tok] = p.id[i];
            seq[n_tok] = s;
            ephemeral[n_tok] = 1;
            end[n_tok] = i + 1 == p.n_tok;
        }
    }
    rig_tokens b = {.n_tok = n_tok, .token = id, .seq = seq, .is_ephemeral = ephemeral, .run_end = end};
    if (is_every)
        rig_capture_every(label, &b, run_label);
    else
        rig_capture_at(label, &b, -1, run_label);
    b.capture_label = label;
    assert_ok(rig_forward(r->engine, &b, NULL, &rig_err));
}

static void capture_prompts(rig *r, myth_seq *s, uint32_t *number, uint32_t n, uint32_t batch, bool is_every)
{
    for (uint32_t at = 0; at < n; at += batch)
        capture_batch(r, s, number + at, n - at < batch ? n - at : batch, is_every);
}

static void shuffle(uint32_t *v, uint32_t n, uint64_t *rng)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = check_below(rng, i), t = v[i - 1];
        v[i - 1] = v[k];
        v[k] = t;
    }
}

/* ---- bits ---- */

static void batch_and_order_leave_the_bits(void **state)
{
    (void)state;
    static const uint32_t batches[] = {1, 7, 32, 100, 128}, ubatches[] = {512, 33, PROMPT_TOK};
    static means first, next;
    const char *level[8];
    uint32_t n_level = rig_levels(level), layer[CAPTURE_MAX], number[BATCH_MAX];
    uint64_t rng = check_seed();
    for (int m = 0; m < SPEC_N; m++)
        for (uint32_t v = 0; v <= n_level; v++) { /* the last is exact */
            if (!check_is_full() && v < n_level && v + 1 != n_level && (uint32_t)m != v % SPEC_N)
                continue;
            bool is_first = true, is_every = m == 1; /* every token of a prompt, or the last */
            uint32_t n_layer = every_layer(layer, spec[m]);
            for (int u = 0; u < 3; u++) {
                rig r;
                rig_open(&r, spec[m],
                         &(myth_engine_opts){
                             .device = "cpu",
                             .n_threads = 1 + u,
                             .cpu_level = v < n_level ? level[v] : NULL,
                             .is_exact = v == n_level,
                             .n_ctx = 1024,
                             .n_ubatch = ubatches[u],
                             .capture_layer = layer,
                             .n_capture_layer = n_layer,
                             .n_capture_label = N_LABEL,
                         });
                myth_seq *s = rig_seq(&r);
                for (uint32_t k = 0; k < 5; k++) {
                    if (!check_is_kept((uint32_t)u * 5 + k, 15))
                        continue;
                    for (uint32_t i = 0; i < BATCH_MAX; i++)
                        number[i] = i;
                    if (!is_first)
                        shuffle(number, BATCH_MAX, &rng);
                    assert_ok(myth_capture_reset(r.engine, &rig_err));
                    capture_prompts(&r, s, number, BATCH_MAX, batches[k], is_every);
                    read_means(&r, layer, n_layer, is_first ? &first : &next);
                    if (!is_first && memcmp(&first, &next, sizeof(first)) != 0)
                        fail_msg("%s, level %s, -ub %u: the means differ in batches of %u", spec[m],
                                 v < n_level ? level[v] : "exact", ubatches[u], batches[k]);
                    is_first = false;
                }
                myth_seq_close(s);
                rig_close(&r);
            }
            for (uint32_t k = 0; k < N_LABEL; k++)
                assert_true(is_every ? first.n[k][0] > BATCH_MAX / (N_LABEL + 1)
                                     : first.n[k][0] == BATCH_MAX / (N_LABEL + 1));
        }
}

/* One text in chunks, with rows of another sequence in the same forward, and its last tokens by the decode path: labels
 * by place. */
static void capture_chunks(rig *r, const int32_t *id, uint32_t n, uint32_t n_prefill, uint32_t chunk)
{
    myth_seq *s = rig_seq(r), *other = rig_seq(r), *seq[256];
    int32_t ids[256], label[256];
    for (uint32_t at = 0, take; at < n; at += take) {
        take = at >= n_prefill ? 1 : n_prefill - at < chunk ? n_prefill - at : chunk;
        bool has_other = at + take + 1 < n && (at / chunk) % 2;
        for (uint32_t i = 0; i < take; i++) {
            ids[i] = id[at + i];
            seq[i] = s;
            label[i] = (int32_t)((at + i) % (N_LABEL + 1)) - 1;
        }
        ids[take] = 5;
        seq[take] = other;
        label[take] = -1;
        rig_tokens b = {
            .n_tok = take + has_other,
            .token = ids,
            .seq = seq,
            .is_decode = at >= n_prefill,
            .capture_label = label,
        };
        assert_ok(rig_forward(r->engine, &b, NULL, &rig_err));
    }
    myth_seq_close(s);
    myth_seq_close(other);
}

static void chunks_leave_the_bits(void **state)
{
    (void)state;
    enum { N = 90, N_DECODE = 9 };
    static const uint32_t chunks[] = {N, 1, 7, 32, 40}, ubatches[] = {128, 16, 5};
    static means first, next;
    uint32_t layer[CAPTURE_MAX];
    int32_t id[N];
    for (int m = 0; m < SPEC_N; m++) {
        uint32_t n_layer = every_layer(layer, spec[m]);
        for (int u = 0; u < 3; u++) {
            rig r;
            rig_open(&r, spec[m],
                     &(myth_engine_opts){
                         .device = "cpu",
                         .n_threads = 2,
                         .n_ctx = 128,
                         .n_seq = 2,
                         .n_ubatch = ubatches[u],
                         .capture_layer = layer,
                         .n_capture_layer = n_layer,
                         .n_capture_label = N_LABEL,
                     });
            for (uint32_t i = 0; i < N; i++)
                id[i] = (int32_t)(i * 31 % r.model.config.n_vocab);
            for (int k = 0; k < 5; k++) {
                assert_ok(myth_capture_reset(r.engine, &rig_err));
                capture_chunks(&r, id, N, N - N_DECODE, chunks[k]);
                read_means(&r, layer, n_layer, u + k ? &next : &first);
                if (u + k && memcmp(&first, &next, sizeof(first)) != 0)
                    fail_msg("%s, -ub %u: the means differ in chunks of %u", spec[m], ubatches[u], chunks[k]);
            }
            rig_close(&r);
        }
    }
}

/* ---- saved and restored ---- */

/* Half of the prompts in one engine, saved, the other half in another: the means of a run that was not interrupted. */
static void restored_sums_go_on_with_the_same_bits(void **state)
{
    (void)state;
    enum { SAVED_MAX = 1 << 17 };
    static means first, next;
    static unsigned char saved[SAVED_MAX], again[SAVED_MAX];
    uint32_t layer[CAPTURE_MAX], rising[CAPTURE_MAX], number[BATCH_MAX];
    for (uint32_t i = 0; i < BATCH_MAX; i++)
        number[i] = i;
    for (uint32_t i = 0; i < CAPTURE_MAX; i++)
        rising[i] = i;
    for (int m = 0; m < SPEC_N; m++) {
        const uint32_t n_layer = every_layer(layer, spec[m]);
        myth_engine_opts o = {
            .device = "cpu",
            .n_threads = 2,
            .n_ctx = 64,
            .n_ubatch = 200,
            .no_cache = true,
            .capture_layer = layer,
            .n_capture_layer = n_layer,
            .n_capture_label = N_LABEL,
        };
        rig r;
        rig_open(&r, spec[m], &o);
        myth_seq *s = rig_seq(&r);
        capture_prompts(&r, s, number, BATCH_MAX, 32, true);
        read_means(&r, layer, n_layer, &first);
        assert_ok(myth_capture_reset(r.engine, &rig_err));
        capture_prompts(&r, s, number, 50, 50, true);
        const uint64_t bytes = myth_capture_state_bytes(r.engine);
        assert_int_equal(bytes, 32 + (n_layer + 1) / 2 * 8 + 8 * N_LABEL +
                                    n_layer * (8ull * N_LABEL * r.model.config.d_model + 4) + 8);
        assert_true(bytes <= SAVED_MAX);
        assert_int_equal(myth_capture_save(r.engine, saved, bytes - 1, &rig_err), MYTH_EFULL);
        assert_ok(myth_capture_save(r.engine, saved, bytes, &rig_err));
        myth_seq_close(s);
        rig_close(&r);

        o.n_ubatch = 33; /* another micro-batch, order of layers, number of threads, and division into parts */
        o.n_threads = 1;
        o.capture_layer = rising;
        o.device = "cpu,cpu";
        rig_open(&r, spec[m], &o);
        s = rig_seq(&r);
        capture_prompts(&r, s, number, 3, 1, false); /* what was summed before is replaced */
        assert_ok(myth_capture_restore(r.engine, saved, bytes, &rig_err));
        assert_ok(myth_capture_save(r.engine, again, bytes, &rig_err));
        assert_memory_equal(again, saved, bytes);
        capture_prompts(&r, s, number + 50, BATCH_MAX - 50, 7, true);
        read_means(&r, layer, n_layer, &next);
        assert_memory_equal(&first, &next, sizeof first);
        /* what is not of this shape is refused and changes nothing */
        assert_int_equal(myth_capture_restore(r.engine, saved, bytes - 1, &rig_err), MYTH_EFORMAT);
        assert_int_equal(myth_capture_restore(r.engine, saved, 20, &rig_err), MYTH_EFORMAT);
        for (uint32_t at = 0; at < 36; at += 4, saved[at - 4] ^= 1) { /* every word of the header, the first layer */
            saved[at] ^= 1;
            assert_int_equal(myth_capture_restore(r.engine, saved, bytes, &rig_err), MYTH_EFORMAT);
        }
        read_means(&r, layer, n_layer, &next);
        assert_memory_equal(&first, &next, sizeof first);
        myth_seq_close(s);
        rig_close(&r);

        o.n_capture_layer--;
        rig_open(&r, spec[m], &o);
        assert_true(myth_capture_state_bytes(r.engine) < bytes);
        assert_int_equal(myth_capture_restore(r.engine, saved, bytes, &rig_err), MYTH_EFORMAT);
        rig_close(&r);
        o.n_capture_layer = 0;
        rig_open(&r, spec[m], &o);
        assert_int_equal(myth_capture_save(r.engine, again, bytes, &rig_err), MYTH_EARG);
        assert_int_equal(myth_capture_restore(r.engine, saved, bytes, &rig_err), MYTH_EARG);
        rig_close(&r);
    }
}

/* ---- values ---- */

typedef struct {
    const int32_t *label;
    uint32_t n_row;
    double sum[N_LABEL][CAPTURE_MAX][D_MAX];
} hidden_sums;

static void on_hidden(void *user, uint32_t tok_idx, uint32_t layer, const float *row, uint32_t d)
{
    hidden_sums *h = user;
    for (uint32_t i = 0; i < d && h->label[tok_idx] >= 0; i++)
        h->sum[h->label[tok_idx]][layer][i] += (double)row[i];
    h->n_row++;
}

/* In the same forward as the hidden rows, and on every level: no further from their mean than half a unit and double's
 * own rounding. */
static void means_are_those_of_the_hidden_rows(void **state)
{
    (void)state;
    enum { N = 60 };
    static hidden_sums h;
    static means got;
    const char *level[8];
    uint32_t n_level = rig_levels(level), layer[CAPTURE_MAX];
    double worst = 0.0;
    for (int m = 0; m < SPEC_N; m++)
        for (uint32_t v = 0; v <= n_level; v++) {
            rig r;
            uint32_t n_layer = every_layer(layer, spec[m]), count[N_LABEL] = {0};
            rig_open(&r, spec[m],
                     &(myth_engine_opts){
                         .device = "cpu",
                         .n_threads = 2,
                         .cpu_level = v < n_level ? level[v] : NULL,
                         .is_exact = v == n_level,
                         .n_ctx = 64,
                         .n_ubatch = 25,
                         .want_hidden = true,
                         .capture_layer = layer,
                         .n_capture_layer = n_layer,
                         .n_capture_label = N_LABEL,
                     });
            int32_t id[N], label[N];
            uint8_t want[N];
            myth_seq *s = rig_seq(&r), *seq[N];
            for (uint32_t i = 0; i < N; i++) {
                id[i] = (int32_t)(i * 17 % r.model.config.n_vocab);
                label[i] = (int32_t)(i % 5) < N_LABEL ? (int32_t)(i % 5) : -1;
                want[i] = MYTH_WANT_HIDDEN;
                seq[i] = s;
                count[label[i] >= 0 ? label[i] : 0] += label[i] >= 0;
            }
            memset(&h, 0, sizeof(h));
            h.label = label;
            rig_tokens b = {
                .n_tok = N,
                .token = id,
                .seq = seq,
                .want = want,
                .capture_label = label,
                .on_hidden = on_hidden,
                .user = &h,
            };
            assert_ok(rig_forward(r.engine, &b, NULL, &rig_err));
            assert_int_equal(h.n_row, N * n_layer);
            read_means(&r, layer, n_layer, &got);
            for (uint32_t k = 0; k < N_LABEL; k++)
                for (uint32_t l = 0; l < n_layer; l++) {
                    assert_int_equal(got.n[k][l], count[k]);
                    double largest = 0.0;
                    for (uint32_t i = 0; i < r.model.config.d_model; i++) {
                        double mean = h.sum[k][layer[l]][i] / count[k], off = fabs(got.mean[k][l][i] - mean);
                        worst = fmax(worst, off);
                        largest = fmax(largest, fabs(mean));
                        if (!(off <= 0x1p-24))
                            fail_msg("%s: label %u, layer %u: mean %.17g, of the hidden rows %.17g", spec[m], k,
                                     layer[l], got.mean[k][l][i], mean);
                    }
                    assert_true(largest > 1e-3);
                }
            myth_seq_close(s);
            rig_close(&r);
        }
    printf("worst %.2e, allowed %.2e\n", worst, 0x1p-24);
}

/* A prompt and a few decode steps: logits with capture of everything and without any. */
static void logits_of(const char *name, bool has_capture, float *out, uint32_t n_new)
{
    rig r;
    rows w;
    uint32_t layer[CAPTURE_MAX], n_layer = every_layer(layer, name);
    int32_t id[20], label[20];
    rig_open(&r, name,
             &(myth_engine_opts){
                 .device = "cpu",
                 .n_threads = 2,
                 .n_ctx = 64,
                 .n_ubatch = 8,
                 .want_full_logits = true,
                 .capture_layer = layer,
                 .n_capture_layer = has_capture ? n_layer : 0,
             });
    myth_seq *s = rig_seq(&r), *seq[20];
    uint8_t want[20];
    rows_open(&w, &r, 20 + n_new, false);
    for (int i = 0; i < 20; i++) {
        id[i] = 3 + 5 * i;
        label[i] = 0;
        seq[i] = s;
        want[i] = MYTH_WANT_FULL_LOGITS;
    }
    rig_tokens b = {
        .n_tok = 20,
        .token = id,
        .seq = seq,
        .want = want,
        .capture_label = has_capture ? label : NULL,
        .on_full_logits = rows_on_logits,
        .user = &w,
    };
    assert_ok(rig_forward(r.engine, &b, NULL, &rig_err));
    b.n_tok = 1;
    b.is_decode = true;
    for (uint32_t i = 0; i < n_new; i++) {
        w.base = 20 + i;
        b.capture_label = has_capture && i % 3 ? label : NULL; /* recorded steps and others in turn */
        b.token = &id[i];
        assert_ok(rig_forward(r.engine, &b, NULL, &rig_err));
    }
    memcpy(out, w.logits, 4 * (size_t)(20 + n_new) * w.n_vocab);
    if (has_capture) {
        static double mean[D_MAX];
        uint64_t n;
        assert_ok(myth_capture_read(r.engine, 0, 1, mean, &n, &rig_err));
        assert_int_equal(n, 20 + n_new - (n_new + 2) / 3);
    }
    rows_close(&w);
    myth_seq_close(s);
    rig_close(&r);
}

static void logits_are_those_without(void **state)
{
    (void)state;
    enum { N_NEW = 7, N = (20 + N_NEW) * 512 };
    float *without = malloc(4 * N), *with = malloc(4 * N);
    assert_true(without && with);
    for (int m = 0; m < SPEC_N; m++) {
        memset(without, 0, 4 * N);
        memset(with, 0, 4 * N);
        logits_of(spec[m], false, without, N_NEW);
        logits_of(spec[m], true, with, N_NEW);
        assert_same_bits(with, without, N, spec[m]);
    }
    free(without);
    free(with);
}

/* ---- memory ---- */

static void peak_does_not_depend_on_the_prompts(void **state)
{
    (void)state;
    uint32_t few = check_is_full() ? 400 : 40, many = check_is_full() ? 5000 : 20 * check_sample(25),
             layer[CAPTURE_MAX];
    uint64_t peak[2][MYTH_MEM_CLASS_N], base[MYTH_MEM_CLASS_N], total[2];
    uint32_t n_layer = every_layer(layer, spec[2]), d = 0;
    for (int i = -1; i < 2; i++) { /* first without capture */
        rig r;
        rig_open(&r, spec[2],
                 &(myth_engine_opts){
                     .device = "cpu",
                     .n_threads = 2,
                     .n_ctx = 512,
                     .n_ubatch = 64,
                     .capture_layer = layer,
                     .n_capture_layer = i < 0 ? 0 : n_layer,
                     .n_capture_label = N_LABEL,
                 });
        uint64_t n_alloc = myth_mem_n_alloc(r.mem), n;
        myth_seq *s = rig_seq(&r);
        for (uint32_t at = 0; i >= 0 && at < (i ? many : few); at += 20) {
            uint32_t number[20];
            for (uint32_t k = 0; k < 20; k++)
                number[k] = at + k;
            capture_batch(&r, s, number, 20, false);
        }
        assert_int_equal(myth_mem_n_alloc(r.mem), n_alloc);
        for (int c = 0; c < MYTH_MEM_CLASS_N; c++)
            (i < 0 ? base : peak[i])[c] = myth_mem_get(r.mem, MYTH_MEM_HOST, (myth_mem_class)c).peak;
        d = r.model.config.d_model;
        if (i >= 0) {
            static double mean[D_MAX];
            total[i] = myth_mem_total(r.mem, MYTH_MEM_HOST).peak;
            assert_int_equal(total[i], myth_engine_plan(r.engine)->total_bytes);
            assert_ok(myth_capture_read(r.engine, 1, 0, mean, &n, &rig_err));
            assert_int_equal(n, (i ? many : few) / (N_LABEL + 1));
        }
        myth_seq_close(s);
        rig_close(&r);
    }
    assert_int_equal(total[0], total[1]);
    assert_memory_equal(peak[0], peak[1], sizeof(peak[0]));
    /* the sums, a flag per layer, a count per label */
    assert_int_equal(peak[0][MYTH_MEM_CAPTURE] - base[MYTH_MEM_CAPTURE],
                     8ull * N_LABEL * n_layer * d + 4 * n_layer + 8 * N_LABEL);
    printf("%u and %u prompts: %llu bytes at most, %llu of them for the means\n", few, many,
           (unsigned long long)total[1], (unsigned long long)peak[1][MYTH_MEM_CAPTURE]);
}

/* ---- what is refused, what is reported ---- */

static void labels_follow_the_runs(void **state)
{
    (void)state;
    myth_seq *a = (myth_seq *)(uintptr_t)64, *b = (myth_seq *)(uintptr_t)128; /* only compared */
    myth_seq *seq[9] = {a, a, a, b, b, b, b, b, a};
    const uint8_t ephemeral[9] = {0, 0, 0, 1, 1, 1, 1, 1, 1}, end[9] = {1, 0, 0, 0, 1, 1, 0, 0, 0};
    const rig_tokens t = {.n_tok = 9, .seq = seq, .is_ephemeral = ephemeral, .run_end = end}; /* runs of 3 2 1 2 1 */
    static const int32_t run_label[5] = {4, -1, 6, 7, 8};
    static const struct {
        int32_t i, want[9];
        uint32_t n;
    } at[] = {{-1, {-1, -1, 4, -1, -1, 6, -1, 7, 8}, 4},    {0, {4, -1, -1, -1, -1, 6, 7, -1, 8}, 4},
              {1, {-1, 4, -1, -1, -1, -1, -1, 7, -1}, 2},   {-3, {4, -1, -1, -1, -1, -1, -1, -1, -1}, 1},
              {3, {-1, -1, -1, -1, -1, -1, -1, -1, -1}, 0}, {INT32_MIN, {-1, -1, -1, -1, -1, -1, -1, -1, -1}, 0}};
    static const int32_t every[9] = {4, 4, 4, -1, -1, 6, 7, 7, 8}, last[9] = {-1, -1, 0, -1, 0, 0, -1, 0, 0};
    int32_t got[9];
    for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
        assert_int_equal(rig_capture_at(got, &t, at[i].i, run_label), at[i].n);
        assert_memory_equal(got, at[i].want, sizeof(got));
    }
    assert_int_equal(rig_capture_every(got, &t, run_label), 7);
    assert_memory_equal(got, every, sizeof(got));
    assert_int_equal(rig_capture_at(got, &t, -1, NULL), 5);
    assert_memory_equal(got, last, sizeof(got));
}

static void wrong_layers_and_labels_are_refused(void **state)
{
    (void)state;
    rig r;
    static double mean[D_MAX];
    uint64_t n = 99;
    uint32_t twice[] = {1, 2, 1}, beyond[] = {0, 0};
    int32_t id = 3, label = 0;
    rig_open(&r, spec[2], &(myth_engine_opts){.device = "cpu", .n_threads = 1, .n_ctx = 32});
    beyond[1] = r.model.config.n_layer + 1;
    myth_engine *e = NULL;
    myth_seq *s = rig_seq(&r);
    const myth_engine_opts wrong[] = {{.capture_layer = twice, .n_capture_layer = 3},
                                      {.capture_layer = beyond, .n_capture_layer = 2},
                                      {.capture_layer = twice, .n_capture_layer = 2, .n_capture_label = UINT32_MAX}};
    for (int i = 0; i < 3; i++)
        assert_int_equal(myth_engine_open(&e, &r.model, &wrong[i], &rig_err), MYTH_EARG);
    assert_int_equal(myth_capture_read(r.engine, 0, 0, mean, &n, &rig_err), MYTH_EARG);
    assert_ok(myth_capture_reset(r.engine, &rig_err)); /* nothing to clear */
    rig_tokens b = {.n_tok = 1, .token = &id, .seq = &s, .capture_label = &label};
    assert_int_equal(rig_forward(r.engine, &b, NULL, &rig_err), MYTH_EARG);
    assert_int_equal(myth_seq_len(s), 0);
    label = -1;
    assert_ok(rig_forward(r.engine, &b, NULL, &rig_err));
    myth_seq_close(s);
    rig_close(&r);

    rig_open(&r, spec[2],
             &(myth_engine_opts){
                 .device = "cpu",
                 .n_threads = 1,
                 .n_ctx = 32,
                 .capture_layer = twice,
                 .n_capture_layer = 2,
                 .n_capture_label = 2,
             });
    s = rig_seq(&r);
    assert_int_equal(myth_capture_read(r.engine, 0, 0, mean, &n, &rig_err), MYTH_EARG);
    assert_int_equal(myth_capture_read(r.engine, 2, 1, mean, &n, &rig_err), MYTH_EARG);
    assert_int_equal(myth_capture_read(r.engine, 0, 1000, mean, &n, &rig_err), MYTH_EARG);
    assert_int_equal(n, 99);
    for (label = -3; label < 5; label++) {
        uint32_t len = myth_seq_len(s);
        bool is_good = label >= -1 && label < 2;
        assert_int_equal(rig_forward(r.engine, &b, NULL, &rig_err), is_good ? MYTH_OK : MYTH_EARG);
        assert_int_equal(myth_seq_len(s), len + is_good);
    }
    for (uint32_t k = 0; k < 2; k++) {
        assert_ok(myth_capture_read(r.engine, k, 2, mean, &n, &rig_err));
        assert_int_equal(n, 1);
    }
    assert_ok(myth_capture_reset(r.engine, &rig_err));
    assert_ok(myth_capture_read(r.engine, 1, 1, mean, &n, &rig_err));
    assert_int_equal(n, 0);
    for (uint32_t i = 0; i < r.model.config.d_model; i++)
        assert_true(mean[i] == 0.0);
    myth_seq_close(s);
    rig_close(&r);
}

/* One value of the embedding row of `token` in the file becomes v. */
static void put_embedding(const char *path, int32_t token, float v)
{
    myth_mem *mem;
    myth_model m = {0};
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&m, mem, path, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
    uint64_t off = 0;
    for (uint32_t t = 0; t < myth_weights_n_tensor(m.weights); t++) {
        const myth_tensor *x = myth_weights_at(m.weights, t);
        if (x->name.len == strlen("token_embd.weight") && memcmp(x->name.text, "token_embd.weight", x->name.len) == 0)
            off = x->off + 4 * ((uint64_t)token * m.config.d_model + 5);
    }
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
    assert_true(off > 0);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)off, SEEK_SET), 0);
    assert_int_equal(fwrite(&v, 4, 1, f), 1);
    fclose(f);
}

static void what_cannot_be_summed_is_said(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f, 0x1p38f, -0x1p38f};
    char path[] = "/tmp/mythos-capture-XXXXXX.gguf";
    int fd = mkstemps(path, 5);
    rig r;
    assert_true(fd >= 0);
    close(fd);
    rig_open(&r, "random:gemma3-tiny:f32", &(myth_engine_opts){.device = "cpu", .n_threads = 1, .n_ctx = 32});
    assert_ok(myth_convert(&r.model, &(myth_convert_opts){.path = path, .type = MYTH_F32}, &rig_err));
    rig_close(&r);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        static double mean[D_MAX];
        uint32_t layer[] = {2, 0};
        int32_t id[] = {7, 8};
        uint64_t n = 99;
        put_embedding(path, 7, bad[i]);
        rig_open(&r, path,
                 &(myth_engine_opts){
                     .device = "cpu",
                     .n_threads = 2,
                     .n_ctx = 32,
                     .capture_layer = layer,
                     .n_capture_layer = 2,
                 });
        myth_seq *s = rig_seq(&r), *seq[2] = {s, s};
        const uint8_t ephemeral[2] = {1, 1};
        int32_t label[2] = {-1, 0};
        rig_tokens b = {.n_tok = 1, .token = id, .seq = seq, .is_ephemeral = ephemeral, .capture_label = label};
        assert_ok(rig_forward(r.engine, &b, NULL, &rig_err)); /* in the batch, not captured */
        assert_ok(myth_capture_read(r.engine, 0, 0, mean, &n, &rig_err));
        assert_int_equal(n, 0);
        label[0] = 0;
        mean[0] = 123.0;
        n = 99;
        assert_ok(rig_forward(r.engine, &b, NULL, &rig_err));
        assert_int_equal(myth_capture_read(r.engine, 0, 0, mean, &n, &rig_err), MYTH_EFORMAT);
        assert_non_null(strstr(rig_err.msg, "layer 0"));
        assert_true(mean[0] == 123.0 && n == 99);
        assert_ok(myth_capture_reset(r.engine, &rig_err));
        b.token = id + 1;
        assert_ok(rig_forward(r.engine, &b, NULL, &rig_err));
        for (int l = 0; l < 2; l++) {
            assert_ok(myth_capture_read(r.engine, 0, layer[l], mean, &n, &rig_err));
            assert_int_equal(n, 1);
        }
        myth_seq_close(s);
        rig_close(&r);
    }
    unlink(path);
}

/* A device that fails in the middle: no mean with rows missing. */
static void a_failed_forward_leaves_no_mean(void **state)
{
    (void)state;
    rig r;
    static double mean[D_MAX];
    uint32_t layer[] = {1};
    int32_t id = 3, label = 0;
    uint64_t n;
    rig_open(&r, spec[2],
             &(myth_engine_opts){
                 .device = "cpu",
                 .n_threads = 1,
                 .n_ctx = 32,
                 .capture_layer = layer,
                 .n_capture_layer = 1,
             });
    myth_seq *s = rig_seq(&r);
    const uint8_t ephemeral = 1;
    rig_tokens b = {.n_tok = 1, .token = &id, .seq = &s, .is_ephemeral = &ephemeral, .capture_label = &label};
    assert_ok(rig_forward(r.engine, &b, NULL, &rig_err));
    struct myth_ops ops = r.engine->part[0].dev->ops;
    r.engine->part[0].dev->ops.capture_sum = NULL;
    assert_int_equal(rig_forward(r.engine, &b, NULL, &rig_err), MYTH_EDEVICE);
    r.engine->part[0].dev->ops = ops;
    assert_ok(rig_forward(r.engine, &b, NULL, &rig_err));
    assert_int_equal(myth_capture_read(r.engine, 0, 1, mean, &n, &rig_err), MYTH_ELOST);
    assert_ok(myth_capture_reset(r.engine, &rig_err));
    assert_ok(rig_forward(r.engine, &b, NULL, &rig_err));
    assert_ok(myth_capture_read(r.engine, 0, 1, mean, &n, &rig_err));
    assert_int_equal(n, 1);
    myth_seq_close(s);
    rig_close(&r);
}

/* ---- faults ---- */

static myth_status session(myth_mem *mem, double *mean, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_model m = {0};
    myth_engine *e = NULL;
    myth_seq *s = NULL, *seq[9];
    uint32_t layer[] = {0, 3};
    int32_t id[9], label[9];
    uint64_t n;
    MYTH_TRY(myth_model_open(&m, mem, spec[2], &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, err));
    MYTH_TRY(myth_engine_open(&e, &m,
                              &(myth_engine_opts){
                                  .device = "cpu",
                                  .n_threads = 2,
                                  .n_ctx = 32,
                                  .capture_layer = layer,
                                  .n_capture_layer = 2,
                                  .n_capture_label = 2,
                              },
                              err));
    MYTH_TRY(myth_seq_open(&s, e, err));
    for (int32_t i = 0; i < 9; i++) {
        id[i] = 2 + i;
        label[i] = i % 2;
        seq[i] = s;
    }
    MYTH_TRY(rig_forward(e, &(rig_tokens){.n_tok = 9, .token = id, .seq = seq, .capture_label = label}, NULL, err));
    MYTH_TRY(myth_capture_read(e, 1, 3, mean, &n, err));
fail:
    if (s)
        myth_seq_close(s);
    myth_engine_close(e);
    myth_model_close(&m);
    return st;
}

static void every_failed_allocation(void **state)
{
    (void)state;
    static double want[D_MAX], got[D_MAX];
    myth_mem *mem;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(session(mem, want, &rig_err));
    uint64_t n = myth_mem_n_alloc(mem), n_refused = 0;
    for (uint64_t nth = 1; nth <= n; nth++)
        for (int forever = 0; forever < 2; forever++) {
            memcpy(got, want, sizeof(got));
            rig_err = (myth_error){0};
            myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth, .forever = forever});
            myth_status st = session(mem, got, &rig_err);
            myth_mem_set_fault(mem, NULL);
            assert_true(st == MYTH_OK || ((st == MYTH_ENOMEM || st == MYTH_ENOFIT) && rig_err.msg[0]));
            assert_memory_equal(got, want, sizeof(got));
            assert_int_equal(myth_mem_total(mem, MYTH_MEM_HOST).live, 0);
            n_refused += st != MYTH_OK;
        }
    assert_true(n_refused > 0);
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch_and_order_leave_the_bits),
        cmocka_unit_test(chunks_leave_the_bits),
        cmocka_unit_test(means_are_those_of_the_hidden_rows),
        cmocka_unit_test(logits_are_those_without),
        cmocka_unit_test(peak_does_not_depend_on_the_prompts),
        cmocka_unit_test(labels_follow_the_runs),
        cmocka_unit_test(wrong_layers_and_labels_are_refused),
        cmocka_unit_test(what_cannot_be_summed_is_said),
        cmocka_unit_test(restored_sums_go_on_with_the_same_bits),
        cmocka_unit_test(a_failed_forward_leaves_no_mean),
        cmocka_unit_test(every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
