/* residual_rows.c - files of fixed length, written by pwrite. */
#include "residual_rows.h"

#include "journal.h"
#include "engine/base/hash.h"
#include "engine/base/outfile.h"
#include "frontend/cli/npy.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#define MARK "job.part" /* whose files are unfinished */

enum { NAME_BYTES = PATH_MAX, LINE_BYTES = 4096 + 64, COPY_BYTES = 1 << 14, SUM_BYTES = 1 << 16 };

/* ---- names ---- */

static void name_of(const myth_residual_rows *r, char *dst, uint32_t idx, bool is_part)
{
    if (idx < r->n_layer)
        snprintf(dst, NAME_BYTES, "%s/layer-%03u.npy%s", r->dir, r->layer[idx], is_part ? ".part" : "");
    else
        snprintf(dst, NAME_BYTES, "%s/rows.jsonl%s", r->dir, is_part ? ".part" : "");
}

static uint64_t length_of(const myth_residual_rows *r) { return MYTH_NPY_HEADER + r->n_row * r->dim * 4; }

/* Takes a text and the number behind it from *at. */
static bool take(const char **at, const char *text, uint64_t *n)
{
    const size_t len = strlen(text);
    char *end;
    if (strncmp(*at, text, len) != 0 || !isdigit((unsigned char)(*at)[len]))
        return false;
    *n = strtoull(*at + len, &end, 10);
    *at = end;
    return true;
}

/* Whether a name is that of an unfinished job's file, whatever its layer. */
static bool is_part(const char *name)
{
    uint64_t layer;
    return strcmp(name, "rows.jsonl.part") == 0 || strcmp(name, MARK) == 0 ||
           (take(&name, "layer-", &layer) && strcmp(name, ".npy.part") == 0);
}

static void remove_parts(const char *dir)
{
    DIR *d = opendir(dir);
    for (const struct dirent *e; d && (e = readdir(d)) != NULL;)
        if (is_part(e->d_name))
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}

/* ---- sums ---- */

/* Reads n bytes at an offset; false with errno, which is 0 where the file ends before. */
static bool read_at(int fd, void *dst, size_t n, uint64_t at)
{
    for (size_t done = 0; done < n;) {
        errno = 0;
        const ssize_t got = pread(fd, (char *)dst + done, n - done, (off_t)(at + done));
        if (got <= 0 && errno != EINTR)
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* The bytes that one step of a file's sum takes: the largest power of two that divides a row, so that the sum does not
 * depend on where a job was stopped. That of the index goes byte by byte. */
static size_t step_of(const myth_residual_rows *r, uint32_t idx)
{
    const size_t row = (size_t)r->dim * 4, step = row & (~row + 1);
    return idx == r->n_layer ? 1 : step < SUM_BYTES ? step : SUM_BYTES;
}

/* Goes on with a sum over what the file idx has between two numbers of rows, or two lengths of the index. */
static bool add_sum(uint64_t *sum, const myth_residual_rows *r, uint32_t idx, int fd, uint64_t from, uint64_t to)
{
    unsigned char part[SUM_BYTES];
    const bool is_index = idx == r->n_layer;
    const size_t step = step_of(r, idx);
    const uint64_t unit = is_index ? 1 : (uint64_t)r->dim * 4, begin = is_index ? 0 : MYTH_NPY_HEADER;
    for (uint64_t at = from * unit, end = to * unit, n; at < end; at += n) {
        n = end - at < sizeof(part) ? end - at : sizeof(part);
        if (!read_at(fd, part, (size_t)n, begin + at))
            return false;
        for (size_t k = 0; k < n; k += step)
            *sum = XXH3_64bits_withSeed(part + k, step, *sum);
    }
    return true;
}

static myth_status check_sum(const myth_residual_rows *r, uint32_t idx, int fd, const char *name,
                             const myth_residual_rows_done *done, myth_error *err)
{
    uint64_t sum = 0;
    const bool is_read = add_sum(&sum, r, idx, fd, 0, idx < r->n_layer ? done->n_row : done->at);
    if (!is_read && errno)
        return myth_fail(err, MYTH_EIO, "%.200s: cannot be read: %s", name, strerror(errno));
    if (!is_read || sum != done->sum[idx])
        return myth_fail(err, MYTH_EFORMAT,
                         "%.160s: damaged: it is not what the job wrote; begin anew with --resume off", name);
    return MYTH_OK;
}

/* ---- whose a folder is ---- */

uint64_t myth_residual_rows_number(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t seed[3] = {now.tv_sec, now.tv_nsec, getpid()};
    const uint64_t number = myth_fnv1a(MYTH_FNV1A, seed, sizeof(seed));
    return number ? number : 1;
}

/* The number of the unfinished job of a folder, and the path of its journal; 0 = there is none. */
static uint64_t read_mark(const char *dir, char journal[PATH_MAX])
{
    char name[NAME_BYTES + 16], line[PATH_MAX + 32], *end = line;
    journal[0] = '\0';
    snprintf(name, sizeof(name), "%.*s/%s", NAME_BYTES - 1, dir, MARK);
    FILE *f = fopen(name, "re");
    const bool has = f && fgets(line, sizeof(line), f);
    if (f)
        fclose(f);
    const uint64_t number = has ? strtoull(line, &end, 16) : 0;
    if (number && *end == ' ')
        snprintf(journal, PATH_MAX, "%.*s", (int)strcspn(end + 1, "\n"), end + 1);
    return number;
}

static myth_status write_mark(const myth_residual_rows *r, const myth_residual_rows_job *job, myth_error *err)
{
    char name[NAME_BYTES + 16], path[PATH_MAX], line[PATH_MAX + 32];
    const char *journal = realpath(job->journal, path) ? path : job->journal;
    snprintf(name, sizeof(name), "%s/%s", r->dir, MARK);
    const int n = snprintf(line, sizeof(line), "%016" PRIx64 " %s\n", job->number, journal),
              fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return myth_fail(err, MYTH_ECREATE, "%.200s: cannot create: %s", name, strerror(errno));
    const bool is_written = myth_out_write_at(fd, line, (size_t)n, 0) && fsync(fd) == 0;
    const int saved = errno;
    close(fd);
    return is_written ? MYTH_OK : myth_fail(err, MYTH_EIO, "%.200s: cannot write: %s", name, strerror(saved));
}

static bool has_layer(const uint32_t *layer, uint32_t n_layer, uint64_t which)
{
    bool has = false;
    for (uint32_t i = 0; i < n_layer && !has; i++)
        has = layer[i] == which;
    return has;
}

myth_status myth_residual_rows_check(const char *dir, const uint32_t *layer, uint32_t n_layer, const char *journal,
                                     myth_error *err)
{
    char theirs[PATH_MAX], own[PATH_MAX], other[NAME_MAX + 1] = "";
    DIR *d = opendir(dir);
    for (const struct dirent *e; d && !*other && (e = readdir(d)) != NULL;) {
        const char *at = e->d_name;
        uint64_t which;
        if (take(&at, "layer-", &which) && strcmp(at, ".npy") == 0 && !has_layer(layer, n_layer, which))
            snprintf(other, sizeof(other), "%s", e->d_name);
    }
    if (d)
        closedir(d);
    if (*other)
        return myth_fail(err, MYTH_ECREATE,
                         "--rows %.120s: has %.40s, rows of another run, which this one would leave beside its own; "
                         "remove them, or give another folder",
                         dir, other);
    if (!read_mark(dir, theirs) || access(theirs, F_OK) != 0 ||
        strcmp(theirs, realpath(journal, own) ? own : journal) == 0)
        return MYTH_OK;
    return myth_fail(
        err, MYTH_ECREATE,
        "--rows %.80s: has unfinished rows of another job, that of %.120s; finish it, remove that file, or "
        "give another folder",
        dir, theirs);
}

/* ---- open ---- */

static myth_status begin_file(myth_residual_rows *r, uint32_t idx, int *fd, myth_error *err)
{
    char name[NAME_BYTES], header[MYTH_NPY_HEADER];
    name_of(r, name, idx, true);
    *fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (*fd < 0)
        return myth_fail(err, MYTH_ECREATE, "%.200s: cannot create: %s", name, strerror(errno));
    if (idx == r->n_layer)
        return MYTH_OK;
    myth_npy_header(header, (uint64_t[]){r->n_row, r->dim});
    if (ftruncate(*fd, (off_t)length_of(r)) != 0 || !myth_out_write_at(*fd, header, sizeof(header), 0))
        return myth_fail(err, MYTH_EIO, "%.200s: cannot write: %s", name, strerror(errno));
    return MYTH_OK;
}

static myth_status open_again(myth_residual_rows *r, uint32_t idx, const myth_residual_rows_done *done, int *fd,
                              myth_error *err)
{
    char name[NAME_BYTES];
    struct stat info;
    name_of(r, name, idx, true);
    *fd = open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    const bool is_there = *fd >= 0;
    if (!is_there && done->is_whole) /* it may have its name already */
        name_of(r, name, idx, false);
    if (is_there ? fstat(*fd, &info) != 0 : !done->is_whole || stat(name, &info) != 0)
        return myth_fail(err, MYTH_EFORMAT, "%.200s is gone: begin anew with --resume off", name);
    if (idx < r->n_layer && (uint64_t)info.st_size != length_of(r))
        return myth_fail(err, MYTH_EFORMAT, "%.200s has %llu bytes, not %llu: begin anew with --resume off", name,
                         (unsigned long long)info.st_size, (unsigned long long)length_of(r));
    return is_there ? check_sum(r, idx, *fd, name, done, err) : MYTH_OK;
}

/* A file system without locks has none to take. */
static myth_status lock_folder(myth_residual_rows *r, myth_error *err)
{
    r->lock = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->lock < 0)
        return myth_fail(err, MYTH_ECREATE, "--rows %.200s: %s", r->dir, strerror(errno));
    if (flock(r->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return myth_fail(err, MYTH_EIO,
                         "--rows %.160s: another command is writing into it; wait for it, or give another folder",
                         r->dir);
    return MYTH_OK;
}

/* The folder's unfinished files are this job's; those that are finished have no mark any more. */
static myth_status check_mark(const myth_residual_rows *r, const myth_residual_rows_job *job, bool is_whole,
                              myth_error *err)
{
    char journal[PATH_MAX];
    const uint64_t number = read_mark(r->dir, journal);
    if (number == job->number || (number == 0 && is_whole))
        return MYTH_OK;
    return myth_fail(err, MYTH_EFORMAT,
                     "--rows %.160s: its files are not those of this job; begin anew with --resume off", r->dir);
}

static myth_status begin_folder(const myth_residual_rows *r, const myth_residual_rows_job *job, myth_error *err)
{
    const myth_status st = myth_residual_rows_check(r->dir, r->layer, r->n_layer, job->journal, err);
    if (st != MYTH_OK)
        return st;
    remove_parts(r->dir);
    return write_mark(r, job, err);
}

myth_status myth_residual_rows_open(myth_residual_rows *out, const char *dir, const uint32_t *layer, uint32_t n_layer,
                                    uint64_t n_row, uint32_t dim, const myth_residual_rows_job *job,
                                    const myth_residual_rows_done *done, myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = (myth_residual_rows){
        .n_layer = n_layer, .dim = dim, .n_row = n_row, .index_fd = -1, .lock = -1, .is_open = true};
    for (uint32_t i = 0; i < n_layer; i++) {
        out->layer[i] = layer[i];
        out->fd[i] = -1;
    }
    if (snprintf(out->dir, sizeof(out->dir), "%s", dir) >= (int)sizeof(out->dir))
        return myth_fail(err, MYTH_ELIMIT, "--rows %.80s...: a path of more than %d bytes", dir, PATH_MAX - 64);
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return myth_fail(err, MYTH_ECREATE, "--rows %.200s: cannot create: %s", dir, strerror(errno));
    st = lock_folder(out, err);
    if (st == MYTH_OK)
        st = done ? check_mark(out, job, done->is_whole, err) : begin_folder(out, job, err);
    for (uint32_t i = 0; i <= n_layer && st == MYTH_OK; i++) {
        int *fd = i < n_layer ? &out->fd[i] : &out->index_fd;
        st = done ? open_again(out, i, done, fd, err) : begin_file(out, i, fd, err);
    }
    if (done && st == MYTH_OK) {
        memcpy(out->sum, done->sum, (n_layer + 1) * sizeof(*out->sum));
        out->sum_row = done->n_row;
        out->sum_at = done->at;
    }
    return st;
}

/* ---- rows ---- */

static myth_status cannot_write(const myth_residual_rows *r, uint32_t idx, myth_error *err)
{
    char name[NAME_BYTES];
    const int saved = errno;
    name_of(r, name, idx, true);
    return myth_fail(err, MYTH_EIO, "%.180s: cannot write: %s", name, strerror(saved));
}

myth_status myth_residual_rows_put(myth_residual_rows *r, uint32_t idx, uint64_t row, const float *data,
                                   myth_error *err)
{
    float none[256];
    const uint64_t at = MYTH_NPY_HEADER + row * r->dim * 4;
    if (data)
        return myth_out_write_at(r->fd[idx], data, (size_t)r->dim * 4, at) ? MYTH_OK : cannot_write(r, idx, err);
    for (size_t i = 0; i < 256; i++)
        none[i] = NAN;
    for (uint32_t i = 0, n; i < r->dim; i += n) {
        n = r->dim - i < 256 ? r->dim - i : 256;
        if (!myth_out_write_at(r->fd[idx], none, (size_t)n * 4, at + (uint64_t)i * 4))
            return cannot_write(r, idx, err);
    }
    return MYTH_OK;
}

myth_status myth_residual_rows_index(myth_residual_rows *r, uint64_t *at, const char *part, size_t n, myth_error *err)
{
    if (!myth_out_write_at(r->index_fd, part, n, *at))
        return cannot_write(r, r->n_layer, err);
    *at += n;
    return MYTH_OK;
}

static myth_status sync_files(const myth_residual_rows *r, myth_error *err)
{
    for (uint32_t i = 0; i <= r->n_layer; i++) {
        const int fd = i < r->n_layer ? r->fd[i] : r->index_fd;
        if (fd >= 0 && fdatasync(fd) != 0)
            return cannot_write(r, i, err);
    }
    return MYTH_OK;
}

myth_status myth_residual_rows_sync(myth_residual_rows *r, uint64_t n_row, uint64_t at, myth_error *err)
{
    for (uint32_t i = 0; i <= r->n_layer; i++) {
        const int fd = i < r->n_layer ? r->fd[i] : r->index_fd;
        if (fd >= 0 && !(i < r->n_layer ? add_sum(&r->sum[i], r, i, fd, r->sum_row, n_row)
                                        : add_sum(&r->sum[i], r, i, fd, r->sum_at, at)))
            return cannot_write(r, i, err);
    }
    r->sum_row = n_row;
    r->sum_at = at;
    return sync_files(r, err);
}

myth_status myth_residual_rows_finish(myth_residual_rows *r, uint64_t at, myth_error *err)
{
    if (r->index_fd >= 0 && ftruncate(r->index_fd, (off_t)at) != 0)
        return cannot_write(r, r->n_layer, err);
    myth_status st = sync_files(r, err);
    if (st == MYTH_OK && r->index_fd >= 0) { /* no index stands beside files of two jobs */
        char old[NAME_BYTES];
        name_of(r, old, r->n_layer, false);
        unlink(old);
    }
    for (uint32_t i = 0; i <= r->n_layer && st == MYTH_OK; i++) {
        char part[NAME_BYTES], name[NAME_BYTES];
        int *fd = i < r->n_layer ? &r->fd[i] : &r->index_fd;
        if (*fd < 0)
            continue;
        name_of(r, part, i, true);
        name_of(r, name, i, false);
        if (rename(part, name) != 0)
            return myth_fail(err, MYTH_ECREATE, "%.200s: cannot rename: %s", part, strerror(errno));
        close(*fd);
        *fd = -1;
    }
    const int folder = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        fsync(folder);
        if (st == MYTH_OK)
            unlinkat(folder, MARK, 0);
        close(folder);
    }
    return st;
}

void myth_residual_rows_close(myth_residual_rows *r)
{
    if (!r->is_open)
        return;
    for (uint32_t i = 0; i <= r->n_layer; i++) {
        const int fd = i < r->n_layer ? r->fd[i] : r->index_fd;
        if (fd >= 0)
            close(fd);
    }
    if (r->lock >= 0)
        close(r->lock);
    r->lock = -1;
    r->is_open = false;
}

/* ---- shares ---- */

const char *myth_residual_rows_folder(char dst[PATH_MAX], const char *dir, uint32_t k, uint32_t n)
{
    size_t len = strlen(dir);
    while (len > 1 && dir[len - 1] == '/')
        len--;
    /* what is too long is refused by open */
    snprintf(dst, PATH_MAX, "%.*s.%u-of-%u", (int)(len < PATH_MAX - 32 ? len : PATH_MAX - 32), dir, k + 1, n);
    return dst;
}

static void name_of_share(const myth_residual_rows *r, char name[NAME_BYTES], uint32_t idx, uint32_t k, uint32_t n)
{
    char folder[PATH_MAX];
    myth_residual_rows_folder(folder, r->dir, k, n);
    if (idx < r->n_layer)
        snprintf(name, NAME_BYTES, "%.*s/layer-%03u.npy.part", NAME_BYTES - 32, folder, r->layer[idx]);
    else
        snprintf(name, NAME_BYTES, "%.*s/rows.jsonl.part", NAME_BYTES - 32, folder);
}

static myth_status not_of_job(const char *name, myth_error *err)
{
    return myth_fail(err, MYTH_EFORMAT, "%.180s: is not of this job, or not all of it; begin anew with --resume off",
                     name);
}

static myth_status missing(const char *name, uint32_t k, uint32_t n, myth_error *err)
{
    return myth_fail(err, MYTH_EFORMAT, "%.160s: %s; bring the folder of share %u/%u here, as its journal", name,
                     strerror(errno), k + 1, n);
}

/* The first part of a line of an index, which has the newline or is as long as it may be; *n_row is the rows that its
 * item has, *tail what follows them, NULL where it has a fault. */
static bool read_item(FILE *f, char line[LINE_BYTES], uint64_t index, bool has_fault_rows, uint64_t *n_row,
                      const char **tail)
{
    static const char fault[] = ",\"fault\":";
    uint64_t own, row;
    const char *at = line;
    if (!fgets(line, LINE_BYTES, f) || !take(&at, "{\"index\":", &own) || own != index)
        return false;
    *n_row = has_fault_rows;
    *tail = NULL;
    if (strncmp(at, fault, sizeof(fault) - 1) == 0)
        return true;
    const bool has_rows = take(&at, ",\"row\":", &row) && take(&at, ",\"n\":", n_row);
    *tail = at;
    return has_rows;
}

/* Goes on behind the first part of a line: to the index of r at *at, or nowhere when r is NULL. *is_cut: the file ends
 * inside the line. */
static myth_status pass_rest(myth_residual_rows *r, FILE *f, char line[LINE_BYTES], uint64_t *at, bool *is_cut,
                             myth_error *err)
{
    myth_status st = MYTH_OK;
    *is_cut = false;
    while (!*is_cut && !strchr(line, '\n') && st == MYTH_OK) {
        *is_cut = !fgets(line, LINE_BYTES, f);
        if (r && !*is_cut)
            st = myth_residual_rows_index(r, at, line, strlen(line), err);
    }
    return st;
}

/* The lines of all items in their order, with the numbers that their rows get. */
static myth_status merge_lines(myth_residual_rows *r, FILE *const *f, uint32_t n_share, uint64_t n_item,
                               bool has_fault_rows, const myth_cancel *cancel, uint64_t *at, myth_error *err)
{
    char line[LINE_BYTES], numbers[96], name[NAME_BYTES];
    uint64_t row = 0, n;
    const char *tail;
    myth_status st = MYTH_OK;
    for (uint64_t i = 0; i < n_item && !myth_cancelled(cancel); i++) {
        const uint32_t k = (uint32_t)(i % n_share);
        bool is_cut = !read_item(f[k], line, i, has_fault_rows, &n, &tail);
        if (!is_cut && tail) {
            const int len = snprintf(numbers, sizeof(numbers), "{\"index\":%llu,\"row\":%llu,\"n\":%llu",
                                     (unsigned long long)i, (unsigned long long)row, (unsigned long long)n);
            MYTH_TRY(myth_residual_rows_index(r, at, numbers, (size_t)len, err));
        }
        if (!is_cut) {
            const char *rest = tail ? tail : line;
            MYTH_TRY(myth_residual_rows_index(r, at, rest, strlen(rest), err));
            MYTH_TRY(pass_rest(r, f[k], line, at, &is_cut, err));
        }
        if (is_cut) {
            name_of_share(r, name, r->n_layer, k, n_share);
            return not_of_job(name, err);
        }
        row += n;
    }
    return row == r->n_row || myth_cancelled(cancel) ? MYTH_OK : not_of_job(r->dir, err);
fail:
    return st;
}

static myth_status copy(myth_residual_rows *r, uint32_t idx, int from, uint64_t from_row, uint64_t to_row, uint64_t n,
                        myth_error *err)
{
    char part[COPY_BYTES];
    const uint64_t row_bytes = (uint64_t)r->dim * 4, bytes = n * row_bytes;
    for (uint64_t done = 0, len; done < bytes; done += len) {
        len = bytes - done < sizeof(part) ? bytes - done : sizeof(part);
        if (!read_at(from, part, (size_t)len, MYTH_NPY_HEADER + from_row * row_bytes + done))
            return myth_fail(err, MYTH_EIO, "%.180s: a share's rows cannot be read: %s", r->dir,
                             errno ? strerror(errno) : "they end too early");
        if (!myth_out_write_at(r->fd[idx], part, (size_t)len, MYTH_NPY_HEADER + to_row * row_bytes + done))
            return cannot_write(r, idx, err);
    }
    return MYTH_OK;
}

/* The rows of one layer, as the lines say that are already together. */
static myth_status merge_layer(myth_residual_rows *r, uint32_t idx, const int *from, uint32_t n_share, uint64_t n_item,
                               bool has_fault_rows, const myth_cancel *cancel, myth_error *err)
{
    char line[LINE_BYTES], name[NAME_BYTES];
    uint64_t own[MYTH_JOURNAL_SHARES] = {0}, row = 0, n;
    const char *tail;
    name_of(r, name, r->n_layer, true);
    FILE *lines = fopen(name, "re");
    if (!lines)
        return myth_fail(err, MYTH_EIO, "%.200s: %s", name, strerror(errno));
    myth_status st = MYTH_OK;
    for (uint64_t i = 0; i < n_item && !myth_cancelled(cancel) && st == MYTH_OK; i++) {
        const uint32_t k = (uint32_t)(i % n_share);
        bool is_cut = !read_item(lines, line, i, has_fault_rows, &n, &tail);
        if (!is_cut)
            st = pass_rest(NULL, lines, line, NULL, &is_cut, err);
        if (is_cut)
            st = myth_fail(err, MYTH_EIO, "%.200s: cannot be read again", name);
        else
            st = copy(r, idx, from[k], own[k], row, n, err);
        own[k] += n;
        row += n;
    }
    fclose(lines);
    return st;
}

/* Opens the file idx of a share, which is as long as its rows. */
static myth_status open_share(const myth_residual_rows *r, uint32_t idx, uint32_t k, uint32_t n_share, uint64_t n_row,
                              int *fd, myth_error *err)
{
    struct stat info;
    char name[NAME_BYTES];
    name_of_share(r, name, idx, k, n_share);
    *fd = open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, &info) != 0)
        return missing(name, k, n_share, err);
    const bool is_long = idx == r->n_layer || (uint64_t)info.st_size == MYTH_NPY_HEADER + n_row * r->dim * 4;
    return is_long ? MYTH_OK : not_of_job(name, err);
}

static myth_status open_shares(const myth_residual_rows *r, uint32_t idx, uint32_t n_share, const uint64_t *n_row,
                               int *fd, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t k = 0; k < n_share && st == MYTH_OK; k++)
        st = open_share(r, idx, k, n_share, n_row[k], &fd[k], err);
    return st;
}

myth_status myth_residual_rows_check_share(const myth_residual_rows *r, uint32_t k, uint32_t n_share,
                                           const myth_residual_rows_done *done, myth_error *err)
{
    char name[NAME_BYTES];
    myth_status st = MYTH_OK;
    for (uint32_t idx = 0; idx <= r->n_layer && st == MYTH_OK; idx++) {
        int fd = -1;
        st = open_share(r, idx, k, n_share, done->n_row, &fd, err);
        name_of_share(r, name, idx, k, n_share);
        if (st == MYTH_OK)
            st = check_sum(r, idx, fd, name, done, err);
        if (fd >= 0)
            close(fd);
    }
    return st;
}

static void close_all(int *fd)
{
    for (uint32_t k = 0; k < MYTH_JOURNAL_SHARES; k++) {
        if (fd[k] >= 0)
            close(fd[k]);
        fd[k] = -1;
    }
}

myth_status myth_residual_rows_merge(myth_residual_rows *r, uint32_t n_share, const uint64_t *n_row, uint64_t n_item,
                                     bool has_fault_rows, const myth_cancel *cancel, uint64_t *at, myth_error *err)
{
    int fd[MYTH_JOURNAL_SHARES];
    FILE *f[MYTH_JOURNAL_SHARES] = {NULL};
    *at = 0;
    for (uint32_t k = 0; k < MYTH_JOURNAL_SHARES; k++)
        fd[k] = -1;
    myth_status st = open_shares(r, r->n_layer, n_share, n_row, fd, err);
    for (uint32_t k = 0; k < n_share && st == MYTH_OK; k++) {
        f[k] = fdopen(fd[k], "r");
        if (!f[k])
            st = myth_fail(err, MYTH_ENOMEM, "out of memory for the lines of %u shares", n_share);
        else
            fd[k] = -1; /* closed with f[k] */
    }
    if (st == MYTH_OK)
        st = merge_lines(r, f, n_share, n_item, has_fault_rows, cancel, at, err);
    for (uint32_t k = 0; k < n_share; k++)
        if (f[k])
            fclose(f[k]);
    close_all(fd);
    for (uint32_t idx = 0; idx < r->n_layer && st == MYTH_OK && !myth_cancelled(cancel); idx++) {
        st = open_shares(r, idx, n_share, n_row, fd, err);
        if (st == MYTH_OK)
            st = merge_layer(r, idx, fd, n_share, n_item, has_fault_rows, cancel, err);
        close_all(fd);
    }
    return st == MYTH_OK && myth_cancelled(cancel)
             ? myth_fail(err, MYTH_ECANCEL, "interrupted while rows were put together; the same command goes on")
             : st;
}

void myth_residual_rows_remove(const char *dir, uint32_t n_share)
{
    char folder[PATH_MAX];
    for (uint32_t k = 0; k < n_share; k++) {
        remove_parts(myth_residual_rows_folder(folder, dir, k, n_share));
        rmdir(folder); /* stays where somebody put other files */
    }
}
