/* shown.h - a file of the directory as a tool may show it: only when the scan includes it, with its secrets replaced.
 *
 * Rules     a file is shown when the scan has it: a path that is ignored, hidden, binary, too large, a link, or below
 *           another repository is refused with the reason that mythos scan --explain gives
 * Secrets   are found in the whole file, so that a line of a key is hidden though the line alone looks like nothing
 * Text      UTF-16 with a mark is converted to UTF-8
 * Large     of a file with more than MYTH_SOURCE_MAX bytes the lines around the wanted one are opened
 * Owner     the caller closes it; it keeps the last file open, for tools that show several places of one file
 * Errors    MYTH_EARG the scan leaves the file out; MYTH_ENOTFOUND; MYTH_ELIMIT it has more than MYTH_SHOWN_BYTES,
 *           or is opened whole and has more than MYTH_SOURCE_MAX; MYTH_EIO; MYTH_ENOMEM
 * Threads   one */
#ifndef MYTH_SHOWN_H
#define MYTH_SHOWN_H

#include "frontend/inspect/secrets/redact.h"
#include "tools_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_SHOWN_BYTES = 64 << 20 }; /* no larger file is in the scan */

typedef struct {
    myth_tools *tools;
    char *path; /* NULL = no file */
    unsigned char *bytes;
    myth_source src;
    myth_redactor redactor;
    uint32_t n_line, lines_before; /* of the whole file; those before the part that src has */
    bool is_converted;             /* from UTF-16: offsets are not those of the file */
} myth_shown;

void myth_shown_start(myth_shown *s, myth_tools *t);
void myth_shown_close(myth_shown *s);

/* Opens a file that a tool's caller named, after asking the scan. path: as myth_tools_path writes it, or as answers
 * show a path that is no UTF-8, if no other file is shown so. s->path: that of the file. */
myth_status myth_shown_open(myth_shown *s, const char *path, myth_error *err);
/* The same, of a large file the part with line `line`, from 1: line - s->lines_before of s->src, if it has so many. */
myth_status myth_shown_open_at(myth_shown *s, const char *path, uint32_t line, myth_error *err);
/* Opens a file that the retriever listed. Nothing is done when it is open already. */
myth_status myth_shown_open_listed(myth_shown *s, const char *path, myth_error *err);

/* Writes bytes off .. off + len of the open file as one string. */
void myth_shown_put(const myth_shown *s, myth_json_out *j, uint32_t off, uint32_t len);
/* Writes line `line`, from 1; "" when there is none. */
void myth_shown_put_line(const myth_shown *s, myth_json_out *j, uint32_t line);
/* Writes a text for which no file is known. */
void myth_shown_put_text(myth_json_out *j, const char *text, size_t n);

#ifdef __cplusplus
}
#endif
#endif
