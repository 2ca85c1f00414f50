/* plan_out.h - a plan, printed: by plan and info, and by a command that was refused. */
#ifndef MYTH_PLAN_OUT_H
#define MYTH_PLAN_OUT_H

#include "json_out.h"
#include "main.h"

#ifdef __cplusplus
extern "C" {
#endif

/* {"fits","total_bytes","classes":{name:bytes},"devices":[{"device","limit","classes"}],"suggestions":[{"change","total_bytes"}],...} */
void myth_plan_print_json(myth_json_out *j, const myth_plan *p);
void myth_plan_print_text(FILE *f, const myth_plan *p);

#ifdef __cplusplus
}
#endif
#endif
