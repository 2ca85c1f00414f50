/* shown.c - asks the scan whether a file may be shown, reads it without following links, and replaces its secrets. */
#define _GNU_SOURCE /* memrchr */
#include "shown.h"

#include "frontend/cli/hints.h"
#include "engine/base/utf16.h"
#include "engine/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void myth_shown_start(myth_shown *s, myth_tools *t) { *s = (myth_shown){.tools = t}; }

void myth_shown_close(myth_shown *s)
{
    if (!s->tools)
        return;
    myth_mem *mem = s->tools->cli->mem;
    if (s->redactor.mem)
        myth_redactor_close(&s->redactor);
    myth_source_close(&s->src);
    myth_free(mem, s->bytes);
    myth_free(mem, s->path);
    *s = (myth_shown){.tools = s->tools};
}

/* ---- the scan's word ---- */

/* Whether the excluded entry f is `path`, or a folder or a link to one above it. */
static bool covers(const myth_scan_file *f, const char *path)
{
    const size_t n = strlen(f->path);
    return strncmp(f->path, path, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* Says what a missing path was probably meant to be, relative to the root as all paths are. */
static void hint_missing(char *dst, size_t cap, const char *dir, const char *whole)
{
    myth_hint_missing(dst, cap, whole);
    char *at = strstr(dst, dir);
    const size_t n = strlen(dir);
    if (at && at[n] == '/')
        memmove(at, at + n + 1, strlen(at + n + 1) + 1);
}

/* Says why the scan does not list the file. */
static myth_status not_listed(myth_tools *t, const char *path, myth_error *err)
{
    myth_scan_list list = {0};
    const myth_scan_opts so = {.root = t->dir, .explain = true, .names_only = true, .is_cancelled = t->cli->cancel};
    char whole[PATH_MAX], hint[160] = "";
    struct stat st;
    myth_status code = myth_scan(&list, t->cli->mem, &so, err);
    if (code != MYTH_OK)
        return code;
    for (uint32_t i = 0; i < list.n_file; i++) {
        const myth_scan_file *f = &list.file[i];
        if (f->reason == MYTH_SCAN_IN || !covers(f, path))
            continue;
        code = myth_fail(err, MYTH_EARG, "%.100s: not shown, because the scan leaves %.60s out (%s%s%.60s)", path,
                         f->path, myth_scan_reason_name(f->reason), f->why ? ": " : "", f->why ? f->why : "");
        break;
    }
    if (code == MYTH_OK) {
        const int n = snprintf(whole, sizeof(whole), "%s/%s", t->dir, path);
        if (n > 0 && (size_t)n < sizeof(whole) && stat(whole, &st) == 0 && S_ISDIR(st.st_mode))
            code = myth_fail(err, MYTH_EARG, "%.160s: a folder, expected a file", path);
        else {
            hint_missing(hint, sizeof(hint), t->dir, whole);
            code = myth_fail(err, MYTH_ENOTFOUND, "%.100s: no such file%s", path, hint);
        }
    }
    myth_scan_close(&list, t->cli->mem);
    return code;
}

/* Whether an answer shows the path as `given`: with U+FFFD for each byte that is no UTF-8. */
static bool is_shown_as(const char *path, const char *given)
{
    static const char mark[] = "\xef\xbf\xbd";
    const size_t n = strlen(path);
    uint32_t cp;
    for (size_t i = 0; i < n;) {
        const int k = myth_utf8_decode((const unsigned char *)path + i, n - i, &cp);
        const char *want = k ? path + i : mark;
        const size_t n_want = k ? (size_t)k : strlen(mark);
        if (strncmp(given, want, n_want) != 0)
            return false;
        given += n_want;
        i += k ? (size_t)k : 1;
    }
    return *given == '\0';
}

/* Sets *listed to the scan's row of the file, without its strings, and found to its path: `path`, or the only one that
 * is shown so. */
static myth_status ask_scan(myth_scan_file *listed, char found[PATH_MAX], myth_tools *t, const char *path,
                            myth_error *err)
{
    myth_scan_list list = {0};
    const myth_scan_opts so = {
        .root = t->dir, .names_only = true, .n_threads = t->cli->global->n_threads, .is_cancelled = t->cli->cancel};
    const myth_scan_file *same = NULL, *like = NULL;
    uint32_t n_like = 0;
    myth_status st = myth_scan(&list, t->cli->mem, &so, err);
    for (uint32_t i = 0; st == MYTH_OK && i < list.n_file && !same; i++) {
        const myth_scan_file *f = &list.file[i];
        if (strcmp(f->path, path) == 0) {
            same = f;
        } else if (is_shown_as(f->path, path)) {
            like = f;
            n_like++;
        }
    }
    if (!same && n_like == 1)
        same = like;
    if (same) {
        *listed = *same;
        snprintf(found, PATH_MAX, "%s", same->path);
    }
    const bool is_listed = same != NULL;
    myth_scan_close(&list, t->cli->mem);
    return st == MYTH_OK && !is_listed ? not_listed(t, path, err) : st;
}

/* ---- reading ---- */

static myth_status read_all(unsigned char *dst, size_t n, int fd, const char *path, myth_error *err)
{
    for (size_t at = 0; at < n;) {
        const ssize_t k = read(fd, dst + at, n - at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return myth_fail(err, MYTH_EIO, "%.160s: %s", path, k < 0 ? strerror(errno) : "it became shorter");
        at += (size_t)k;
    }
    return MYTH_OK;
}

/* Reads the file below the root, and no link on the way. */
static myth_status read_file(myth_shown *s, const char *path, size_t *n, myth_error *err)
{
    struct stat info;
    myth_status st = MYTH_OK;
    const int root = open(s->tools->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int fd = root < 0 ? -1 : myth_scan_open(root, path, false);
    if (fd < 0 || fstat(fd, &info) != 0)
        st = myth_fail(err, errno == ENOENT ? MYTH_ENOTFOUND : MYTH_EIO, "%.160s: %s", path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        st = myth_fail(err, MYTH_EARG, "%.160s: not a regular file", path);
    else if (info.st_size > MYTH_SHOWN_BYTES)
        st = myth_fail(err, MYTH_ELIMIT, "%.160s: it has %lld bytes, and at most %d are read", path,
                       (long long)info.st_size, MYTH_SHOWN_BYTES);
    else if (!(s->bytes = myth_alloc(s->tools->cli->mem, MYTH_MEM_STAGING, "file", (size_t)info.st_size + 1)))
        st = myth_fail(err, MYTH_ENOMEM, "%.160s: out of memory for %lld bytes", path, (long long)info.st_size);
    if (st == MYTH_OK) {
        *n = (size_t)info.st_size;
        st = read_all(s->bytes, *n, fd, path, err);
    }
    if (fd >= 0)
        close(fd);
    if (root >= 0)
        close(root);
    return st;
}

static myth_status to_utf8(myth_shown *s, size_t *n, myth_error *err)
{
    const uint32_t encoding = myth_store_encoding(s->bytes, *n);
    if (!encoding)
        return MYTH_OK;
    unsigned char *text = myth_alloc(s->tools->cli->mem, MYTH_MEM_STAGING, "file", 3 * *n + 4);
    if (!text)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for a file in UTF-16");
    *n = myth_utf16_to_utf8(text, s->bytes, *n, false, encoding == MYTH_FILE_UTF16_BE);
    myth_free(s->tools->cli->mem, s->bytes);
    s->bytes = text;
    s->is_converted = true;
    return MYTH_OK;
}

static uint32_t count_lines(const unsigned char *p, size_t n)
{
    uint32_t lines = 0;
    for (const unsigned char *end = p + n, *stop; p < end; p = stop + 1, lines++)
        if (!(stop = memchr(p, '\n', (size_t)(end - p))))
            return lines + 1;
    return lines;
}

/* Chooses the part of a large text that has the line: whole lines from some way before it, so that a secret that began
 * there is known, as much as a source may have. Without such a line it is the text's end. */
static void choose_part(myth_shown *s, uint32_t line, size_t n_all, const unsigned char **part, size_t *n)
{
    enum { BEFORE = 1 << 20 };
    const unsigned char *text = s->bytes, *end = text + n_all, *at = text, *stop;
    for (uint32_t i = 1; i < line && at < end && (stop = memchr(at, '\n', (size_t)(end - at))); i++)
        at = stop + 1;
    const unsigned char *from = at - text > BEFORE ? at - BEFORE : text;
    if (from > text)
        from = (const unsigned char *)memchr(from - 1, '\n', (size_t)(at - from) + 1) + 1; /* at is behind one */
    size_t len = (size_t)(end - from) < MYTH_SOURCE_MAX ? (size_t)(end - from) : MYTH_SOURCE_MAX;
    const unsigned char *last = from + len < end ? memrchr(from, '\n', len) : NULL;
    if (last && last >= at)
        len = (size_t)(last + 1 - from);
    s->lines_before = count_lines(text, (size_t)(from - text));
    *part = from;
    *n = len;
}

/* listed NULL: the retriever has looked at the file already. line: if it is not 0, a part with it may be opened. */
static myth_status open_file(myth_shown *s, const char *path, const myth_scan_file *listed, uint32_t line,
                             myth_error *err)
{
    const unsigned char *part;
    myth_mem *mem = s->tools->cli->mem;
    myth_status st = MYTH_OK;
    size_t n = 0;
    myth_shown_close(s);
    if (!(s->path = myth_alloc(mem, MYTH_MEM_OTHER, "path", strlen(path) + 1)))
        return myth_fail(err, MYTH_ENOMEM, "out of memory for a path");
    memcpy(s->path, path, strlen(path) + 1);
    MYTH_TRY(read_file(s, path, &n, err));
    if (listed) {
        myth_scan_file named = *listed;
        named.path = path;
        const myth_scan_reason reason = myth_scan_look(&named, n, s->bytes, n);
        if (reason != MYTH_SCAN_IN)
            MYTH_TRY(myth_fail(err, MYTH_EARG, "%.160s: not shown, because the scan leaves it out (%s)", path,
                               myth_scan_reason_name(reason)));
    }
    MYTH_TRY(to_utf8(s, &n, err));
    part = s->bytes;
    s->n_line = count_lines(part, n);
    if (n > MYTH_SOURCE_MAX && line)
        choose_part(s, line, n, &part, &n);
    MYTH_TRY(myth_source_open(&s->src, mem, s->path, part, n, err));
    myth_redactor_start(&s->redactor, mem);
    st = myth_redactor_add(&s->redactor, &s->src, err);
fail:
    if (st != MYTH_OK)
        myth_shown_close(s);
    return st;
}

myth_status myth_shown_open_at(myth_shown *s, const char *path, uint32_t line, myth_error *err)
{
    myth_scan_file listed;
    char found[PATH_MAX];
    myth_status st = ask_scan(&listed, found, s->tools, path, err);
    return st == MYTH_OK ? open_file(s, found, &listed, line, err) : st;
}

myth_status myth_shown_open(myth_shown *s, const char *path, myth_error *err)
{
    return myth_shown_open_at(s, path, 0, err);
}

myth_status myth_shown_open_listed(myth_shown *s, const char *path, myth_error *err)
{
    return s->path && strcmp(s->path, path) == 0 ? MYTH_OK : open_file(s, path, NULL, 0, err);
}

/* ---- showing ---- */

static void put_piece(void *user, const char *text, size_t n, bool is_placeholder)
{
    (void)is_placeholder;
    myth_jout_text_part(user, text, n);
}

void myth_shown_put(const myth_shown *s, myth_json_out *j, uint32_t off, uint32_t len)
{
    myth_jout_text_begin(j);
    myth_redact_bytes(&s->redactor, &s->src, off, len, put_piece, j);
    myth_jout_text_end(j);
}

void myth_shown_put_line(const myth_shown *s, myth_json_out *j, uint32_t line)
{
    const bool is_there = line >= 1 && line <= s->src.n_line;
    const myth_line *l = is_there ? &s->src.line[line - 1] : NULL;
    myth_shown_put(s, j, l ? l->off : 0, l ? l->len : 0);
}

void myth_shown_put_text(myth_json_out *j, const char *text, size_t n)
{
    myth_jout_text_begin(j);
    myth_redact_text(NULL, text, n, put_piece, j);
    myth_jout_text_end(j);
}
