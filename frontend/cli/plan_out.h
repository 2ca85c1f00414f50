/* plan_out.h - a plan, printed: by plan and info, and by a command that was refused. */
#ifndef MYTH_PLAN_OUT_H
#define MYTH_PLAN_OUT_H

#include "json_out.h"
#include "cli.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_SUGGESTION_TEXT = 128 };

/* A suggestion as flags of the command: "-ub 64 -c 2048". */
void myth_suggestion_print(char *dst, size_t cap, const myth_suggestion *s);
/* "needs 1.2 GiB, limit 1.0 GiB; fits with: -ub 128, -c 2048" */
void myth_plan_refusal_print(char *dst, size_t cap, const myth_plan *p);
/* {"fits","total_bytes","classes":{name:bytes},"devices":[{"device","limit","classes"}],"suggestions":[{"change","total_bytes"}],...}
 */
void myth_plan_print_json(myth_json_out *j, const myth_plan *p);
void myth_plan_print_text(FILE *f, const myth_plan *p);

/* A line of a table of plans. */
typedef struct {
    const char *model, *type;
    uint32_t n_ctx;
    const myth_plan *plan;
    const char *refused;  /* why there is no plan; NULL = there is */
    uint64_t table_bytes; /* per-layer embeddings that stay in the file or on the host, beside the plan; 0 = none */
} myth_plan_row;

/* {"model","type","n_ctx","n_ubatch","weights_bytes","kv_global_bytes","kv_ring_bytes","scratch_bytes","total_bytes","ple_table_bytes","classes"};
 * scratch is what is neither weights nor keys and values, the total the sum of the four. Without a plan
 * {"model","type","n_ctx","refused"}. */
void myth_plan_row_print_json(myth_json_out *j, const myth_plan_row *r);
/* NULL prints the line above the first. */
void myth_plan_row_print_text(FILE *f, const myth_plan_row *r);

#ifdef __cplusplus
}
#endif
#endif
