/* files.h - the files of a directory that a search looks into, as its flags name them.
 *
 * Owner    the caller closes the list by myth_scan_close; the flags are lent
 * Errors   MYTH_EARG a language that nobody knows; else those of myth_scan
 * Threads  one at a time */
#ifndef MYTH_SEARCH_FILES_H
#define MYTH_SEARCH_FILES_H

#include "frontend/cli/cli.h"
#include "retrieval/retrieval.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const myth_opt_list *glob, *type; /* of --glob, --type */
    bool hidden, no_ignore;
} myth_search_files;

/* Lists the files that the flags allow, without opening them. */
myth_status myth_search_files_list(myth_scan_list *list, myth_cli *cli, const myth_search_files *f, const char *dir,
                                   myth_error *err);
/* Says that the flags left no file, which is not the same as a file without a hit. */
void myth_search_files_note_none(const myth_cli *cli, const myth_search_files *f);

#ifdef __cplusplus
}
#endif
#endif
