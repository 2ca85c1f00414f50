/* bench_pressure.c - what a decode step takes while another process takes memory and gives it back, as CSV.
 *
 *   bench_pressure [-r ROUNDS] [-n STEPS] [-t THREADS] [-m MIB] [-s] MODEL      a MODEL as of --model; -s: mode share
 *
 * Rounds     each has STEPS decode steps in four states, in an order that turns: alone; again, which is the same and
 *            says how far two such figures are apart on this machine; hog, beside a process that takes 10 to 90 % of
 *            MIB, keeps it for up to 20 ms and gives it back; writer, beside one that writes as many bytes of memory
 *            that it has already, so that what the hog costs in processor time and bandwidth is seen apart
 * Memory     reserved before the first step, weights too (read, not mapped); with -s taken as it is used
 * Group      to measure under a limit, begin it in a control group; MIB is then what the limit leaves
 * Figures    median and 99th percentile of all steps of a state in milliseconds; their ratios to those of `alone`; and
 *            of the rounds' own ratios of 99th percentiles the quartiles
 * Exit       1 when it failed, 2 usage */
#include "engine/base/clock.h"
#include "engine/engine.h"
#include "engine/run/host_memory.h"
#include "frontend/cli/environment.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ALONE, AGAIN, HOG, WRITER, STATE_N, DEPTH = 64, ROUND_MAX = 1000, STEP_MAX = 1000 };
static const char *const state_name[STATE_N] = {"alone", "again", "hog", "writer"};

typedef struct {
    uint32_t n_round, n_step;
    int n_threads;
    uint64_t bytes;
    bool is_share;
    const char *model;
} pressure_opts;

typedef struct {
    volatile int state;
    volatile uint32_t n_taken;
} shared_state;

/* ---- the process beside it ---- */

static double next_unit(uint64_t *rng)
{
    *rng = *rng * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*rng >> 11) / (double)(1ull << 53);
}

static unsigned char *take(uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static _Noreturn void press(shared_state *s, uint64_t bytes)
{
    uint64_t rng = 1;
    unsigned char *own = NULL;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        const uint64_t n = (uint64_t)((double)bytes * (0.1 + 0.8 * next_unit(&rng)));
        if (s->state == HOG) {
            unsigned char *p = take(n);
            usleep((useconds_t)(20000 * next_unit(&rng)));
            if (p) {
                munmap(p, n);
                s->n_taken++;
            }
        } else if (s->state == WRITER) {
            if (!own)
                own = take(bytes);
            if (own)
                memset(own, (int)(rng & 255), n);
            usleep((useconds_t)(20000 * next_unit(&rng)));
        }
        if (s->state != WRITER && own) {
            munmap(own, bytes);
            own = NULL;
        }
        usleep((useconds_t)(20000 * next_unit(&rng)));
    }
}

/* ---- the steps ---- */

static myth_status feed(myth_engine *e, myth_seq *s, const int32_t *id, uint32_t n, bool is_decode, myth_error *err)
{
    const myth_batch_run run = {.seq = s, .token = id, .n = n, .want_last = MYTH_WANT_LOGITS};
    return myth_forward(e, &(myth_batch){.run = &run, .n_run = 1, .is_decode = is_decode}, NULL, err);
}

/* Decodes n steps behind the first DEPTH tokens, and writes what each took. */
static myth_status decode(double *ms, uint32_t n, myth_engine *e, myth_seq *s, myth_error *err)
{
    uint32_t at;
    myth_status st =
        myth_seq_truncate(s, DEPTH, &at, err); /* to its checkpoint, where rings have lost what was there */
    for (uint32_t i = 0; i < n && st == MYTH_OK; i++) {
        const int32_t id = (int32_t)(3 + i % 50);
        const double begin = myth_seconds();
        st = feed(e, s, &id, 1, true, err);
        ms[i] = 1e3 * (myth_seconds() - begin);
    }
    return st;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value of n that `share` of them are below; v becomes sorted. */
static double quantile(double *v, uint32_t n, double share)
{
    const uint32_t at = (uint32_t)(share * n);
    qsort(v, n, sizeof(*v), by_size);
    return v[at < n ? at : n - 1];
}

static void print(double *ms[STATE_N], double (*p99)[STATE_N], const pressure_opts *o, uint32_t n_taken)
{
    static double ratio[ROUND_MAX];
    const uint32_t n = o->n_round * o->n_step;
    double middle[STATE_N], high[STATE_N];
    printf("state,steps,median_ms,p99_ms,median_ratio,p99_ratio,round_p99_q1,round_p99_median,round_p99_q3,taken\n");
    for (int k = 0; k < STATE_N; k++) {
        middle[k] = quantile(ms[k], n, 0.5);
        high[k] = quantile(ms[k], n, 0.99);
        for (uint32_t i = 0; i < o->n_round; i++)
            ratio[i] = p99[i][k] / p99[i][ALONE];
        printf("%s,%u,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%u\n", state_name[k], n, middle[k], high[k],
               middle[k] / middle[ALONE], high[k] / high[ALONE], quantile(ratio, o->n_round, 0.25),
               quantile(ratio, o->n_round, 0.5), quantile(ratio, o->n_round, 0.75), k == HOG ? n_taken : 0);
    }
}

static myth_status measure(myth_engine *e, const pressure_opts *o, shared_state *shared, myth_error *err)
{
    static double p99[ROUND_MAX][STATE_N], sorted[STEP_MAX];
    double *ms[STATE_N] = {NULL};
    int32_t prompt[DEPTH];
    myth_seq *s = NULL;
    myth_status st = MYTH_OK;
    for (int i = 0; i < DEPTH; i++)
        prompt[i] = 2 + i;
    for (int k = 0; k < STATE_N; k++) {
        ms[k] = malloc(sizeof(double) * o->n_round * o->n_step);
        if (!ms[k])
            MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "out of memory for the figures"));
    }
    MYTH_TRY(myth_seq_open(&s, e, err));
    MYTH_TRY(feed(e, s, prompt, DEPTH, false, err));
    MYTH_TRY(myth_seq_checkpoint(s, err));
    MYTH_TRY(decode(sorted, o->n_step, e, s, err)); /* to warm up */
    for (uint32_t i = 0; i < o->n_round; i++)
        for (uint32_t turn = 0; turn < STATE_N; turn++) {
            const uint32_t k = (i + turn) % STATE_N;
            double *of = ms[k] + (size_t)i * o->n_step;
            shared->state = (int)k;
            usleep(45000); /* it has begun, and given back what it had */
            MYTH_TRY(decode(of, o->n_step, e, s, err));
            memcpy(sorted, of, sizeof(*of) * o->n_step);
            p99[i][k] = quantile(sorted, o->n_step, 0.99);
        }
    shared->state = ALONE;
    print(ms, p99, o, shared->n_taken);
fail:
    if (s)
        myth_seq_close(s);
    for (int k = 0; k < STATE_N; k++)
        free(ms[k]);
    return st;
}

static myth_status run(const pressure_opts *o, shared_state *shared, myth_error *err)
{
    myth_mem *mem = NULL;
    myth_model m = {0};
    myth_engine *e = NULL;
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_mem_open(&mem, 0, err));
    if (!o->is_share)
        myth_mem_reserve(mem, myth_host_left);
    MYTH_TRY(myth_model_open(&m, mem, o->model,
                             &(myth_weights_opts){
                                 .level = MYTH_WEIGHTS_DATA,
                                 .pread = !o->is_share,
                                 .hub_dir = myth_env_hub_dir(),
                             },
                             err));
    MYTH_TRY(myth_engine_open(
        &e, &m,
        &(myth_engine_opts){.device = "cpu", .n_threads = o->n_threads, .n_ctx = DEPTH + STEP_MAX, .n_checkpoint = 1},
        err));
    st = measure(e, o, shared, err);
fail:
    myth_engine_close(e);
    myth_model_close(&m);
    myth_mem_close(mem);
    return st;
}

int main(int argc, char **argv)
{
    pressure_opts o = {.n_round = 40, .n_step = 200, .n_threads = 1, .bytes = 256ull << 20};
    myth_error err = {0};
    bool is_wrong = false;
    for (int c; (c = getopt(argc, argv, "r:n:t:m:s")) != -1;)
        switch (c) {
        case 'r': o.n_round = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 'n': o.n_step = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 't': o.n_threads = (int)strtoul(optarg, NULL, 10); break;
        case 'm': o.bytes = strtoull(optarg, NULL, 10) << 20; break;
        case 's': o.is_share = true; break;
        default: is_wrong = true;
        }
    if (is_wrong || optind + 1 != argc || !o.n_round || o.n_round > ROUND_MAX || !o.n_step || o.n_step > STEP_MAX ||
        !o.bytes) {
        fprintf(stderr, "usage: bench_pressure [-r ROUNDS] [-n STEPS] [-t THREADS] [-m MIB] [-s] MODEL\n");
        return 2;
    }
    o.model = argv[optind];
    shared_state *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const pid_t child = shared == MAP_FAILED ? -1 : fork();
    if (child < 0) {
        perror("bench_pressure");
        return 1;
    }
    if (child == 0)
        press(shared, o.bytes);
    const myth_status st = run(&o, shared, &err);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (st != MYTH_OK)
        fprintf(stderr, "bench_pressure: %s\n", err.msg);
    return st != MYTH_OK;
}
