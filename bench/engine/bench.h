/* bench.h - the parts of bench_engine: the options, the model on the device, a test of it, and a row of the table. The
 * head of bench_engine.c says what is measured, and how.
 *
 * Rows     every function prints a result as soon as it has it. A test that failed is a row with the reason
 * Errors   a failed test makes a row and sets bench.has_failed. When a function returns a failure, the model ends;
 *          MYTH_ELOST ends the run
 * Threads  one */
#ifndef MYTH_BENCH_ENGINE_BENCH_H
#define MYTH_BENCH_ENGINE_BENCH_H

#include "engine/base/clock.h"
#include "engine/run/run.h"

enum { LIST_MAX = 8, CELL_MAX = LIST_MAX * (LIST_MAX + 4), REPEAT_MAX = 32, PROMPT_COLD = 4, DESCRIPTION_MAX = 128 };

typedef struct {
    uint32_t v[LIST_MAX], n;
} list;

typedef enum { TEST_DECODE, TEST_PEER, TEST_PREFILL, TEST_RESTORE, TEST_TOPK } test_kind;

/* One test of a model. */
typedef struct {
    test_kind kind;
    uint32_t batch, depth; /* batch is the prompt's length in prefill, k in topk */
    uint32_t n_ctx;        /* the context that the test needs        */
    bool is_done;
} cell;

/* The options, and the limits of the machine. */
typedef struct {
    const char *device, *write_path;
    list depth, batch, prompt, k;
    uint32_t n_gen, n_repeat, n_ubatch;
    double budget;
    bool is_cold, is_quick, has_header, has_limits;
    char name[MYTH_DEVICE_NAME_MAX], description[DESCRIPTION_MAX];
    int ledger;
    myth_mem *mem; /* for the bench itself: prompts, saved sequences */
    double begin;
    double read_bytes, copy_bytes, upload_bytes, peak[MYTH_DTYPE_N]; /* per second; 0 = not known */
    double fill_bytes; /* bytes per second at which the models so far were loaded */
    bool has_failed;
    myth_device_opts dev; /* the device's name, and its settings from the environment */
} bench;

/* One model on the device. */
typedef struct {
    bench *b;
    char model_name[96], type_name[16];
    myth_dtype type;
    myth_mem *mem;
    myth_model model;
    myth_engine *e;
    uint32_t n_seq, n_ctx;
    double weight_bytes, head_bytes, params, head_params;
    int32_t *ids; /* [n_ctx] */
    myth_seq *seq[MYTH_RUN_SEQ_MAX];
    uint32_t n_open, depth; /* open sequences, and how many tokens they had at first */
    void *saved;
    uint64_t saved_bytes;
    uint64_t free_before, free_least;
} subject;

typedef struct {
    const char *test;
    uint32_t batch, depth;
    double tok_s, bytes, flops, limit_tok_s, ratio; /* 0 = empty */
} row;

/* ---- rows.c ---- */

const char *bench_test_name(test_kind kind);
/* Prints a row; fmt is its note. s NULL means that the row is about the machine. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void bench_put_row(const bench *b, const subject *s, const row *r, const char *fmt, ...);
/* Prints a row that says why a test has no figures. */
void bench_put_cell_note(const bench *b, const subject *s, const cell *c, const char *note);
/* Prints the seconds to the first token. is_fresh: they count from the start of the process. */
void bench_put_cold(const subject *s, const char *spec, double seconds, bool is_fresh);

/* ---- limits.c ---- */

/* Measures the machine into b->read_bytes, copy_bytes, upload_bytes and peak. */
myth_status bench_measure_limits(bench *b, myth_error *err);

/* ---- model.c ---- */

/* Opens model and engine for s->n_seq sequences of s->n_ctx tokens, and runs a short prompt, which together is all that
 * a first token takes. After a failure bench_close_engine closes what was opened. */
myth_status bench_open_engine(subject *s, const char *spec, myth_error *err);
void bench_close_engine(subject *s);
void bench_close_sequences(subject *s);
/* Sets the names that rows show, from the spec and the tensors. */
void bench_name_subject(subject *s, const char *spec);
myth_engine_opts bench_engine_opts(const bench *b, uint32_t n_seq, uint32_t n_ctx);
/* Feeds the first n of s->ids to one sequence; `more` has further fields of the batch. */
myth_status bench_feed(subject *s, myth_seq *q, uint32_t n, uint8_t want_last, bool is_decode, const myth_batch *more,
                       myth_result *out, myth_error *err);
uint64_t bench_free_bytes(const bench *b); /* free bytes of the device, as the driver reports them; 0 = it does not */
void bench_look_at_memory(subject *s);     /* remembers the smallest number of free bytes */
void bench_put_memory(const subject *s);

/* ---- tests.c ---- */

/* Runs a test and prints its row. is_saved: keeps the sequence for a larger batch of the same depth. */
myth_status bench_run_cell(subject *s, const cell *c, bool is_saved, myth_error *err);

/* ---- cells.c ---- */

/* Runs all tests of a model, within the budget. Only MYTH_ELOST ends the run. */
myth_status bench_run_model(bench *b, const char *spec);

#endif
