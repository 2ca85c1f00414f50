/* rig.c - see rig.h. */
#include "rig.h"

#include "frontend/cli/environment.h"
#include "kernels/device.h"

#include <dirent.h>
#include <math.h>
#include <sys/stat.h>

myth_error rig_err;

void assert_ok_(myth_status st, const char *expr, const myth_error *err, const char *file, int line)
{
    if (st == MYTH_OK)
        return;
    print_error("%s: %s: %s\n", expr, myth_status_name(st), err->msg);
    _fail(file, line);
}

/* ---- goldens ---- */

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

uint32_t golden_list(char name[GOLDEN_MAX][64])
{
    char path[1024];
    uint32_t n = 0;
    DIR *d = opendir(check_path(path, sizeof(path), "tests/golden/models"));
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) && n < GOLDEN_MAX;)
        if (e->d_name[0] != '.')
            snprintf(name[n++], 64, "%.63s", e->d_name);
    closedir(d);
    assert_true(n > 0);
    qsort(name, n, 64, by_name);
    return n;
}

bool golden_is_kept(uint32_t i, uint32_t n)
{
    const char *few = getenv("MYTHOS_TEST_GOLDENS");
    const uint32_t most = !few ? n : check_is_full() ? (n + 1) / 2 : (uint32_t)strtoul(few, NULL, 10);
    return check_is_among(i, n, most ? most : n);
}

static void *read_exactly(FILE *f, size_t bytes)
{
    void *p = malloc(bytes);
    assert_non_null(p);
    assert_int_equal(fread(p, 1, bytes, f), bytes);
    return p;
}

void golden_load(golden *g, const char *name)
{
    char rest[128], path[1100];
    uint32_t head[5];
    *g = (golden){0};
    snprintf(g->name, sizeof(g->name), "%s", name);
    snprintf(rest, sizeof(rest), "tests/golden/models/%s", name);
    check_path(g->path, sizeof(g->path), rest);
    snprintf(path, sizeof(path), "%s/golden.bin", g->path);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(head, 4, 5, f), 5);
    assert_int_equal(head[0], 0x4f47594d);
    g->n_tok = head[1];
    g->n_layer = head[2];
    g->d_model = head[3];
    g->n_vocab = head[4];
    g->ids = read_exactly(f, 4 * (size_t)g->n_tok);
    g->logits = read_exactly(f, 4 * (size_t)g->n_tok * g->n_vocab);
    g->residual = read_exactly(f, 4 * (size_t)(g->n_layer + 1) * g->n_tok * g->d_model);
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

void golden_free(golden *g)
{
    free(g->ids);
    free(g->logits);
    free(g->residual);
    *g = (golden){0};
}

/* ---- an engine ---- */

void rig_environment(myth_engine_opts *o)
{
    assert_ok(myth_env_device(&o->cpu_level, &o->n_threads, &o->settings, &rig_err));
}

void rig_open(rig *r, const char *spec, const myth_engine_opts *opts)
{
    myth_engine_opts o = *opts;
    rig_environment(&o);
    *r = (rig){0};
    assert_ok(myth_mem_open(&r->mem, 0, &rig_err));
    assert_ok(myth_model_open(&r->model, r->mem, spec, &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    assert_ok(myth_engine_open(&r->engine, &r->model, &o, &rig_err));
}

void rig_close(rig *r)
{
    myth_engine_close(r->engine);
    myth_model_close(&r->model);
    for (int d = 0; d < MYTH_MEM_DEVICE_MAX; d++)
        for (int c = 0; c < MYTH_MEM_CLASS_N; c++) {
            uint64_t live = myth_mem_get(r->mem, d, (myth_mem_class)c).live;
            if (live)
                fail_msg("%llu bytes of class %s are live on ledger %d after close", (unsigned long long)live,
                         myth_mem_class_name((myth_mem_class)c), d);
        }
    assert_int_equal(myth_mem_close(r->mem), 0);
    *r = (rig){0};
}

myth_seq *rig_seq(rig *r)
{
    myth_seq *s = NULL;
    assert_ok(myth_seq_open(&s, r->engine, &rig_err));
    return s;
}

void rig_random_ids(int32_t *ids, uint32_t n, const rig *r, uint64_t *rng)
{
    for (uint32_t i = 0; i < n; i++)
        ids[i] = (int32_t)check_below(rng, r->model.config.n_vocab);
}

uint32_t rig_levels(const char *level[8])
{
    static const char *const all[] = {"ref", "avx2", "avx512", "amx", "neon"};
    uint32_t n = 0;
    myth_mem *mem;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        myth_device *dev = NULL;
        myth_error err = {0};
        if (myth_device_open(&dev, mem, &(myth_device_opts){.name = "cpu", .n_threads = 1, .cpu_level = all[i]},
                             &err) == MYTH_OK)
            level[n++] = all[i];
        else
            check_left_out_target(all[i], err.msg);
        myth_device_close(dev);
    }
    assert_int_equal(myth_mem_close(mem), 0);
    assert_true(n > 0);
    return n;
}

static bool is_wanted(const char *name)
{
    const char *list = getenv("MYTHOS_TEST_DEVICES");
    if (!list || !*list)
        return true;
    for (size_t len = strlen(name); *list; list += strcspn(list, ",") + (strchr(list, ',') != NULL))
        if (strcspn(list, ",") == len && strncmp(list, name, len) == 0)
            return true;
    return false;
}

uint32_t rig_devices(char name[RIG_TARGET_MAX][32])
{
    myth_device_caps caps[16];
    uint32_t n_caps = myth_device_list(caps, 16, &(myth_device_opts){0}), n = 0;
    for (uint32_t i = n_caps; i-- > 0;) /* the CPU first */
        if (is_wanted(caps[i].name))
            snprintf(name[n++], 32, "%s", caps[i].name);
    const char *list = getenv("MYTHOS_TEST_DEVICES");
    uint32_t n_named = list && *list ? 1 : 0;
    for (const char *at = list; at && (at = strchr(at, ',')); at++)
        n_named++;
    if (n == 0 || n < n_named)
        fail_msg("MYTHOS_TEST_DEVICES=%s: only %u of them are here", list ? list : "", n);
    return n;
}

uint32_t rig_devices_beside_cpu(char name[RIG_TARGET_MAX][32])
{
    char all[RIG_TARGET_MAX][32];
    const uint32_t n_all = rig_devices(all);
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_all; i++)
        if (strcmp(all[i], "cpu") != 0)
            memcpy(name[n++], all[i], sizeof(all[i]));
    return n;
}

uint32_t rig_targets(const char *target[RIG_TARGET_MAX])
{
    static char name[RIG_TARGET_MAX][32], exact[RIG_TARGET_MAX][40];
    uint32_t n_name = rig_devices(name), n = 0;
    for (uint32_t i = 0; i < n_name; i++)
        if (strcmp(name[i], "cpu") == 0) {
            target[n++] = "exact";
            n += rig_levels(target + n);
        } else {
            snprintf(exact[i], sizeof(exact[i]), "%.31s exact", name[i]);
            target[n++] = exact[i];
            target[n++] = name[i];
        }
    return n;
}

const char *rig_target(void)
{
    static const char *target[RIG_TARGET_MAX];
    if (!target[0])
        rig_targets(target);
    return target[0];
}

bool rig_is_exact(const char *target) { return strstr(target, "exact") != NULL; }

void rig_at(myth_engine_opts *o, const char *target)
{
    static char device[RIG_TARGET_MAX][32]; /* lent to options: one place per name seen */
    const char *name = strchr(target, ':') ? target : "cpu";
    size_t len = strcspn(name, " ");
    int i = 0;
    while (device[i][0] && (strlen(device[i]) != len || strncmp(device[i], name, len) != 0))
        i++;
    assert_true(i < RIG_TARGET_MAX && len < sizeof(device[0]));
    memcpy(device[i], name, len);
    o->device = device[i];
    o->is_exact = rig_is_exact(target);
    o->cpu_level = strchr(target, ':') || o->is_exact ? NULL : target;
    rig_environment(o);
}

/* ---- rows ---- */

void rows_open(rows *w, const rig *r, uint32_t n_tok, bool keep_hidden)
{
    const myth_config *c = &r->model.config;
    *w = (rows){.n_tok = n_tok, .n_vocab = c->n_vocab, .n_layer = c->n_layer, .d_model = c->d_model};
    w->logits = malloc(4 * (size_t)n_tok * c->n_vocab);
    w->hidden = keep_hidden ? malloc(4 * (size_t)(c->n_layer + 1) * n_tok * c->d_model) : NULL;
    assert_non_null(w->logits);
    assert_true(!keep_hidden || w->hidden);
    rows_clear(w);
}

void rows_close(rows *w)
{
    free(w->logits);
    free(w->hidden);
    *w = (rows){0};
}

void rows_clear(rows *w)
{
    for (size_t i = 0; i < (size_t)w->n_tok * w->n_vocab; i++)
        w->logits[i] = NAN;
    for (size_t i = 0; w->hidden && i < (size_t)(w->n_layer + 1) * w->n_tok * w->d_model; i++)
        w->hidden[i] = NAN;
    w->base = w->n_logits = w->n_hidden = 0;
}

void rows_on_logits(void *user, uint32_t tok_idx, const float *row, uint32_t n_vocab)
{
    rows *w = user;
    assert_int_equal(n_vocab, w->n_vocab);
    assert_true(w->base + tok_idx < w->n_tok);
    memcpy(w->logits + (size_t)(w->base + tok_idx) * n_vocab, row, 4 * (size_t)n_vocab);
    w->n_logits++;
}

void rows_on_hidden(void *user, uint32_t tok_idx, uint32_t layer, const float *row, uint32_t d_model)
{
    rows *w = user;
    assert_int_equal(d_model, w->d_model);
    assert_true(w->base + tok_idx < w->n_tok && layer <= w->n_layer);
    if (w->hidden)
        memcpy(w->hidden + ((size_t)layer * w->n_tok + w->base + tok_idx) * d_model, row, 4 * (size_t)d_model);
    w->n_hidden++;
}

/* The runs of t, in a block that lives until the next call and grows only for a longer batch: tests count what a step
 * allocates. */
static myth_batch batch_of(const rig_tokens *t)
{
    static myth_batch_run *run;
    static uint32_t cap;
    uint32_t n = 0;
    if (t->n_tok > cap || !run) {
        cap = t->n_tok > 1024 ? t->n_tok : 1024;
        free(run);
        assert_non_null(run = malloc(cap * sizeof(*run)));
    }
    for (uint32_t i = 0; i < t->n_tok; i++) {
        const bool is_ephemeral = t->is_ephemeral && t->is_ephemeral[i];
        const bool goes_on = i && t->seq[i] == t->seq[i - 1] && is_ephemeral == run[n - 1].is_ephemeral &&
                             !(is_ephemeral && t->run_end && t->run_end[i - 1]);
        if (!goes_on)
            run[n++] = (myth_batch_run){
                .seq = t->seq[i], .token = t->token ? t->token + i : NULL, .is_ephemeral = is_ephemeral};
        run[n - 1].n++;
    }
    return (myth_batch){
        .run = run,
        .n_run = n,
        .want = t->want,
        .is_decode = t->is_decode,
        .top_k = t->top_k,
        .capture_label = t->capture_label,
        .mask_idx = t->mask_idx,
        .masks = t->masks,
        .n_masks = t->n_masks,
        .bias_off = t->bias_off,
        .bias_id = t->bias_id,
        .bias = t->bias,
        .ask_id = t->ask_id,
        .n_ask = t->n_ask,
        .on_full_logits = t->on_full_logits,
        .on_hidden = t->on_hidden,
        .user = t->user,
        .cancel = t->cancel,
    };
}

myth_status rig_forward(myth_engine *e, const rig_tokens *t, myth_result *out, myth_error *err)
{
    const myth_batch b = batch_of(t);
    return myth_forward(e, &b, out, err);
}

uint32_t rig_capture_at(int32_t *dst, const rig_tokens *t, int32_t i, const int32_t *run_label)
{
    const myth_batch b = batch_of(t);
    return myth_capture_at(dst, &b, i, run_label);
}

uint32_t rig_capture_every(int32_t *dst, const rig_tokens *t, const int32_t *run_label)
{
    const myth_batch b = batch_of(t);
    return myth_capture_every(dst, &b, run_label);
}

void rig_feed(rig *r, myth_seq *s, const int32_t *ids, uint32_t n, uint32_t chunk, rows *w)
{
    uint8_t want[4096];
    myth_seq *seq[4096];
    assert_true(n <= 4096);
    uint8_t bits = (uint8_t)(w ? MYTH_WANT_FULL_LOGITS | (w->hidden ? MYTH_WANT_HIDDEN : 0) : 0);
    for (uint32_t i = 0; i < n; i++) {
        want[i] = bits;
        seq[i] = s;
    }
    for (uint32_t at = 0; at < n;) {
        uint32_t take = chunk && chunk < n - at ? chunk : n - at;
        rig_tokens b = {
            .n_tok = take,
            .token = ids + at,
            .seq = seq,
            .want = want,
            .user = w,
            .on_full_logits = w ? rows_on_logits : NULL,
            .on_hidden = w && w->hidden ? rows_on_hidden : NULL,
        };
        myth_result out;
        assert_ok(rig_forward(r->engine, &b, &out, &rig_err));
        if (w)
            w->base += take;
        at += take;
    }
}

void rig_decode(rig *r, myth_seq *s, int32_t id, rows *w)
{
    uint8_t want = w ? MYTH_WANT_FULL_LOGITS : 0;
    rig_tokens b = {
        .n_tok = 1,
        .token = &id,
        .seq = &s,
        .want = &want,
        .is_decode = true,
        .user = w,
        .on_full_logits = w ? rows_on_logits : NULL,
    };
    myth_result out;
    assert_ok(rig_forward(r->engine, &b, &out, &rig_err));
    if (w)
        w->base++;
}

float share_apart(const float *a, const float *b, size_t n)
{
    float apart = 0.0f, largest = 0.0f;
    for (size_t i = 0; i < n; i++) {
        float d = fabsf(a[i] - b[i]);
        if (!(d <= apart)) /* NaN counts as apart */
            apart = d;
        if (isnan(d))
            return INFINITY;
        largest = fmaxf(largest, fabsf(b[i]));
    }
    return apart == 0.0f ? 0.0f : apart / largest;
}

void assert_same_bits(const float *a, const float *b, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], 4) != 0)
            fail_msg("%s: value %zu of %zu is %.9g, expected %.9g", what, i, n, (double)a[i], (double)b[i]);
}
