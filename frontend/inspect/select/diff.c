/* diff.c - parses a unified diff in one pass over its lines. A header begins a file, a line with "@@" begins a hunk,
 * and a hunk must have exactly the lines that its header counts. */
#include "diff.h"
#include "engine/base/array.h"
#include "engine/base/chars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *text;
    size_t n, at;
    uint32_t line_no; /* number of the line that was read last */
    const char *line;
    size_t n_line; /* length without the line's end */
    myth_diff *out;
    myth_diff_file *file; /* the file that is being read; NULL = none */
    uint32_t cap_added, cap_removed, cap_hunk;
    size_t cap_old, cap_new; /* of the file's old_text and new_text */
    char old_path[MYTH_DIFF_PATH], new_path[MYTH_DIFF_PATH];
    bool has_old, has_new;       /* the path is known; false for /dev/null */
    bool has_sides;              /* "---" and "+++" were read      */
    bool is_bare;                /* the paths have no prefixes like "a/" and "b/" */
    bool has_index, is_empty;    /* an "index" line was read; it names the empty file as one of the two sides */
    uint32_t old_next, new_next; /* the first line at which the next hunk may begin */
} reader;

static myth_status wrong(const reader *r, const char *what, myth_error *err)
{
    return myth_fail(err, MYTH_EFORMAT, "diff: line %u: %s", r->line_no, what);
}

/* The lines of a hunk are not those that its head counts. */
static myth_status miscounted(uint32_t line, const char *what, myth_error *err)
{
    return myth_fail(err, MYTH_EFORMAT,
                     "diff: line %u: %s; the patch was cut off or edited: make it anew, as with git diff", line, what);
}

static myth_status no_memory(myth_error *err) { return myth_fail(err, MYTH_ENOMEM, "diff: no memory"); }

/* ---- lines ---- */

static bool next_line(reader *r)
{
    if (r->at >= r->n)
        return false;
    r->line = r->text + r->at;
    const char *end = memchr(r->line, '\n', r->n - r->at);
    r->n_line = end ? (size_t)(end - r->line) : r->n - r->at;
    r->at += r->n_line + (end != NULL);
    r->line_no++;
    return true;
}

/* Removes the carriage return that a header line has in a file with DOS line ends. */
static void strip_return(reader *r) { r->n_line -= r->n_line > 0 && r->line[r->n_line - 1] == '\r'; }

static bool begins(const reader *r, const char *word)
{
    size_t n = strlen(word);
    return r->n_line >= n && memcmp(r->line, word, n) == 0;
}

static bool is_next(const reader *r, const char *word)
{
    size_t n = strlen(word);
    return r->n - r->at >= n && memcmp(r->text + r->at, word, n) == 0;
}

/* ---- paths ---- */

/* Reads a path as git writes it, quoted or not; an unquoted path ends at a tab or at the end of the line. Returns the
 * number of bytes read; 0 when there is no valid path. */
static size_t read_path(char dst[MYTH_DIFF_PATH], const char *s, size_t n, bool to_blank)
{
    static const char escape[] = "abtnvfr\"\\", value[] = "\a\b\t\n\v\f\r\"\\";
    size_t at = 0, i = 0;
    if (n == 0 || s[0] != '"') {
        while (i < n && s[i] != '\t' && !(to_blank && s[i] == ' '))
            i++;
        if (i == 0 || i >= MYTH_DIFF_PATH || memchr(s, '\0', i))
            return 0;
        memcpy(dst, s, i);
        dst[i] = '\0';
        return i;
    }
    for (i = 1; i < n && s[i] != '"'; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '\\') {
            if (++i >= n)
                return 0;
            const char *e = memchr(escape, s[i], sizeof(escape) - 1);
            if (e) {
                c = (unsigned char)value[e - escape];
            } else {
                unsigned v = 0;
                for (int k = 0; k < 3; k++, i++) {
                    if (i >= n || s[i] < '0' || s[i] > '7')
                        return 0;
                    v = v * 8 + (unsigned)(s[i] - '0');
                }
                i--;
                c = (unsigned char)v;
                if (v > 255)
                    return 0;
            }
        }
        if (c == '\0' || at + 1 >= MYTH_DIFF_PATH)
            return 0;
        dst[at++] = (char)c;
    }
    dst[at] = '\0';
    return i < n && at > 0 ? i + 1 : 0;
}

static bool has_prefix(const char *path) { return path[0] && strchr("abiwco12", path[0]) && path[1] == '/' && path[2]; }

/* Removes prefixes like "a/" and "b/". They are taken for prefixes only when every path that is there has one, and the
 * two differ. */
static void strip_prefixes(reader *r)
{
    r->is_bare |= (r->has_old && !has_prefix(r->old_path)) || (r->has_new && !has_prefix(r->new_path)) ||
                  (r->has_old && r->has_new && r->old_path[0] == r->new_path[0]);
    if (r->is_bare)
        return;
    if (r->has_old)
        memmove(r->old_path, r->old_path + 2, strlen(r->old_path + 2) + 1);
    if (r->has_new)
        memmove(r->new_path, r->new_path + 2, strlen(r->new_path + 2) + 1);
}

const char *myth_diff_path_refused(const char *path)
{
    if (!path[0])
        return "its path is empty";
    if (path[0] == '/')
        return "its path is absolute";
    if (strchr(path, '\n'))
        return "its path has a line end";
    for (const char *p = path, *end; *p; p = *end ? end + 1 : end) {
        end = p + strcspn(p, "/");
        size_t n = (size_t)(end - p);
        if (n == 0 || (n == 1 && p[0] == '.'))
            return "its path has an empty name";
        if (n == 2 && p[0] == '.' && p[1] == '.')
            return "its path leaves the directory";
        if (n == 4 && (p[0] == '.') && (p[1] | 32) == 'g' && (p[2] | 32) == 'i' && (p[3] | 32) == 't')
            return "its path is inside .git";
        if (*end && !end[1])
            return "its path ends in a slash";
    }
    return NULL;
}

static const char *copy_path(const reader *r, const char *path)
{
    size_t n = strlen(path) + 1;
    char *p = myth_alloc(r->out->mem, MYTH_MEM_STAGING, "diff", n);
    return p ? memcpy(p, path, n) : NULL;
}

/* ---- files ---- */

static myth_status open_file(reader *r, myth_error *err)
{
    myth_diff *d = r->out;
    if (d->n_file == MYTH_DIFF_FILES)
        return wrong(r, "more than 65,536 files", err);
    if (!MYTH_ARRAY_ROOM(d->mem, MYTH_MEM_STAGING, "diff", &d->file, d->n_file, &d->cap_file))
        return no_memory(err);
    r->file = &d->file[d->n_file++];
    *r->file = (myth_diff_file){.kind = MYTH_DIFF_CHANGED};
    r->cap_added = r->cap_removed = r->cap_hunk = 0;
    r->cap_old = r->cap_new = 0;
    r->has_old = r->has_new = r->has_sides = r->is_bare = r->has_index = r->is_empty = false;
    r->old_path[0] = r->new_path[0] = '\0';
    r->old_next = r->new_next = 1;
    return MYTH_OK;
}

/* Completes the file that was read. Called when the next file begins, because only then are its paths certain. */
static myth_status close_file(reader *r, myth_error *err)
{
    myth_diff_file *f = r->file;
    r->file = NULL;
    if (!f)
        return MYTH_OK;
    if (!r->has_old && !r->has_new)
        return wrong(r, "a file without a path", err);
    bool is_whole = f->kind == MYTH_DIFF_ADDED || f->kind == MYTH_DIFF_DELETED;
    if (f->n_hunk == 0 && !f->is_binary && (r->has_sides || r->has_index) &&
        !(is_whole && (r->is_empty || !r->has_index)))
        return wrong(r, "a file that changed without a hunk: the diff is cut off", err);
    if (f->kind == MYTH_DIFF_CHANGED && r->has_sides && !r->has_old)
        f->kind = MYTH_DIFF_ADDED;
    if (f->kind == MYTH_DIFF_CHANGED && r->has_sides && !r->has_new)
        f->kind = MYTH_DIFF_DELETED;
    f->path = copy_path(r, r->has_new && f->kind != MYTH_DIFF_DELETED ? r->new_path
                           : r->has_old                               ? r->old_path
                                                                      : r->new_path);
    f->old_path = copy_path(r, r->has_old && f->kind != MYTH_DIFF_ADDED ? r->old_path
                               : r->has_new                             ? r->new_path
                                                                        : r->old_path);
    if (!f->path || !f->old_path)
        return no_memory(err);
    f->skipped = myth_diff_path_refused(f->path);
    if (!f->skipped && f->kind == MYTH_DIFF_DELETED)
        f->skipped = "it is deleted";
    if (!f->skipped && (f->is_link || f->is_module))
        f->skipped = f->is_link ? "it is a symbolic link" : "it is a submodule";
    return MYTH_OK;
}

/* Reads "a/x b/x" of a git header. Unquoted paths may contain blanks, so the line is split in the middle, and the two
 * halves must be equal after their prefixes. */
static void read_git_paths(reader *r)
{
    static const size_t n_word = sizeof("diff --git ") - 1;
    const char *s = r->line + n_word;
    size_t n = r->n_line - n_word, used = 0;
    if (n > 0 && s[0] == '"') {
        used = read_path(r->old_path, s, n, false);
        if (used == 0 || used + 1 >= n || s[used] != ' ' || !read_path(r->new_path, s + used + 1, n - used - 1, false))
            return;
    } else if (n > 0 && s[n - 1] == '"') { /* only the second path is quoted */
        const char *quote = memchr(s, '"', n);
        used = (size_t)(quote - s);
        if (used < 2 || used > MYTH_DIFF_PATH || !read_path(r->old_path, s, used - 1, false) ||
            !read_path(r->new_path, quote, n - used, false))
            return;
    } else {
        size_t half = n / 2;
        if (n % 2 == 0 || half == 0 || half >= MYTH_DIFF_PATH || s[half] != ' ' || memchr(s, '\0', n))
            return;
        bool has_prefixes = half > 2 && s[1] == '/' && s[half + 2] == '/';
        if (memcmp(s + (has_prefixes ? 2 : 0), s + half + 1 + (has_prefixes ? 2 : 0), half - (has_prefixes ? 2 : 0)) !=
            0)
            return; /* a rename: the lines that follow name the paths */
        memcpy(r->old_path, s, half);
        r->old_path[half] = '\0';
        memcpy(r->new_path, s + half + 1, half);
        r->new_path[half] = '\0';
    }
    r->has_old = r->has_new = true;
    strip_prefixes(r);
}

/* Reads the path of a "---" or "+++" line. *has is false for /dev/null. */
static myth_status read_side(reader *r, char path[MYTH_DIFF_PATH], bool *has, myth_error *err)
{
    if (!read_path(path, r->line + 4, r->n_line - 4, false))
        return wrong(r, "a path that cannot be read", err);
    *has = strcmp(path, "/dev/null") != 0;
    return MYTH_OK;
}

static myth_status read_sides(reader *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    if (r->n_line < 5)
        return wrong(r, "a path is missing", err);
    MYTH_TRY(read_side(r, r->old_path, &r->has_old, err));
    if (!is_next(r, "+++ ") || !next_line(r))
        return wrong(r, "\"---\" without \"+++\" behind it", err);
    strip_return(r);
    if (r->n_line < 5)
        return wrong(r, "a path is missing", err);
    MYTH_TRY(read_side(r, r->new_path, &r->has_new, err));
    if (!r->has_old && !r->has_new)
        return wrong(r, "both sides are /dev/null", err);
    strip_prefixes(r);
    r->has_sides = true;
fail:
    return st;
}

static myth_status read_plain_path(reader *r, size_t off, char path[MYTH_DIFF_PATH], bool *has, myth_error *err)
{
    if (!read_path(path, r->line + off, r->n_line - off, false))
        return wrong(r, "a path that cannot be read", err);
    *has = true;
    return MYTH_OK;
}

static void read_mode(reader *r, size_t off)
{
    bool is_link = r->n_line >= off + 6 && memcmp(r->line + off, "120000", 6) == 0;
    bool is_module = r->n_line >= off + 6 && memcmp(r->line + off, "160000", 6) == 0;
    r->file->is_link |= is_link;
    r->file->is_module |= is_module;
}

/* Skips the encoded bytes of a binary patch, up to the next header. */
static void skip_binary_patch(reader *r)
{
    while (r->at < r->n && !is_next(r, "diff ") && !is_next(r, "--- ") && next_line(r))
        ;
}

/* Whether an "index" line such as "index e69de29..1" has the hash of the empty file, in SHA-1 or SHA-256. */
static bool is_empty_blob(const char *line, size_t n)
{
    static const char *const empty[] = {"e69de29", "473a0f4"};
    for (size_t i = 6; i + 7 <= n; i++)
        if ((line[i - 1] == ' ' || line[i - 1] == '.') &&
            (memcmp(line + i, empty[0], 7) == 0 || memcmp(line + i, empty[1], 7) == 0))
            return true;
    return false;
}

/* Reads a line between "diff --git" and the first hunk. */
static myth_status read_extended(reader *r, myth_error *err)
{
    myth_diff_file *f = r->file;
    if (begins(r, "new file mode ")) {
        f->kind = MYTH_DIFF_ADDED;
        read_mode(r, sizeof("new file mode ") - 1);
    } else if (begins(r, "deleted file mode ")) {
        f->kind = MYTH_DIFF_DELETED;
    } else if (begins(r, "new mode ")) {
        f->is_mode_changed = true;
        read_mode(r, sizeof("new mode ") - 1);
    } else if (begins(r, "rename from ")) {
        return read_plain_path(r, sizeof("rename from ") - 1, r->old_path, &r->has_old, err);
    } else if (begins(r, "rename to ")) {
        f->kind = MYTH_DIFF_RENAMED;
        return read_plain_path(r, sizeof("rename to ") - 1, r->new_path, &r->has_new, err);
    } else if (begins(r, "copy from ")) {
        return read_plain_path(r, sizeof("copy from ") - 1, r->old_path, &r->has_old, err);
    } else if (begins(r, "copy to ")) {
        f->kind = MYTH_DIFF_COPIED;
        return read_plain_path(r, sizeof("copy to ") - 1, r->new_path, &r->has_new, err);
    } else if (begins(r, "index ")) {
        r->has_index = true;
        r->is_empty = is_empty_blob(r->line, r->n_line);
        const char *mode = r->n_line > 7 ? r->line + r->n_line - 7 : ""; /* as in "index a..b 120000" */
        if (mode[0] == ' ')
            read_mode(r, r->n_line - 6);
    } else if (begins(r, "Binary files ") || begins(r, "GIT binary patch")) {
        f->is_binary = true;
        if (begins(r, "GIT"))
            skip_binary_patch(r);
    } else if (begins(r, "--- ")) {
        return wrong(r, "\"---\" without \"+++\" behind it", err);
    }
    return MYTH_OK;
}

/* ---- hunks ---- */

static bool read_number(const char **p, const char *end, uint32_t *v)
{
    uint64_t x = 0;
    const char *s = *p;
    while (s < end && *s >= '0' && *s <= '9' && x <= MYTH_DIFF_LINE_MAX)
        x = x * 10 + (uint64_t)(*s++ - '0');
    bool is_one = s > *p && x <= MYTH_DIFF_LINE_MAX;
    *v = (uint32_t)x;
    *p = s;
    return is_one;
}

static bool read_range(const char **p, const char *end, char sign, uint32_t *first, uint32_t *n)
{
    *n = 1;
    if (*p >= end || *(*p)++ != sign || !read_number(p, end, first))
        return false;
    if (*p < end && **p == ',') {
        ++*p;
        if (!read_number(p, end, n))
            return false;
    }
    return true;
}

static bool grow_list(const reader *r, void *list, uint32_t *cap, uint32_t n, size_t size)
{
    return myth_array_more32(r->out->mem, MYTH_MEM_STAGING, "diff", list, n, 1, cap, size);
}

/* Appends the line that was read last, without its sign and line end, to the file's old or new text. An empty line of
 * context may have lost its sign. */
static bool put_line_text(reader *r, char **text, size_t *used, size_t *cap)
{
    const size_t n_sign = r->n_line > 0 && r->line[0] != '\r',
                 n = r->n_line - n_sign - (r->n_line > n_sign && r->line[r->n_line - 1] == '\r'), need = *used + n + 1;
    if (need > *cap) {
        char *to = myth_realloc(r->out->mem, MYTH_MEM_STAGING, "diff", *text, need * 2);
        if (!to)
            return false;
        *text = to;
        *cap = need * 2;
    }
    memcpy(*text + *used, r->line + n_sign, n);
    (*text)[need - 1] = '\n';
    *used = need;
    return true;
}

static bool put_shown(reader *r) { return put_line_text(r, &r->file->new_text, &r->file->n_new_text, &r->cap_new); }

static bool put_added(reader *r, uint32_t line)
{
    myth_diff_file *f = r->file;
    f->lines_added++;
    if (!put_shown(r))
        return false;
    if (f->n_added && f->added[f->n_added - 1].last + 1 == line) {
        f->added[f->n_added - 1].last = line;
        return true;
    }
    if (!grow_list(r, &f->added, &r->cap_added, f->n_added, sizeof(*f->added)))
        return false;
    f->added[f->n_added++] = (myth_diff_lines){line, line};
    return true;
}

static bool put_removed(reader *r, uint32_t before)
{
    myth_diff_file *f = r->file;
    const size_t off = f->n_old_text;
    f->lines_removed++;
    if (!put_line_text(r, &f->old_text, &f->n_old_text, &r->cap_old))
        return false;
    const size_t len = f->n_old_text - off;
    if (f->n_removed && f->removed[f->n_removed - 1].before == before) {
        f->removed[f->n_removed - 1].n++;
        f->removed[f->n_removed - 1].len += len;
        return true;
    }
    if (!grow_list(r, &f->removed, &r->cap_removed, f->n_removed, sizeof(*f->removed)))
        return false;
    f->removed[f->n_removed++] = (myth_diff_removed){before, 1, off, len};
    return true;
}

static myth_status read_hunk(reader *r, myth_error *err)
{
    const char *p = r->line + 3, *end = r->line + r->n_line;
    uint32_t old_first, old_n, new_first, new_n;
    if (!read_range(&p, end, '-', &old_first, &old_n) || p >= end || *p++ != ' ' ||
        !read_range(&p, end, '+', &new_first, &new_n) || end - p < 3 || memcmp(p, " @@", 3) != 0)
        return wrong(r, "a hunk that does not begin as \"@@ -1,2 +3,4 @@\"", err);
    /* a side that has no lines names the line before its place */
    uint32_t old_at = old_first + (old_n == 0), new_at = new_first + (new_n == 0), header = r->line_no;
    if (old_at < r->old_next || new_at < r->new_next)
        return wrong(r, "a hunk that goes back or overlaps the one before", err);
    myth_diff_file *f = r->file;
    if (!grow_list(r, &f->hunk, &r->cap_hunk, f->n_hunk, sizeof(*f->hunk)))
        return no_memory(err);
    f->hunk[f->n_hunk++] = (myth_diff_hunk){new_at, new_at + new_n - 1};
    r->old_next = old_at + old_n;
    r->new_next = new_at + new_n;
    uint32_t change = 0; /* first line of the change that is being read; 0 = none */
    while (old_n > 0 || new_n > 0) {
        if (!next_line(r)) {
            char early[80];
            snprintf(early, sizeof(early), "the hunk ends %u old and %u new lines early", old_n, new_n);
            return miscounted(header, early, err);
        }
        /* An empty line is an empty line of context whose leading blank was lost, as in mails. */
        char c = r->n_line > 0 && !(r->n_line == 1 && r->line[0] == '\r') ? r->line[0] : ' ';
        bool ok = true;
        switch (c) {
        case ' ':
            if (old_n == 0 || new_n == 0)
                return miscounted(r->line_no, "a line more than the hunk counts", err);
            old_n--;
            new_n--;
            new_at++;
            change = 0;
            ok = put_shown(r);
            break;
        case '-':
            if (old_n == 0)
                return miscounted(r->line_no, "a removed line more than the hunk counts", err);
            old_n--;
            change = change ? change : new_at;
            ok = put_removed(r, change);
            break;
        case '+':
            if (new_n == 0)
                return miscounted(r->line_no, "an added line more than the hunk counts", err);
            new_n--;
            change = change ? change : new_at;
            ok = put_added(r, new_at++);
            break;
        case '\\': break; /* No newline at end of file */
        default: return miscounted(r->line_no, "a line in a hunk that begins with none of ' ', '+', '-'", err);
        }
        if (!ok)
            return no_memory(err);
    }
    if (is_next(r, "\\"))
        next_line(r);
    return MYTH_OK;
}

/* ---- the whole ---- */

static myth_status read_line(reader *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    if (begins(r, "diff --cc ") || begins(r, "diff --combined ") || begins(r, "@@@ "))
        return wrong(r, "a combined diff of a merge; take one against one parent: git diff COMMIT^1 COMMIT", err);
    if (begins(r, "diff --git ")) {
        MYTH_TRY(close_file(r, err));
        MYTH_TRY(open_file(r, err));
        read_git_paths(r);
    } else if (begins(r, "--- ") && is_next(r, "+++ ")) {
        if (!r->file || r->has_sides) { /* a file without a "diff --git" line */
            MYTH_TRY(close_file(r, err));
            MYTH_TRY(open_file(r, err));
        }
        MYTH_TRY(read_sides(r, err));
    } else if (begins(r, "@@ ")) {
        if (!r->file || !r->has_sides)
            return wrong(r, "a hunk before any file", err);
        MYTH_TRY(read_hunk(r, err));
    } else if (r->file && !r->has_sides) {
        MYTH_TRY(read_extended(r, err));
    }
fail:
    return st;
}

static int by_path(const void *a, const void *b)
{
    const myth_diff_file *const *x = a, *const *y = b;
    return strcmp((*x)->path, (*y)->path);
}

/* Marks the files that the text names more than once. A file that is deleted and made anew, as where a link becomes a
 * file, is named twice by one difference. */
static myth_status mark_twice(myth_diff *d, myth_error *err)
{
    uint32_t n = 0;
    myth_diff_file **list = myth_alloc_n(d->mem, MYTH_MEM_STAGING, "diff", d->n_file + 1u, sizeof(*list));
    if (!list)
        return no_memory(err);
    for (uint32_t i = 0; i < d->n_file; i++)
        if (!d->file[i].skipped)
            list[n++] = &d->file[i];
    qsort(list, n, sizeof(*list), by_path);
    for (uint32_t i = 1; i < n; i++)
        if (strcmp(list[i - 1]->path, list[i]->path) == 0)
            list[i - 1]->is_twice = list[i]->is_twice = true;
    myth_free(d->mem, list);
    return MYTH_OK;
}

myth_status myth_diff_parse(myth_diff *out, myth_mem *mem, const char *text, size_t n, myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = (myth_diff){.mem = mem};
    if (n > MYTH_DIFF_BYTES)
        return myth_fail(err, MYTH_ELIMIT, "diff: %zu bytes, at most %d are read", n, (int)MYTH_DIFF_BYTES);
    reader *r = myth_alloc(mem, MYTH_MEM_STAGING, "diff", sizeof(*r));
    if (!r)
        return no_memory(err);
    r->text = text;
    r->n = n;
    r->out = out;
    while (next_line(r)) {
        strip_return(r);
        MYTH_TRY(read_line(r, err));
    }
    MYTH_TRY(close_file(r, err));
    MYTH_TRY(mark_twice(out, err));
    if (out->n_file == 0 && memchr(text, '\033', n))
        st = myth_fail(err, MYTH_EFORMAT,
                       "diff: these %zu bytes have the colours of a terminal; git diff --no-color leaves them out", n);
    if (out->n_file == 0)
        for (size_t i = 0; i < n && st == MYTH_OK; i++)
            if (text[i] != '\n' && text[i] != '\r' && text[i] != ' ' && text[i] != '\t')
                st = myth_fail(err, MYTH_EFORMAT,
                               "diff: no unified diff in these %zu bytes; expected the output of git diff or diff -u",
                               n);
fail:
    myth_free(mem, r);
    if (st != MYTH_OK)
        myth_diff_free(out);
    return st;
}

myth_removed *myth_diff_removed_list(const myth_diff_file *f, myth_mem *mem)
{
    myth_removed *list = f->n_removed ? myth_alloc_n(mem, MYTH_MEM_OTHER, "diff", f->n_removed, sizeof(*list)) : NULL;
    for (uint32_t i = 0; list && i < f->n_removed; i++)
        list[i] = (myth_removed){
            .before = f->removed[i].before,
            .n_line = f->removed[i].n,
            .text = f->old_text + f->removed[i].off,
            .len = f->removed[i].len,
        };
    return list;
}

void myth_diff_free(myth_diff *d)
{
    for (uint32_t i = 0; i < d->n_file; i++) {
        myth_diff_file *f = &d->file[i];
        myth_free(d->mem, (char *)(uintptr_t)f->path);
        myth_free(d->mem, (char *)(uintptr_t)f->old_path);
        myth_free(d->mem, f->added);
        myth_free(d->mem, f->removed);
        myth_free(d->mem, f->hunk);
        myth_free(d->mem, f->old_text);
        myth_free(d->mem, f->new_text);
    }
    if (d->file)
        myth_free(d->mem, d->file);
    *d = (myth_diff){0};
}

bool myth_diff_touches(const myth_diff_file *f, uint32_t first, uint32_t last)
{
    for (uint32_t i = 0; i < f->n_added; i++)
        if (f->added[i].first <= last && f->added[i].last >= first)
            return true;
    for (uint32_t i = 0; i < f->n_removed; i++) /* the lines before and after a gap both touch it */
        if (f->removed[i].before <= last + 1 && f->removed[i].before >= first)
            return true;
    return false;
}

bool myth_diff_shows(const myth_diff_file *f, uint32_t first, uint32_t last)
{
    for (uint32_t i = 0; i < f->n_hunk; i++)
        if (f->hunk[i].first <= last && f->hunk[i].last >= first)
            return true;
    return false;
}

/* ---- the files that a diff leads to ---- */

/* Whether two lines are equal, or differ in their blanks alone. */
static bool is_same_line(const unsigned char *a, size_t n_a, const unsigned char *b, size_t n_b)
{
    const unsigned char *end_a = a + n_a, *end_b = b + n_b;
    if (n_a == n_b && memcmp(a, b, n_a) == 0)
        return true;
    for (;; a++, b++) {
        while (a < end_a && myth_is_blank(*a))
            a++;
        while (b < end_b && myth_is_blank(*b))
            b++;
        if (a == end_a || b == end_b)
            return a == end_a && b == end_b;
        if (*a != *b)
            return false;
    }
}

uint32_t myth_diff_differs(const myth_diff_file *f, const myth_source *src)
{
    const char *at = f->new_text;
    for (uint32_t i = 0; i < f->n_hunk; i++)
        for (uint32_t line = f->hunk[i].first; line <= f->hunk[i].last; line++) {
            const char *end = memchr(at, '\n', (size_t)(f->new_text + f->n_new_text - at));
            if (line > src->n_line)
                return line;
            const myth_line *l = &src->line[line - 1];
            if (!is_same_line((const unsigned char *)at, (size_t)(end - at), src->bytes + l->off, l->len))
                return line;
            at = end + 1;
        }
    return 0;
}

/* ---- a diff of a folder ---- */

static myth_status put_prefix(myth_mem *mem, const char **path, const char *prefix, myth_error *err)
{
    const size_t n = strlen(prefix), n_path = strlen(*path) + 1;
    char *whole = myth_alloc(mem, MYTH_MEM_OTHER, "diff", n + n_path);
    if (!whole)
        return myth_fail(err, MYTH_ENOMEM, "diff: no memory for a path of %zu bytes", n + n_path);
    memcpy(whole, prefix, n);
    memcpy(whole + n, *path, n_path);
    myth_free(mem, (void *)(uintptr_t)*path);
    *path = whole;
    return MYTH_OK;
}

myth_status myth_diff_put_below(myth_diff *d, const char *prefix, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < d->n_file && prefix[0]; i++) {
        if (d->file[i].skipped)
            continue;
        MYTH_TRY(put_prefix(d->mem, &d->file[i].path, prefix, err));
        MYTH_TRY(put_prefix(d->mem, &d->file[i].old_path, prefix, err));
    }
fail:
    return st;
}
