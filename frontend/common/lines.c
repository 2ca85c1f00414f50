/* lines.c - one buffer that holds the current line and what was read behind it. */
#include "lines.h"

#include "frontend/cli/tempdir.h"

#include "engine/base/mtime.h"
#include "engine/base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

enum { READ_BYTES = 1 << 16 };

static bool is_blank(const char *line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    return true;
}

myth_status myth_lines_fail(const myth_lines *l, myth_status code, const char *what, myth_error *err)
{
    return myth_fail(err, code, "%s: line %llu: %s", l->path, (unsigned long long)l->line_no, what);
}

myth_status myth_lines_changed(myth_lines *l, myth_error *err)
{
    l->is_changed = true;
    return myth_fail(err, MYTH_ELIMIT,
                     "%s: changed while it was read; put it back as it was, or begin anew with what it is now",
                     l->path);
}

static myth_status too_long(myth_lines *l, myth_error *err)
{
    return l->is_measured ? myth_lines_changed(l, err)
                          : myth_lines_fail(l, MYTH_ELIMIT, "longer than --line-bytes", err);
}

/* Reads what is there; *n is 0 at the end. */
static myth_status read_some(const myth_lines *l, unsigned char *dst, size_t cap, size_t *n, myth_error *err)
{
    for (;;) {
        const ssize_t k = read(l->fd, dst, cap);
        if (k >= 0) {
            *n = (size_t)k;
            return MYTH_OK;
        }
        if (errno != EINTR)
            return myth_fail(err, MYTH_EIO, "%s: %s", l->path, strerror(errno));
        if (myth_cancelled(l->cli->cancel))
            return myth_fail(err, MYTH_ECANCEL, "%s: interrupted while it was read", l->path);
    }
}

/* ---- what was measured ---- */

static void stamp_of(int64_t stamp[MYTH_LINES_STAMP], const struct stat *info)
{
    stamp[0] = info->st_size;
    stamp[1] = myth_mtime_ns(info);
    stamp[2] = info->st_ctim.tv_sec;
    stamp[3] = info->st_ctim.tv_nsec;
}

static void hash_of(unsigned char hash[16], const XXH3_state_t *sum)
{
    XXH128_canonical_t form;
    XXH128_canonicalFromHash(&form, XXH3_128bits_digest(sum));
    memcpy(hash, form.digest, sizeof(form.digest));
}

/* Whether bytes with this sum are those that were measured. */
static bool is_measured_sum(const myth_lines *l, const XXH3_state_t *sum)
{
    unsigned char hash[16];
    hash_of(hash, sum);
    return memcmp(hash, l->hash, sizeof(hash)) == 0;
}

/* Appends to the buffer what is there, at most up to where the file was measured; is_end: nothing was. */
static myth_status read_more(myth_lines *l, myth_error *err)
{
    const uint64_t left = l->is_measured ? l->total - l->got : UINT64_MAX;
    const size_t room = l->cap - l->to;
    size_t n = 0;
    const myth_status st = left ? read_some(l, l->buffer + l->to, room < left ? room : (size_t)left, &n, err) : MYTH_OK;
    if (st != MYTH_OK)
        return st;
    if (l->sum)
        XXH3_128bits_update(l->sum, l->buffer + l->to, n);
    l->is_end = n == 0;
    l->to += n;
    l->got += n;
    const bool is_all = l->is_end || l->got == l->total;
    return l->is_changed || (l->sum && is_all && !is_measured_sum(l, l->sum)) ? myth_lines_changed(l, err) : MYTH_OK;
}

/* The sum of the measured bytes as they are now. A signal does not end it: what was finished before is to be kept. */
static myth_status sum_again(const myth_lines *l, XXH3_state_t *sum, myth_error *err)
{
    unsigned char piece[READ_BYTES];
    ssize_t k = 1;
    XXH3_128bits_reset(sum);
    for (uint64_t at = 0; at < l->total && k;) {
        const uint64_t left = l->total - at;
        k = pread(l->fd, piece, left < sizeof(piece) ? (size_t)left : sizeof(piece), l->start + (int64_t)at);
        if (k < 0 && errno != EINTR)
            return myth_fail(err, MYTH_EIO, "%s: %s", l->path, strerror(errno));
        XXH3_128bits_update(sum, piece, k > 0 ? (size_t)k : 0);
        at += k > 0 ? (uint64_t)k : 0;
    }
    return MYTH_OK;
}

myth_status myth_lines_check(myth_lines *l, myth_error *err)
{
    struct stat info;
    int64_t now[MYTH_LINES_STAMP];
    if (!l->sum)
        return MYTH_OK;
    if (l->is_changed)
        return myth_lines_changed(l, err);
    if (fstat(l->fd, &info) != 0)
        return myth_fail(err, MYTH_EIO, "%s: %s", l->path, strerror(errno));
    stamp_of(now, &info);
    if (memcmp(now, l->stamp, sizeof(now)) == 0)
        return MYTH_OK;
    XXH3_state_t *sum = XXH3_createState();
    if (!sum)
        return myth_fail(err, MYTH_ENOMEM, "%s: out of memory to hash it", l->path);
    myth_status st = sum_again(l, sum, err);
    if (st == MYTH_OK && !is_measured_sum(l, sum))
        st = myth_lines_changed(l, err);
    XXH3_freeState(sum);
    if (st != MYTH_OK)
        return st;
    memcpy(l->stamp, now, sizeof(now));
    if (!l->has_grown && (uint64_t)(info.st_size - l->start) > l->total) {
        l->has_grown = true;
        myth_term_note(l->cli->term, "%s: has grown since the command began; what was added is not read", l->path);
    }
    return MYTH_OK;
}

/* ---- open ---- */

myth_status myth_lines_rewind(myth_lines *l, myth_error *err)
{
    l->from = l->to = 0;
    l->line_no = l->done = l->got = 0;
    l->is_end = l->passes_over = false;
    if (l->sum)
        XXH3_128bits_reset(l->sum);
    return lseek(l->fd, l->start, SEEK_SET) == l->start ? MYTH_OK
                                                        : myth_fail(err, MYTH_EIO, "%s: cannot be read again", l->path);
}

static myth_status measure(myth_lines *l, const struct stat *info, myth_error *err)
{
    unsigned char piece[READ_BYTES];
    size_t length = 0, k = 0;
    myth_status st = MYTH_OK;
    l->sum = XXH3_createState();
    if (!l->sum)
        return myth_fail(err, MYTH_ENOMEM, "%s: out of memory to hash it", l->path);
    XXH3_128bits_reset(l->sum);
    stamp_of(l->stamp, info);
    do {
        MYTH_TRY(read_some(l, piece, sizeof(piece), &k, err));
        XXH3_128bits_update(l->sum, piece, k);
        l->total += k;
        for (size_t i = 0; i < k; i++) {
            length = piece[i] == '\n' ? 0 : length + 1;
            l->longest = length > l->longest ? length : l->longest;
        }
        if (myth_cancelled(l->cli->cancel))
            MYTH_TRY(myth_fail(err, MYTH_ECANCEL, "%s: interrupted while it was measured", l->path));
    } while (k);
    hash_of(l->hash, l->sum);
    l->is_measured = true;
    st = myth_lines_rewind(l, err);
fail:
    return st;
}

static void forget_sum(myth_lines *l)
{
    XXH3_freeState(l->sum); /* takes NULL */
    l->sum = NULL;
}

/* Copies the stream to a file without a name, which takes its place. */
static myth_status copy(myth_lines *l, myth_error *err)
{
    unsigned char piece[READ_BYTES];
    char name[PATH_MAX];
    size_t k = 0;
    int fd = -1;
    myth_status st = myth_tempdir_file(&fd, name, "copy standard input to", err);
    if (st != MYTH_OK)
        return st;
    do {
        MYTH_TRY(read_some(l, piece, sizeof(piece), &k, err));
        if (!myth_out_write(fd, piece, k))
            MYTH_TRY(myth_fail(err, MYTH_EIO, "%s: cannot copy standard input: %s; set TMPDIR", name, strerror(errno)));
    } while (k);
    if (l->fd > STDIN_FILENO)
        close(l->fd);
    l->fd = fd;
    return lseek(fd, 0, SEEK_SET) == 0 ? MYTH_OK : myth_fail(err, MYTH_EIO, "%s: %s", name, strerror(errno));
fail:
    close(fd);
    return st;
}

myth_status myth_lines_open(myth_lines *out, myth_cli *cli, const char *path, const myth_lines_opts *opts,
                            myth_error *err)
{
    struct stat info;
    myth_status st = MYTH_OK;
    *out = (myth_lines){.cli = cli, .path = path, .fd = STDIN_FILENO, .longest = opts->stream_bytes};
    if (strcmp(path, "-") != 0)
        out->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (out->fd < 0)
        MYTH_TRY(errno == ENOENT || errno == ENOTDIR
                     ? myth_fail(err, MYTH_ENOTFOUND, "%s: no such file", path)
                     : myth_fail(err, MYTH_EIO, "%s: cannot open: %s", path, strerror(errno)));
    if (fstat(out->fd, &info) != 0)
        MYTH_TRY(myth_fail(err, MYTH_EIO, "%s: %s", path, strerror(errno)));
    if (S_ISDIR(info.st_mode))
        MYTH_TRY(myth_fail(err, MYTH_EIO, "%s: a directory where a file is expected", path));
    if (out->fd == STDIN_FILENO || !S_ISREG(info.st_mode))
        cli->has_read_stdin = 1;
    if (!S_ISREG(info.st_mode) && opts->is_copied)
        MYTH_TRY(copy(out, err));
    else if (S_ISREG(info.st_mode))
        out->start = lseek(out->fd, 0, SEEK_CUR);
    if (S_ISREG(info.st_mode) || opts->is_copied) {
        out->longest = 0;
        MYTH_TRY(measure(out, &info, err));
    }
    if (!S_ISREG(info.st_mode))
        forget_sum(out);
    out->cap = out->longest + READ_BYTES;
    out->buffer = myth_alloc(cli->mem, MYTH_MEM_STAGING, "lines", out->cap);
    if (!out->buffer)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "%s: out of memory for lines of %zu bytes%s", path, out->longest,
                           out->is_measured ? "" : "; lower --line-bytes"));
    return MYTH_OK;
fail:
    myth_lines_close(out);
    return st;
}

void myth_lines_close(myth_lines *l)
{
    if (!l->cli)
        return;
    if (l->fd > STDIN_FILENO)
        close(l->fd);
    if (l->put_fd)
        close(l->put_fd);
    forget_sum(l);
    myth_free(l->cli->mem, l->buffer);
    *l = (myth_lines){0};
}

myth_status myth_lines_put(myth_lines *l, myth_error *err)
{
    char name[PATH_MAX];
    int fd = -1;
    myth_status st = l->buffer ? myth_tempdir_file(&fd, name, "copy standard input to", err) : MYTH_OK;
    if (st != MYTH_OK || !l->buffer)
        return st;
    if (!myth_out_write(fd, l->buffer + l->from, l->to - l->from)) {
        st = myth_fail(err, MYTH_EIO, "%s: cannot keep standard input: %s; set TMPDIR", name, strerror(errno));
        close(fd);
        return st;
    }
    l->put_fd = fd;
    l->to -= l->from;
    l->from = 0;
    myth_free(l->cli->mem, l->buffer);
    l->buffer = NULL;
    return MYTH_OK;
}

myth_status myth_lines_take(myth_lines *l, myth_error *err)
{
    if (l->buffer)
        return MYTH_OK;
    l->buffer = myth_alloc(l->cli->mem, MYTH_MEM_STAGING, "lines", l->cap);
    if (!l->buffer)
        return myth_fail(err, MYTH_ENOMEM, "%s: out of memory for lines of %zu bytes", l->path, l->longest);
    if (pread(l->put_fd, l->buffer, l->to, 0) != (ssize_t)l->to) {
        myth_free(l->cli->mem, l->buffer);
        l->buffer = NULL;
        return myth_fail(err, MYTH_EIO, "%s: what was read of it cannot be read again", l->path);
    }
    close(l->put_fd);
    l->put_fd = 0;
    return MYTH_OK;
}

/* ---- reading ---- */

myth_status myth_lines_await(myth_lines *l, int ms, bool *is_there, myth_error *err)
{
    for (;;) {
        *is_there = l->is_end || l->passes_over || l->to - l->from == l->cap ||
                    memchr(l->buffer + l->from, '\n', l->to - l->from);
        if (myth_cancelled(l->cli->cancel))
            return myth_fail(err, MYTH_ECANCEL, "%s: interrupted while it was read", l->path);
        struct pollfd p = {.fd = l->fd, .events = POLLIN};
        if (*is_there || poll(&p, 1, ms) <= 0)
            return MYTH_OK;
        memmove(l->buffer, l->buffer + l->from, l->to - l->from);
        l->to -= l->from;
        l->from = 0;
        const myth_status st = read_more(l, err);
        if (st != MYTH_OK)
            return st;
    }
}

/* Drops what is left of a line that did not fit. */
static myth_status pass_over(myth_lines *l, myth_error *err)
{
    while (l->passes_over) {
        const unsigned char *from = l->buffer + l->from, *end = memchr(from, '\n', l->to - l->from);
        const size_t n = end ? (size_t)(end - from) + 1 : l->to - l->from;
        l->from += n;
        l->done += n;
        if (end || l->is_end) {
            l->passes_over = false;
            return MYTH_OK;
        }
        l->from = l->to = 0;
        const myth_status st = read_more(l, err);
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

/* Any line, also a blank one. */
static myth_status next(myth_lines *l, const char **line, size_t *n, myth_error *err)
{
    const myth_status passed = pass_over(l, err);
    if (passed != MYTH_OK)
        return passed;
    for (size_t seen = 0;;) {
        const unsigned char *from = l->buffer + l->from, *end = memchr(from + seen, '\n', l->to - l->from - seen);
        if (end || (l->is_end && l->to > l->from)) {
            *line = (const char *)from;
            *n = end ? (size_t)(end - from) : l->to - l->from;
            l->from += *n + (end != NULL);
            l->done += *n + (end != NULL);
            l->line_no++;
            return *n > l->longest ? too_long(l, err) : MYTH_OK;
        }
        if (l->is_end) {
            *line = NULL;
            return MYTH_OK;
        }
        seen = l->to - l->from;
        memmove(l->buffer, from, seen);
        l->from = 0;
        l->to = seen;
        if (l->to == l->cap) {
            l->line_no++;
            l->passes_over = true;
            return too_long(l, err);
        }
        const myth_status st = read_more(l, err);
        if (st != MYTH_OK)
            return st;
    }
}

myth_status myth_lines_next(myth_lines *l, const char **line, size_t *n, myth_error *err)
{
    myth_status st;
    do {
        const bool is_first = l->done == 0;
        st = next(l, line, n, err);
        if (is_first && st == MYTH_OK && *line && *n >= 3 && memcmp(*line, "\xef\xbb\xbf", 3) == 0) {
            *line += 3;
            *n -= 3;
        }
    } while (st == MYTH_OK && *line && is_blank(*line, *n));
    return st;
}
