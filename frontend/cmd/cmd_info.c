/* cmd_info.c - the commands info, which describes a model, and devices, which lists what this machine can compute
 * on. */
#include "engine/run/devices.h"
#include "frontend/cli/environment.h"
#include "frontend/cli/plan_out.h"

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
    myth_jout_key_str(&j, "model", myth_weights_name(w));
    myth_jout_key_str(&j, "path", myth_weights_path(w));
    myth_jout_key_str(&j, "format", format_name[myth_weights_get_format(w)]);
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

static void print_text(const myth_model *m, const myth_plan *p, const uint64_t bytes[MYTH_DTYPE_N])
{
    const myth_config *c = &m->config;
    const myth_weights *w = m->weights;
    char size[24];
    fputs("model       ", stdout);
    myth_term_path(stdout, myth_weights_name(w));
    fputs("\npath        ", stdout);
    myth_term_path(stdout, myth_weights_path(w));
    printf(" (%s)\n", format_name[myth_weights_get_format(w)]);
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
}

static int run_info(myth_cli *cli, const void *opts)
{
    const info_opts *o = opts;
    myth_error err = {0};
    myth_status st = MYTH_OK;
    myth_model m;
    myth_plan plan;
    myth_mem_limits limits;
    myth_engine_opts eo;
    uint64_t bytes[MYTH_DTYPE_N] = {0};
    myth_plan_extra extra = {.bytes[MYTH_MEM_STAGING] = myth_cli_staging(cli)};
    myth_mem_set_limit(cli->mem, MYTH_MEM_HOST, 0); /* info must answer, so it reads the headers without a limit */
    MYTH_TRY(myth_cli_model_open(cli, &m, &o->model, MYTH_WEIGHTS_HEADER, &err));
    MYTH_TRY(myth_cli_engine_opts(cli, &eo, &o->engine, &err));
    MYTH_TRY(myth_cli_limits(cli, &limits, &eo, &err));
    MYTH_TRY(myth_plan_make(&plan, &m, &eo, &extra, &limits, true, &err));
    sum_types(bytes, m.weights);
    if (o->json)
        print_json(&m, &plan, bytes);
    else
        print_text(&m, &plan, bytes);
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
