/* lines.h - reads a file or a stream line by line, in the memory of its longest line.
 *
 * Regular  a file is read once at open to find its longest line, its size and the hash of its bytes. Those bytes are
 *          the file from then on: what is added to it later is not read
 * Changes  a measured file that is written over gives an error, not other lines: next fails no later than with the last
 *          of its bytes, whose hash is then another. A caller that keeps what it made of lines before that asks check
 *          first. Another file that takes its name is no change
 * Streams  standard input, a pipe: either copied to an unnamed file first (is_copied), and then as a regular file, or
 *          read as it comes, with lines of at most stream_bytes
 * Mark     the byte order mark that a file may begin with is no part of its first line
 * Memory   one buffer, class STAGING: the longest line and 64 KiB
 * Owner    a line is valid until the next one is read; path is lent until close
 * Errors   MYTH_ENOTFOUND, MYTH_EIO, MYTH_ENOMEM; MYTH_ECANCEL: a signal ended the wait for input; MYTH_ELIMIT: of a
 *          stream, a line longer than stream_bytes: it is passed over, and the next call gives the line behind it; of a
 *          file, that it changed
 * Threads  one */
#ifndef MYTH_LINES_H
#define MYTH_LINES_H

#include "frontend/cli/cli.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_LINES_STAMP = 4 };

typedef struct {
    myth_cli *cli; /* NULL = closed */
    const char *path;
    int fd;
    int64_t start; /* offset of the first byte in fd */
    unsigned char *buffer;
    size_t cap, from, to, longest;         /* longest: bytes that a line may have */
    bool is_end, is_measured, passes_over; /* passes_over: the rest of a line that was too long */
    bool is_changed, has_grown;            /* since it was measured; grown: it was said */
    uint64_t line_no, done, total;         /* of the last line, from 1; bytes read, and of all lines, 0 = not known */
    unsigned char hash[16];                /* XXH3 of all bytes; zeros when it is not measured */
    uint64_t got;                          /* bytes that came into the buffer */
    struct XXH3_state_s *sum;              /* of them; NULL = a stream, or the copy of one, which nobody can change */
    int64_t stamp[MYTH_LINES_STAMP];       /* the file's size and times when its bytes were those of `hash` */
    int put_fd;                            /* the file of myth_lines_put; 0 = none */
} myth_lines;

typedef struct {
    size_t stream_bytes;
    bool is_copied;
} myth_lines_opts;

/* path "-" = standard input. Closed after a failure. */
myth_status myth_lines_open(myth_lines *out, myth_cli *cli, const char *path, const myth_lines_opts *opts,
                            myth_error *err);
void myth_lines_close(myth_lines *l); /* takes a zeroed one */
/* The next line that is not blank, without its newline; *line is NULL after the last. */
myth_status myth_lines_next(myth_lines *l, const char **line, size_t *n, myth_error *err);
/* Waits for at most `ms` for input, and keeps what comes. *is_there: the next call of next does not wait. MYTH_ECANCEL:
 * a signal ended the wait, or was there before. */
myth_status myth_lines_await(myth_lines *l, int ms, bool *is_there, myth_error *err);
/* Gives back the buffer of a stream; what was read and not asked for is written to a file without a name. Take: the
 * buffer and its bytes again, before the next line is asked for. Errors of take: MYTH_ENOMEM, and it may be tried
 * again. */
myth_status myth_lines_put(myth_lines *l, myth_error *err);
myth_status myth_lines_take(myth_lines *l, myth_error *err);
/* Begins again from the first line. Only where is_measured. */
myth_status myth_lines_rewind(myth_lines *l, myth_error *err);
/* Whether the lines so far are those that were measured: before what was made of them is kept. It asks for the size and
 * the times of the file, and reads it again only where these are others. MYTH_ELIMIT: it changed. Takes a zeroed one.
 */
myth_status myth_lines_check(myth_lines *l, myth_error *err);
/* Fails as check does: the caller has seen a line that the first reading cannot have had. */
myth_status myth_lines_changed(myth_lines *l, myth_error *err);
/* Fails with "PATH: line N: what" about the last line. */
myth_status myth_lines_fail(const myth_lines *l, myth_status code, const char *what, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
