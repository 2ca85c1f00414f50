/* texts.c - reads texts to embed from files and streams; texts.h has the forms. */
#include "texts.h"

#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/map.h"
#include "frontend/cli/hints.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

enum { FILE_BYTES_MAX = 1 << 30, LIST_BYTES_MAX = 1 << 28, HASHED_BYTES = 1 << 16 };

/* The item is one without a text. */
static void set_fault(const myth_texts *t, myth_texts_item *out, const char *what)
{
    out->text = NULL;
    out->n_text = 0;
    snprintf(out->fault, sizeof(out->fault), "line %llu: %.200s", (unsigned long long)t->line_no, what);
}

/* ---- lines of a stream ---- */

static myth_status open_lines(myth_texts *t, size_t line_bytes, myth_error *err)
{
    myth_status st = myth_lines_open(&t->lines, t->cli, t->path, &(myth_lines_opts){.stream_bytes = line_bytes}, err);
    t->longest = t->lines.longest;
    t->total = t->lines.total;
    return st;
}

/* Parses a line and copies its text into `plain`, after the prompt. Returns what is wrong with it, NULL = nothing. */
static const char *parse_line(myth_texts *t, myth_texts_item *out, const char *line, size_t n, myth_error *bad)
{
    myth_json j;
    myth_json_token tok;
    const char *what = NULL;
    bool has_text = false;
    myth_json_start(&j, line, n, "JSON");
    if (myth_json_next(&j, &tok, bad) != MYTH_OK)
        return bad->msg;
    if (tok.type == MYTH_JSON_STRING) {
        out->n_text = t->n_prompt + myth_json_text(t->plain + t->n_prompt, &tok);
        has_text = true;
    } else if (tok.type != MYTH_JSON_OBJECT) {
        return "expected a JSON string, or an object with \"text\"";
    }
    while (myth_json_next(&j, &tok, bad) == MYTH_OK && tok.type != MYTH_JSON_END) {
        const bool is_text = tok.type == MYTH_JSON_KEY && tok.depth == 1 && myth_json_is(&tok, "text");
        const bool is_id = tok.type == MYTH_JSON_KEY && tok.depth == 1 && myth_json_is(&tok, "id");
        if (!is_text && !is_id)
            continue;
        if (myth_json_next(&j, &tok, bad) != MYTH_OK)
            break;
        if (is_id && (tok.type == MYTH_JSON_STRING || tok.type == MYTH_JSON_NUMBER)) {
            out->id = line + tok.off;
            out->n_id = tok.len + (tok.type == MYTH_JSON_STRING ? 2 : 0);
        } else if (is_id && tok.type == MYTH_JSON_NULL) {
            out->n_id = 0; /* as if it were not there */
        } else if (is_text && tok.type == MYTH_JSON_STRING && !has_text) {
            out->n_text = t->n_prompt + myth_json_text(t->plain + t->n_prompt, &tok);
            has_text = true;
        } else if (!what) { /* the id may still come */
            what = is_id ? "\"id\": expected a string or a number" : "\"text\": expected one string";
        }
    }
    return bad->code != MYTH_OK ? bad->msg : what || has_text ? what : "no \"text\"";
}

static void read_line(myth_texts *t, myth_texts_item *out, const char *line, size_t n)
{
    myth_error bad = {0};
    *out = (myth_texts_item){.text = t->plain};
    const char *what = parse_line(t, out, line, n, &bad);
    if (what)
        set_fault(t, out, what);
    if (bad.code != MYTH_OK) /* an id of a line that is no JSON is none */
        out->n_id = 0;
}

/* ---- files of a list ---- */

/* Copies the next path of the list; false after the last. */
static bool next_path(myth_texts *t, char path[PATH_MAX], size_t *at, size_t *n)
{
    while (t->from < t->to) {
        const unsigned char *from = t->buffer + t->from, *end = memchr(from, '\n', t->to - t->from);
        size_t len = end ? (size_t)(end - from) : t->to - t->from;
        *at = t->from;
        t->from += len + (end != NULL);
        t->line_no++;
        len -= len > 0 && from[len - 1] == '\r';
        if (len == 0)
            continue;
        *n = len;
        len = len < PATH_MAX - 1 ? len : PATH_MAX - 1;
        memcpy(path, from, len);
        path[len] = '\0';
        return true;
    }
    return false;
}

/* The hash of a file's bytes, and their number. False: it cannot be read, and is an item with a fault. */
static bool hash_file(const char *path, uint64_t *hash, uint64_t *n)
{
    unsigned char piece[HASHED_BYTES];
    XXH3_state_t sum;
    ssize_t k = -1;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    *n = 0;
    XXH3_INITSTATE(&sum);
    XXH3_64bits_reset(&sum);
    while (fd >= 0 && (k = read(fd, piece, sizeof(piece))) != 0) {
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            break;
        XXH3_64bits_update(&sum, piece, (size_t)k);
        *n += (uint64_t)k;
    }
    if (fd >= 0)
        close(fd);
    *hash = k == 0 ? XXH3_64bits_digest(&sum) : 0;
    return k == 0;
}

/* Looks at every file once: its size, and the hash of its bytes. */
static myth_status see_file(myth_texts *t, const char *path, size_t n, myth_error *err)
{
    struct stat info;
    uint64_t n_byte = 0;
    if (n >= PATH_MAX || stat(path, &info) != 0)
        return myth_fail(err, MYTH_ENOTFOUND, "%.60s: line %llu: %.120s: %s; --files reads a path from each line",
                         t->path, (unsigned long long)t->line_no, path,
                         n >= PATH_MAX     ? "path too long"
                         : errno == ENOENT ? "no such file"
                                           : strerror(errno));
    if (!S_ISREG(info.st_mode) || info.st_size > FILE_BYTES_MAX)
        return myth_fail(err, MYTH_ELIMIT, "%s: line %llu: %s: expected a regular file of at most %d bytes", t->path,
                         (unsigned long long)t->line_no, path, FILE_BYTES_MAX);
    const myth_status st = myth_hint_check_input(t->cli, path, err);
    if (st != MYTH_OK)
        return st;
    uint64_t *hash = &t->file_hash[t->n_file++];
    hash_file(path, hash, &n_byte);
    t->longest = n_byte > t->longest ? (size_t)n_byte : t->longest;
    t->total += n_byte;
    t->hash = myth_fnv1a(myth_fnv1a(t->hash, path, n), hash, sizeof(*hash));
    return myth_cancelled(t->cli->cancel)
             ? myth_fail(err, MYTH_ECANCEL, "%s: interrupted while its files were read", t->path)
             : MYTH_OK;
}

static myth_status open_files(myth_texts *t, myth_error *err)
{
    char path[PATH_MAX];
    size_t at, n, n_file = 0;
    myth_status st = myth_cli_read_given(&t->buffer, &t->to, t->cli->mem, t->path, LIST_BYTES_MAX, err);
    if (st != MYTH_OK)
        return st;
    while (next_path(t, path, &at, &n))
        n_file++;
    myth_texts_rewind(t);
    if (n_file)
        t->file_hash = myth_alloc_n(t->cli->mem, MYTH_MEM_STAGING, "texts", n_file, sizeof(*t->file_hash));
    if (n_file && !t->file_hash)
        return myth_fail(err, MYTH_ENOMEM, "%s: out of memory for %zu files", t->path, n_file);
    while (st == MYTH_OK && next_path(t, path, &at, &n))
        st = see_file(t, path, n, err);
    myth_texts_rewind(t);
    return st;
}

/* Whether a file that was read has other bytes than when it was seen; one that cannot be read has none. */
static bool has_changed(const myth_texts *t, myth_status st, const unsigned char *data, size_t n)
{
    return st == MYTH_ELIMIT || (st == MYTH_OK && XXH3_64bits(data, n) != t->file_hash[t->n_file]);
}

static myth_status read_next_file(myth_texts *t, myth_texts_item *out, bool *has, myth_error *err)
{
    char path[PATH_MAX];
    unsigned char *data = NULL;
    size_t at, n, len = 0;
    if (!(*has = next_path(t, path, &at, &n)))
        return MYTH_OK;
    myth_error bad = {0};
    const myth_status st = myth_file_read(&data, &len, t->cli->mem, path, t->longest, &bad);
    if (st == MYTH_ENOMEM || st == MYTH_ECANCEL) {
        *err = bad;
        return st;
    }
    const bool is_another = has_changed(t, st, data, len);
    if (st == MYTH_OK && !is_another)
        memcpy(t->plain + t->n_prompt, data, len);
    myth_free(t->cli->mem, data);
    if (is_another)
        return myth_fail(err, MYTH_ELIMIT,
                         "%.60s: line %llu: %.90s: changed while it was read; put it back as it was, or begin anew",
                         t->path, (unsigned long long)t->line_no, path);
    t->n_file++;
    t->done += len;
    *out = (myth_texts_item){
        .text = t->plain,
        .n_text = t->n_prompt + len,
        .id = (const char *)t->buffer + at,
        .n_id = n,
        .is_path = true,
    };
    if (st != MYTH_OK)
        set_fault(t, out, bad.msg);
    return MYTH_OK;
}

/* ---- all kinds ---- */

size_t myth_texts_bound(const myth_texts *t) { return t->n_prompt + t->longest; }

myth_status myth_texts_see(const myth_texts *t, myth_error *err)
{
    const uint64_t bytes = myth_tokenizer_scratch(myth_texts_bound(t)) + (t->kind == MYTH_TEXTS_FILES ? t->longest : 0);
    if (!myth_mem_book(t->cli->mem, MYTH_MEM_HOST, MYTH_MEM_STAGING, "texts", bytes))
        return myth_fail(err, MYTH_ENOMEM, "%s: out of memory for %llu bytes to read a text", t->path,
                         (unsigned long long)bytes);
    myth_mem_unbook(t->cli->mem, MYTH_MEM_HOST, MYTH_MEM_STAGING, bytes);
    return MYTH_OK;
}

myth_status myth_texts_open(myth_texts *out, myth_cli *cli, myth_texts_kind kind, const char *path, const char *prompt,
                            size_t line_bytes, myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = (myth_texts){.cli = cli, .kind = kind, .path = path, .prompt = prompt, .n_prompt = strlen(prompt)};
    cli->has_read_stdin = cli->has_read_stdin || myth_cli_is_stream(path);
    if (kind == MYTH_TEXTS_LINES) {
        MYTH_TRY(open_lines(out, line_bytes, err));
    } else if (kind == MYTH_TEXTS_FILES) {
        MYTH_TRY(open_files(out, err));
    } else {
        MYTH_TRY(myth_cli_read_given(&out->buffer, &out->to, cli->mem, path, FILE_BYTES_MAX, err));
        out->longest = out->total = out->to;
        out->hash = myth_fnv1a(MYTH_FNV1A, out->buffer, out->to);
    }
    out->plain = myth_alloc(cli->mem, MYTH_MEM_STAGING, "text", myth_texts_bound(out) + 1);
    if (!out->plain)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "%s: out of memory for a text of %zu bytes", path, myth_texts_bound(out)));
    memcpy(out->plain, prompt, out->n_prompt);
    return MYTH_OK;
fail:
    myth_texts_close(out);
    return st;
}

void myth_texts_close(myth_texts *t)
{
    if (!t->cli)
        return;
    myth_lines_close(&t->lines);
    myth_free(t->cli->mem, t->plain);
    myth_free(t->cli->mem, t->file_hash);
    myth_free(t->cli->mem, t->buffer);
    *t = (myth_texts){0};
}

void myth_texts_rewind(myth_texts *t)
{
    t->from = t->n_file = 0;
    t->line_no = t->done = 0;
    t->is_end = false;
}

myth_status myth_texts_next(myth_texts *t, myth_texts_item *out, bool *has, myth_error *err)
{
    const char *line = NULL;
    size_t n = 0;
    *has = true;
    if (t->kind == MYTH_TEXTS_FILES)
        return read_next_file(t, out, has, err);
    if (t->kind == MYTH_TEXTS_LINES) {
        const myth_status st = myth_lines_next(&t->lines, &line, &n, err);
        t->line_no = t->lines.line_no;
        t->done = t->lines.done;
        if (st == MYTH_ELIMIT && !t->lines.is_measured) { /* the line behind it may be shorter */
            *out = (myth_texts_item){0};
            set_fault(t, out, "longer than --line-bytes");
            return MYTH_OK;
        }
        *has = line != NULL;
        if (st == MYTH_OK && *has)
            read_line(t, out, line, n);
        return st;
    }
    *has = !t->is_end;
    if (*has) {
        memcpy(t->plain + t->n_prompt, t->buffer, t->to);
        *out = (myth_texts_item){.text = t->plain, .n_text = t->n_prompt + t->to};
        t->is_end = true;
        t->done = t->total;
    }
    return MYTH_OK;
}
