/* cli.h - what a command is, and what it is given.
 *
 * Adding   frontend/cmd/cmd_<name>.c with its option tables and `const myth_command myth_cmd_<name>`; one row in
 *          frontend/commands.def
 * Output   stdout is data; messages, notes and progress go through cli->term. main flushes stdout and turns a failed
 *          write into 74
 * Memory   cli->mem carries --mem-limit; a command frees everything it took before it returns
 * Exit     run returns an exit code of exit.h; myth_cli_fail prints an error and gives its code */
#ifndef MYTH_CLI_H
#define MYTH_CLI_H

#include "engine/base/cancel.h"
#include "engine/engine.h"
#include "args.h"
#include "exit.h"
#include "term.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of every command. */
typedef struct {
    const char *mem_limit;  /* as given; cli->limits is what it says */
    const char *mem_report; /* NULL = none */
    const char *device;
    uint32_t n_threads;
    int log_format;
    bool is_exact, is_quiet, verbose, show_config;
} myth_global;

/* Flags of every command that opens a model: MYTH_GROUP_MODEL. */
typedef struct {
    const char *model; /* NULL = the shipped model */
    int load_mode;     /* 0 = mmap, 1 = pread */
    bool check_tensors;
} myth_model_flags;

/* Flags of every command that runs one: MYTH_GROUP_ENGINE. */
typedef struct {
    uint32_t ctx_size, batch_size, ubatch_size;
    const char *cache_type_k, *cache_type_v, *tensor_split;
    uint32_t n_gpu_layers, offload_layers, n_cpu_moe;
    int offload, ple, kv_skip;
    bool cpu_moe;
} myth_engine_flags;

/* MYTH_GROUP_SAMPLE */
typedef struct {
    uint64_t seed;
    float temp, top_p, min_p, repeat_penalty;
    uint32_t top_k, repeat_last_n;
} myth_sample_flags;

/* How long a run that was told to end by SIGTERM or SIGHUP may take to write what is there and to remove what it made
 * for a while. */
enum { MYTH_END_SECONDS = 20 };

typedef struct myth_command myth_command;

typedef struct {
    const myth_command *command;
    const myth_global *global;
    const myth_parsed *parsed;
    int n_arg;
    char **arg; /* positional arguments                                      */
    myth_mem *mem;
    myth_mem_limits limits; /* --mem-limit, by ledger                                    */
    const char *directory;  /* -C of a command that ends in [DIR]; NULL = not given      */
    char device[32];        /* what "auto" stands for, once engine options were made     */
    myth_log log;           /* for engine options; lent for the run                      */
    myth_term *term;
    const myth_cancel *cancel; /* set by the first SIGINT, SIGTERM or SIGHUP; the second ends the process, 130 */
    myth_plan plan;            /* of this run, for --mem-report: set by myth_cli_plan        */
    bool has_plan;
    struct myth_runlog *runlog; /* of an inspect command while it runs, NULL = none: see inspect/runlog.h */
    uint64_t n_unread; /* files and directories that could not be read: a search among the others is incomplete */
} myth_cli;

struct myth_command {
    const char *name, *args, *help; /* "inspect-file", "PATH", one line                       */
    const char *detail;             /* more for the man page; NULL = none                     */
    const myth_option_group *group;
    size_t n_group;
    size_t opts_bytes;    /* of the struct the groups fill                          */
    int min_arg, max_arg; /* positional arguments                                   */
    int (*run)(myth_cli *cli, const void *opts);
};

/* The command table; NULL-terminated. */
extern const myth_command *const myth_commands[];

extern const myth_option myth_options_model[], myth_options_engine[], myth_options_sample[];
enum { MYTH_N_OPTIONS_MODEL = 3, MYTH_N_OPTIONS_ENGINE = 13, MYTH_N_OPTIONS_SAMPLE = 7 };
#define MYTH_GROUP_MODEL(type, field)                                            \
    {                                                                            \
        "model", myth_options_model, MYTH_N_OPTIONS_MODEL, offsetof(type, field) \
    }
#define MYTH_GROUP_ENGINE(type, field)                                              \
    {                                                                               \
        "engine", myth_options_engine, MYTH_N_OPTIONS_ENGINE, offsetof(type, field) \
    }
#define MYTH_GROUP_SAMPLE(type, field)                                                \
    {                                                                                 \
        "sampling", myth_options_sample, MYTH_N_OPTIONS_SAMPLE, offsetof(type, field) \
    }
#define MYTH_GROUP(title, type, table)                    \
    {                                                     \
        title, table, sizeof(table) / sizeof(table[0]), 0 \
    }

/* The error's text with the flag in the place of the option that is its cause: "raise -ub" instead of "raise n_ubatch".
 */
void myth_cli_spell(char *dst, size_t cap, const myth_error *err);
/* Prints the error as "mythos: ..." and returns its exit code. */
int myth_cli_fail(myth_cli *cli, const myth_error *err);
/* The same for an error that is said here, MYTH_EARG and so on. */
int myth_cli_failf(myth_cli *cli, myth_status code, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* The directory that the command works on: -C, or its argument number idx, or the current one. */
const char *myth_cli_dir(const myth_cli *cli, int idx);

/* The model to open: the flag (or MYTHOS_MODEL), else the shipped one, written to dst. MYTH_ENOTFOUND when there is
 * none. */
myth_status myth_cli_model_spec(const myth_model_flags *f, char *dst, size_t cap, myth_error *err);
/* The model that makes vectors: what was given (NULL = nothing), else the shipped one. MYTH_ENOTFOUND when there is
 * none. */
myth_status myth_cli_embedder_spec(const char *given, char *dst, size_t cap, myth_error *err);
/* Opens it at a level; checks tensors when asked. *out is zeroed on failure. */
myth_status myth_cli_model_open(myth_cli *cli, myth_model *out, const myth_model_flags *f, myth_weights_level level,
                                myth_error *err);
/* Its tokenizer alone; -m may also name a tokenizer.json, a tokenizer.model or a folder with one. close takes a zeroed
 * one. */
typedef struct {
    myth_weights *w;
    myth_tokenizer *t;
} myth_cli_tokenizer;
myth_status myth_cli_tokenizer_open(myth_cli_tokenizer *out, myth_cli *cli, const myth_model_flags *f, myth_error *err);
void myth_cli_tokenizer_close(myth_cli_tokenizer *t);
/* Engine options from the flags; fields the flags do not know stay zero for the command to set. MYTH_EARG a value is
 * not one. */
myth_status myth_cli_engine_opts(myth_cli *cli, myth_engine_opts *out, const myth_engine_flags *f, myth_error *err);
void myth_cli_sample_params(myth_sample_params *out, const myth_sample_flags *f);
/* The limits a plan is made with: --mem-limit, and for devices it does not name what they can spare. */
myth_status myth_cli_limits(const myth_cli *cli, myth_mem_limits *out, const myth_engine_opts *opts, myth_error *err);
/* Plans with --mem-limit and what the command itself books, lets the options left at 0 shrink to fit and writes what
 * was chosen back into *opts; remembers the plan for --mem-report. extra without STAGING, or NULL: the command's own
 * text and ids are the STAGING it has taken so far, and the plan has myth_cli_staging for them, which the command stays
 * within. MYTH_ENOFIT with the refusal line. */
myth_status myth_cli_plan(myth_cli *cli, const myth_model *m, myth_engine_opts *opts, const myth_plan_extra *extra,
                          myth_error *err);

/* Context to ask for when -c is not given and n_tok tokens must fit: 0 (the default) when it is enough for them, else
 * n_tok rounded up, at most what the model was trained for. */
uint32_t myth_cli_context(const myth_model *m, uint64_t n_tok);
/* STAGING that generate and logits plan for text, ids and encoding, from the size of the input. One figure up to a
 * limit, so that `plan` knows it without the input. */
uint64_t myth_cli_staging(const myth_cli *cli);

/* What logits asks of the engine, n_out rows of it; plan --for logits prices the same. */
void myth_cli_logits_opts(myth_engine_opts *eo, uint32_t n_row, uint32_t n_out, uint32_t longest, bool fast, bool full,
                          bool hidden, uint32_t top_k);

/* What bench asks for prompts of n_prompt and runs of n_gen tokens behind n_depth others; of an encoder, for texts of
 * n_prompt. */
void myth_cli_bench_opts(myth_engine_opts *eo, const myth_model *m, uint32_t n_prompt, uint32_t n_gen,
                         uint32_t n_depth);

/* "2,106,13" or "[2, 106]" to ids, booked as STAGING; myth_free them. MYTH_EARG names the place. */
myth_status myth_cli_ids(int32_t **ids, size_t *n_ids, myth_mem *mem, const char *text, myth_error *err);
/* The path of this program, which also is the one that cuts files; "" and false when it cannot be found: then they are
 * cut by their text. */
bool myth_cli_self(char *dst, size_t cap);
/* A file, or stdin for "-", whole, booked as STAGING. MYTH_ELIMIT past max_bytes, MYTH_ECANCEL when a signal told the
 * run to end while it waited for stdin. */
myth_status myth_cli_read(unsigned char **out, size_t *len, myth_mem *mem, const char *path, uint64_t max_bytes,
                          myth_error *err);
/* The flag that signals set, for readers that have no myth_cli. */
void myth_cli_watch(const myth_cancel *is_ending);

#ifdef __cplusplus
}
#endif
#endif
