/* rates.c - the kept file: what a run measured, whose it is, and how it is merged with what was known. */
#include "rates.h"

#include "engine/base/hash.h"
#include "engine/base/outfile.h"
#include "engine/run/devices.h"
#include "frontend/cli/environment.h"
#include "rates_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *const myth_rate_test[MYTH_RATE_N] = {"pp", "tg"};

/* ---- what a run measures ---- */

enum { LEAST_DEPTH = 8 }; /* 2^8 is the first depth that is told from 0 */

static uint32_t bucket_of(double depth)
{
    uint32_t b = 0;
    while (b + 1 < MYTH_RATE_POINTS && depth >= (double)((uint64_t)1 << (LEAST_DEPTH + b)))
        b++;
    return b;
}
static uint32_t depth_of(uint32_t bucket) { return bucket ? 1u << (LEAST_DEPTH + bucket - 1) : 0; }

void myth_pace_add(myth_pace *p, myth_rate_kind kind, uint32_t at, uint32_t n, double seconds)
{
    if (!n || !(seconds > 0))
        return;
    const uint32_t b = bucket_of(at + n / 2.0);
    p->n_tok[kind][b] += n;
    p->seconds[kind][b] += seconds;
}

/* ---- whose it is ---- */

static const char *type_of(const myth_model *m)
{
    static const struct {
        uint32_t file;
        const char *name;
    } types[] = {
#define FLOAT_ROW(X, code, NAME, name, gguf, file, bytes, half) {file, #name},
#define QUANT_ROW(X, code, NAME, name, gguf, file, ...)         {file, #name},
        MYTH_FLOAT_TYPES(FLOAT_ROW, ) MYTH_QUANT_TYPES(QUANT_ROW, )
#undef FLOAT_ROW
#undef QUANT_ROW
    };
    uint32_t file;
    uint64_t bytes[MYTH_DTYPE_N] = {0};
    myth_dtype most = MYTH_F32;
    if (myth_meta_u32(&file, myth_weights_meta(m->weights), "general.file_type"))
        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
            if (types[i].file == file)
                return types[i].name;
    for (uint32_t i = 0; i < myth_weights_n_tensor(m->weights); i++) {
        const myth_tensor *t = myth_weights_at(m->weights, i);
        bytes[t->dtype] += t->bytes;
        most = bytes[t->dtype] > bytes[most] ? t->dtype : most;
    }
    return myth_dtype_get(most)->name;
}

/* The vocabulary is left out: checkpoints of one size differ by a few rows. */
void myth_rates_shape(char dst[17], const myth_config *c)
{
    uint64_t h = MYTH_FNV1A;
    const uint32_t whole[] = {(uint32_t)c->family, c->n_layer,       c->d_model,     c->n_head,
                              c->n_expert,         c->n_expert_used, c->d_ff_expert, c->n_ple};
    h = myth_fnv1a(h, whole, sizeof(whole));
    for (uint32_t i = 0; i < c->n_layer; i++) {
        const myth_layer_config *l = &c->layer[i];
        const uint32_t one[] = {l->is_global, l->n_head_kv, l->head_dim, l->d_ff};
        h = myth_fnv1a(h, one, sizeof(one));
    }
    snprintf(dst, 17, "%016llx", (unsigned long long)h);
}

static void find_machine(char dst[160], myth_mem *mem, const myth_engine_opts *opts)
{
    myth_device_info info;
    const char *last = strrchr(opts->device, ',');
    last = last ? last + 1 : opts->device;
    snprintf(dst, 160, "%s", myth_devices_find(&info, last, mem, opts) ? info.description : last);
}

/* Quotes and control characters have no place in the file. */
static void make_plain(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f || *text == '"')
            *text = ' ';
}

/* Adds to the end of a text what fits whole. */
static void append(char *dst, size_t cap, const char *fmt, ...)
{
    char more[64];
    va_list args;
    va_start(args, fmt);
    vsnprintf(more, sizeof(more), fmt, args);
    va_end(args);
    if (strlen(dst) + strlen(more) < cap)
        strcat(dst, more);
}

/* The flags that change the speed. Of a CPU alone those of GPUs change nothing, nor do those of experts of a model
 * without any. */
static void put_flags(myth_rate_key *out, const myth_model *model, const myth_engine_opts *o)
{
    static const char *const moved[] = {"", " --offload weights", " --offload kv"};
    const bool is_cpu = strcmp(o->device, "cpu") == 0;
    const uint32_t n_moe = model->config.n_expert ? o->n_cpu_moe : 0;
#define SETUP(...) append(out->setup, sizeof(out->setup), __VA_ARGS__)
#define WITH(...)  append(out->with, sizeof(out->with), __VA_ARGS__)
    if (o->is_exact) {
        SETUP(" exact");
        WITH(" --exact");
    }
    if (is_cpu)
        return;
    if (o->has_gpu_layers && o->n_gpu_layers < model->config.n_layer) {
        SETUP(" -ngl %u", o->n_gpu_layers);
        WITH(" -ngl %u", o->n_gpu_layers);
    }
    if (o->offload || n_moe || o->host_head)
        SETUP(" offload %d.%u%s", (int)o->offload, n_moe, o->host_head ? " head" : "");
    if (o->n_host_kv)
        SETUP(" kv %u", o->n_host_kv);
    if (o->offload && o->n_offload)
        SETUP(" of %u", o->n_offload);
    WITH("%s", moved[o->offload]);
    if (o->offload && o->n_offload)
        WITH(" --offload-layers %u", o->n_offload);
    if (n_moe == UINT32_MAX)
        WITH(" --cpu-moe");
    else if (n_moe)
        WITH(" --n-cpu-moe %u", n_moe);
    if (o->host_head)
        WITH(" --head host");
    if (o->n_host_kv == UINT32_MAX)
        WITH(" --no-kv-offload");
    else if (o->n_host_kv)
        WITH(" --n-host-kv %u", o->n_host_kv);
#undef SETUP
#undef WITH
}

void myth_rates_at_once_key(myth_rate_key *key, uint32_t n)
{
    append(key->setup, sizeof(key->setup), " np %u", n);
    append(key->with, sizeof(key->with), " -np %u", n);
}

void myth_rates_key(myth_rate_key *out, myth_mem *mem, const myth_model *model, const myth_engine_opts *opts,
                    const char *machine)
{
    memset(out, 0, sizeof(*out));
    if (machine)
        snprintf(out->machine, sizeof(out->machine), "%s", machine);
    else
        find_machine(out->machine, mem, opts);
    snprintf(out->setup, sizeof(out->setup), "%.31s", opts->device);
    put_flags(out, model, opts);
    snprintf(out->model, sizeof(out->model), "%s", myth_model_name(model));
    snprintf(out->type, sizeof(out->type), "%s", type_of(model));
    myth_rates_shape(out->shape, &model->config);
    make_plain(out->machine);
    make_plain(out->setup);
    make_plain(out->model);
}

void myth_rates_link_key(myth_rate_key *key, const myth_engine_opts *opts)
{
    snprintf(key->setup, sizeof(key->setup), "%.31s", opts->device);
    snprintf(key->model, sizeof(key->model), "link");
    snprintf(key->type, sizeof(key->type), "MB");
    snprintf(key->shape, sizeof(key->shape), "link");
    make_plain(key->setup);
}

/* ---- rows ---- */

bool myth_rate_number(double *out, const char *text)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end && isfinite(*out) && *out >= 0 && *out < 1e12;
}

void myth_rates_put(myth_rates *r, myth_rate_kind kind, double depth, double tok_s, double n_tok)
{
    uint32_t i = 0;
    if (!(tok_s > 1e-6) || depth >= UINT32_MAX)
        return;
    while (i < r->n_point[kind] && r->point[kind][i].depth < depth)
        i++;
    const bool is_there = i < r->n_point[kind] && r->point[kind][i].depth == (uint32_t)depth;
    if (!is_there && r->n_point[kind] == MYTH_RATE_POINTS)
        return;
    if (!is_there) {
        memmove(&r->point[kind][i + 1], &r->point[kind][i], (r->n_point[kind]++ - i) * sizeof(r->point[kind][0]));
        r->point[kind][i].n_tok = 0;
    }
    r->point[kind][i] = (myth_rate_point){.depth = (uint32_t)depth, .tok_s = tok_s, .n_tok = n_tok};
}

/* Takes a row of the kept form. */
bool myth_rates_take(myth_rates *r, const myth_rate_row *row)
{
    double depth, tok_s, n_tok, n_answer;
    if (!myth_rate_number(&n_tok, row->tokens))
        return false;
    if (strcmp(row->test, "answer") == 0) {
        if (!myth_rate_number(&n_answer, row->answers) || n_answer < 1)
            return false;
        r->n_answer = n_answer;
        r->answer_tokens = n_tok;
        return true;
    }
    for (int k = 0; k < MYTH_RATE_N; k++)
        if (strcmp(row->test, myth_rate_test[k]) == 0 && myth_rate_number(&depth, row->depth) &&
            myth_rate_number(&tok_s, row->tok_s) && tok_s > 0) {
            myth_rates_put(r, (myth_rate_kind)k, depth, tok_s, n_tok < 1 ? 1 : n_tok);
            return true;
        }
    return false;
}

static bool is_of(const myth_rate_row *row, const myth_rate_key *key)
{
    return strcmp(row->processor, key->machine) == 0 && strcmp(row->setup, key->setup) == 0 &&
           strcmp(row->shape, key->shape) == 0 && strcmp(row->type, key->type) == 0;
}

typedef struct {
    const myth_rate_key *key;
    myth_rates *rates;
} reader;

static bool read_row(void *user, const myth_rate_row *row)
{
    const reader *r = user;
    if (is_of(row, r->key))
        myth_rates_take(r->rates, row);
    return true;
}

/* A rate of a few tokens says little: it is joined with its neighbour's, at the depth of the heavier of the two. */
static void join_few(myth_rate_point *p, uint32_t *n)
{
    for (uint32_t i = 0; i<*n && * n> 1;) {
        if (p[i].n_tok >= MYTH_RATES_FEW) {
            i++;
            continue;
        }
        const uint32_t at = i ? i - 1 : 0;
        myth_rate_point *a = &p[at], *b = &p[at + 1];
        const double n_tok = a->n_tok + b->n_tok, seconds = a->n_tok / a->tok_s + b->n_tok / b->tok_s;
        *a = (myth_rate_point){
            .depth = a->n_tok < b->n_tok ? b->depth : a->depth,
            .tok_s = n_tok / seconds,
            .n_tok = n_tok,
        };
        memmove(b, b + 1, (--*n - at - 1) * sizeof(*p));
        i = at;
    }
}

void myth_rates_read(myth_rates *out, const char *path, const myth_rate_key *key)
{
    myth_mem *mem;
    reader r = {.key = key, .rates = out};
    memset(out, 0, sizeof(*out));
    if (myth_mem_open(&mem, MYTH_RATES_MEMORY, NULL) != MYTH_OK)
        return;
    if (myth_rates_table(mem, path, read_row, &r, NULL) != MYTH_OK)
        memset(out, 0, sizeof(*out));
    for (int k = 0; k < MYTH_RATE_N; k++)
        join_few(out->point[k], &out->n_point[k]);
    myth_mem_close(mem);
}

/* ---- the update ---- */

myth_status myth_rates_place(char *dst, size_t cap, myth_error *err)
{
    const int n = myth_env_path(dst, cap, "XDG_STATE_HOME", "/.local/state", "/mythos/rates.csv");
    if (n <= 0 || (size_t)n + 16 > cap)
        return myth_fail(err, MYTH_ENOTFOUND,
                         "no place to keep rates: neither XDG_STATE_HOME nor HOME is an absolute path");
    return MYTH_OK;
}

static myth_status make_folders(const char *path, myth_error *err)
{
    char dir[PATH_MAX];
    const int e = myth_out_folders(dir, path);
    return e ? myth_fail(err, MYTH_ECREATE, "%.150s: %s", dir, strerror(e)) : MYTH_OK;
}

/* Returns a descriptor that holds the lock until it is closed. */
static myth_status take_lock(int *fd, const char *path, myth_error *err)
{
    enum { TRIES = 50 };
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    char lock[PATH_MAX + 8];
    snprintf(lock, sizeof(lock), "%s.lock", path);
    *fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (*fd < 0)
        return myth_fail(err, MYTH_ECREATE, "%.200s: %s", lock, strerror(errno));
    for (int i = 0; i < TRIES; i++) {
        if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
            return MYTH_OK;
        nanosleep(&pause, NULL);
    }
    close(*fd);
    return myth_fail(err, MYTH_ELOST, "%.200s: another process keeps the lock", lock);
}

typedef struct {
    const myth_rate_key *key;
    myth_rates rates; /* those of the key, as they were */
    char *text;       /* the other rows, one after the other */
    size_t n, cap;
    uint32_t n_row;
} update;

static void print_row(update *u, const char *processor, const char *setup, const char *model, const char *type,
                      const char *shape, const char *test, const char *depth, const char *tok_s, const char *tokens,
                      const char *answers)
{
    const size_t left = u->cap - u->n;
    const int n = snprintf(u->text + u->n, left, "\"%s\",\"%s\",\"%s\",%s,%s,%s,%s,%s,%s,%s\n", processor, setup, model,
                           type, shape, test, depth, tok_s, tokens, answers);
    if (n > 0 && (size_t)n < left && n < MYTH_RATES_LINE) {
        u->n += (size_t)n;
        u->n_row++;
    }
}

static bool is_word(const char *text)
{
    return strspn(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.+-") == strlen(text);
}

static bool keep_row(void *user, const myth_rate_row *row)
{
    update *u = user;
    myth_rates ignored = {0};
    if (is_of(row, u->key))
        myth_rates_take(&u->rates, row);
    else if (*row->processor && *row->shape && is_word(row->type) && is_word(row->shape) && is_word(row->depth) &&
             is_word(row->tok_s) && is_word(row->tokens) && is_word(row->answers) && !strchr(row->processor, '"') &&
             !strchr(row->setup, '"') && !strchr(row->model, '"') && myth_rates_take(&ignored, row))
        print_row(u, row->processor, row->setup, row->model, row->type, row->shape, row->test, row->depth, row->tok_s,
                  row->tokens, row->answers);
    return true;
}

/* What was known and what this run measured, together; what was known weighs at most MYTH_RATES_WEIGHT tokens. */
static void merge(myth_rates *r, const myth_pace *p)
{
    enum { ANSWERS = 1000 };
    for (int k = 0; k < MYTH_RATE_N; k++)
        for (uint32_t b = 0; b < MYTH_RATE_POINTS; b++) {
            double n = p->n_tok[k][b], s = p->seconds[k][b];
            if (!(n > 0))
                continue;
            for (uint32_t i = 0; i < r->n_point[k]; i++)
                if (r->point[k][i].depth == depth_of(b)) {
                    n += r->point[k][i].n_tok;
                    s += r->point[k][i].n_tok / r->point[k][i].tok_s;
                }
            myth_rates_put(r, (myth_rate_kind)k, depth_of(b), n / s, n < MYTH_RATES_WEIGHT ? n : MYTH_RATES_WEIGHT);
        }
    r->answer_tokens += p->answer_tokens;
    r->n_answer += p->n_answer;
    if (r->n_answer > ANSWERS) {
        r->answer_tokens *= ANSWERS / r->n_answer;
        r->n_answer = ANSWERS;
    }
}

static void print_rates(update *u)
{
    const myth_rate_key *key = u->key;
    char depth[16], tok_s[32], tokens[32], answers[32];
    for (int k = 0; k < MYTH_RATE_N; k++)
        for (uint32_t i = 0; i < u->rates.n_point[k]; i++) {
            const myth_rate_point *p = &u->rates.point[k][i];
            snprintf(depth, sizeof(depth), "%u", p->depth);
            snprintf(tok_s, sizeof(tok_s), "%.6g", p->tok_s);
            snprintf(tokens, sizeof(tokens), "%.0f", p->n_tok);
            print_row(u, key->machine, key->setup, key->model, key->type, key->shape, myth_rate_test[k], depth, tok_s,
                      tokens, "");
        }
    snprintf(tokens, sizeof(tokens), "%.6g", u->rates.answer_tokens);
    snprintf(answers, sizeof(answers), "%.6g", u->rates.n_answer);
    if (u->rates.n_answer >= 1)
        print_row(u, key->machine, key->setup, key->model, key->type, key->shape, "answer", "", "", tokens, answers);
}

static myth_status write_rows(const char *path, const update *u, myth_error *err)
{
    static const char head[] = "processor,setup,model,type,shape,test,depth,tok_s,tokens,answers\n";
    const char *text = u->text;
    size_t n = u->n;
    myth_out out;
    for (uint32_t i = u->n_row; n && (i > MYTH_RATES_ROWS || n + sizeof(head) > MYTH_RATES_BYTES); i--) {
        const size_t line = (size_t)((const char *)memchr(text, '\n', n) + 1 - text);
        text += line;
        n -= line;
    }
    myth_status st = myth_out_open(&out, path, MYTH_OUT_PRIVATE, err);
    if (st != MYTH_OK)
        return st;
    if (!myth_out_write(out.fd, head, sizeof(head) - 1) || !myth_out_write(out.fd, text, n)) {
        st = myth_fail(err, MYTH_EIO, "%.200s: %s", path, strerror(errno));
        myth_out_abandon(&out);
        return st;
    }
    return myth_out_finish(&out, err);
}

myth_status myth_rates_add(const char *path, const myth_rate_key *key, const myth_pace *pace, myth_error *err)
{
    myth_mem *mem = NULL;
    update u = {.key = key, .cap = 2 * MYTH_RATES_BYTES};
    int fd = -1;
    myth_error ignored;
    myth_status st = make_folders(path, err);
    if (st == MYTH_OK)
        st = take_lock(&fd, path, err);
    if (st != MYTH_OK)
        return st;
    MYTH_TRY(myth_mem_open(&mem, MYTH_RATES_MEMORY, err));
    u.text = myth_alloc(mem, MYTH_MEM_STAGING, "rates", u.cap);
    if (!u.text)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "rates: out of memory for %zu bytes", u.cap));
    /* A file that cannot be read is made anew: it holds nothing that cannot be measured again. */
    myth_rates_table(mem, path, keep_row, &u, &ignored);
    merge(&u.rates, pace);
    print_rates(&u);
    st = write_rows(path, &u, err);
fail:
    if (mem) {
        myth_free(mem, u.text);
        myth_mem_close(mem);
    }
    close(fd);
    return st;
}

/* ---- how long ---- */

bool myth_rates_are_known(const myth_rates *r) { return r->n_point[MYTH_PREFILL] && r->n_point[MYTH_DECODE]; }

double myth_rates_seconds(const myth_rates *r, myth_rate_kind kind, double depth, double n_tok)
{
    const myth_rate_point *p = r->point[kind];
    uint32_t i = 0, last = r->n_point[kind] - 1;
    while (i < last && p[i + 1].depth <= depth)
        i++;
    double each = 1 / p[i].tok_s;
    if (i < last && depth > p[i].depth)
        each += (1 / p[i + 1].tok_s - each) * (depth - p[i].depth) / (p[i + 1].depth - p[i].depth);
    return each * n_tok;
}
