/* nearby.h - answers a model's requests for context around one file, without an index: from files of its repository,
 * and outside of a repository from files below its folder (place.h).
 *
 * Request  "path::symbol". path is tried relative to the root, then to the inspected file's folder, then as the name of
 *          a file there without its suffix ("config::KEY"). symbol is a definition, "Type.method" or
 *          "name"; if there is none, the first lines that have it as a word
 * Names    the pieces' paths are relative to the root, without links: where the command runs changes nothing
 * Border   no absolute path, no "..", no link that leads out of the root, and nothing in a .git
 * Unknown  gives the most similar names in the file, or the most similar files in the folder
 * Memory   a ledger of its own, so that lookups do not change the run's plan (the material is in the run's ledger)
 * Errors   MYTH_ENOMEM
 * Threads  one */
#ifndef MYTH_INSPECT_NEARBY_H
#define MYTH_INSPECT_NEARBY_H

#include "material.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_NEARBY_MATCHES = 4, MYTH_NEARBY_AROUND = 6 }; /* definitions of a name; lines on each side of a word */

typedef struct myth_nearby myth_nearby;

/* root: that of the material; "" = the current folder, as for standard input. path: the inspected file, relative to the
 * root. worker_path: as in myth_chunker_open. All are copied. */
myth_status myth_nearby_open(myth_nearby **out, const char *root, const char *path, const char *worker_path,
                             myth_error *err);
void myth_nearby_close(myth_nearby *n); /* takes NULL */
/* From now on on_look gets the absolute path of everything that answers depend on, before it is read: files, whether
 * they are there or not, and folders, of which the names are read. */
void myth_nearby_watch(myth_nearby *n, void (*on_look)(void *user, const char *path, bool is_folder), void *user);
/* Answers a request, as on_context of myth_inspect_opts. */
uint32_t myth_nearby_context(myth_nearby *n, const char *request, myth_material *m, uint32_t of, char *near,
                             size_t near_cap);

#ifdef __cplusplus
}
#endif
#endif
