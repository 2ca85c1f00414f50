/* texts.h - reads texts to embed, one after the other: a whole file, the lines of a stream, or the files of a list.
 *
 * Whole    the file is one text
 * Lines    each line is a JSON string, or an object with "text" and optionally "id" (a string or a number; null
 *          is none), which is written back with the vector; blank lines are skipped
 * Files    each line is a path; the file is a text and its path the id. All are read at open, for the hash of their
 *          bytes, and again one by one
 * Prompt   is put in front of every text
 * Faults   a line that is no text (not JSON, not UTF-8, no "text", too long), and a file that was there at open and
 *          cannot be read, are items like the others: `fault` says why there is no text. They never end the reading
 * Memory   room for the longest text and its line, allocated at open; a first pass over the input finds the longest. A
 *          stream that cannot be read twice may have lines of at most `line_bytes`. Class STAGING
 * Owner    a text is valid until the next one is read; an id until close for files, else as long as its text
 * Errors   open: MYTH_ENOTFOUND, MYTH_ELIMIT: a path of the list, with its line, that is no file or too large a one.
 *          MYTH_EIO; MYTH_ELIMIT: a file, of lines or of the list, changed after the first pass
 * Threads  one */
#ifndef MYTH_TEXTS_H
#define MYTH_TEXTS_H

#include "lines.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { MYTH_TEXTS_WHOLE, MYTH_TEXTS_LINES, MYTH_TEXTS_FILES } myth_texts_kind;

enum { MYTH_TEXT_FAULT_BYTES = 240 };

typedef struct {
    const char *text, *id; /* text: the prompt followed by the text, NULL: a fault; id: NULL = none */
    size_t n_text, n_id;
    bool is_path;                      /* the id is a path; else it is the JSON value of the line, unchanged */
    char fault[MYTH_TEXT_FAULT_BYTES]; /* "line 7: why"; "" = none */
} myth_texts_item;

typedef struct {
    myth_cli *cli;
    myth_texts_kind kind;
    const char *path, *prompt;
    size_t n_prompt;
    myth_lines lines;      /* LINES */
    unsigned char *buffer; /* WHOLE: the text; FILES: the list */
    size_t from, to;
    uint64_t *file_hash; /* FILES: of each file's bytes when it was seen at open; 0 = it could not be read */
    size_t n_file;       /* files that were seen, then read */
    bool is_end;
    char *plain;                   /* the prompt followed by the current text */
    size_t longest;                /* bytes of the longest text, without the prompt */
    uint64_t hash;                 /* FILES: of names and bytes; WHOLE: of the text; LINES: see lines.hash */
    uint64_t line_no, done, total; /* done and total in bytes; total 0 = not known */
} myth_texts;

myth_status myth_texts_open(myth_texts *out, myth_cli *cli, myth_texts_kind kind, const char *path, const char *prompt,
                            size_t line_bytes, myth_error *err);
void myth_texts_close(myth_texts *t); /* takes a zeroed one */
/* Bytes of the longest text, with the prompt. */
size_t myth_texts_bound(const myth_texts *t);
/* Reads the next text; *has is false after the last. */
myth_status myth_texts_next(myth_texts *t, myth_texts_item *out, bool *has, myth_error *err);
/* Starts again from the first text. Not for LINES. */
void myth_texts_rewind(myth_texts *t);
/* Allocates and frees what reading and encoding will need later, so that the ledger's peak, and with it the plan, has
 * those bytes. */
myth_status myth_texts_see(const myth_texts *t, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
