/* bench_retrieval.c - measures how long a query takes in a process that has the index open: `bench_retrieval DIR
 * QUERIES [rounds] [--weights LIST] [-k N]`.
 *
 * Queries   one per line. A line "@FILE" stands for the text of that file, for queries of many lines
 * Prints    for two classes of queries (up to 10 words, more words): the median and the 95th percentile over all rounds
 *           except the first, and the same for the first round, in which pages and caches are cold; then the slowest
 *           queries
 * Times     wall time, and processor time of the thread, which changes little when others use the machine. The load is
 *           printed too */
#include "frontend/cli/environment.h"
#include "retrieval/retrieval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUERY_MAX = 4096, SHORT_WORDS = 10, TEXT_BYTES = 4 << 20, CLASS_N = 4 };

typedef struct {
    char *text;
    size_t n;
    bool is_long;
} query;

static double now_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static char *read_all(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *text = f ? calloc(1, TEXT_BYTES + 1) : NULL;
    *n = text ? fread(text, 1, TEXT_BYTES, f) : 0;
    if (f)
        fclose(f);
    return text;
}

static bool is_long(const char *s, size_t n)
{
    size_t n_word = 0;
    for (size_t i = 0; i < n; i++)
        n_word += s[i] > ' ' && (i == 0 || s[i - 1] <= ' ');
    return n_word > SHORT_WORDS;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void report(const char *what, double *ms, double *cpu, size_t n)
{
    if (n == 0)
        return;
    qsort(ms, n, sizeof(*ms), by_value);
    qsort(cpu, n, sizeof(*cpu), by_value);
    printf("%-22s n %6zu  wall p50 %7.3f p95 %7.3f max %7.3f ms   own p50 %7.3f p95 %7.3f max %7.3f ms\n", what, n,
           ms[n / 2], ms[n * 95 / 100], ms[n - 1], cpu[n / 2], cpu[n * 95 / 100], cpu[n - 1]);
}

int main(int n_arg, char **arg)
{
    static query q[QUERY_MAX];
    size_t n_query = 0, n_text, n_ms[CLASS_N] = {0};
    uint32_t rounds = 5, k = 10;
    const char *weights = NULL;
    myth_error err = {0};
    myth_mem *mem = NULL;
    myth_index *x = NULL;
    if (n_arg < 3) {
        fprintf(stderr, "usage: bench_retrieval DIR QUERIES [ROUNDS] [--weights LIST] [-k N]\n");
        return 2;
    }
    for (int i = 3; i < n_arg; i++) {
        if (strcmp(arg[i], "--weights") == 0 && i + 1 < n_arg)
            weights = arg[++i];
        else if (strcmp(arg[i], "-k") == 0 && i + 1 < n_arg)
            k = (uint32_t)strtoul(arg[++i], NULL, 10);
        else
            rounds = (uint32_t)strtoul(arg[i], NULL, 10);
    }
    char *lines = read_all(arg[2], &n_text);
    for (char *line = lines ? strtok(lines, "\n") : NULL; line && n_query < QUERY_MAX; line = strtok(NULL, "\n")) {
        query *one = &q[n_query];
        *one = (query){.text = line, .n = strlen(line)};
        if (line[0] == '@')
            one->text = read_all(line + 1, &one->n);
        one->is_long = one->text && is_long(one->text, one->n);
        n_query += one->text != NULL && one->n > 0;
    }
    if (n_query == 0 || rounds == 0) {
        fprintf(stderr, "%s: no queries\n", arg[2]);
        return 1;
    }
    double *ms[CLASS_N], *cpu[CLASS_N], *worst = calloc(n_query, sizeof(*worst));
    bool has_room = worst != NULL;
    for (int i = 0; i < CLASS_N; i++) {
        ms[i] = calloc(n_query * rounds, sizeof(*ms[i]));
        cpu[i] = calloc(n_query * rounds, sizeof(*cpu[i]));
        has_room &= ms[i] && cpu[i];
    }
    const myth_index_opts opts = {.root = arg[1], .cache_dir = myth_env_cache_dir(), .is_read_only = true};
    double start = now_ms(CLOCK_MONOTONIC);
    if (!has_room || myth_mem_open(&mem, 0, &err) != MYTH_OK || myth_index_open(&x, mem, &opts, &err) != MYTH_OK) {
        fprintf(stderr, "%s: %s\n", arg[1], err.msg);
        return 1;
    }
    printf("open %.3f ms\n", now_ms(CLOCK_MONOTONIC) - start);
    for (uint32_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < n_query; i++) {
            myth_hits hits;
            myth_search_opts o = {
                .query = q[i].text,
                .n_query = q[i].n,
                .mode = MYTH_SEARCH_RANKED,
                .k = k,
                .weights = weights,
            };
            double own = now_ms(CLOCK_THREAD_CPUTIME_ID);
            start = now_ms(CLOCK_MONOTONIC);
            myth_status st = myth_search(&hits, x, &o, &err);
            double took = now_ms(CLOCK_MONOTONIC) - start;
            own = now_ms(CLOCK_THREAD_CPUTIME_ID) - own;
            if (st != MYTH_OK && st != MYTH_EARG) {
                fprintf(stderr, "%.60s: %s\n", q[i].text, err.msg);
                return 1;
            }
            if (st == MYTH_OK)
                myth_hits_free(&hits);
            int class = 2 * (round == 0) + q[i].is_long;
            ms[class][n_ms[class]] = took;
            cpu[class][n_ms[class]++] = own;
            if (round && own > worst[i])
                worst[i] = own;
        }
    report("up to 10 words", ms[0], cpu[0], n_ms[0]);
    report("more", ms[1], cpu[1], n_ms[1]);
    report("up to 10 words, first", ms[2], cpu[2], n_ms[2]);
    report("more, first", ms[3], cpu[3], n_ms[3]);
    for (int shown = 0; shown < 3; shown++) {
        size_t at = 0;
        for (size_t i = 0; i < n_query; i++)
            at = worst[i] > worst[at] ? i : at;
        printf("slowest %.3f ms: %.80s\n", worst[at], q[at].text);
        worst[at] = 0;
    }
    FILE *load = fopen("/proc/loadavg", "r");
    char text[64] = "";
    if (load && fgets(text, sizeof(text), load))
        printf("load %s", text);
    if (load)
        fclose(load);
    myth_index_close(x);
    return myth_mem_close(mem) != 0;
}
