/* nearby.h - answers requests for context beside one file, without an index: files below its folder and below the
 * current one.
 *
 * Request  "path::symbol": path is tried as it is, then from the folder of the inspected file, then as the name of a
 *          file there without its suffix ("config::KEY"). symbol is a definition, "Type.method" or "name"; else the
 *          first lines that hold it as a word
 * Border   no absolute path, no "..", nothing that a link leads out of both folders
 * Unknown  the nearest names of the file, or of files in the folder
 * Memory   of its own ledger: a run's plan does not change with what was looked up (the material is in the run's)
 * Errors   MYTH_ENOMEM */
#ifndef MYTH_INSPECT_NEARBY_H
#define MYTH_INSPECT_NEARBY_H

#include "material.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_NEARBY_MATCHES = 4, MYTH_NEARBY_AROUND = 6 }; /* definitions of a name; lines on each side of a word */

typedef struct myth_nearby myth_nearby;

/* path: the inspected file ("-" = none, the current folder alone). worker_path as myth_chunker_open; both are copied.
 */
myth_status myth_nearby_open(myth_nearby **out, const char *path, const char *worker_path, myth_error *err);
void myth_nearby_close(myth_nearby *n); /* takes NULL */
/* As opts.on_context of inspect.h. The material's paths are as given. */
uint32_t myth_nearby_context(myth_nearby *n, const char *request, myth_material *m, uint32_t of, char *near,
                             size_t near_cap);

#ifdef __cplusplus
}
#endif
#endif
