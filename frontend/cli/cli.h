/* cli.h - what a command consists of, what it is given to run, and helpers that several commands use.
 *
 * Adding   frontend/cmd/cmd_<name>.c with its option tables and `const myth_command myth_cmd_<name>`; one row in
 *          frontend/commands.def
 * Output   stdout is data; messages, notes and progress go through cli->term. main flushes stdout and turns a failed
 *          write into exit code 74
 * Memory   cli->mem enforces --mem-limit; a command frees everything it allocated before it returns
 * Exit     run returns an exit code of exit.h; myth_cli_fail prints an error and returns the exit code of its status
 * Threads  one */
#ifndef MYTH_CLI_H
#define MYTH_CLI_H

#include "engine/base/cancel.h"
#include "engine/engine.h"
#include "args.h"
#include "exit.h"
#include "json_out.h"
#include "term.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of every command. */
typedef struct {
    const char *mem_limit;  /* as given; cli->limits has the parsed bytes */
    const char *mem_report; /* NULL = none */
    const char *control;    /* NULL = none */
    const char *config;     /* NULL = none */
    float max_memory_gb;    /* --mem-limit in GiB; 0 = not given */
    int mem_mode;           /* 1 = reserve */
    const char *device;
    uint32_t n_threads;
    int log_format;
    bool is_exact, is_quiet, verbose, show_config;
} myth_global;

/* Flags of every command that opens a model: MYTH_GROUP_MODEL. */
typedef struct {
    const char *model;     /* NULL = the shipped model */
    const char *tokenizer; /* of a random: model; NULL = its own vocabulary of bytes */
    int load_mode;         /* 0 = mmap, 1 = pread */
    bool check_tensors;
} myth_model_flags;

/* Flags of every command that runs a model: MYTH_GROUP_ENGINE. */
typedef struct {
    uint32_t ctx_size, batch_size, ubatch_size;
    const char *cache_type_k, *cache_type_v, *tensor_split;
    uint32_t n_gpu_layers, offload_layers, n_cpu_moe, n_host_kv;
    int offload, head, ple, kv_skip;
    bool cpu_moe, no_kv_offload;
    myth_opt_list lora; /* FILE or FILE:SCALE */
} myth_engine_flags;

/* Flags of every command that samples tokens: MYTH_GROUP_SAMPLE. */
typedef struct {
    uint64_t seed;
    float temp, top_p, min_p, repeat_penalty;
    uint32_t top_k, repeat_last_n;
} myth_sample_flags;

/* How long a run may take after SIGTERM or SIGHUP to write its results so far and to remove its temporary files. */
enum { MYTH_END_SECONDS = 20 };

enum { MYTH_USUAL_CTX = 4096 }; /* tokens of a context that nobody chose (engine.h) */

typedef struct myth_command myth_command;
typedef struct myth_live myth_live;

typedef struct {
    const myth_command *command;
    const myth_global *global;
    const myth_parsed *parsed;
    int n_arg;
    char **arg; /* positional arguments                                      */
    myth_mem *mem;
    myth_mem_limits limits; /* --mem-limit, by ledger                                    */
    const char *directory;  /* -C of a command that ends in [DIR], and of search; NULL = not given */
    char device[32];        /* the device chosen for "auto"; set by myth_cli_engine_opts */
    myth_log log;           /* for engine options; lent for the run                      */
    myth_term *term;
    const myth_cancel *cancel; /* set by the first SIGINT, SIGTERM or SIGHUP; the second ends the process, 130 */
    myth_plan plan;            /* of this run, for --mem-report: set by myth_cli_plan        */
    bool has_plan;
    bool limit_is_left; /* the limit of the last plan was what is left (myth_cli_plan_here) */
    bool is_elsewhere;  /* set by a command that only plans, for another machine: what is left here is no limit */
    bool reads_later;   /* the files of the model are mapped for their headers, and a run copies them (pread) */
    struct myth_runlog *runlog; /* the record of a running inspect command, NULL = none: see inspect/log/runlog.h */
    myth_live *live;            /* what may change while the command runs (live.h); NULL = nothing */
    /* Set by commands, read by live's thread: a journal is open from which the run can go on; standard input or a pipe
     * was read, which cannot be read again. Set for commands: this is a run that goes on, whatever --resume says. */
    myth_cancel has_journal, has_read_stdin;
    bool goes_on;
    /* can_swap: set by a command that gives back its memory and takes it again by itself, in myth_live_wait, when
     * put_off is set for it: a chat. */
    myth_cancel can_swap, put_off;
    /* Of a job that is divided among processes (frontend/jobs/shares.h): this one has share 0 .. n_share - 1, or puts
     * n_share of them together. n_share 0 = it is not divided. */
    uint32_t share, n_share;
    bool merges_shares;
    uint64_t n_unread;  /* files and directories that could not be read: a search among the others is incomplete */
    myth_layers layers; /* of `plan`, for --mem-report; n_layer 0 = none */
} myth_cli;

struct myth_command {
    const char *name, *args, *help; /* "inspect-file", "PATH", one line                       */
    const char *detail;             /* paragraphs below the usage line; NULL = none           */
    const myth_option_group *group;
    size_t n_group;
    size_t opts_bytes;    /* size of the struct that the groups fill                */
    int min_arg, max_arg; /* positional arguments                                   */
    int (*run)(myth_cli *cli, const void *opts);
};

/* The command table; NULL-terminated. */
extern const myth_command *const myth_commands[];
const myth_command *myth_command_named(const char *name); /* NULL: there is none */

extern const myth_option myth_options_model[], myth_options_engine[], myth_options_sample[];
enum { MYTH_N_OPTIONS_MODEL = 4, MYTH_N_OPTIONS_ENGINE = 17, MYTH_N_OPTIONS_SAMPLE = 7 };
/* Options that come first in their tables: those that say which vocabulary it is, and those of the length of a context
 * and of a step. */
enum { MYTH_N_OPTIONS_VOCABULARY = 2, MYTH_N_OPTIONS_SIZE = 3 };
#define MYTH_GROUP_MODEL(type, field)                                            \
    {                                                                            \
        "model", myth_options_model, MYTH_N_OPTIONS_MODEL, offsetof(type, field) \
    }
#define MYTH_GROUP_ENGINE(type, field)                                              \
    {                                                                               \
        "engine", myth_options_engine, MYTH_N_OPTIONS_ENGINE, offsetof(type, field) \
    }
/* Of a command that reads no tensors. */
#define MYTH_GROUP_VOCABULARY(type, field)                                            \
    {                                                                                 \
        "model", myth_options_model, MYTH_N_OPTIONS_VOCABULARY, offsetof(type, field) \
    }
/* Of a command that chooses the context and the step by itself. */
#define MYTH_GROUP_ENGINE_OF_SIZE(type, field)                                                            \
    {                                                                                                     \
        "engine", myth_options_engine + MYTH_N_OPTIONS_SIZE, MYTH_N_OPTIONS_ENGINE - MYTH_N_OPTIONS_SIZE, \
            offsetof(type, field)                                                                         \
    }
#define MYTH_GROUP_SAMPLE(type, field)                                                \
    {                                                                                 \
        "sampling", myth_options_sample, MYTH_N_OPTIONS_SAMPLE, offsetof(type, field) \
    }
#define MYTH_GROUP(title, type, table)                    \
    {                                                     \
        title, table, sizeof(table) / sizeof(table[0]), 0 \
    }

/* Copies the error's text, replaces names of options by their flags ("raise -ub", not "raise n_ubatch"), and ends it
 * with the next step as this command does it: "; run mythos index". */
void myth_cli_spell(char *dst, size_t cap, const myth_error *err);
/* Prints the error as "mythos: ..." and returns its exit code. */
int myth_cli_fail(myth_cli *cli, const myth_error *err);
/* The same for an error that the command itself words. */
int myth_cli_failf(myth_cli *cli, myth_status code, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* The directory that the command works on: -C, else argument number idx, else the current directory. */
const char *myth_cli_dir(const myth_cli *cli, int idx);

/* Writes to dst which model to open: the one given by -m or MYTHOS_MODEL, else the shipped model. MYTH_ENOTFOUND when
 * none is given and none is shipped. */
myth_status myth_cli_model_spec(const myth_model_flags *f, char *dst, size_t cap, myth_error *err);
/* Writes the path of the shipped judge of places; false: none is shipped. */
bool myth_cli_judge_spec(char *dst, size_t cap);
/* The same for the embedding model; given NULL = the shipped one. */
myth_status myth_cli_embedder_spec(const char *given, char *dst, size_t cap, myth_error *err);
/* Opens the model of -m at a level, with the adapters of --lora where there are flags of the engine (NULL = none), and
 * checks the tensors when --check-tensors is set. *out is zeroed on failure. */
myth_status myth_cli_model_open(myth_cli *cli, myth_model *out, const myth_model_flags *f,
                                const myth_engine_flags *engine, myth_weights_level level, myth_error *err);
/* Adds adapters to an open model, and says so. */
myth_status myth_cli_model_adapt(myth_cli *cli, myth_model *m, const myth_opt_list *lora, myth_error *err);
/* The key "adapters" of a report in JSON: [{"path", "scale", "hash"}, ...]. Nothing for a model without any. */
void myth_cli_print_adapters(myth_json_out *j, const myth_model *m);
/* Cuts FILE[:SCALE]; a file whose name ends in a colon and a number is found before it is cut. MYTH_EARG, MYTH_ELIMIT.
 */
myth_status myth_cli_lora_spec(char *path, size_t cap, float *scale, const char *spec, myth_error *err);
/* Only the model's tokenizer; -m may also name a tokenizer.json, a tokenizer.model or a folder with one of them. close
 * accepts a zeroed struct. */
typedef struct {
    myth_weights *w;
    myth_tokenizer *t;
} myth_cli_tokenizer;
myth_status myth_cli_tokenizer_open(myth_cli_tokenizer *out, myth_cli *cli, const myth_model_flags *f, myth_error *err);
void myth_cli_tokenizer_close(myth_cli_tokenizer *t);
/* Makes engine options from the flags; fields without a flag stay zero for the command to set. MYTH_EARG: a flag has a
 * bad value. */
myth_status myth_cli_engine_opts(myth_cli *cli, myth_engine_opts *out, const myth_engine_flags *f, myth_error *err);
/* The options of the engine, where zeros are off; of what was given, top-p 0 keeps the likeliest token alone, and
 * repeat-last-n 0 counts no token. */
void myth_cli_sample_params(myth_sample_params *out, const myth_sample_flags *f);
float myth_cli_top_p(float given);
/* The text of a limit: of --mem-limit, or what stands in its file. MYTH_EARG, MYTH_ENOTFOUND: the file. */
enum { MYTH_LIMIT_TEXT = 1024 };
myth_status myth_cli_limit_text(const char **out, char room[MYTH_LIMIT_TEXT], const char *flag, myth_error *err);
/* The first line of the file that says something, without blanks around it and without what follows a "#"; false: it
 * cannot be read, or has none. */
bool myth_cli_read_limit(char text[MYTH_LIMIT_TEXT], const char *path);
/* Sets how the ledger, just opened, takes the host's memory: --mem-mode. */
void myth_cli_mem_mode(const myth_cli *cli);
/* The memory limits for a plan: those of --mem-limit; for other devices the memory that is free there. */
myth_status myth_cli_limits(const myth_cli *cli, myth_mem_limits *out, const myth_engine_opts *opts, myth_error *err);
/* The bytes that this run can have of the host's memory, whatever its limit: what it has, and what the machine, its
 * control groups and its address space have left. UINT64_MAX: nothing is known, or the run is to be elsewhere. */
uint64_t myth_cli_host_budget(const myth_cli *cli);
/* Where several devices are named without -ts, and equal shares of the layers do not fit: divides them by what each may
 * have, so that they do, and says so. Nothing when no division does. Before other plans under these limits. */
void myth_cli_divide(const myth_cli *cli, myth_engine_opts *opts, const myth_model *m, const myth_plan_extra *extra,
                     const myth_mem_limits *limits);
/* Makes a plan under the limits and under what is left of the host's memory, where that is less: the layers divided,
 * options left at 0 shrunk where that fits, and no suggestion of a limit that the machine cannot keep. */
myth_status myth_cli_plan_here(myth_cli *cli, myth_plan *out, const myth_model *m, myth_engine_opts *opts,
                               const myth_plan_extra *extra, myth_error *err);
#define MYTH_LIMIT_IS_LEFT "the limit is what this machine, or a group or the ulimit of this process, has left"
/* Sets err to what a plan that does not fit needs, to what would fit, and to whose limit it is. MYTH_ENOFIT. */
myth_status myth_cli_refuse(const myth_cli *cli, const myth_plan *plan, myth_error *err);
/* Makes the plan of this run (myth_cli_plan_here) and keeps it for --mem-report. Options left at 0 may shrink to fit;
 * the chosen values are written back into *opts. extra has the bytes that the command allocates beside the engine. When
 * extra is NULL or has no STAGING, the plan has myth_cli_staging bytes of it for the command's text and ids, and the
 * command must stay within them. MYTH_ENOFIT: it does not fit; the message names the bytes and what would fit. */
myth_status myth_cli_plan(myth_cli *cli, const myth_model *m, myth_engine_opts *opts, const myth_plan_extra *extra,
                          myth_error *err);

/* Opens the engine of this run, and says in the report that it is ready. */
myth_status myth_cli_engine_open(const myth_cli *cli, myth_engine **out, myth_model *m, const myth_engine_opts *opts,
                                 myth_error *err);

/* The context for a command that must fit n_tok tokens when -c is not given: 0 (the default of 4096) when that is
 * enough, else n_tok rounded up, at most the context that the model was trained with. */
uint32_t myth_cli_context(const myth_model *m, uint64_t n_tok);
/* The STAGING bytes to plan for text, ids and encoding: the peak so far, at least 1 MiB. The minimum is so large that
 * `plan`, which does not see the input, prints the same figure as almost every run. */
uint64_t myth_cli_staging(const myth_cli *cli);

/* Sets the engine options of `logits` with n_out rows of output. `plan --for logits` calls it too, so that both have
 * the same bytes. */
void myth_cli_logits_opts(myth_engine_opts *eo, uint32_t n_row, uint32_t n_out, uint32_t longest, bool fast, bool full,
                          bool hidden, uint32_t top_k);

/* Sets the engine options of `bench` for prompts of n_prompt tokens and runs of n_gen tokens, both after n_depth
 * others; for an encoder, for texts of n_prompt tokens. */
void myth_cli_bench_opts(myth_engine_opts *eo, const myth_model *m, uint32_t n_prompt, uint32_t n_gen,
                         uint32_t n_depth);

/* Parses "2,106,13" or "[2, 106]" to ids, booked as STAGING; the caller frees them with myth_free. MYTH_EARG: the
 * message has the offset of the first bad byte. */
myth_status myth_cli_ids(int32_t **ids, size_t *n_ids, myth_mem *mem, const char *text, myth_error *err);
/* Writes what tells this program from another build: version, commit, bytes and time of its file (0 where it cannot be
 * found). It belongs in the key of everything that is kept for later runs. */
void myth_cli_program(char *dst, size_t cap);
/* Reads a file, or stdin for "-", booked as STAGING; the caller frees it. MYTH_ELIMIT: it has more than max_bytes.
 * MYTH_ECANCEL: a signal ended the wait for stdin. */
myth_status myth_cli_read(unsigned char **out, size_t *len, myth_mem *mem, const char *path, uint64_t max_bytes,
                          myth_error *err);
/* The same of a path that a person has written: it may be a pipe, <(...) of a shell, or a device. A path that was found
 * is read by the other, which waits for nobody. */
myth_status myth_cli_read_given(unsigned char **out, size_t *len, myth_mem *mem, const char *path, uint64_t max_bytes,
                                myth_error *err);
bool myth_cli_is_stream(const char *path); /* "-", a pipe or a device: it may not have the same bytes a second time */
/* Ends the run after so many seconds as SIGTERM does, if no signal came before; 0 = never. */
void myth_cli_end_after(uint32_t seconds);
/* Gives myth_cli_read the flag that signals set, since it has no myth_cli. The pointer must live until the end. */
void myth_cli_watch(const myth_cancel *flag);
/* Says that all that a command prints and writes for its caller is out, and the code that it will end with: a signal
 * that ends the process later, because its log or its cache takes long, ends it with this code. Before: interrupted. */
void myth_cli_is_told(int code);
int myth_cli_told(void); /* may be called from the handler of a signal */

#ifdef __cplusplus
}
#endif
#endif
