/* rig.h - what the engine's tests share: the tiny models with transformers' answers, an opened engine, rows kept from a
 * forward.
 *
 * Failure  everything here asserts through cmocka; a test that reaches its next line has what it asked for
 * Owner    rig_close checks that the ledger is empty                                                                 */
#ifndef MYTH_TESTS_RIG_H
#define MYTH_TESTS_RIG_H

#include "check.h"
#include "engine/engine.h"

/* ---- goldens (tests/golden/make_models.py) ---- */

typedef struct {
    char name[64], path[1024];
    uint32_t n_tok, n_layer, d_model, n_vocab;
    int32_t *ids;
    float *logits;   /* [n_tok, n_vocab]              */
    float *residual; /* [n_layer + 1, n_tok, d_model] */
} golden;

enum { GOLDEN_MAX = 64 };
/* Names of the directories in tests/golden/models, sorted. */
uint32_t golden_list(char name[GOLDEN_MAX][64]);
/* Whether the i-th of n is run: all are, unless MYTHOS_TEST_GOLDENS says how many, chosen by the seed; then half of
 * them where the counts are full. */
bool golden_is_kept(uint32_t i, uint32_t n);
void golden_load(golden *g, const char *name);
void golden_free(golden *g);

/* ---- an engine ---- */

typedef struct {
    myth_mem *mem;
    myth_model model;
    myth_engine *engine;
} rig;

void rig_open(rig *r, const char *spec, const myth_engine_opts *opts);
void rig_close(rig *r);
myth_seq *rig_seq(rig *r);
/* n ids of the model's vocabulary, drawn from *rng. */
void rig_random_ids(int32_t *ids, uint32_t n, const rig *r, uint64_t *rng);
/* The CPU levels this machine has, slowest first; prints the names of those it lacks. */
uint32_t rig_levels(const char *level[8]);

/* Where tests run: "exact" and the levels on the CPU, "vulkan:0 exact" and "vulkan:0" elsewhere. MYTHOS_TEST_DEVICES
 * names the devices to test, parted by commas ("cpu" for the CPU's); unset = all that are there. At least one: a device
 * named and absent fails. */
enum { RIG_TARGET_MAX = 24 };
uint32_t rig_targets(const char *target[RIG_TARGET_MAX]);
bool rig_is_exact(const char *target);
const char *rig_target(void); /* the first: exact */
/* Names of the devices alone: "cpu", "vulkan:0". */
uint32_t rig_devices(char name[RIG_TARGET_MAX][32]);
uint32_t rig_devices_beside_cpu(char name[RIG_TARGET_MAX][32]); /* those that have memory of their own */
/* Fills what is unset from the environment, as the command does (frontend/cli/environment.h): MYTHOS_CPU, MYTHOS_TRACE
 * and the like. rig_at and rig_open do it too. */
void rig_environment(myth_engine_opts *o);
/* Sets device, cpu_level and is_exact. */
void rig_at(myth_engine_opts *o, const char *target);

/* ---- rows of a forward ---- */

typedef struct {
    uint32_t n_tok, n_vocab, n_layer, d_model;
    uint32_t base;               /* added to tok_idx of the callbacks */
    float *logits;               /* [n_tok, n_vocab]; NULL = not kept */
    float *hidden;               /* [n_layer + 1, n_tok, d_model]     */
    uint32_t n_logits, n_hidden; /* rows handed over                  */
} rows;

void rows_open(rows *w, const rig *r, uint32_t n_tok, bool keep_hidden);
void rows_close(rows *w);
void rows_clear(rows *w); /* every value NaN, counts 0 */
void rows_on_logits(void *user, uint32_t tok_idx, const float *row, uint32_t n_vocab);
void rows_on_hidden(void *user, uint32_t tok_idx, uint32_t layer, const float *row, uint32_t d_model);

/* A batch told token by token, as tests like it: tokens that stand beside each other, of one sequence and of one kind,
 * are one run; an ephemeral one also ends where run_end is 1. The rest is myth_batch's. */
typedef struct {
    uint32_t n_tok;
    const int32_t *token;
    myth_seq *const *seq;
    const uint8_t *want, *is_ephemeral, *run_end; /* per token; NULL = 0 */
    bool is_decode;
    uint32_t top_k;
    const int32_t *capture_label;
    const int32_t *mask_idx;
    const uint32_t *masks;
    uint32_t n_masks;
    const int32_t *bias_off, *bias_id;
    const float *bias;
    const int32_t *ask_id;
    uint32_t n_ask;
    void (*on_full_logits)(void *user, uint32_t tok_idx, const float *row, uint32_t n_vocab);
    void (*on_hidden)(void *user, uint32_t tok_idx, uint32_t layer, const float *row, uint32_t d_model);
    void *user;
    const myth_cancel *cancel;
} rig_tokens;
myth_status rig_forward(myth_engine *e, const rig_tokens *t, myth_result *out, myth_error *err);
uint32_t rig_capture_at(int32_t *dst, const rig_tokens *t, int32_t i, const int32_t *run_label);
uint32_t rig_capture_every(int32_t *dst, const rig_tokens *t, const int32_t *run_label);

/* Appends n tokens to s in forwards of `chunk` tokens (0 = all at once), keeping all rows in w from w->base on; w may
 * be NULL. */
void rig_feed(rig *r, myth_seq *s, const int32_t *ids, uint32_t n, uint32_t chunk, rows *w);
/* One token by the decode path; its logits in row w->base. */
void rig_decode(rig *r, myth_seq *s, int32_t id, rows *w);

/* max |a - b| / max |b| */
float share_apart(const float *a, const float *b, size_t n);
void assert_same_bits(const float *a, const float *b, size_t n, const char *what);

#define assert_ok(expr) assert_ok_(expr, #expr, &rig_err, __FILE__, __LINE__)
extern myth_error rig_err; /* pass &rig_err to the calls inside assert_ok */
void assert_ok_(myth_status st, const char *expr, const myth_error *err, const char *file, int line);

#endif
