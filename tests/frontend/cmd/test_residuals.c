/* test_residuals.c - the means of residuals: the same bytes for every batch, order and restart; the values that hidden
 * rows and transformers give; a peak that does not depend on the number of prompts; what is refused. */
#include "engine/base/bytes.h"
#include "tests/frontend/cli/cli_run.h"
#include "tests/support/adapter.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <time.h>

static cli_result r;

enum { FILE_BYTES = 1 << 20, D = 64, N_LAYER = 8 };

/* ---- prompts ---- */

typedef struct {
    uint32_t number[5000], n;
} order;

/* The line of a prompt depends on its number alone. fixed: every line has as many bytes and tokens. */
static void write_line(FILE *f, uint32_t number, bool fixed)
{
    static const char *const label[] = {"harmful", "harmless", "other"};
    uint64_t rng = 900 + number;
    fprintf(f, "{\"id\":%u,\"label\":\"%s\",\"ids\":[2", 100000 + number, fixed ? "x" : label[number % 3]);
    for (uint32_t i = 0, n = fixed ? 12 : check_below(&rng, 30); i < n; i++)
        fprintf(f, ",%u", 100 + check_below(&rng, 400));
    fputs("]}\n", f);
}

static void write_prompts(const char *name, const order *o, bool fixed)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (uint32_t i = 0; i < o->n; i++)
        write_line(f, o->number[i], fixed);
    fclose(f);
}

static void first_numbers(order *o, uint32_t n)
{
    o->n = n;
    for (uint32_t i = 0; i < n; i++)
        o->number[i] = i;
}

static void shuffle(order *o)
{
    uint64_t rng = check_seed();
    for (uint32_t i = o->n; i > 1; i--) {
        const uint32_t k = check_below(&rng, i), t = o->number[i - 1];
        o->number[i - 1] = o->number[k];
        o->number[k] = t;
    }
}

/* ---- .safetensors ---- */

typedef struct {
    unsigned char bytes[FILE_BYTES];
    size_t n;
    json_t *head;
} tensors;

static void load(tensors *t, const char *name)
{
    char path[256];
    json_error_t e;
    uint64_t len = 0;
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    t->n = fread(t->bytes, 1, sizeof(t->bytes), f);
    fclose(f);
    myth_reader in = {t->bytes, t->n, 0};
    assert_true(myth_reader_u64(&in, &len) && len % 8 == 0 && len < t->n);
    t->head = json_loadb((char *)t->bytes + 8, len, 0, &e);
    assert_non_null(t->head);
}

/* The values of a tensor, which must be of this type and number of values. */
static const void *tensor(const tensors *t, const char *name, const char *dtype, uint64_t n)
{
    const json_t *j = json_object_get(t->head, name), *off = json_object_get(j, "data_offsets"), *dim;
    uint64_t len = 0, have = 1;
    size_t i;
    myth_reader in = {t->bytes, t->n, 0};
    if (!j)
        fail_msg("no tensor %s", name);
    assert_string_equal(json_string_value(json_object_get(j, "dtype")), dtype);
    json_array_foreach(json_object_get(j, "shape"), i, dim) have *= (uint64_t)json_integer_value(dim);
    assert_int_equal(have, n);
    assert_true(myth_reader_u64(&in, &len));
    const uint64_t from = (uint64_t)json_integer_value(json_array_get(off, 0)),
                   to = (uint64_t)json_integer_value(json_array_get(off, 1));
    assert_int_equal(to - from, n * (dtype[1] == '6' ? 8 : 4));
    assert_true(8 + len + to <= t->n);
    return t->bytes + 8 + len + from;
}

static const float *npy(const char *name, unsigned char *buf, uint64_t n)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", cli_dir, name);
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("%s is not there", path);
    const size_t len = fread(buf, 1, FILE_BYTES, f), head = 10 + buf[8] + 256u * buf[9];
    fclose(f);
    assert_int_equal(len, head + 4 * n);
    return (const float *)(const void *)(buf + head);
}

static void same(const char *a, const char *b)
{
    char line[256];
    snprintf(line, sizeof(line), "cmp \"$D/%s\" \"$D/%s\"", a, b);
    cli_shell(&r, line);
    if (r.code)
        fail_msg("%s and %s differ: %s", a, b, r.out);
}

/* ---- bits ---- */

static void files_do_not_depend_on_batches_or_order(void **state)
{
    (void)state;
    static const char *const how[] = {"", "--position every", "--position mean --winsorize 0.9 --type f64",
                                      "--stats all", "--stats variance,norms --position mean --type f64"};
    static const uint32_t batch[] = {1, 7, 32, 100, 128};
    static order o;
    char line[400];
    first_numbers(&o, 150);
    write_prompts("rising", &o, false);
    shuffle(&o);
    write_prompts("shuffled", &o, false);
    for (size_t h = 0; h < sizeof(how) / sizeof(how[0]); h++) {
        snprintf(line, sizeof(line), "residuals " TINY "$D/rising -o $D/a %s", how[h]);
        cli_expect(&r, line, 0);
        for (int b = 0; b < 5; b++) {
            snprintf(line, sizeof(line), "residuals " TINY "$D/%s -o $D/b %s --batch %u -t %d",
                     b % 2 ? "shuffled" : "rising", how[h], batch[b], 1 + b % 3);
            cli_expect(&r, line, 0);
            same("a", "b");
        }
        snprintf(line, sizeof(line), "residuals " TINY "$D/shuffled -o $D/b %s --device cpu,cpu", how[h]);
        cli_expect(&r, line, 0); /* the layers divided */
        same("a", "b");
    }
    /* rows on the host are summed to the bits of the device's sums */
    cli_expect(&r, "residuals " TINY "$D/rising -o $D/a", 0);
    cli_expect(&r, "residuals " TINY "$D/rising -o $D/b --rows $D/rows --batch 9", 0);
    same("a", "b");
    cli_shell(&r, "cp -r $D/rows $D/rows1; $M residuals " TINY "$D/rising -o $D/b --rows $D/rows --batch 64 && "
                  "diff -r $D/rows $D/rows1 && test ! -e $D/b.journal && ! ls $D/rows | grep part");
    assert_int_equal(r.code, 0);
}

/* ---- values ---- */

static void means_are_those_of_hidden_rows(void **state)
{
    (void)state;
    static tensors t;
    static unsigned char buf[FILE_BYTES];
    static double mean[N_LAYER * D];
    static order o;
    char line[300];
    first_numbers(&o, 21); /* 7 of each label */
    write_prompts("few", &o, false);
    cli_expect(&r, "residuals " TINY "--exact $D/few -o $D/few.st --type f64 --base harmless", 0);
    cli_expect(&r, "logits " TINY "--ids-file $D/few --last 1 --hidden $D/h.npy", 0);
    load(&t, "few.st");
    const int64_t *layers = tensor(&t, "layers", "I64", N_LAYER);
    const double *got[3] = {tensor(&t, "mean.harmful", "F64", N_LAYER * D),
                            tensor(&t, "mean.harmless", "F64", N_LAYER * D),
                            tensor(&t, "mean.other", "F64", N_LAYER * D)};
    for (int k = 0; k < 3; k++) {
        memset(mean, 0, sizeof(mean));
        for (int i = k; i < 21; i += 3) {
            snprintf(line, sizeof(line), "h-%03d.npy", i);
            const float *row = npy(line, buf, N_LAYER * D);
            for (int v = 0; v < N_LAYER * D; v++)
                mean[v] += (double)row[v] / 7;
        }
        for (int v = 0; v < N_LAYER * D; v++)
            if (!(fabs(mean[v] - got[k][v]) <= 0x1p-24))
                fail_msg("label %d, value %d: %.12g, of the rows %.12g", k, v, got[k][v], mean[v]);
    }
    assert_int_equal(*(const int64_t *)tensor(&t, "count.other", "I64", 1), 7);
    assert_null(json_object_get(t.head, "direction.harmless")); /* the base */
    const double *way = tensor(&t, "direction.harmful", "F64", N_LAYER * D),
                 *far = tensor(&t, "distance.harmful", "F64", N_LAYER),
                 *cosine = tensor(&t, "cosine.harmful", "F64", N_LAYER * N_LAYER);
    for (int l = 0; l < N_LAYER; l++) {
        double length = 0, across = 0;
        assert_int_equal(layers[l], l);
        for (int i = 0; i < D; i++) {
            const double off = got[0][l * D + i] - got[1][l * D + i];
            length += off * off;
            assert_true(fabs(way[l * D + i] * far[l] - off) < 1e-12);
            across += way[l * D + i] * way[(N_LAYER - 1 - l) * D + i];
        }
        assert_true(fabs(sqrt(length) - far[l]) < 1e-12);
        assert_true(fabs(cosine[l * N_LAYER + N_LAYER - 1 - l] - across) < 1e-12);
        assert_true(fabs(cosine[l * N_LAYER + l] - 1) < 1e-12);
    }

    /* some layers, in order whatever the list's; their means are those among all layers */
    static tensors some;
    cli_expect(&r, "residuals " TINY "--exact $D/few -o $D/some.st --type f64 --layers 5-6,0", 0);
    load(&some, "some.st");
    layers = tensor(&some, "layers", "I64", 3);
    assert_true(layers[0] == 0 && layers[1] == 5 && layers[2] == 6);
    for (int i = 0; i < 3; i++)
        assert_memory_equal((const double *)tensor(&some, "mean.other", "F64", 3 * D) + i * D, got[2] + layers[i] * D,
                            D * sizeof(double));
    json_decref(some.head);
    json_decref(t.head);
}

/* Layer l of what one label's rows say, from the files of --rows: row i has label i % 3. */
static void stats_of_rows(const float *row, int label, int n, double norm[3], double *least, double *most, double *v)
{
    norm[0] = norm[2] = 0;
    norm[1] = INFINITY;
    for (int i = label; i < n; i += 3) {
        double length = 0;
        for (int d = 0; d < D; d++)
            length += (double)row[i * D + d] * (double)row[i * D + d];
        norm[0] += sqrt(length) / (n / 3);
        norm[1] = fmin(norm[1], sqrt(length));
        norm[2] = fmax(norm[2], sqrt(length));
    }
    for (int d = 0; d < D; d++) {
        double mean = 0;
        least[d] = INFINITY;
        most[d] = -INFINITY;
        v[d] = 0;
        for (int i = label; i < n; i += 3) {
            mean += (double)row[i * D + d] / (n / 3);
            least[d] = fmin(least[d], (double)row[i * D + d]);
            most[d] = fmax(most[d], (double)row[i * D + d]);
        }
        for (int i = label; i < n; i += 3)
            v[d] += ((double)row[i * D + d] - mean) * ((double)row[i * D + d] - mean) / (n / 3);
    }
}

static void stats_are_those_of_rows(void **state)
{
    (void)state;
    enum { N = 30 };
    static const char *const label[] = {"harmful", "harmless", "other"};
    static tensors t, plain;
    static unsigned char buf[FILE_BYTES];
    static order o;
    char name[64];
    json_error_t e;
    first_numbers(&o, N);
    write_prompts("few", &o, false);
    cli_expect(&r, "residuals " TINY "$D/few -o $D/plain.st --type f64", 0);
    cli_shell(&r,
              "$M residuals " TINY "$D/few -o $D/stats.st --type f64 --stats all --rows $D/srows --json >$D/s.json && "
              "$M residuals " TINY "$D/few -o $D/some.st --stats minmax && "
              "$M residuals " TINY "$D/few -o $D/all.st --stats variance,minmax,norms && "
              "$M residuals " TINY "$D/few --dry-run --json --stats all --type f64 >$D/dry.json");
    if (r.code)
        fail_msg("%s", r.err);
    load(&t, "stats.st");
    load(&plain, "plain.st");
    snprintf(name, sizeof(name), "%s/s.json", cli_dir);
    json_t *j = json_load_file(name, 0, &e);
    assert_non_null(j);
    for (int k = 0; k < 3; k++) {
        const double *of[7];
        static const char *const tensor_name[] = {"norm_mean.", "norm_min.", "norm_max.", "min.",
                                                  "max.",       "variance.", "mean."};
        for (int i = 0; i < 7; i++) {
            snprintf(name, sizeof(name), "%s%s", tensor_name[i], label[k]);
            of[i] = tensor(&t, name, "F64", i < 3 ? N_LAYER : N_LAYER * D);
        }
        assert_memory_equal(of[6], tensor(&plain, name, "F64", N_LAYER * D), sizeof(double) * N_LAYER * D);
        for (int l = 0; l < N_LAYER; l++) {
            double norm[3], least[D], most[D], v[D], spread = 0, low = INFINITY, high = -INFINITY;
            snprintf(name, sizeof(name), "srows/layer-%03d.npy", l);
            stats_of_rows(npy(name, buf, N * D), k, N, norm, least, most, v);
            for (int i = 0; i < 3; i++)
                assert_true(fabs(of[i][l] - norm[i]) <= 0x1p-24);
            for (int d = 0; d < D; d++) {
                assert_true(of[3][l * D + d] == least[d] && of[4][l * D + d] == most[d]);
                assert_true(fabs(of[5][l * D + d] - v[d]) <= (most[d] - least[d]) * 0x1p-23);
                spread += v[d];
                low = fmin(low, least[d]);
                high = fmax(high, most[d]);
            }
            const json_t *layer = json_array_get(json_object_get(j, "layers"), (size_t)l);
            static const char *const key[] = {"row_norm", "row_norm_min", "row_norm_max", "min", "max", "spread"};
            const double want[] = {norm[0], norm[1], norm[2], low, high, sqrt(spread)};
            for (int i = 0; i < 6; i++) {
                const double got = json_number_value(json_array_get(json_object_get(layer, key[i]), (size_t)k));
                if (!(fabs(got - want[i]) <= 1e-6 * fabs(want[i]) + 1e-7))
                    fail_msg("%s, %s, layer %d: %.9g, of the rows %.9g", label[k], key[i], l, got, want[i]);
            }
        }
    }
    json_decref(j);
    json_decref(plain.head);
    /* the dry run knows the bytes of the tensors; a flag's order is no matter; what was not asked for is not there */
    uint64_t len = 0;
    myth_reader in = {t.bytes, t.n, 0};
    assert_true(myth_reader_u64(&in, &len));
    snprintf(name, sizeof(name), "%s/dry.json", cli_dir);
    j = json_load_file(name, 0, &e);
    assert_true(cli_number(j, "output_bytes") == (double)(t.n - 8 - len));
    json_decref(j);
    json_decref(t.head);
    load(&t, "some.st");
    assert_non_null(json_object_get(t.head, "max.other"));
    assert_null(json_object_get(t.head, "variance.other"));
    assert_null(json_object_get(t.head, "norm_mean.other"));
    assert_string_equal(json_string_value(json_object_get(json_object_get(t.head, "__metadata__"), "stats")), "minmax");
    json_decref(t.head);
    cli_expect(&r, "residuals " TINY "$D/few -o $D/x.st --stats all", 0);
    same("all.st", "x.st");
}

/* Every row of transformers' residuals, on every family. */
static void rows_are_those_of_transformers(void **state)
{
    (void)state;
    static unsigned char buf[FILE_BYTES];
    char name[GOLDEN_MAX][64], line[1600];
    float worst = 0;
    const uint32_t n = golden_list(name);
    for (uint32_t m = 0; m < n; m++) {
        golden g;
        if (!check_is_full() && m % 4)
            continue;
        golden_load(&g, name[m]);
        snprintf(line, sizeof(line), "%s/golden.jsonl", cli_dir);
        FILE *f = fopen(line, "w");
        assert_non_null(f);
        fputs("{\"ids\":[", f);
        for (uint32_t i = 0; i < g.n_tok; i++)
            fprintf(f, "%s%d", i ? "," : "", g.ids[i]);
        fputs("]}\n", f);
        fclose(f);
        cli_shell(&r, "rm -rf $D/g"); /* a folder is one run's, and models have other layers */
        snprintf(line, sizeof(line),
                 "residuals -m '%s' $D/golden.jsonl -o $D/g.st --position every --rows $D/g --exact", g.path);
        cli_expect(&r, line, 0);
        for (uint32_t l = 0; l <= g.n_layer; l++) {
            const size_t values = (size_t)g.n_tok * g.d_model;
            snprintf(line, sizeof(line), "g/layer-%03u.npy", l);
            const float apart = share_apart(npy(line, buf, values), g.residual + l * values, values);
            if (!(apart <= 1e-4f))
                fail_msg("%s, layer %u: %g apart", name[m], l, (double)apart);
            worst = fmaxf(worst, apart);
        }
        golden_free(&g);
    }
    printf("worst %.2e\n", (double)worst);
}

/* ---- memory ---- */

static void report(const char *prompts, const char *how, double *peak, double *total, double *tokens)
{
    char line[300];
    json_error_t e;
    snprintf(line, sizeof(line), "residuals " TINY "$D/%s -o $D/m.st --json --mem-report $D/mem.json %s", prompts, how);
    json_t *j = cli_json(&r, line);
    *tokens = cli_number(j, "tokens");
    json_decref(j);
    cli_expect_planned(prompts);
    snprintf(line, sizeof(line), "%s/mem.json", cli_dir);
    j = json_load_file(line, 0, &e);
    assert_non_null(j);
    *peak = cli_number(j, "peak_bytes");
    *total = cli_number(j, "classes.staging.peak");
    assert_true(cli_number(j, "classes.kv_global.peak") == 0 && cli_number(j, "classes.kv_local.peak") == 0);
    json_decref(j);
}

static void many_prompts_take_the_bytes_of_few(void **state)
{
    (void)state;
    static order o;
    const uint32_t n_many = cli_lines(5000);
    double peak[2], staging[2], tokens;
    first_numbers(&o, 400);
    write_prompts("few", &o, true);
    first_numbers(&o, n_many);
    write_prompts("many", &o, true);
    for (int h = 0; h < 2; h++) {
        const char *how = h ? "--stats all" : "";
        report("few", how, &peak[0], &staging[0], &tokens);
        assert_true(tokens == 400 * 13);
        report("many", how, &peak[1], &staging[1], &tokens);
        assert_true(tokens == n_many * 13);
        assert_true(peak[0] == peak[1] && staging[0] == staging[1]);
        printf("%.0f bytes\n", peak[0]);
    }
    /* what a dry run says is what the run takes */
    json_t *j = cli_json(&r, "residuals " TINY "$D/many --dry-run --json");
    assert_true(cli_number(j, "tokens") == n_many * 13 && cli_number(j, "prompts") == n_many);
    assert_true(cli_number(j, "plan.classes.kv_global") == 0 && cli_number(j, "longest") == 13);
    json_decref(j);
}

/* The largest --batch that fits is named, fits, and is the largest. */
static void a_batch_is_honoured_or_refused_with_the_largest(void **state)
{
    (void)state;
    static order o;
    char line[300];
    first_numbers(&o, 200);
    write_prompts("some", &o, false);
    json_t *j = cli_json(&r, "residuals " TINY "$D/some --dry-run --json --batch 20");
    const double step = cli_number(j, "step_rows"), total = cli_number(j, "plan.total_bytes");
    assert_true(step > 100);
    json_decref(j);
    snprintf(line, sizeof(line), "residuals " TINY "$D/some --dry-run --json --batch 20 --mem-limit %.0f", total);
    cli_expect(&r, line, 0);
    snprintf(line, sizeof(line), "residuals " TINY "$D/some -o $D/x --batch 100 --mem-limit %.0f", total);
    cli_expect(&r, line, 71);
    const char *at = strstr(r.err, "give --batch ");
    assert_non_null(at);
    const unsigned best = (unsigned)strtoul(at + 13, NULL, 10);
    assert_true(best >= 20 && best < 100);
    for (unsigned b = best; b <= best + 1; b++) {
        snprintf(line, sizeof(line), "residuals " TINY "$D/some -o $D/x --batch %u --mem-limit %.0f", b, total);
        cli_expect(&r, line, b == best ? 0 : 71);
    }
    /* without the flag a limit shrinks the step to what fits, any number */
    snprintf(line, sizeof(line), "residuals " TINY "$D/some --dry-run --json --mem-limit %.0f", total);
    j = cli_json(&r, line);
    const double most = cli_number(j, "step_rows");
    assert_true(most > step / 2 && most < 512 && cli_number(j, "plan.total_bytes") <= total);
    assert_int_equal((int)cli_number(j, "step_rows_wanted"), 512); /* and says what it lost by that */
    json_decref(j);
    snprintf(line, sizeof(line), "residuals " TINY "$D/some --dry-run --mem-limit %.0f", total);
    cli_expect(&r, line, 0);
    assert_non_null(strstr(r.out, ", of 512: the memory limit leaves no more"));
    cli_expect(&r, "residuals " TINY "$D/some --dry-run", 0);
    assert_non_null(strstr(r.out, "rows a step      512\n"));
    for (int more = 0; more < 2; more++) {
        snprintf(line, sizeof(line), "residuals " TINY "$D/some --dry-run --json --mem-limit %.0f -ub %.0f", total,
                 most + more);
        cli_expect(&r, line, more ? 71 : 0);
    }
}

/* Under any limit the file is the same, or nothing is run. */
static void a_limit_never_changes_the_file(void **state)
{
    (void)state;
    static order o;
    char line[300];
    uint64_t rng = check_seed();
    int n_run = 0, n_refused = 0;
    first_numbers(&o, 60);
    write_prompts("limit", &o, false);
    cli_expect(&r, "residuals " TINY "$D/limit -o $D/free --winsorize 0.9", 0);
    json_t *j = cli_json(&r, "residuals " TINY "$D/limit --dry-run --json --winsorize 0.9");
    const double total = cli_number(j, "plan.total_bytes");
    json_decref(j);
    for (int i = 0; i < 12; i++) {
        /* All of it, a byte less, then down to a third of it in steps that are never the same twice. */
        const double limit = i < 2 ? total - i : total * (1.0 - (i - 2 + check_below(&rng, 1000) / 1000.0) / 15);
        cli_shell(&r, "rm -f $D/limited*");
        snprintf(line, sizeof(line), "residuals " TINY "$D/limit -o $D/limited --winsorize 0.9 --mem-limit %.0f",
                 limit);
        cli_run(&r, line);
        if (r.code == 0)
            same("free", "limited");
        else if (r.code != 71)
            fail_msg("limit %.0f of %.0f: exit %d: %s", limit, total, r.code, r.err);
        n_run += r.code == 0;
        n_refused += r.code == 71;
        assert_true(i >= 2 || r.code == 0); /* one byte less: a smaller step */
    }
    assert_true(n_run > 2 && n_refused > 0);
}

/* Without a limit, or under one that the machine cannot keep, a step has the rows that fit what is left beside the
 * model: no job is refused that fewer rows let run. */
static void what_is_left_decides_the_rows(void **state)
{
#define LEFT "export MALLOC_ARENA_MAX=1; ulimit -v"
#define WIDE "residuals -m random:gemma3-270m:q8_0 -t 1 $D/left "
    static const char *const limit[] = {"", "--mem-limit 4GiB "};
    char line[500];
    int kib = 0, n_row = 0;
    (void)state;
    if (MYTH_HAS_ASAN)
        check_skip("AddressSanitizer allows no limit on the address space");
    cli_shell(&r, "for i in $(seq 12); do echo \"{\\\"text\\\":\\\"some words of line $i, and enough of them to fill a "
                  "step\\\"}\"; "
                  "done >$D/left; $M " WIDE "-o $D/left.free");
    assert_int_equal(r.code, 0);
    json_t *j = cli_json(&r, WIDE "--dry-run --json");
    const int all = (int)cli_number(j, "step_rows"), longest = (int)cli_number(j, "longest");
    json_decref(j);
    assert_true(all > 8 * longest);
    for (size_t i = 0; i < 2; i++) {
        for (kib = 300000, n_row = 0; kib < 400000 && (n_row < longest || n_row >= all - longest); kib += 4000) {
            snprintf(line, sizeof(line),
                     LEFT " %d; $M " WIDE "%s--dry-run --json | sed 's/.*\"step_rows\":\\([0-9]*\\).*/\\1/'", kib,
                     limit[i]);
            cli_shell(&r, line);
            n_row = atoi(r.out);
        }
        assert_true(n_row >= longest && n_row < all - longest);
        kib -= 4000; /* those of the last turn */
        snprintf(line, sizeof(line),
                 "(" LEFT " %d; $M " WIDE "%s-o $D/left.%zu --mem-report $D/mem.json --json) >$D/j && cmp $D/left.free "
                 "$D/left.%zu && sed 's/.*\"step_rows\":\\([0-9]*\\).*/\\1/' $D/j",
                 kib, limit[i], i, i);
        cli_shell(&r, line);
        if (r.code || atoi(r.out) < longest || atoi(r.out) >= all)
            fail_msg("%d KiB, %d rows of %d: exit %d: %s%s", kib, n_row, all, r.code, r.out, r.err);
        cli_expect_planned(limit[i]);
    }
}

/* ---- breaks ---- */

/* Runs the command and sends it the signal after some microseconds; returns its exit status as the shell tells it. */
static int run_and_stop(const char *args, useconds_t after, int sig)
{
    char line[900], err[256];
    const int null = open("/dev/null", O_RDWR);
    snprintf(err, sizeof(err), "%s/err", cli_dir);
    snprintf(line, sizeof(line), "D='%s'; exec '%s' %s", cli_dir, cli_bin(), args);
    fflush(NULL);
    const pid_t p = fork();
    if (p == 0) {
        const int e = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(null, 0);
        dup2(null, 1);
        dup2(e, 2);
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    close(null);
    usleep(after);
    kill(p, sig);
    int st;
    waitpid(p, &st, 0);
    cli_slurp(r.err, sizeof(r.err), "err");
    return WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void killed_jobs_end_with_the_same_bytes(void **state)
{
    (void)state;
    static const char *const how[] = {"", "--rows $D/k --position mean", "--stats all"};
    static order o;
    char line[400];
    uint64_t rng = check_seed();
    const uint32_t n_kill = check_is_full() ? 67 : check_sample(6);
    first_numbers(&o, cli_lines(1500));
    write_prompts("kill", &o, false);
    for (size_t h = 0; h < sizeof(how) / sizeof(how[0]); h++) {
        uint32_t n_killed = 0;
        snprintf(line, sizeof(line), "residuals " TINY "$D/kill -o $D/whole %s --batch 8 -t 1", how[h]);
        const double begin = seconds();
        cli_expect(&r, line, 0);
        const double whole = seconds() - begin;
        cli_shell(&r, "rm -rf $D/k1; if test -d $D/k; then mv $D/k $D/k1; fi");
        snprintf(line, sizeof(line), "residuals " TINY "$D/kill -o $D/killed %s --batch 8 -t 1", how[h]);
        for (uint32_t k = 0; k < 20 * n_kill && n_killed < n_kill; k++)
            n_killed += run_and_stop(line, (useconds_t)(1e6 * whole * check_below(&rng, 900) / 1000), SIGKILL) == 137;
        cli_expect(&r, line, 0);
        same("whole", "killed");
        cli_shell(&r, "if test -d $D/k; then diff -r $D/k $D/k1; fi && test ! -e $D/killed.journal");
        assert_int_equal(r.code, 0);
        assert_int_equal(n_killed, n_kill);
    }
}

static void make_adapter(void)
{
    uint64_t rng = check_seed();
    char path[256];
    snprintf(path, sizeof(path), "%s/a.gguf", cli_dir);
    adapter_make_of("random:gemma3-tiny:f32", path, 2, NULL, &rng);
}

static void a_stopped_job_goes_on_and_no_other_does(void **state)
{
    (void)state;
    static order o;
    make_adapter();
    first_numbers(&o, cli_lines(5000));
    write_prompts("stop", &o, false);
    const char *const job = "residuals " TINY "$D/stop -o $D/stopped --batch 2 -t 1";
    const double begin = seconds();
    cli_expect(&r, "residuals " TINY "$D/stop -o $D/whole --batch 2 -t 1", 0);
    const double whole = seconds() - begin;
    int code = 0;
    for (int at = 5; at > 0 && code != 3; at--) { /* until it is stopped in the middle */
        cli_shell(&r, "rm -f $D/stopped*");
        code = run_and_stop(job, (useconds_t)(1e6 * whole * at / 10), SIGTERM);
    }
    assert_int_equal(code, 3);
    assert_non_null(strstr(r.err, "the same command goes on from there"));
    cli_shell(&r, "test -e $D/stopped.journal && test ! -e $D/stopped");
    assert_int_equal(r.code, 0);
    static const char *const other[][2] = {{"--layers 3", "--layers (all, now 3)"},
                                           {"--position 0", "--position (-1, now 0)"},
                                           {"--winsorize 0.5", "--winsorize (1, now 0.5)"},
                                           {"--stats norms", "--stats (none, now norms)"},
                                           {"--exact", "--device (cpu, now cpu, exact)"},
                                           {"--chat", "--chat (off, now on)"},
                                           {"-c 40", "-c ("},
                                           {"--lora $D/a.gguf", "model ("},
                                           {"--rows $D/other", "--rows (none"}};
    char line[400];
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
        snprintf(line, sizeof(line), "%s %s", job, other[i][0]);
        cli_expect(&r, line, 2);
        if (!strstr(r.err, other[i][1]) || !strstr(r.err, "--resume off"))
            fail_msg("%s: %s", other[i][0], r.err);
    }
    cli_shell(&r, "cp $D/stop $D/kept; echo '\"one more\"' >>$D/stop");
    cli_expect(&r, job, 2);
    assert_non_null(strstr(r.err, "text of the prompts"));
    cli_shell(&r, "mv $D/kept $D/stop");
    cli_expect(&r, job, 0);
    assert_non_null(strstr(r.err, "going on after "));
    same("whole", "stopped");
    /* --resume off begins anew, and whatever the journal says */
    cli_shell(&r, "echo damaged >$D/stopped.journal");
    cli_expect(&r, job, 74);
    assert_non_null(strstr(r.err, "--resume off"));
    cli_expect(&r, "residuals " TINY "$D/stop -o $D/stopped --resume off", 0);
    assert_null(strstr(r.err, "going on"));
    same("whole", "stopped");
}

/* ---- faults ---- */

static void a_bad_line_is_listed_and_left_out(void **state)
{
    (void)state;
    static unsigned char buf[FILE_BYTES];
    static tensors t;
    cli_shell(&r, "printf '%s\\n' '{\"ids\":[2,3,4],\"label\":\"a\"}' 'not json' '{\"ids\":[2],\"label\":\"b\"}' "
                  "'{\"ids\":[99999]}' '{\"ids\":[5,6],\"id\":\"x\"}' >$D/bad; $M residuals " TINY
                  "$D/bad -o $D/bad.st --position 1 --rows $D/badrows --json");
    assert_int_equal(r.code, 3);
    json_error_t e;
    json_t *j = json_loads(r.out, 0, &e);
    assert_non_null(j);
    const json_t *f = json_object_get(j, "faults");
    assert_int_equal(json_array_size(f), 3);
    static const char *const why[] = {"line 2: JSON", "line 3: 1 token, none at position 1", "line 4: \"ids\": 99999"};
    for (size_t i = 0; i < 3; i++) {
        const char *text = json_string_value(json_object_get(json_array_get(f, i), "fault"));
        assert_memory_equal(text, why[i], strlen(why[i]));
        assert_int_equal(json_integer_value(json_object_get(json_array_get(f, i), "index")), i + 1);
    }
    assert_true(cli_number(j, "done") == 2 && cli_number(j, "prompts") == 5);
    json_decref(j);
    load(&t, "bad.st");
    assert_int_equal(*(const int64_t *)tensor(&t, "count.a", "I64", 1), 1);
    assert_int_equal(*(const int64_t *)tensor(&t, "count.b", "I64", 1), 0);
    assert_int_equal(*(const int64_t *)tensor(&t, "count.unlabelled", "I64", 1), 1);
    json_decref(t.head);
    const float *row = npy("badrows/layer-007.npy", buf, 5 * D); /* a row for every line, NaN where it has none */
    for (int i = 0; i < 5; i++)
        assert_true(isnan(row[i * D]) == (i > 0 && i < 4));
    cli_shell(&r, "cat $D/badrows/rows.jsonl");
    assert_non_null(strstr(r.out, "{\"index\":0,\"row\":0,\"n\":1,\"label\":\"a\"}\n{\"index\":1,\"fault\":\"JSON"));
    assert_non_null(strstr(r.out, "{\"index\":4,\"row\":4,\"n\":1,\"id\":\"x\"}\n"));
    cli_shell(&r, "echo nothing >$D/none; $M residuals " TINY "$D/none -o $D/none.st");
    assert_int_equal(r.code, 65);
    cli_shell(&r, "ls $D/none.st*");
    assert_true(r.code != 0);
}

static bool all_nan(const tensors *t, const char *name, uint64_t n)
{
    const float *v = tensor(t, name, "F32", n);
    for (uint64_t i = 0; i < n; i++)
        if (!isnan(v[i]))
            return false;
    return true;
}

/* A tensor has one name, so lines without a label go with those that are labelled as such lines are. A label without
 * rows has no numbers, and no direction begins at it. */
static void labels_without_a_name_or_a_row(void **state)
{
    (void)state;
    static tensors t;
    cli_shell(
        &r, "printf '%s\\n' '{\"ids\":[2,3],\"label\":\"x\"}' '{\"ids\":[4],\"label\":\"unlabelled\"}' '{\"ids\":[5]}' "
            "'{\"ids\":[6],\"label\":\"\"}' >$D/un; $M residuals " TINY "$D/un -o $D/un.st --base x");
    assert_int_equal(r.code, 3);
    assert_non_null(strstr(r.out, "line 4: \"label\": 0 bytes; 1 to 127 expected"));
    load(&t, "un.st");
    assert_int_equal(json_object_size(t.head), 1 + 1 + 2 * 2 + 3);
    assert_int_equal(*(const int64_t *)tensor(&t, "count.unlabelled", "I64", 1), 2);
    json_decref(t.head);

    cli_shell(&r, "printf '%s\\n' '{\"ids\":[2,3,4],\"label\":\"a\"}' '{\"ids\":[5],\"label\":\"b\"}' "
                  "'{\"ids\":0,\"label\":\"c\"}' >$D/lack; for how in '' --exact; do "
                  "$M residuals " TINY "$D/lack -o $D/lack.st --position 2 $how --report $D/lack.html --stats all || "
                  "test $? = 3; done; grep -ci nan $D/lack.html");
    assert_string_equal(strrchr(r.out, '0'), "0\n");
    assert_non_null(strstr(r.err, "no prompt with the label \"b\" gives a row"));
    assert_non_null(strstr(r.err, "no prompt with the label \"c\" gives a row"));
    load(&t, "lack.st");
    assert_int_equal(*(const int64_t *)tensor(&t, "count.b", "I64", 1), 0);
    assert_true(all_nan(&t, "mean.b", N_LAYER * D) && all_nan(&t, "direction.b", N_LAYER * D) &&
                all_nan(&t, "min.b", N_LAYER * D) && all_nan(&t, "variance.c", N_LAYER * D));
    assert_true(isnan(*(const double *)tensor(&t, "distance.b", "F64", N_LAYER)) &&
                isnan(*(const double *)tensor(&t, "cosine.b", "F64", N_LAYER * N_LAYER)));
    json_decref(t.head);
    cli_shell(&r, "$M residuals " TINY "$D/lack -o $D/plain.st --position 2 || test $? = 3");
    load(&t, "plain.st");
    assert_true(all_nan(&t, "mean.c", N_LAYER * D) && !all_nan(&t, "mean.a", N_LAYER * D));
    json_decref(t.head);
    cli_expect(&r, "residuals " TINY "$D/lack -o $D/none.st --position 2 --base b", 2);
    assert_non_null(strstr(r.err, "no prompt with the label \"b\" gives a row, so no direction can begin at it"));
    cli_expect(&r, "residuals " TINY "$D/lack --position 2 --dry-run", 0);
    assert_non_null(strstr(r.out, "prompts          3, 2 of them faulty\ntokens           3,"));
    cli_shell(&r, "sed -i 's/\"c\"/\"0\"/' $D/lack; $M residuals " TINY "$D/lack -o $D/none.st"); /* the first of all */
    assert_int_equal(r.code, 2);
    assert_non_null(strstr(r.err, "no prompt with the label \"0\" gives a row"));
}

static void a_report_shows_every_label(void **state)
{
    (void)state;
    cli_shell(&r, "printf '%s\\n' '{\"ids\":[2,3],\"label\":\"<b>&\"}' '{\"ids\":[4,5],\"label\":\"plain\"}' >$D/two; "
                  "$M residuals " TINY "$D/two -o $D/two.st --report $D/two.html >$D/summary && cat $D/two.html");
    assert_int_equal(r.code, 0);
    assert_null(strstr(r.out, "<b>"));
    assert_non_null(strstr(r.out, "&#60;b&#62;&#38;"));
    int n_svg = 0;
    for (const char *at = r.out; (at = strstr(at, "<svg")) != NULL; at++)
        n_svg++;
    assert_int_equal(n_svg, 3);
    assert_null(strstr(r.out, "<script"));
    cli_shell(&r, "$M residuals " TINY "$D/two -o $D/two.st --report $D/two.html --stats all >$D/summary && "
                  "grep -c 'row norm      spread.*row norm      spread' $D/summary && grep -c '<svg' $D/two.html && "
                  "grep -c '<th>spread.*<th>spread' $D/two.html");
    assert_string_equal(r.out, "1\n8\n1\n");
    /* the column is of the means: two that are alike have 1 there, and a direction of zeros */
    cli_shell(&r, "sed -i 's/4,5/2,3/' $D/two; $M residuals " TINY "$D/two -o $D/two.st --json | "
                  "grep -c '\"cosine_to_base\":.1,1.' && $M residuals " TINY "$D/two -o $D/two.st | "
                  "grep 'distance  cosine to base'");
    assert_int_equal(r.code, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_do_not_depend_on_batches_or_order),
        cmocka_unit_test(means_are_those_of_hidden_rows),
        cmocka_unit_test(stats_are_those_of_rows),
        cmocka_unit_test(rows_are_those_of_transformers),
        cmocka_unit_test(many_prompts_take_the_bytes_of_few),
        cmocka_unit_test(a_batch_is_honoured_or_refused_with_the_largest),
        cmocka_unit_test(a_limit_never_changes_the_file),
        cmocka_unit_test(what_is_left_decides_the_rows),
        cmocka_unit_test(killed_jobs_end_with_the_same_bytes),
        cmocka_unit_test(a_stopped_job_goes_on_and_no_other_does),
        cmocka_unit_test(a_bad_line_is_listed_and_left_out),
        cmocka_unit_test(labels_without_a_name_or_a_row),
        cmocka_unit_test(a_report_shows_every_label),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
