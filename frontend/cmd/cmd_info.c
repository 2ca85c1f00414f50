/* cmd_info.c - the commands info, which describes a model; devices, which lists what this machine can compute on; and
 * doctor, which looks at everything that a run needs and says what to do where something is missing. */
#include "engine/run/devices.h"
#include "frontend/cli/environment.h"
#include "frontend/cli/hints.h"
#include "frontend/cli/plan_out.h"
#include "retrieval/retrieval.h"
#include "version.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

/* ---- info ---- */

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    bool json;
} info_opts;

static const myth_option info_options[] = {
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(info_opts, json), NULL, 0, 0, "as JSON"},
};
static const myth_option_group info_groups[] = {
    MYTH_GROUP("info", info_opts, info_options),
    MYTH_GROUP_MODEL(info_opts, model),
    MYTH_GROUP_ENGINE(info_opts, engine),
};

static const char *const format_name[] = {"safetensors", "gguf", "random"};

static uint64_t count_parameters(const myth_weights *w)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++) {
        const myth_tensor *t = myth_weights_at(w, i);
        sum += t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3];
    }
    return sum;
}

static uint32_t count_global(const myth_config *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_layer; i++)
        n += c->layer[i].is_global;
    return n;
}

/* Adds up the bytes of the tensors of each element type. */
static void sum_types(uint64_t bytes[MYTH_DTYPE_N], const myth_weights *w)
{
    for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++)
        bytes[myth_weights_at(w, i)->dtype] += myth_weights_at(w, i)->bytes;
}

static void print_json(const myth_model *m, const myth_plan *p, const uint64_t bytes[MYTH_DTYPE_N])
{
    const myth_config *c = &m->config;
    const myth_weights *w = m->weights;
    myth_json_out j;
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    myth_jout_key_str(&j, "model", myth_model_name(m));
    myth_jout_key_str(&j, "path", myth_weights_path(w));
    myth_jout_key_str(&j, "format", format_name[myth_weights_get_format(w)]);
    myth_jout_key_u64(&j, "files", myth_weights_n_file(w));
    myth_jout_key_str(&j, "family", myth_family_name(c->family));
    myth_jout_key_u64(&j, "parameters", count_parameters(w));
    myth_jout_key_u64(&j, "tensors", myth_weights_n_tensor(w));
    myth_jout_key_u64(&j, "tensor_bytes", myth_weights_bytes(w));
    myth_jout_key(&j, "types");
    myth_jout_object(&j);
    for (int t = 0; t < MYTH_DTYPE_N; t++)
        if (bytes[t])
            myth_jout_key_u64(&j, myth_dtype_get((myth_dtype)t)->name, bytes[t]);
    myth_jout_end(&j);
    myth_jout_key_u64(&j, "n_layer", c->n_layer);
    myth_jout_key_u64(&j, "n_layer_global", count_global(c));
    myth_jout_key_u64(&j, "d_model", c->d_model);
    myth_jout_key_u64(&j, "n_head", c->n_head);
    myth_jout_key_u64(&j, "n_head_kv", c->max_head_kv);
    myth_jout_key_u64(&j, "head_dim", c->max_head_dim);
    myth_jout_key_u64(&j, "d_ff", c->max_ff);
    myth_jout_key_u64(&j, "n_vocab", c->n_vocab);
    myth_jout_key_u64(&j, "n_ctx_train", c->n_ctx_train);
    myth_jout_key_u64(&j, "window", c->window);
    myth_jout_key(&j, "tokenizer_vocab");
    if (m->tokenizer)
        myth_jout_u64(&j, myth_tokenizer_n_vocab(m->tokenizer));
    else
        myth_jout_null(&j);
    myth_jout_key(&j, "plan");
    myth_plan_print_json(&j, p);
    myth_jout_end(&j);
}

static void print_text(const myth_cli *cli, const myth_model *m, const myth_plan *p, const uint64_t bytes[MYTH_DTYPE_N])
{
    const myth_config *c = &m->config;
    const myth_weights *w = m->weights;
    char size[24];
    fputs("model       ", stdout);
    myth_term_path(stdout, myth_model_name(m));
    fputs("\npath        ", stdout);
    myth_term_path(stdout, myth_weights_path(w));
    printf(" (%s", format_name[myth_weights_get_format(w)]);
    if (myth_weights_n_file(w) > 1)
        printf(" in %u files", myth_weights_n_file(w));
    puts(")");
    printf("family      %s, %.1f million parameters in %u tensors, %s\n", myth_family_name(c->family),
           (double)count_parameters(w) / 1e6, myth_weights_n_tensor(w), myth_size_text(size, myth_weights_bytes(w)));
    printf("types      ");
    for (int t = 0; t < MYTH_DTYPE_N; t++)
        if (bytes[t])
            printf(" %s %s", myth_dtype_get((myth_dtype)t)->name, myth_size_text(size, bytes[t]));
    printf("\nshape       %u layers (%u global), d_model %u, %u heads, %u kv heads of %u, d_ff %u\n", c->n_layer,
           count_global(c), c->d_model, c->n_head, c->max_head_kv, c->max_head_dim, c->max_ff);
    printf("context     %u tokens, window %u\nvocabulary  %u rows, %u pieces\n\n", c->n_ctx_train, c->window,
           c->n_vocab, m->tokenizer ? myth_tokenizer_n_vocab(m->tokenizer) : 0);
    myth_plan_print_text(stdout, p);
    if (cli->limit_is_left)
        puts(MYTH_LIMIT_IS_LEFT);
}

/* Opens the headers of a model and plans a run by the flags. The headers are read without a limit, because the commands
 * here must answer; the plan has the limits. Close *m, also after a failure. */
static myth_status open_planned(myth_cli *cli, myth_model *m, myth_engine_opts *eo, myth_plan *plan,
                                const myth_model_flags *model, const myth_engine_flags *engine, myth_error *err)
{
    const myth_plan_extra extra = {.bytes[MYTH_MEM_STAGING] = myth_cli_staging(cli)};
    cli->is_elsewhere = cli->limits.bytes[MYTH_MEM_HOST] > myth_cli_host_budget(cli);
    myth_mem_set_limit(cli->mem, MYTH_MEM_HOST, 0);
    myth_status st = myth_cli_model_open(cli, m, model, engine, MYTH_WEIGHTS_HEADER, err);
    if (st == MYTH_OK)
        st = myth_cli_engine_opts(cli, eo, engine, err);
    return st == MYTH_OK ? myth_cli_plan_here(cli, plan, m, eo, &extra, err) : st;
}

static int run_info(myth_cli *cli, const void *opts)
{
    const info_opts *o = opts;
    myth_error err = {0};
    myth_status st = MYTH_OK;
    myth_model m;
    myth_plan plan;
    myth_engine_opts eo;
    uint64_t bytes[MYTH_DTYPE_N] = {0};
    MYTH_TRY(open_planned(cli, &m, &eo, &plan, &o->model, &o->engine, &err));
    sum_types(bytes, m.weights);
    if (o->json)
        print_json(&m, &plan, bytes);
    else
        print_text(cli, &m, &plan, bytes);
fail:
    myth_model_close(&m);
    return st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
}

const myth_command myth_cmd_info = {
    .name = "info",
    .args = "",
    .help = "describe a model: where it was found, its shape, and the memory it needs",
    .group = info_groups,
    .n_group = 3,
    .opts_bytes = sizeof(info_opts),
    .run = run_info,
};

/* ---- devices ---- */

typedef struct {
    bool json;
} devices_opts;

static const myth_option devices_options[] = {
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(devices_opts, json), NULL, 0, 0, "as JSON"},
};
static const myth_option_group devices_groups[] = {MYTH_GROUP("devices", devices_opts, devices_options)};

static void print_device_json(myth_json_out *j, const myth_device_info *d)
{
    myth_jout_object(j);
    myth_jout_key_str(j, "name", d->name);
    myth_jout_key_str(j, "description", d->description);
    myth_jout_key_bool(j, "is_gpu", d->is_gpu);
    if (d->n_present) {
        myth_jout_key_str(j, "level", d->level);
        myth_jout_key(j, "levels");
        myth_jout_array(j);
        for (uint32_t i = 0; i < d->n_present; i++)
            myth_jout_str(j, d->present[i]);
        myth_jout_end(j);
        myth_jout_key_u64(j, "threads", (uint64_t)d->n_threads);
    }
    myth_jout_key_str(j, "variants", d->variants);
    myth_jout_key_u64(j, "total_bytes", d->total_bytes);
    myth_jout_key_u64(j, "free_bytes", d->free_bytes);
    if (d->total_bytes && d->free_bytes) /* 0 = the system says nothing */
        myth_jout_key_u64(j, "used_bytes", d->total_bytes > d->free_bytes ? d->total_bytes - d->free_bytes : 0);
    myth_jout_key_u64(j, "budget_bytes", d->budget_bytes);
    myth_jout_end(j);
}

static int run_devices(myth_cli *cli, const void *opts)
{
    const devices_opts *o = opts;
    myth_error err = {0};
    myth_device_info d[MYTH_DEVICES_MAX];
    size_t n;
    myth_engine_opts eo = {.n_threads = (int)cli->global->n_threads};
    if (myth_env_device(&eo.cpu_level, &eo.n_threads, &eo.settings, &err) != MYTH_OK ||
        myth_devices_list(d, MYTH_DEVICES_MAX, &n, cli->mem, &eo, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    if (o->json) {
        myth_json_out j;
        myth_jout_start(&j, stdout);
        myth_jout_array(&j);
        for (size_t i = 0; i < n; i++)
            print_device_json(&j, &d[i]);
        myth_jout_end(&j);
    }
    for (size_t i = 0; i < n && !o->json; i++) {
        char size[24];
        printf("%-8s %s", d[i].name, d[i].description);
        for (uint32_t l = 0; l < d[i].n_present; l++)
            printf("%s%s", l ? " " : "; levels: ", d[i].present[l]);
        if (d[i].variants[0])
            printf("; %s", d[i].variants);
        if (d[i].free_bytes && !d[i].n_present)
            printf("; %s free", myth_size_text(size, d[i].free_bytes));
        putchar('\n');
    }
    return n ? MYTH_EXIT_CLEAN : MYTH_EXIT_UNAVAILABLE;
}

const myth_command myth_cmd_devices = {
    .name = "devices",
    .args = "",
    .help = "list the devices that this machine can compute on",
    .group = devices_groups,
    .n_group = 1,
    .opts_bytes = sizeof(devices_opts),
    .run = run_devices,
};

/* ---- doctor ----
 *
 * Program, devices, models, cache and index, in the order in which a run needs them. It changes nothing: an index is
 * opened for reading only, of models the headers are read. */

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    bool json;
} doctor_opts;

static const myth_option doctor_options[] = {
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(doctor_opts, json), NULL, 0, 0,
     "print [{\"check\",\"state\":\"ok\"|\"note\"|\"problem\",\"text\",\"next\"}]; next is null where there is nothing "
     "to do"},
};
static const myth_option_group doctor_groups[] = {
    MYTH_GROUP("doctor", doctor_opts, doctor_options),
    MYTH_GROUP_MODEL(doctor_opts, model),
    MYTH_GROUP_ENGINE(doctor_opts, engine),
};

enum { OK, NOTE, PROBLEM };
static const char *const state_name[] = {"ok", "note", "problem"};

typedef struct {
    myth_cli *cli;
    myth_json_out *json; /* NULL: as text */
    uint64_t n_problem;
} doctor;

/* Prints one row. next, which may be NULL, is what the user can do. */
static void row(doctor *d, const char *check, int state, const char *next, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 5, 6)))
#endif
    ;
static void row(doctor *d, const char *check, int state, const char *next, const char *fmt, ...)
{
    char text[PATH_MAX + 512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    d->n_problem += state == PROBLEM;
    if (d->json) {
        myth_jout_object(d->json);
        myth_jout_key_str(d->json, "check", check);
        myth_jout_key_str(d->json, "state", state_name[state]);
        myth_jout_key_str(d->json, "text", text);
        myth_jout_key_str(d->json, "next", next);
        myth_jout_end(d->json);
        return;
    }
    printf("%-8s %-9s ", state_name[state], check);
    myth_term_line(stdout, text, strlen(text));
    if (next) {
        fputs("\n                   -> ", stdout);
        myth_term_line(stdout, next, strlen(next));
    }
    putchar('\n');
}

/* A row for an error, whose text already ends with the next step. */
static void error_row(doctor *d, const char *check, int state, const char *what, const myth_error *err)
{
    char text[PATH_MAX];
    myth_cli_spell(text, sizeof(text), err);
    row(d, check, state, NULL, "%s%s%s", what, what[0] ? ": " : "", text);
}

static void check_program(doctor *d)
{
    char kinds[128] = "";
    size_t n = 0;
    for (uint32_t i = 0; myth_devices_kind(i) && n < sizeof(kinds); i++)
        n += (size_t)snprintf(kinds + n, sizeof(kinds) - n, "%s%s", i ? ", " : "", myth_devices_kind(i));
    row(d, "program", OK, NULL, "mythos %s (%s), built for %s", MYTHOS_VERSION, MYTHOS_COMMIT, kinds);
}

static void check_devices(doctor *d)
{
    const myth_cli *cli = d->cli;
    myth_error err = {0};
    myth_device_info info[MYTH_DEVICES_MAX];
    size_t n, n_gpu = 0;
    myth_engine_opts eo = {.n_threads = (int)cli->global->n_threads};
    if (myth_env_device(&eo.cpu_level, &eo.n_threads, &eo.settings, &err) != MYTH_OK ||
        myth_devices_list(info, MYTH_DEVICES_MAX, &n, cli->mem, &eo, &err) != MYTH_OK) {
        error_row(d, "device", PROBLEM, "", &err);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        char all[24], unused[24];
        n_gpu += info[i].is_gpu;
        if (info[i].n_present)
            row(d, "device", OK, NULL, "%s: %s, %s of memory", info[i].name, info[i].description,
                myth_size_text(all, info[i].total_bytes));
        else
            row(d, "device", OK, NULL, "%s: %s, %s of memory, %s free", info[i].name, info[i].description,
                myth_size_text(all, info[i].total_bytes), myth_size_text(unused, info[i].free_bytes));
    }
    if (!n_gpu)
        row(d, "device", NOTE, NULL, "no GPU that this build can use; runs compute on the CPU");
}

/* Opens the headers of a model. On success prints its family, bytes, and the memory that a run takes by the flags of
 * the engine; where the plan does not fit, how it would. */
static void check_model(doctor *d, const doctor_opts *o)
{
    myth_error err = {0};
    myth_status st = MYTH_OK;
    myth_model m = {0};
    myth_plan plan;
    myth_engine_opts eo;
    char bytes[24], needs[24], line[240];
    MYTH_TRY(open_planned(d->cli, &m, &eo, &plan, &o->model, &o->engine, &err));
    if (plan.fits) {
        row(d, "model", OK, NULL, "%s: %s, %s of tensors; a run with %u tokens of context takes %s of memory on %s",
            myth_weights_name(m.weights), myth_family_name(m.config.family),
            myth_size_text(bytes, myth_weights_bytes(m.weights)), plan.n_ctx, myth_size_text(needs, plan.total_bytes),
            eo.device ? eo.device : "cpu");
    } else {
        myth_plan_refusal(&plan, line, sizeof(line));
        row(d, "model", PROBLEM, "mythos plan lists what would make it fit", "%s: %s%s", myth_weights_name(m.weights),
            line, d->cli->limit_is_left ? "; " MYTH_LIMIT_IS_LEFT : "");
    }
    if (!m.tokenizer)
        row(d, "model", NOTE, NULL, "%s has no tokenizer: only commands that take ids can use it",
            myth_weights_name(m.weights));
fail:
    myth_model_close(&m);
    if (st != MYTH_OK)
        error_row(d, "model", PROBLEM, "", &err);
}

/* A row for a model that ships beside the one that runs. */
static void check_shipped(doctor *d, const char *what, const char *spec, const char *use)
{
    char bytes[24];
    myth_error err = {0};
    myth_model m = {0};
    const myth_weights_opts header = {.level = MYTH_WEIGHTS_HEADER};
    if (myth_model_open(&m, d->cli->mem, spec, &header, &err) != MYTH_OK)
        error_row(d, what, NOTE, "", &err);
    else
        row(d, what, OK, NULL, "%s, %s of tensors, for %s", myth_weights_name(m.weights),
            myth_size_text(bytes, myth_weights_bytes(m.weights)), use);
    myth_model_close(&m);
}

static void check_companions(doctor *d)
{
    char spec[PATH_MAX];
    myth_error err = {0};
    if (myth_cli_embedder_spec(NULL, spec, sizeof(spec), &err) == MYTH_OK)
        check_shipped(d, "embedder", spec, "index --embed");
    else
        error_row(d, "embedder", NOTE, "", &err);
    if (myth_cli_judge_spec(spec, sizeof(spec)))
        check_shipped(d, "judge", spec, "candidates --judge");
}

/* Turns the name of a folder of the cache, "models--ORG--NAME", into ORG/NAME. False: the folder holds no model. */
static bool hub_name(char *dst, size_t cap, const char *folder)
{
    static const char head[] = "models--";
    if (strncmp(folder, head, sizeof(head) - 1) != 0)
        return false;
    const char *org = folder + sizeof(head) - 1, *name = strstr(org, "--");
    if (!name || name == org || !name[2])
        return false;
    const int n = snprintf(dst, cap, "%.*s/%s", (int)(name - org), org, name + 2);
    return n > 0 && (size_t)n < cap;
}

/* A row for each model of the Hugging Face cache. One that cannot be opened is a note: the cache serves other programs
 * as well. */
static void check_cache(doctor *d)
{
    const char *hub = myth_env_hub_dir();
    const struct dirent *e;
    DIR *dir = hub ? opendir(hub) : NULL;
    uint64_t n_model = 0;
    while (dir && (e = readdir(dir))) {
        const myth_weights_opts header = {.level = MYTH_WEIGHTS_HEADER, .hub_dir = hub};
        char name[NAME_MAX + 1], bytes[24];
        myth_error err = {0};
        myth_model m = {0};
        if (!hub_name(name, sizeof(name), e->d_name))
            continue;
        n_model++;
        if (myth_model_open(&m, d->cli->mem, name, &header, &err) != MYTH_OK) {
            error_row(d, "cache", NOTE, "", &err);
            continue;
        }
        row(d, "cache", OK, NULL, "%s: %s, %s of tensors; use it with -m %s", name, myth_family_name(m.config.family),
            myth_size_text(bytes, myth_weights_bytes(m.weights)), name);
        myth_model_close(&m);
    }
    if (dir)
        closedir(dir);
    if (!n_model)
        row(d, "cache", NOTE, "hf download ORG/NAME fetches a model, and -m ORG/NAME uses it", "no model in %s",
            hub ? hub : "a Hugging Face cache: neither HF_HUB_CACHE nor HOME is set");
}

static void check_index(doctor *d, const char *dir)
{
    myth_error err = {0};
    myth_index *x = NULL;
    myth_index_stats s = {0};
    const myth_index_opts opts = {.root = dir, .cache_dir = myth_env_cache_dir(), .is_read_only = true};
    myth_status st = myth_hint_check_dir(dir, &err);
    if (st == MYTH_OK && (st = myth_index_open(&x, d->cli->mem, &opts, &err)) == MYTH_ENOTFOUND) {
        row(d, "index", NOTE, "mythos index makes it; search, symbols and map make it when they first run",
            "%s has none", dir);
        return;
    }
    if (st == MYTH_OK)
        st = myth_index_last(x, &s, &err);
    if (st == MYTH_OK)
        row(d, "index", s.n_lost ? NOTE : OK, s.n_lost ? "mythos index --json says which files, and why" : NULL,
            "%s: %llu file%s, %llu definition%s, %llu use%s, %llu file%s incomplete, at %s", myth_index_root(x),
            (unsigned long long)s.n_file, myth_s(s.n_file), (unsigned long long)s.n_symbol, myth_s(s.n_symbol),
            (unsigned long long)s.n_ref, myth_s(s.n_ref), (unsigned long long)s.n_lost, myth_s(s.n_lost),
            myth_index_path(x));
    else
        error_row(d, "index", PROBLEM, "", &err);
    myth_index_close(x);
}

static int run_doctor(myth_cli *cli, const void *opts)
{
    const doctor_opts *o = opts;
    const char *dir = myth_cli_dir(cli, 0);
    myth_error err = {0};
    myth_json_out j;
    doctor d = {.cli = cli, .json = o->json ? &j : NULL};
    if (myth_hint_check_dir(dir, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    myth_mem_set_limit(cli->mem, MYTH_MEM_HOST, 0); /* doctor must answer, so it reads the headers without a limit */
    if (d.json) {
        myth_jout_start(&j, stdout);
        myth_jout_array(&j);
    }
    check_program(&d);
    check_devices(&d);
    check_model(&d, o);
    check_companions(&d);
    check_cache(&d);
    check_index(&d, dir);
    if (d.json)
        myth_jout_end(&j);
    else
        printf("%llu problem%s\n", (unsigned long long)d.n_problem, myth_s(d.n_problem));
    return d.n_problem ? MYTH_EXIT_FINDINGS : MYTH_EXIT_CLEAN;
}

const myth_command myth_cmd_doctor = {
    .name = "doctor",
    .args = "[DIR]",
    .help = "check the program, devices, models and the index of a directory, and say what to do next",
    .detail = "One row each: its state, what was checked, what was found. \"note\": something is absent that a run may "
              "do without. \"problem\": something is there and cannot be used; the exit code is then 1. Nothing is "
              "changed: of models only the headers are read, and an index is not updated.",
    .group = doctor_groups,
    .n_group = 3,
    .opts_bytes = sizeof(doctor_opts),
    .max_arg = 1,
    .run = run_doctor,
};
