/* named.c - rates of other machines: the files of bench/results by their names, and any file of rates by its path. */
#include "engine/base/program.h"
#include "frontend/cli/cli.h"
#include "frontend/cli/environment.h"
#include "rates_impl.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MACHINES "machines"

/* The folder of bench/results beside the build folder of a source tree, or where it was installed. */
static bool find_folder(char *dst, size_t cap)
{
    static const char *const place[] = {"bench/results", "share/mythos/rates"};
    char exe[PATH_MAX], probe[PATH_MAX + 64];
    const bool has_self = myth_program_start(exe, sizeof(exe));
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(exe, '/');
        exe[slash ? slash - exe : 0] = '\0';
    }
    for (size_t i = 0; i < 3; i++) {
        if (i < 2 && !has_self)
            continue;
        const int n = i < 2 ? snprintf(dst, cap, "%s/%s", exe, place[i]) : snprintf(dst, cap, MYTHOS_INSTALL_RATES);
        snprintf(probe, sizeof(probe), "%.*s/" MACHINES ".csv", PATH_MAX, dst);
        if (n > 0 && (size_t)n < cap && access(probe, R_OK) == 0)
            return true;
    }
    return false;
}

static bool is_path(const char *name)
{
    const size_t n = strlen(name);
    return strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".csv") == 0);
}

static bool path_of(char *dst, size_t cap, const char *name)
{
    char dir[PATH_MAX];
    if (is_path(name))
        return snprintf(dst, cap, "%s", name) < (int)cap;
    return find_folder(dir, sizeof(dir)) && snprintf(dst, cap, "%s/%s.csv", dir, name) < (int)cap;
}

/* ---- memory ---- */

typedef struct {
    const char *name, *kind;
    uint64_t bytes;
    bool is_there;
    char *list; /* names of all machines, for a message; NULL = not wanted */
    size_t n, cap;
} machine;

/* Adds a name to the list that is not in it. */
static void list_name(machine *m, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = m->list; at && *at; at += strspn(at, ", ")) {
        if (strcspn(at, ",") == n && memcmp(at, name, n) == 0)
            return;
        at += strcspn(at, ",");
    }
    if (m->list && m->n < m->cap)
        m->n += (size_t)snprintf(m->list + m->n, m->cap - m->n, "%s%s", m->n ? ", " : "", name);
}

static bool take_machine(void *user, const myth_rate_row *row)
{
    machine *m = user;
    double mib;
    list_name(m, row->name);
    if (strcmp(row->name, m->name) != 0)
        return true;
    m->is_there = true;
    if (strcmp(row->device, m->kind) == 0 && myth_rate_number(&mib, row->memory_mib))
        m->bytes = (uint64_t)mib << 20;
    return true;
}

static void find_machine(machine *m)
{
    char path[PATH_MAX];
    myth_mem *mem;
    if (is_path(m->name) || !path_of(path, sizeof(path), MACHINES) ||
        myth_mem_open(&mem, MYTH_RATES_MEMORY, NULL) != MYTH_OK)
        return;
    (void)myth_rates_table(mem, path, take_machine, m, NULL);
    myth_mem_close(mem);
}

uint64_t myth_rates_memory(const char *name, const char *kind)
{
    machine m = {.name = name, .kind = kind};
    find_machine(&m);
    return m.bytes;
}

/* ---- rates ---- */

enum { NAMES_MAX = 16 };

/* Whether the models of a file have the key's shape, by name: each name is looked up once. */
typedef struct {
    const myth_rate_key *key;
    myth_rates *rates;
    struct {
        char model[64];
        bool is_same;
    } known[NAMES_MAX];
    uint32_t n_known, n_row;
    char processor[160]; /* of the rows taken so far */
} reader;

/* Opens the published shape of that name and compares. */
static bool has_shape(const char *model, const char *shape)
{
    char spec[128], its[17] = "";
    myth_mem *mem;
    myth_model m = {0};
    const myth_weights_opts header = {.level = MYTH_WEIGHTS_HEADER, .hub_dir = myth_env_hub_dir()};
    uint32_t i = 0;
    const char *size;
    while ((size = myth_weights_random_size(i)) != NULL && strcasecmp(size, model) != 0)
        i++;
    if (!size || myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return false;
    snprintf(spec, sizeof(spec), "random:%s:bf16", size);
    if (myth_model_open(&m, mem, spec, &header, NULL) == MYTH_OK) {
        myth_rates_shape(its, &m.config);
        myth_model_close(&m);
    }
    myth_mem_close(mem);
    return strcmp(its, shape) == 0;
}

static bool is_same_model(reader *r, const myth_rate_row *row)
{
    uint32_t i = 0;
    if (*row->shape)
        return strcmp(row->shape, r->key->shape) == 0;
    while (i < r->n_known && strcmp(r->known[i].model, row->model) != 0)
        i++;
    if (i == r->n_known) {
        if (i == NAMES_MAX || strlen(row->model) >= sizeof(r->known[0].model))
            return false;
        strcpy(r->known[i].model, row->model);
        r->known[i].is_same = has_shape(row->model, r->key->shape);
        r->n_known++;
    }
    return r->known[i].is_same;
}

/* "Q4_K_M" is of the type q4_k. */
static bool is_same_type(const char *row, const char *type)
{
    const size_t n = strlen(type);
    return strncasecmp(row, type, n) == 0 && (!row[n] || strcasecmp(row + n, "_m") == 0);
}

/* The kind and the tokens of "pp512", "tg64", "prefill" and "decode"; false for other tests. */
static bool read_test(myth_rate_kind *kind, double *n_tok, const myth_rate_row *row)
{
    const bool is_prefill = strcmp(row->test, "prefill") == 0, is_decode = strcmp(row->test, "decode") == 0;
    *n_tok = 1;
    for (int k = 0; k < MYTH_RATE_N; k++)
        if (strncmp(row->test, myth_rate_test[k], 2) == 0 && myth_rate_number(n_tok, row->test + 2)) {
            *kind = (myth_rate_kind)k;
            return true;
        }
    *kind = is_prefill ? MYTH_PREFILL : MYTH_DECODE;
    /* The batch of a prefill is its length, that of a decode the number of sequences. */
    return is_prefill ? myth_rate_number(n_tok, row->batch) : is_decode && strcmp(row->batch, "1") == 0;
}

static bool read_row(void *user, const myth_rate_row *row)
{
    reader *r = user;
    myth_rate_kind kind;
    double n_tok, tok_s, depth = 0;
    r->n_row += *row->model != '\0';
    if (!*row->model || !is_same_type(row->type, r->key->type) || !is_same_model(r, row))
        return true;
    if (*row->setup ? strcmp(row->setup, r->key->setup) != 0 : r->key->with[0] != '\0')
        return true;
    if (strncmp(row->processor, r->processor, sizeof(r->processor) - 1) != 0) {
        memset(r->rates, 0, sizeof(*r->rates));
        snprintf(r->processor, sizeof(r->processor), "%s", row->processor);
    }
    if (*row->tokens)
        myth_rates_take(r->rates, row);
    else if (read_test(&kind, &n_tok, row) && (!*row->depth || myth_rate_number(&depth, row->depth)) &&
             (myth_rate_number(&tok_s, row->tok_s) ||
              (strcmp(row->threads, "1") == 0 && myth_rate_number(&tok_s, row->tok_per_cpu_s))))
        myth_rates_put(r->rates, kind, depth + n_tok / 2, tok_s, 1);
    return true;
}

enum { FILES_MAX = 32, NAME_MAX_BYTES = 64 };

static bool find_rate(void *user, const myth_rate_row *row)
{
    bool *has_rate = user;
    *has_rate |= *row->model && *row->test && (*row->tok_s || *row->tok_per_cpu_s);
    return !*has_rate;
}

/* Whether a file of the folder has rates; others of bench/results have other figures. */
static bool has_rates(const char *name)
{
    char path[PATH_MAX];
    myth_mem *mem;
    bool has_rate = false;
    if (!path_of(path, sizeof(path), name) || myth_mem_open(&mem, MYTH_RATES_MEMORY, NULL) != MYTH_OK)
        return false;
    (void)myth_rates_table(mem, path, find_rate, &has_rate, NULL);
    myth_mem_close(mem);
    return has_rate;
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

/* "zen4-2-cores, zen5-2-cores, h200": the files of rates, then the machines without one. */
static void list_names(char *dst, size_t cap)
{
    char dir[PATH_MAX], name[FILES_MAX][NAME_MAX_BYTES];
    uint32_t n_name = 0;
    machine m = {.name = "", .kind = "", .list = dst, .cap = cap};
    DIR *d = find_folder(dir, sizeof(dir)) ? opendir(dir) : NULL;
    dst[0] = '\0';
    for (struct dirent *e; d && n_name < FILES_MAX && (e = readdir(d)) != NULL;) {
        const size_t n = strlen(e->d_name);
        if (n < 5 || n - 4 >= NAME_MAX_BYTES || !is_path(e->d_name))
            continue;
        memcpy(name[n_name], e->d_name, n - 4);
        name[n_name][n - 4] = '\0';
        n_name += has_rates(name[n_name]);
    }
    if (d)
        closedir(d);
    qsort(name, n_name, sizeof(name[0]), by_name);
    for (uint32_t i = 0; i < n_name; i++)
        list_name(&m, name[i]);
    find_machine(&m);
}

myth_status myth_rates_named(myth_rates *out, const char *name, const myth_rate_key *key, myth_error *err)
{
    char path[PATH_MAX], names[256];
    myth_mem *mem;
    myth_error own;
    machine m = {.name = name, .kind = ""};
    reader r = {.key = key, .rates = out};
    memset(out, 0, sizeof(*out));
    myth_status st = myth_mem_open(&mem, MYTH_RATES_MEMORY, err);
    if (st != MYTH_OK)
        return st;
    st = path_of(path, sizeof(path), name) ? myth_rates_table(mem, path, read_row, &r, &own)
                                           : myth_fail(&own, MYTH_ENOTFOUND, "%.100s: no such file", name);
    myth_mem_close(mem);
    if (st == MYTH_OK && !r.n_row)
        st = myth_fail(&own, MYTH_EFORMAT, "%.200s: no table of rates: no row names a model", name);
    if (st == MYTH_ENOTFOUND && !is_path(name)) {
        find_machine(&m);
        if (m.is_there)
            return MYTH_OK; /* a machine whose memory is known and whose rates are not */
        list_names(names, sizeof(names));
        return myth_fail(err, st, "no rates are called %.30s; there are: %s; or give the path of a file of rates", name,
                         names);
    }
    if (st != MYTH_OK && err)
        *err = own;
    return st;
}
