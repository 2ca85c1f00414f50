/* texts.h - texts to embed, one after the other: a whole file, lines of a stream of any length, or the files of a list.
 *
 * Whole    one text
 * Lines    each a JSON string, or an object with "text" and, given back, "id" (a string or a number); blank lines are
 *          no texts
 * Files    a path a line; each file is a text, its path the id
 * Prompt   stands before every text
 * Memory   one text and, of lines, its line: taken at open for the longest, which a first pass finds. A stream that
 *          cannot be read twice has lines of at most `line_bytes`. Class STAGING
 * Owner    a text is lent until the next; its id until close for files, else until the next
 * Errors   MYTH_EFORMAT with the line's number; MYTH_ELIMIT a longer line than was said, or a file that grew */
#ifndef MYTH_TEXTS_H
#define MYTH_TEXTS_H

#include "frontend/cli/cli.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { MYTH_TEXTS_WHOLE, MYTH_TEXTS_LINES, MYTH_TEXTS_FILES } myth_texts_kind;

typedef struct {
    const char *text, *id; /* text: prompt and text; id: NULL = none */
    size_t n_text, n_id;
    bool is_path; /* the id is a path; else JSON as it stands in the line */
} myth_texts_item;

typedef struct {
    myth_cli *cli;
    myth_texts_kind kind;
    const char *path, *prompt;
    size_t n_prompt;
    int fd;
    unsigned char *buffer; /* of lines; of whole the text, of files the list */
    size_t cap, from, to;
    bool is_end, is_measured;
    char *plain;                   /* prompt and text */
    size_t longest;                /* bytes of a text without its prompt */
    uint64_t line_no, done, total; /* bytes; total 0 = not known */
} myth_texts;

myth_status myth_texts_open(myth_texts *out, myth_cli *cli, myth_texts_kind kind, const char *path, const char *prompt,
                            size_t line_bytes, myth_error *err);
void myth_texts_close(myth_texts *t); /* takes a zeroed one */
/* Bytes of the longest text with its prompt. */
size_t myth_texts_bound(const myth_texts *t);
/* *has is false behind the last. */
myth_status myth_texts_next(myth_texts *t, myth_texts_item *out, bool *has, myth_error *err);
/* From the first text again: of a whole file, or of a list. */
void myth_texts_rewind(myth_texts *t);
/* Lets the ledger see what reading and encoding take later beside what is taken now, so that a plan has it. */
myth_status myth_texts_see(const myth_texts *t, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
