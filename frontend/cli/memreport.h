/* memreport.h - the report of --mem-report: planned and used bytes of each memory class, and the peak of the process's
 * resident anonymous memory.
 *
 * Peak     a thread reads the resident anonymous bytes from /proc/self/statm every 2 ms between start and stop; a
 *          shorter peak can be missed
 * Threads  call start and stop from the same thread */
#ifndef MYTH_MEMREPORT_H
#define MYTH_MEMREPORT_H

#include "cli.h"
#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    pthread_t thread;
    pthread_mutex_t lock;
    bool is_running, wants_stop;
    uint64_t peak_bytes;
} myth_rss_watch;

void myth_rss_start(myth_rss_watch *w);
/* The largest value that was sampled; 0 where the system has no such file. */
uint64_t myth_rss_stop(myth_rss_watch *w);
/* Resident anonymous bytes now; 0 = unknown. */
uint64_t myth_rss_anon(void);
/* Writes the keys "limit_bytes", "planned_bytes", "used_bytes", "peak_bytes" and "classes" of a ledger into the object
 * that is open. planned: NULL = there is no plan. */
void myth_memreport_device(myth_json_out *j, const myth_mem *mem, const myth_plan_device *planned, int ledger);
/* Writes the run's plan by sequence and by layer, the keys "sequences":{"n","n_ctx","kv_bytes"}, of each,
 * "layers":[{"layer","device","weights_bytes","in_place_bytes","kv_bytes"}] and "rest":{...}, what belongs to no layer,
 * into the object that is open; nothing for a command without a plan. */
void myth_memreport_layers(myth_json_out *j, const myth_cli *cli);
/* Writes {"schema":1,"limit_bytes","fits","classes":{name:{"planned","peak","live"}},"peak_bytes",
 * "rss_anon_peak_bytes","unbooked_bytes","devices","sequences","layers","rest"}. "unbooked_bytes" is what was
 * resident at the peak beyond all that was booked, where every page of that was (--mem-mode reserve): stacks,
 * libraries, what the C library keeps; else null. "limit_bytes" is that of the host, null where none was given.
 * "planned" is null, and "fits" is left out, for a command without a plan; "fits" is false for a run that was
 * refused for it. */
myth_status myth_memreport_write(const char *path, const myth_cli *cli, uint64_t rss_peak, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
