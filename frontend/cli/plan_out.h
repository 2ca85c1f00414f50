/* plan_out.h - prints plans: for `plan` and `info`, and for the message of a command whose plan does not fit. */
#ifndef MYTH_PLAN_OUT_H
#define MYTH_PLAN_OUT_H

#include "json_out.h"
#include "cli.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_SUGGESTION_TEXT = 128 };

/* Writes a suggestion as flags: "-ub 64 -c 2048". */
void myth_suggestion_print(char *dst, size_t cap, const myth_suggestion *s);
/* Writes "needs 1.2 GiB, limit 1.0 GiB; fits with: -ub 128, -c 2048": as many suggestions as fit whole, since half of
 * one is another one, and `more` at the end where that is not all of them. */
void myth_plan_refusal_print(char *dst, size_t cap, const myth_plan *p, const char *more);
/* {"schema":1,"fits","total_bytes","classes":{name:bytes},"devices":[{"device","limit","classes"}],
 * "suggestions":[{"change","total_bytes"}],...} */
void myth_plan_print_json(myth_json_out *j, const myth_plan *p);
/* The same with the object left open, for more keys. */
void myth_plan_begin_json(myth_json_out *j, const myth_plan *p);
void myth_plan_print_text(FILE *f, const myth_plan *p);

/* One line in the table of plans. */
typedef struct {
    const char *model, *type;
    uint32_t n_ctx;
    const myth_plan *plan;
    const char *refused;  /* why no plan could be made; NULL = plan is set */
    uint64_t table_bytes; /* per-layer embeddings that stay in the file or on the host, not in the plan; 0 = none */
} myth_plan_row;

/* {"model","type","n_ctx","n_ubatch","weights_bytes","kv_global_bytes","kv_ring_bytes","scratch_bytes","total_bytes",
 * "ple_table_bytes","classes"};
 * "scratch_bytes" is everything except weights, keys and values; the total is the sum of the four. Without a plan:
 * {"model","type","n_ctx","refused"}. */
void myth_plan_row_print_json(myth_json_out *j, const myth_plan_row *r);
/* r NULL prints the table's heading. */
void myth_plan_row_print_text(FILE *f, const myth_plan_row *r);

#ifdef __cplusplus
}
#endif
#endif
