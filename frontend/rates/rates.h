/* rates.h - how fast a model runs on a machine, as measured, and how long work takes at that rate.
 *
 * Kept     every inspection, generate, embed and bench adds what it measured to one file of this user,
 *          $XDG_STATE_HOME/mythos/rates.csv, else ~/.local/state/mythos/rates.csv. A row belongs to one machine
 *          (device, threads, CPU level), one setup (flags that change the speed), one shape of model and one type of
 *          weights: the values of weights do not change the speed, so a fine-tuned model has the rates of its base
 * Named    a file of bench/results by its name, or any file of that form or of the kept form by its path: rates of
 *          another machine. In the kept form the setup must be the same, and of several machines the last one counts.
 *          Rows without a setup are of no flags that change it, and say nothing of a setup that has some.
 *          machines.csv beside them says how much memory devices have that are not here
 * Depth    a rate is of tokens at a position in the sequence, since attention grows with it. Between two measured
 *          depths the seconds of a token are interpolated, outside of them the nearest is taken
 * Bounds   MYTH_RATES_ROWS rows, the least recently measured go first; MYTH_RATES_BYTES a file. A row's weight is at
 *          most MYTH_RATES_WEIGHT tokens, so that new measurements count
 * Damage   a row that cannot be read is skipped, and gone after the next update. A file that is too long or no regular
 *          file is not read
 * Writers  several processes at once: a lock beside the file, waited for at most half a second, and an atomic rename
 * Units    tokens, seconds
 * Owner    plain data; nothing stays open
 * Memory   in a ledger of their own, at most 4 MiB of it
 * Errors   MYTH_ENOTFOUND no such name or no place; MYTH_EFORMAT no file of rates; those of reading and of outfile.h
 * Threads  any */
#ifndef MYTH_RATES_H
#define MYTH_RATES_H

#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MYTH_RATES_ROWS = 512,
    MYTH_RATES_BYTES = 256 << 10,
    MYTH_RATES_WEIGHT = 1 << 16,
    MYTH_RATES_FEW = 16, /* a kept rate of fewer tokens is joined with that of the next depth */
    MYTH_RATE_POINTS = 20
};

typedef enum { MYTH_PREFILL, MYTH_DECODE, MYTH_RATE_N } myth_rate_kind;

/* What rates belong to. */
typedef struct {
    char machine[160]; /* "AMD EPYC, 2 threads, avx512" */
    char setup[64];    /* "cpu", "cuda:0 -ngl 20" */
    char with[112];    /* the flags of the setup that change the speed, for people: "--head host"; "" = none */
    char model[64];    /* for people, except in named files without shapes */
    char type[16];     /* "q8_0" */
    char shape[17];    /* hash of the sizes of layers, as 16 hex digits */
} myth_rate_key;

typedef struct {
    uint32_t depth;
    double tok_s, n_tok; /* n_tok: measured tokens behind the rate, its weight; 1 where it is unknown */
} myth_rate_point;

typedef struct {
    myth_rate_point point[MYTH_RATE_N][MYTH_RATE_POINTS];
    uint32_t n_point[MYTH_RATE_N];
    double n_answer, answer_tokens; /* measured answers to prompts of inspections, and their tokens; 0 = none */
} myth_rates;

/* What one run measured. Zeroed at first; the depths are powers of two, depth 0 stands for less than 256. */
typedef struct {
    double n_tok[MYTH_RATE_N][MYTH_RATE_POINTS], seconds[MYTH_RATE_N][MYTH_RATE_POINTS];
    double n_answer, answer_tokens;
} myth_pace;

/* Adds n tokens from position `at` on, which took these seconds. */
void myth_pace_add(myth_pace *p, myth_rate_kind kind, uint32_t at, uint32_t n, double seconds);

/* The key of a model that runs with these options. machine: myth_engine_device of the open engine; NULL = what the
 * device would say, or the device's name when it is not here. mem books for the call. */
void myth_rates_key(myth_rate_key *out, myth_mem *mem, const myth_model *model, const myth_engine_opts *opts,
                    const char *machine);

/* The key of n answers at once, whose tokens are those of all together. From the key of one. */
void myth_rates_at_once_key(myth_rate_key *key, uint32_t n);

/* The key of the link between host memory and the options' device, which the models that use it have in common. Its
 * "tokens" are megabytes, copied in, of kind MYTH_DECODE at depth 0. From a key of the same machine. */
void myth_rates_link_key(myth_rate_key *key, const myth_engine_opts *opts);

/* The path of the kept file. MYTH_ENOTFOUND: neither XDG_STATE_HOME nor HOME is an absolute path. */
myth_status myth_rates_place(char *dst, size_t cap, myth_error *err);
/* The kept rates of the key; none of them when nothing was measured or the file cannot be read. */
void myth_rates_read(myth_rates *out, const char *path, const myth_rate_key *key);
/* Adds a run to the kept file. */
myth_status myth_rates_add(const char *path, const myth_rate_key *key, const myth_pace *pace, myth_error *err);

/* The rates of the key's model in a file by name or path, whatever machine its rows have. */
myth_status myth_rates_named(myth_rates *out, const char *name, const myth_rate_key *key, myth_error *err);
/* The bytes of memory that a kind of device ("cuda") has on a machine by its name; 0 = unknown. */
uint64_t myth_rates_memory(const char *name, const char *kind);

/* Whether both prefill and decode have a rate. */
bool myth_rates_are_known(const myth_rates *r);
/* Seconds of n tokens around a position; r must have a rate of the kind. */
double myth_rates_seconds(const myth_rates *r, myth_rate_kind kind, double depth, double n_tok);

#ifdef __cplusplus
}
#endif
#endif
