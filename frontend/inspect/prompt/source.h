/* source.h - the bytes of a file, cut into lines, and the JSON spelling that evidence from it has in an answer.
 *
 * Lines    end at "\n" or "\r\n" (the terminator is not part of the line); a last line without one counts; numbers
 *          start at 1
 * Trimmed  without space, tab, CR, VT, FF at both ends; a line that is empty then is blank
 * Spelling each byte that is not part of valid UTF-8 becomes U+FFFD; then JSON with one spelling for each character:
 *          \" \\ \n \t \r, \u00xx (lower case) for the other bytes below 0x20, everything else raw. Only trimmed lines
 *          are kept in this form (text)
 * Units    offsets and lengths in bytes; line indices from 0
 * Owner    the caller keeps path and bytes alive until close
 * Errors   MYTH_ELIMIT: more than MYTH_SOURCE_MAX bytes; MYTH_ENOMEM
 * Threads  read-only after open: any */
#ifndef MYTH_INSPECT_SOURCE_H
#define MYTH_INSPECT_SOURCE_H

#include "engine/base/mem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* MYTH_SOURCE_MAX: largest file that is inspected. MYTH_EVIDENCE_MIN: shorter evidence does not identify a place. */
enum { MYTH_SOURCE_MAX = 4 << 20, MYTH_EVIDENCE_MIN = 8 };

typedef struct {
    uint32_t off, len;       /* in bytes                                                                       */
    uint32_t text, text_len; /* in text: the trimmed line; text_len 0 = blank                                  */
    uint32_t n_start;        /* evidence of MYTH_EVIDENCE_MIN bytes may start in text[0 .. n_start)             */
    uint32_t next;           /* index of the first line from here on that is not blank; n_line when none       */
} myth_line;

/* Lines that a change removed before line `before` of a file; n_line + 1 of the file: at its end. With a path they are
 * of another file, which the change deleted, and are only shown there. Which lines hold code, and not only comments and
 * blanks, a material finds (material.h); where it is not known, each counts as code. */
typedef struct {
    uint32_t before, n_line;
    const char *text; /* each line ends with "\n" */
    size_t len;
    const char *path;     /* NULL = the file's own */
    const bool *has_code; /* [n_line]; NULL = not known */
    size_t n_code;        /* bytes of the lines with code, if that is known */
} myth_removed;

/* Lines first .. last of a file that a change added. */
typedef struct {
    uint32_t first, last;
} myth_added;

typedef struct {
    const char *path; /* as given */
    const unsigned char *bytes;
    uint32_t len;
    char *path_text; /* path in the spelling above */
    uint32_t path_len;
    myth_line *line;
    uint32_t n_line;
    char *text;
    uint32_t text_len;
    const myth_removed *removed; /* [n_removed] its own in order, then those of other files; the caller's */
    uint32_t n_removed;
    const myth_added *added; /* [n_added] in order; the caller's */
    uint32_t n_added;
    bool is_test; /* a test, which the run met beside other files and was not asked for */
    myth_mem *mem;
} myth_source;

/* The bytes that open books (class STAGING); depends only on the arguments. */
uint64_t myth_source_plan(const char *path, const unsigned char *bytes, size_t len);
myth_status myth_source_open(myth_source *out, myth_mem *mem, const char *path, const unsigned char *bytes, size_t len,
                             myth_error *err);
void myth_source_close(myth_source *s); /* takes a zeroed source */

/* Writes src in the spelling above: at most cap bytes. Returns the bytes that all of it needs. */
size_t myth_spell(char *dst, size_t cap, const void *src, size_t len);
/* Writes src with U+FFFD for each byte that is not part of valid UTF-8, and nothing else changed; cap and result as
 * above. */
size_t myth_spell_lossy(char *dst, size_t cap, const void *src, size_t len);
/* Offset and length of the trimmed line in s->bytes. */
void myth_line_trim(const myth_source *s, uint32_t idx, uint32_t *off, uint32_t *len);

#ifdef __cplusplus
}
#endif
#endif
