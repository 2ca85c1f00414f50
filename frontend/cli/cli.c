/* cli.c - what commands share: finding the model, engine options, planning, reading ids and files. */
#include "cli.h"
#include "environment.h"
#include "hints.h"
#include "live.h"
#include "engine/base/map.h"
#include "engine/base/mtime.h"
#include "engine/base/program.h"
#include "engine/base/text.h"
#include "engine/run/devices.h"
#include "engine/run/embed.h"
#include "version.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const myth_option myth_options_model[MYTH_N_OPTIONS_MODEL] = {
    {"model", "-m", MYTH_OPT_TEXT, "MODEL", offsetof(myth_model_flags, model), "(the one that ships)", 0, 0,
     "directory, .gguf or .safetensors file, ORG/NAME in the local Hugging Face cache, or random:gemma3-270m:q8_0"},
    {"tokenizer", NULL, MYTH_OPT_TEXT, "FILE", offsetof(myth_model_flags, tokenizer), "(one piece for each byte)", 0, 0,
     "tokenizer of a random: model: a tokenizer.json, a tokenizer.model, or a folder with one"},
    {"load-mode", NULL, MYTH_OPT_CHOICE, "mmap|pread", offsetof(myth_model_flags, load_mode), "mmap", 0, 0,
     "map the tensors from the file, or copy them into memory (for network file systems)"},
    {"check-tensors", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_model_flags, check_tensors), NULL, 0, 0,
     "read all weights first and refuse a model with infinite or NaN values"},
};

const myth_option myth_options_engine[MYTH_N_OPTIONS_ENGINE] = {
    {"ctx-size", "-c, --max-cache-tokens", MYTH_OPT_U32, "N", offsetof(myth_engine_flags, ctx_size),
     "(4096, or the model's)", 0, 1u << 24, "tokens of context per sequence"},
    {"batch-size", "-b", MYTH_OPT_U32, "N", offsetof(myth_engine_flags, batch_size), "(as -ub)", 0, 1u << 20,
     "upper bound of -ub"},
    {"ubatch-size", "-ub, --prefill-chunk", MYTH_OPT_U32, "N", offsetof(myth_engine_flags, ubatch_size), "(512)", 0,
     1u << 20, "tokens computed in one step of a prompt (micro-batch)"},
    {"cache-type-k", "-ctk", MYTH_OPT_TEXT, "TYPE", offsetof(myth_engine_flags, cache_type_k),
     "(f16; f32 with --exact)", 0, 0, "type of cached keys: f32, f16, bf16, q8_0"},
    {"cache-type-v", "-ctv", MYTH_OPT_TEXT, "TYPE", offsetof(myth_engine_flags, cache_type_v), "(as -ctk)", 0, 0,
     "type of cached values"},
    {"n-gpu-layers", "-ngl, --gpu-layers", MYTH_OPT_U32, "N|all", offsetof(myth_engine_flags, n_gpu_layers), "(all)", 0,
     0, "compute the last N layers and the head on --device, the rest on the CPU"},
    {"tensor-split", "-ts", MYTH_OPT_TEXT, "A,B", offsetof(myth_engine_flags, tensor_split), "(equal)", 0, 0,
     "share of the layers that each of several devices gets"},
    {"offload", NULL, MYTH_OPT_CHOICE, "none|weights|kv", offsetof(myth_engine_flags, offload), "none", 0, 0,
     "keep a GPU's weights, or its keys and values, in host memory and copy them to the GPU layer by layer"},
    {"offload-layers", NULL, MYTH_OPT_U32, "N", offsetof(myth_engine_flags, offload_layers), "(all)", 0, 0,
     "use --offload only for the first N layers of each device"},
    {"cpu-moe", "-cmoe", MYTH_OPT_FLAG, NULL, offsetof(myth_engine_flags, cpu_moe), NULL, 0, 0,
     "keep all experts in host memory; the GPU reads the chosen ones from there"},
    {"n-cpu-moe", "-ncmoe", MYTH_OPT_U32, "N", offsetof(myth_engine_flags, n_cpu_moe), "0", 0, 0,
     "use --cpu-moe only for the first N layers"},
    {"head", NULL, MYTH_OPT_CHOICE, "device|host", offsetof(myth_engine_flags, head), "device", 0, 0,
     "where a GPU's embedding and head are; host: in host memory, read there by each step"},
    {"no-kv-offload", "-nkvo", MYTH_OPT_FLAG, NULL, offsetof(myth_engine_flags, no_kv_offload), NULL, 0, 0,
     "keep the keys and values of layers of full attention in host memory; the GPU reads and writes them there"},
    {"n-host-kv", NULL, MYTH_OPT_U32, "N", offsetof(myth_engine_flags, n_host_kv), "0", 0, 0,
     "use --no-kv-offload only for the first N of these layers"},
    {"ple", NULL, MYTH_OPT_CHOICE, "auto|disk|host|device", offsetof(myth_engine_flags, ple), "auto", 0, 0,
     "where to keep the table of per-layer embeddings (Gemma 3n, Gemma 4 E), of which only single rows are read"},
    {"kv-skip", NULL, MYTH_OPT_CHOICE, "on|off", offsetof(myth_engine_flags, kv_skip), "on", 0, 0,
     "skip layers that store no keys for prompt tokens whose output is not needed; the results are the same"},
    {"lora", NULL, MYTH_OPT_LIST, "FILE[:SCALE]", offsetof(myth_engine_flags, lora), NULL, 0, 0,
     "add a low-rank adapter to the model's matrices: a folder or .safetensors of peft, or a .gguf of llama.cpp; SCALE "
     "(1) multiplies what is added; may be repeated"},
};

const myth_option myth_options_sample[MYTH_N_OPTIONS_SAMPLE] = {
    {"temp", "--temperature", MYTH_OPT_F32, "T", offsetof(myth_sample_flags, temp), "0", 0, 100,
     "temperature; 0 = greedy"},
    {"top-k", NULL, MYTH_OPT_U32, "K", offsetof(myth_sample_flags, top_k), "40", 0, 1024,
     "choose among the K likeliest tokens; 0 = 1024"},
    {"top-p", NULL, MYTH_OPT_F32, "P", offsetof(myth_sample_flags, top_p), "0.95", 0, 1,
     "keep the likeliest of these whose probabilities add up to P; 0 = the likeliest alone"},
    {"min-p", NULL, MYTH_OPT_F32, "P", offsetof(myth_sample_flags, min_p), "0.05", 0, 1,
     "keep only tokens at least P times as likely as the likeliest"},
    {"repeat-penalty", NULL, MYTH_OPT_F32, "X", offsetof(myth_sample_flags, repeat_penalty), "1", 0.01, 100,
     "divide the logits of recent tokens by this; 1 = off"},
    {"repeat-last-n", NULL, MYTH_OPT_U32, "N", offsetof(myth_sample_flags, repeat_last_n), "64", 0, 1024,
     "number of recent tokens that --repeat-penalty counts; 0 = none, so that there is no penalty"},
    {"seed", "-s", MYTH_OPT_U64, "N", offsetof(myth_sample_flags, seed), "0", 0, 0, "seed of the random numbers"},
};

/* The flag or variable that sets each option of the libraries. */
static const struct {
    const char *option, *flag;
} option_flag[] = {
    {"n_ctx", "-c"},
    {"n_ubatch", "-ub"},
    {"n_seq", "--parallel"},
    {"device", "--device"},
    {"split", "--tensor-split"},
    {"n_host_kv", "--no-kv-offload (or --n-host-kv)"},
    {"ple", "--ple"},
    {"hub_dir", "HF_HUB_CACHE or HOME"},
    {"cache_dir", "XDG_CACHE_HOME"},
    {"vk_validate", "MYTHOS_VK_VALIDATE"},
    {"is_staged", "--staged"},
    {"tokenizer", "--tokenizer"},
    {"top_k", "--top-k"},
    {"type_k", "--cache-type-k"},
    {"type_v", "--cache-type-v"},
    {"cpu_level", "MYTHOS_CPU"},
};

/* How this command does what an error of the libraries advises. */
static const char *const remedy_text[MYTH_REMEDY_N] = {
    [MYTH_REMEDY_MAKE_INDEX] = "run mythos index",
    [MYTH_REMEDY_REBUILD_INDEX] = "make it anew: mythos index --rebuild",
    [MYTH_REMEDY_CHECK_INDEX] = "`mythos index --check` looks at the whole index",
    [MYTH_REMEDY_MAKE_VECTORS] = "mythos index --embed makes them",
    [MYTH_REMEDY_REMAKE_VECTORS] = "mythos index --embed makes it anew from what is kept",
    [MYTH_REMEDY_EXPLAIN_SCAN] = "mythos scan --explain says why",
    [MYTH_REMEDY_GIVE_PATCH] = "--diff FILE takes a patch",
    [MYTH_REMEDY_NARROW_CHANGE] = "say less: a directory with -C, or two nearer commits",
    [MYTH_REMEDY_SEARCH_LINES] = "signs are found in lines: mythos search -F, or -e for an expression",
    [MYTH_REMEDY_MAKE_IMATRIX] = "mythos imatrix makes one",
    [MYTH_REMEDY_EMBED_TEXTS] = "its command is mythos embed",
    [MYTH_REMEDY_VERIFY_MODEL] = "mythos verify finds the cause",
};

void myth_cli_spell(char *dst, size_t cap, const myth_error *err)
{
    const char *flag = NULL;
    for (size_t i = 0; i < sizeof(option_flag) / sizeof(option_flag[0]) && err->option; i++)
        if (strcmp(option_flag[i].option, err->option) == 0)
            flag = option_flag[i].flag;
    const size_t n_option = flag ? strlen(err->option) : 0, n_flag = flag ? strlen(flag) : 0;
    size_t n = 0;
    for (const char *at = err->msg; *at && n + n_flag + 1 < cap;) {
        const bool is_word = flag && strncmp(at, err->option, n_option) == 0 && (at == err->msg || at[-1] == ' ') &&
                             !isalnum((unsigned char)at[n_option]);
        if (is_word) {
            memcpy(dst + n, flag, n_flag);
            n += n_flag;
            at += n_option;
        } else {
            dst[n++] = *at++;
        }
    }
    dst[n] = '\0';
    const char *remedy = (unsigned)err->remedy < MYTH_REMEDY_N ? remedy_text[err->remedy] : NULL;
    if (remedy)
        snprintf(dst + n, cap - n, "; %s", remedy);
}

/* Appends what a missing path was probably meant to be to "PATH: no such file". */
static void append_missing(char *text, size_t cap)
{
    static const char *const end[] = {": no such file", ": no such file or folder"};
    for (int i = 0; i < 2; i++)
        if (myth_text_ends(text, end[i])) {
            const size_t n = strlen(text), n_path = n - strlen(end[i]);
            char path[512];
            snprintf(path, sizeof(path), "%.*s", (int)n_path, text);
            myth_hint_missing(text + n, cap - n, path);
            return;
        }
}

/* Writes who said no to memory, and so what helps: of a limit, the least that lets the run come further. */
static void append_memory(const myth_cli *cli, char *dst, size_t cap, bool names_limit)
{
    const uint64_t MiB = 1 << 20;
    const myth_mem_refusal why = cli->mem ? myth_mem_last_refusal(cli->mem) : MYTH_MEM_NONE_REFUSED;
    if (why == MYTH_MEM_OVER_LIMIT && cli->global->mem_limit && !names_limit && myth_mem_last_need(cli->mem))
        snprintf(dst, cap, "; raise --mem-limit %.40s to %lluMiB or more", cli->global->mem_limit,
                 (unsigned long long)((myth_mem_last_need(cli->mem) + MiB - 1) / MiB));
    else if (why == MYTH_MEM_NOT_THERE)
        snprintf(dst, cap, "; the system has no more for this process: free some memory, or raise its ulimit%s",
                 cli->global->mem_mode == 1 ? ", or leave out --mem-mode reserve" : "");
}

int myth_cli_fail(myth_cli *cli, const myth_error *err)
{
    char text[sizeof(err->msg) + 512];
    if (err->code == MYTH_ECANCEL && myth_live_takes_end(cli->live))
        return myth_exit_of(err->code);
    myth_cli_spell(text, sizeof(err->msg) + 160, err);
    const size_t n = strlen(text);
    if (err->code == MYTH_ENOTFOUND)
        append_missing(text, sizeof(text));
    else if (err->code == MYTH_ENOMEM)
        append_memory(cli, text + n, sizeof(text) - n, strstr(text, "--mem-limit") != NULL);
    myth_term_error(cli->term, text);
    return myth_exit_of(err->code);
}

int myth_cli_failf(myth_cli *cli, myth_status code, const char *fmt, ...)
{
    char text[256];
    myth_error err;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    myth_fail(&err, code, "%s", text);
    return myth_cli_fail(cli, &err);
}

const char *myth_cli_dir(const myth_cli *cli, int idx)
{
    return cli->directory ? cli->directory : cli->n_arg > idx ? cli->arg[idx] : ".";
}

/* The shipped embedder and judge have fixed names; the shipped model is the first other .gguf in the same folder. */
typedef enum { SHIPPED_EMBEDDER, SHIPPED_JUDGE, SHIPPED_MODEL } shipped;
static const char *const shipped_name[] = {"mythos-embed.gguf", "mythos-judge.gguf", "*.gguf"};

static shipped shipped_as(const char *path)
{
    int which = SHIPPED_EMBEDDER;
    while (which < SHIPPED_MODEL && strcmp(myth_base_name(path), shipped_name[which]) != 0)
        which++;
    return (shipped)which;
}

static bool model_of(const char *dir, shipped which, char *dst, size_t cap)
{
    char pattern[PATH_MAX];
    glob_t g;
    bool found = false;
    snprintf(pattern, sizeof(pattern), "%s/%s", dir, shipped_name[which]);
    if (glob(pattern, 0, NULL, &g) == 0)
        for (size_t i = 0; i < g.gl_pathc && !found; i++) {
            if (shipped_as(g.gl_pathv[i]) != which || strlen(g.gl_pathv[i]) >= cap)
                continue;
            strcpy(dst, g.gl_pathv[i]);
            found = true;
        }
    globfree(&g);
    return found;
}

void myth_cli_program(char *dst, size_t cap)
{
    struct stat sb = {0};
    if (stat(MYTH_PROGRAM_LINK, &sb) != 0)
        sb = (struct stat){0};
    snprintf(dst, cap, "%s %s %lld %lld", MYTHOS_VERSION, MYTHOS_COMMIT, (long long)sb.st_size,
             (long long)myth_mtime_ns(&sb));
}

/* Shipped models are in models/ beside the build folder of a source tree, or in share/mythos/models of the install
 * prefix. Both are relative to the parent of the folder that holds this program. */
static bool shipped_model(shipped which, char *dst, size_t cap)
{
    static const char *const place[] = {"models", "share/mythos/models"};
    char exe[PATH_MAX], dir[PATH_MAX + 32];
    const bool has_self = myth_program_path(exe, sizeof(exe));
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(exe, '/');
        exe[slash ? slash - exe : 0] = '\0';
    }
    for (size_t i = 0; has_self && i < sizeof(place) / sizeof(place[0]); i++) {
        snprintf(dir, sizeof(dir), "%s/%s", exe, place[i]);
        if (model_of(dir, which, dst, cap))
            return true;
    }
    return model_of(MYTHOS_INSTALL_MODELS, which, dst, cap);
}

bool myth_cli_judge_spec(char *dst, size_t cap) { return shipped_model(SHIPPED_JUDGE, dst, cap); }

myth_status myth_cli_embedder_spec(const char *given, char *dst, size_t cap, myth_error *err)
{
    if (!given)
        return shipped_model(SHIPPED_EMBEDDER, dst, cap)
                 ? MYTH_OK
                 : myth_fail(err, MYTH_ENOTFOUND, "no shipped embedder found; give a model with --embed-model");
    if (strlen(given) >= cap)
        return myth_fail(err, MYTH_EARG, "--embed-model: longer than %zu bytes", cap - 1);
    strcpy(dst, given);
    return MYTH_OK;
}

myth_status myth_cli_model_spec(const myth_model_flags *f, char *dst, size_t cap, myth_error *err)
{
    if (!f->model) {
        if (!shipped_model(SHIPPED_MODEL, dst, cap))
            return myth_fail(err, MYTH_ENOTFOUND, "no shipped model found; give one with -m or MYTHOS_MODEL");
        return MYTH_OK;
    }
    if (!f->model[0])
        return myth_fail(err, MYTH_EARG, "-m: the model's name is empty; leave -m out for the shipped model");
    if (strlen(f->model) >= cap)
        return myth_fail(err, MYTH_EARG, "-m: longer than %zu bytes", cap - 1);
    strcpy(dst, f->model);
    return MYTH_OK;
}

myth_status myth_cli_lora_spec(char *path, size_t cap, float *scale, const char *spec, myth_error *err)
{
    const char *colon = strrchr(spec, ':');
    size_t n = strlen(spec);
    *scale = 1.0f;
    if (colon && colon[1] && access(spec, F_OK) != 0) {
        char *end;
        const double by = strtod(colon + 1, &end);
        if (*end || by != by || by < -1e6 || by > 1e6)
            return myth_fail(err, MYTH_EARG, "--lora: got %.80s, expected FILE or FILE:SCALE with a number", spec);
        *scale = (float)by;
        n = (size_t)(colon - spec);
    }
    if (n >= cap)
        return myth_fail(err, MYTH_ELIMIT, "--lora %.80s...: path too long", spec);
    memcpy(path, spec, n);
    path[n] = '\0';
    return MYTH_OK;
}

myth_status myth_cli_model_adapt(myth_cli *cli, myth_model *m, const myth_opt_list *lora, myth_error *err)
{
    char path[PATH_MAX];
    float scale;
    for (int i = 0; i < lora->n; i++) {
        myth_status st = myth_cli_lora_spec(path, sizeof(path), &scale, lora->item[i], err);
        if (st == MYTH_OK)
            st = myth_hint_check_input(cli, path, err);
        if (st == MYTH_OK)
            st = myth_model_adapt(m, path, scale, err);
        if (st != MYTH_OK)
            return st;
        const uint32_t last = m->n_lora - 1;
        myth_term_note(cli->term, "%s: added to %u matrices%s", path, myth_model_lora_matrices(m, last),
                       myth_model_lora_left_out(m, last) ? "; what it has for pictures and sounds is left out" : "");
    }
    return MYTH_OK;
}

void myth_cli_print_adapters(myth_json_out *j, const myth_model *m)
{
    if (!m->n_lora)
        return;
    myth_jout_key(j, "adapters");
    myth_jout_array(j);
    for (uint32_t i = 0; i < m->n_lora; i++) {
        char hash[20];
        snprintf(hash, sizeof(hash), "%016" PRIx64, myth_model_lora_hash(m, i));
        myth_jout_object(j);
        myth_jout_key_str(j, "path", myth_model_lora_path(m, i));
        myth_jout_key(j, "scale");
        myth_jout_f64(j, (double)myth_model_lora_scale(m, i));
        myth_jout_key_str(j, "hash", hash);
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

/* What a suggestion may not change, because this command has no flag for it. */
static uint32_t fixed_options(const myth_cli *cli)
{
    static const struct {
        const char *flag;
        uint32_t change;
    } row[] = {
        {"parallel", MYTH_CHANGE_SEQ},
        {"ctx-size", MYTH_CHANGE_CTX},
        {"ubatch-size", MYTH_CHANGE_UBATCH},
        {"cache-type-k", MYTH_CHANGE_CACHE_TYPE},
        {"n-gpu-layers", MYTH_CHANGE_GPU_LAYERS},
        {"n-cpu-moe", MYTH_CHANGE_CPU_MOE},
        {"offload", MYTH_CHANGE_OFFLOAD},
        {"head", MYTH_CHANGE_HEAD},
        {"no-kv-offload", MYTH_CHANGE_HOST_KV},
        {"n-host-kv", MYTH_CHANGE_HOST_KV},
        {"tensor-split", MYTH_CHANGE_SPLIT},
    };
    uint32_t fixed = 0;
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
        fixed |= myth_args_find(cli->parsed, row[i].flag) ? 0 : row[i].change;
    return fixed;
}

/* The least that an encoder needs, whatever texts it is for; what these take more says the plan of a run. */
static myth_status refuse_encoder(myth_cli *cli, const myth_model *m, const myth_engine_opts *opts, myth_error *err)
{
    enum { LEAST_ROWS = 16 };
    char need[24], limit[24];
    myth_engine_opts eo = *opts;
    myth_plan_extra extra = {0};
    myth_plan plan;
    eo.n_ubatch = LEAST_ROWS;
    myth_embedder_opts(&eo, m, LEAST_ROWS);
    if (myth_embedder_needs(&extra, m, NULL) != MYTH_OK ||
        myth_plan_make(&plan, m, &eo, &extra, NULL, false, NULL) != MYTH_OK)
        return MYTH_ENOMEM;
    return myth_fail(
        err, MYTH_ENOFIT, "needs at least %s, limit %s; raise --mem-limit to that, and to more for many texts",
        myth_size_text(need, plan.device[0].total_bytes), myth_size_text(limit, cli->limits.bytes[MYTH_MEM_HOST]));
}

/* The limit was reached before the run had a plan. Opens the headers again in a ledger without a limit and makes the
 * plan, so that the refusal can name the bytes that are needed. */
static myth_status refuse_with_numbers(myth_cli *cli, const char *spec, const char *tokenizer, myth_error *err)
{
    myth_mem *mem;
    myth_model m = {0};
    myth_plan plan;
    myth_engine_opts eo = {.device = "cpu", .is_exact = cli->global->is_exact, .fixed = fixed_options(cli)};
    myth_plan_extra extra = {.bytes[MYTH_MEM_STAGING] = myth_cli_staging(cli)};
    const myth_weights_opts header = {
        .level = MYTH_WEIGHTS_HEADER,
        .tokenizer = tokenizer,
        .hub_dir = myth_env_hub_dir(),
    };
    myth_status st = myth_env_device(&eo.cpu_level, &eo.n_threads, &eo.settings, err);
    if (st != MYTH_OK)
        return st;
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return MYTH_ENOMEM;
    st = myth_model_open(&m, mem, spec, &header, NULL);
    if (st == MYTH_OK && m.config.is_bidirectional)
        st = refuse_encoder(cli, &m, &eo, err);
    else if (st == MYTH_OK && myth_cli_plan_here(cli, &plan, &m, &eo, &extra, NULL) == MYTH_OK && !plan.fits)
        st = myth_cli_refuse(cli, &plan, err);
    else
        st = MYTH_ENOMEM;
    myth_model_close(&m);
    myth_mem_close(mem);
    return st;
}

/* Fails where an output of the command is one of the model's files. */
static myth_status keep_model(const myth_cli *cli, const myth_weights *w, myth_error *err)
{
    static const char *const name[] = {"config.json", "tokenizer.json", "tokenizer.model", "tokenizer_config.json",
                                       "model.safetensors.index.json"};
    char path[PATH_MAX];
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < myth_weights_n_file(w) && st == MYTH_OK; i++)
        st = myth_hint_check_input(cli, myth_weights_file(w, i), err);
    for (size_t i = 0; i < sizeof(name) / sizeof(name[0]) && st == MYTH_OK; i++)
        if (snprintf(path, sizeof(path), "%s/%s", myth_weights_path(w), name[i]) < (int)sizeof(path))
            st = myth_hint_check_input(cli, path, err);
    return st;
}

myth_status myth_cli_model_open(myth_cli *cli, myth_model *out, const myth_model_flags *f,
                                const myth_engine_flags *engine, myth_weights_level level, myth_error *err)
{
    char spec[PATH_MAX];
    *out = (myth_model){0};
    myth_weights_opts opts = {
        .level = f->check_tensors ? MYTH_WEIGHTS_DATA : level,
        .pread = f->load_mode == 1,
        .tokenizer = f->tokenizer,
        .hub_dir = myth_env_hub_dir(),
    };
    cli->reads_later = opts.pread && opts.level < MYTH_WEIGHTS_DATA;
    myth_live_phase(cli->live, "model");
    myth_status st = myth_cli_model_spec(f, spec, sizeof(spec), err);
    if (st == MYTH_OK)
        st = myth_model_open(out, cli->mem, spec, &opts, err);
    if (st == MYTH_ENOMEM && myth_mem_limit(cli->mem, MYTH_MEM_HOST) && myth_args_find(cli->parsed, "cache-type-k"))
        st = refuse_with_numbers(cli, spec, f->tokenizer, err);
    if (st != MYTH_OK)
        return st;
    if (myth_weights_has_namesake(out->weights))
        myth_term_note(cli->term, "%s: the path ./%s is used, not the model of that name in the Hugging Face cache",
                       spec, spec);
    st = keep_model(cli, out->weights, err);
    if (st == MYTH_OK && engine)
        st = myth_cli_model_adapt(cli, out, &engine->lora, err);
    if (st == MYTH_OK && f->check_tensors)
        st = myth_model_check_tensors(out, err);
    if (st != MYTH_OK) {
        myth_model_close(out);
        *out = (myth_model){0};
    }
    return st;
}

/* ---- a tokenizer alone ---- */

/* Whether spec is a tokenizer without a model: a tokenizer.json or tokenizer.model, or a folder with one and no
 * config.json. */
static bool is_bare(const char *spec)
{
    char path[PATH_MAX + 16];
    struct stat st;
    if (myth_text_ends(spec, ".json") || myth_text_ends(spec, ".model"))
        return true;
    if (stat(spec, &st) != 0 || !S_ISDIR(st.st_mode))
        return false;
    static const char *const name[] = {"tokenizer.json", "tokenizer.model"};
    snprintf(path, sizeof(path), "%s/config.json", spec);
    if (stat(path, &st) == 0)
        return false;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", spec, name[i]);
        if (stat(path, &st) == 0)
            return true;
    }
    return false;
}

void myth_cli_tokenizer_close(myth_cli_tokenizer *t)
{
    myth_tokenizer_close(t->t);
    myth_weights_close(t->w);
    *t = (myth_cli_tokenizer){0};
}

myth_status myth_cli_tokenizer_open(myth_cli_tokenizer *out, myth_cli *cli, const myth_model_flags *f, myth_error *err)
{
    char spec[PATH_MAX];
    *out = (myth_cli_tokenizer){0};
    myth_status st = myth_cli_model_spec(f, spec, sizeof(spec), err);
    if (st != MYTH_OK)
        return st;
    if (f->tokenizer && strncmp(spec, "random:", 7) != 0)
        return myth_fail(err, MYTH_EARG, "--tokenizer: %.150s has its own; only random: models take one", spec);
    if (f->tokenizer)
        return myth_tokenizer_open_file(&out->t, cli->mem, f->tokenizer, err);
    if (is_bare(spec))
        return myth_tokenizer_open_file(&out->t, cli->mem, spec, err);
    myth_weights_opts opts = {
        .level = MYTH_WEIGHTS_CONFIG,
        .hub_dir = myth_env_hub_dir(),
    };
    st = myth_weights_open(&out->w, cli->mem, spec, &opts, err);
    return st == MYTH_OK ? myth_tokenizer_open(&out->t, cli->mem, out->w, err) : st;
}

static myth_status cache_type(myth_dtype *out, const char *flag, const char *name, myth_error *err)
{
    if (!myth_dtype_from_name(out, name) || *out == MYTH_Q4_0 || *out == MYTH_I32)
        return myth_fail(err, MYTH_EARG, "%s: got '%s', expected f32, f16, bf16 or q8_0", flag, name);
    return MYTH_OK;
}

/* Parses "3,1": numbers separated by commas. */
static myth_status read_split(float split[MYTH_SPLIT_MAX], const char *text, myth_error *err)
{
    const char *at = text;
    for (int i = 0; i < MYTH_SPLIT_MAX; i++) {
        char *end;
        split[i] = strtof(at, &end);
        if (end == at || !(split[i] >= 0.0f && split[i] < 1e9f) || (*end && *end != ','))
            break;
        if (!*end)
            return MYTH_OK;
        at = end + 1;
    }
    return myth_fail(err, MYTH_EARG, "--tensor-split: got '%.40s', expected up to %d numbers such as 3,1", text,
                     MYTH_SPLIT_MAX);
}

myth_status myth_cli_engine_opts(myth_cli *cli, myth_engine_opts *out, const myth_engine_flags *f, myth_error *err)
{
    myth_status st = MYTH_OK;
    bool is_auto = strcmp(cli->global->device, "auto") == 0;
    if (is_auto)
        MYTH_TRY(myth_devices_choose(cli->device, cli->global->device, err));
    *out = (myth_engine_opts){
        .device = is_auto ? cli->device : cli->global->device,
        .has_gpu_layers = myth_args_is_given(cli->parsed, "n-gpu-layers"),
        .n_gpu_layers = f->n_gpu_layers,
        .offload = (myth_offload)f->offload,
        .n_offload = f->offload_layers,
        .n_cpu_moe = f->cpu_moe ? UINT32_MAX : f->n_cpu_moe,
        .host_head = f->head == 1,
        .n_host_kv = f->no_kv_offload ? UINT32_MAX : f->n_host_kv,
        .ple = (myth_ple_place)f->ple,
        .no_kv_skip = f->kv_skip != 0,
        .n_threads = (int)cli->global->n_threads,
        .is_exact = cli->global->is_exact,
        .n_ctx = f->ctx_size,
        .n_ubatch = f->ubatch_size,
        .fixed = fixed_options(cli),
        .log = &cli->log,
    };
    MYTH_TRY(myth_env_device(&out->cpu_level, &out->n_threads, &out->settings, err));
    if (f->batch_size && (!out->n_ubatch || out->n_ubatch > f->batch_size))
        out->n_ubatch = f->batch_size < 512 || out->n_ubatch ? f->batch_size : 512;
    const char *k = f->cache_type_k ? f->cache_type_k : f->cache_type_v,
               *v = f->cache_type_v ? f->cache_type_v : f->cache_type_k;
    if (k) {
        out->has_cache_type = true;
        MYTH_TRY(cache_type(&out->type_k, "-ctk", k, err));
        MYTH_TRY(cache_type(&out->type_v, "-ctv", v, err));
    }
    if (f->tensor_split)
        MYTH_TRY(read_split(out->split, f->tensor_split, err));
    if (f->offload_layers && !f->offload && myth_args_is_flag(cli->parsed, "offload-layers"))
        st = myth_fail(err, MYTH_EARG, "--offload-layers: of what is not said; add --offload weights, or kv");
fail:
    return st;
}

/* The smallest number above 0: the first token alone has more. */
float myth_cli_top_p(float given) { return given > 0.0f ? given : FLT_MIN; }

void myth_cli_sample_params(myth_sample_params *out, const myth_sample_flags *f)
{
    *out = (myth_sample_params){
        .temp = f->temp,
        .top_k = f->top_k,
        .top_p = myth_cli_top_p(f->top_p),
        .min_p = f->min_p,
        .repeat_penalty = f->repeat_last_n ? f->repeat_penalty : 1.0f,
        .repeat_last_n = f->repeat_last_n,
        .seed = f->seed,
    };
}

myth_status myth_cli_engine_open(const myth_cli *cli, myth_engine **out, myth_model *m, const myth_engine_opts *opts,
                                 myth_error *err)
{
    const myth_status st = myth_engine_open(out, m, opts, err);
    if (st == MYTH_OK)
        myth_live_ready(cli->live);
    return st;
}

/* The context is a multiple of 64 tokens. */
uint32_t myth_cli_context(const myth_model *m, uint64_t n_tok)
{
    enum { STEP = 64 };
    uint32_t most = m->config.n_ctx_train;
    if (n_tok <= MYTH_USUAL_CTX)
        return 0;
    n_tok = (n_tok + STEP - 1) / STEP
    *STEP;
    return most && n_tok > most ? most : (uint32_t)(n_tok < UINT32_MAX ? n_tok : UINT32_MAX);
}

uint64_t myth_cli_staging(const myth_cli *cli)
{
    enum { UP_TO = 1 << 20 };
    uint64_t peak = myth_mem_get(cli->mem, MYTH_MEM_HOST, MYTH_MEM_STAGING).peak;
    return peak < UP_TO ? UP_TO : peak;
}

myth_status myth_cli_ids(int32_t **ids, size_t *n_ids, myth_mem *mem, const char *text, myth_error *err)
{
    size_t n = 0, cap = 1;
    for (const char *s = text; *s; s++)
        cap += *s == ',' || isspace((unsigned char)*s);
    int32_t *v = myth_alloc_n(mem, MYTH_MEM_STAGING, "ids", cap, sizeof(*v));
    if (!v)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for %zu ids", cap);
    const char *s = text + strspn(text, " \t\r\n[");
    bool wants_more = false;
    while (isdigit((unsigned char)*s)) {
        char *end;
        errno = 0;
        long id = strtol(s, &end, 10);
        if (errno || id > INT32_MAX)
            break;
        v[n++] = (int32_t)id;
        s = end + strspn(end, " \t\r\n");
        wants_more = *s == ',';
        s += wants_more;
        s += strspn(s, " \t\r\n");
        if (!wants_more && !isdigit((unsigned char)*s))
            break;
    }
    s += strspn(s, " \t\r\n]");
    if (*s || n == 0 || wants_more) {
        myth_free(mem, v);
        return myth_fail(err, MYTH_EARG, "ids: offset %zu: got '%.12s', expected token ids such as 2,106",
                         (size_t)(s - text), s);
    }
    *ids = v;
    *n_ids = n;
    return MYTH_OK;
}

void myth_cli_end_after(uint32_t seconds)
{
    if (seconds)
        alarm(seconds); /* the program's handler of SIGALRM knows */
}

static const myth_cancel *is_ending;
static volatile sig_atomic_t told = MYTH_EXIT_INTERRUPTED;

void myth_cli_is_told(int code) { told = code; }
int myth_cli_told(void) { return (int)told; }

void myth_cli_watch(const myth_cancel *flag) { is_ending = flag; }

static bool is_ended(void) { return is_ending && *is_ending; }

static myth_status read_stream(unsigned char **out, size_t *len, myth_mem *mem, int fd, const char *name,
                               uint64_t max_bytes, myth_error *err)
{
    size_t n = 0, cap = 64 << 10;
    unsigned char *data = myth_alloc(mem, MYTH_MEM_STAGING, "stream", cap);
    if (!data)
        return myth_fail(err, MYTH_ENOMEM, "%s: out of memory for %zu bytes", name, cap);
    for (;;) {
        ssize_t k = read(fd, data + n, cap - n);
        const bool was_interrupted = k < 0 && errno == EINTR;
        if (was_interrupted && !is_ended())
            continue;
        if (k < 0) {
            myth_free(mem, data);
            return was_interrupted ? myth_fail(err, MYTH_ECANCEL, "%s: interrupted while it was read", name)
                                   : myth_fail(err, MYTH_EIO, "%s: %s", name, strerror(errno));
        }
        if (k == 0)
            break;
        n += (size_t)k;
        if (n > max_bytes) {
            myth_free(mem, data);
            return myth_fail(err, MYTH_ELIMIT, "%s: more than %llu bytes", name, (unsigned long long)max_bytes);
        }
        if (n < cap)
            continue;
        unsigned char *more = myth_realloc(mem, MYTH_MEM_STAGING, "stream", data, cap * 2);
        if (!more) {
            myth_free(mem, data);
            return myth_fail(err, MYTH_ENOMEM, "%s: out of memory for %zu bytes", name, cap * 2);
        }
        data = more;
        cap *= 2;
    }
    *out = data;
    *len = n;
    return MYTH_OK;
}

myth_status myth_cli_read(unsigned char **out, size_t *len, myth_mem *mem, const char *path, uint64_t max_bytes,
                          myth_error *err)
{
    if (strcmp(path, "-") == 0)
        return read_stream(out, len, mem, STDIN_FILENO, "stdin", max_bytes, err);
    return myth_file_read(out, len, mem, path, max_bytes, err);
}

bool myth_cli_is_stream(const char *path)
{
    struct stat info;
    return strcmp(path, "-") == 0 || (stat(path, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)));
}

myth_status myth_cli_read_given(unsigned char **out, size_t *len, myth_mem *mem, const char *path, uint64_t max_bytes,
                                myth_error *err)
{
    int fd;
    if (strcmp(path, "-") == 0 || !myth_cli_is_stream(path))
        return myth_cli_read(out, len, mem, path, max_bytes, err);
    do /* waits for the writer of a named pipe */
        fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR && !is_ended());
    if (fd < 0)
        return errno == EINTR ? myth_fail(err, MYTH_ECANCEL, "%s: interrupted before it was read", path)
                              : myth_fail(err, MYTH_EIO, "%s: cannot open: %s", path, strerror(errno));
    const myth_status st = read_stream(out, len, mem, fd, path, max_bytes, err);
    close(fd);
    return st;
}
