/* files.h - what tests of readers share: a folder that goes away, growing bytes, and the question "is this file
 * refused?".
 *
 * Failure  asserts through cmocka
 * Rules    a refused file has the documented status, a message of one line, at most 64 MiB booked, nothing left live,
 *          and (without sanitizers) at most 1 s of processor time */
#ifndef MYTH_TESTS_FILES_H
#define MYTH_TESTS_FILES_H

#include "check.h"
#include "engine/model/weights.h"

/* A folder of its own for this program, removed at exit. */
const char *files_dir(void);
/* `name` inside files_dir; four calls may be in use at a time. */
const char *files_path(const char *name);
void files_mkdir(const char *name);
void files_put(const char *name, const void *data, size_t len);
void files_text(const char *name, const char *text);
/* Makes the directories on the way. */
void files_put_deep(const char *name, const void *data, size_t len);
/* The file's first `len` bytes are data, the rest up to `size` a hole. */
void files_sparse(const char *name, const void *data, size_t len, uint64_t size);
/* Removes everything inside a folder of files_dir. */
void files_clear(const char *name);
/* From here on git reads no settings of the user or the system. */
void files_git_alone(void);

typedef struct {
    unsigned char *data;
    size_t len, cap;
} bytes;

void bytes_put(bytes *b, const void *src, size_t n);
void bytes_text(bytes *b, const char *text);  /* without its NUL */
void bytes_uint(bytes *b, uint64_t v, int n); /* little endian, n bytes */
void bytes_free(bytes *b);
/* text with the first `from` replaced by `to`; asserts that it is there. */
char *text_replace(const char *text, const char *from, const char *to);

/* Opens spec at level and reads its config. Returns the status; checks the rules above; err may be NULL. */
myth_status files_try(const char *what, const char *spec, myth_weights_level level, myth_error *err);
void files_expect(const char *what, const char *spec, myth_weights_level level, myth_status wanted);

#endif
