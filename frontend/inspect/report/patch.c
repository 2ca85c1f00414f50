/* patch.c - turns the model's fixes into patches: reads a fix in several ways, tries each at the places that it may
 * mean, and joins those that pass. patch.h has the rules. */
#include "patch.h"
#include "engine/base/array.h"

#include "show.h"

#include "engine/base/chars.h"
#include "engine/base/outfile.h"
#include "engine/base/utf8.h"
#include "retrieval/retrieval.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* READINGS: how many pieces of one fix are tried at most. PLACES: how many places are tried for one piece at most.
 * ANCHOR: how many lines before and after a finding are searched for the ends of a rewritten definition. WORDS: how
 * many names of a place are compared at most. AROUND: how many lines a diff shows before and after a change. */
enum { READINGS = 8, PLACES = 4, ANCHOR = 60, WORDS = 64, AROUND = 3 };

/* What the parser reports about a text. */
typedef struct {
    bool is_parsed;
    uint32_t n_error, n_symbol;
    uint64_t error_bytes;
} parse;

typedef struct {
    const myth_source *src;
    const char *language;      /* NULL = no grammar here parses it                    */
    char path[PATH_MAX];       /* the path in the head of its diffs                   */
    unsigned char *ours, *sum; /* the file on disk; the same with every patch so far  */
    size_t n_ours, n_sum;
    parse was; /* of the inspected bytes */
} file;

struct myth_patches {
    myth_mem *mem;
    const myth_report *r;
    const char *root;
    myth_chunker *chunker;
    myth_patch *list;
    file **file;
    uint32_t n_file, count[MYTH_PATCH_N];
};

const char *myth_patch_result_text(myth_patch_result r)
{
    static const char *const text[MYTH_PATCH_N] = {"a patch",
                                                   "it is words, not code for these lines",
                                                   "it has signs that are not shown",
                                                   "it is beside a secret",
                                                   "its language has no grammar here",
                                                   "the file would not parse with it",
                                                   "it is at odds with another change"};
    return text[r];
}

/* ---- readings ---- */

/* A piece of a fix's text that may be code. */
typedef struct {
    const char *text;
    size_t n;
    bool is_quoted, is_fence;
} reading;

/* Adds a piece of the fix without the blank lines around it and the blanks at its end. The first line keeps its
 * indentation. Once the list is full, further pieces are left out. */
static void add_reading(reading list[READINGS], uint32_t *n, const char *text, size_t len, bool is_quoted,
                        bool is_fence)
{
    while (len && strchr(" \t\r\n", text[len - 1]))
        len--;
    for (size_t i = 0; i < len && strchr(" \t\r\n", text[i]); i++)
        if (text[i] == '\n') {
            text += i + 1;
            len -= i + 1;
            i = (size_t)-1;
        }
    if (len && *n < READINGS)
        list[(*n)++] = (reading){text, len, is_quoted, is_fence};
}

static const char *find(const char *p, const char *end, const char *what)
{
    size_t n = strlen(what);
    for (; (size_t)(end - p) >= n; p++)
        if (!memcmp(p, what, n))
            return p;
    return NULL;
}

/* Lists the pieces of a fix that may be code: those in fences, else those between backticks, else the whole text. */
static uint32_t read_fix(reading list[READINGS], myth_str fix)
{
    uint32_t n = 0;
    const char *end = fix.text + fix.len, *p = fix.text, *from, *to;
    while ((from = find(p, end, "```")) != NULL && (to = find(from + 3, end, "```")) != NULL) {
        const char *line = memchr(from, '\n', (size_t)(to - from)); /* the fence's own line may name a language */
        from = line ? line + 1 : from + 3;
        add_reading(list, &n, from, (size_t)(to - from), true, true);
        p = to + 3;
    }
    if (n)
        return n;
    for (p = fix.text; (from = memchr(p, '`', (size_t)(end - p))) != NULL &&
                       (to = memchr(from + 1, '`', (size_t)(end - from - 1))) != NULL;
         p = to + 1)
        add_reading(list, &n, from + 1, (size_t)(to - from - 1), true, false);
    if (!n)
        add_reading(list, &n, fix.text, fix.len, false, false);
    return n;
}

/* ---- places ---- */

/* Bytes off .. off + len of the file, in lines first .. last. */
typedef struct {
    uint32_t off, len, first, last;
    size_t score;  /* larger is likelier */
    bool is_piece; /* a part of a line: the new text is not indented */
} place;

/* Moves *at to the next name, from *at on, and returns its length; 0 when there is none. Numbers are not names. */
static size_t next_name(const char *text, size_t n, size_t *at)
{
    for (; *at < n; ++*at) {
        size_t len = 0;
        while (*at + len < n && myth_is_name((unsigned char)text[*at + len]))
            len++;
        if (len && !isdigit((unsigned char)text[*at]))
            return len;
        *at += len ? len - 1 : 0;
    }
    return 0;
}

static bool has_name(const char *text, size_t n, const char *name, size_t len)
{
    for (size_t at = 0, k; (k = next_name(text, n, &at)) != 0; at += k)
        if (k == len && !memcmp(text + at, name, len))
            return true;
    return false;
}

/* Counts the different names of a (at most WORDS), and how many of them b has, too. */
static void count_shared(uint32_t *n_name, uint32_t *n_shared, const char *a, size_t n_a, const char *b, size_t n_b)
{
    *n_name = *n_shared = 0;
    for (size_t at = 0, k; *n_name < WORDS && (k = next_name(a, n_a, &at)) != 0; at += k) {
        if (has_name(a, at, a + at, k))
            continue;
        ++*n_name;
        *n_shared += has_name(b, n_b, a + at, k);
    }
}

static bool contains(const char *text, size_t n, const char *piece, size_t len)
{
    for (size_t i = 0; i + len <= n; i++)
        if (!memcmp(text + i, piece, len))
            return true;
    return false;
}

/* Whether the reading can be a new version of these bytes: it must have at least half of their names. A reading that
 * the model did not mark as code may be prose about it, so the bytes must have at least two names, and the reading must
 * begin with the same name or end with the same sign. *score is the number of bytes that both begin and end with. */
static bool is_meant(size_t *score, const reading *c, const char *was, size_t n)
{
    uint32_t n_name, n_shared;
    size_t head = 0, tail = 0, least = c->n < n ? c->n : n;
    count_shared(&n_name, &n_shared, was, n, c->text, c->n);
    while (head < least && was[head] == c->text[head])
        head++;
    while (tail < least - head && was[n - 1 - tail] == c->text[c->n - 1 - tail])
        tail++;
    *score = head + tail;
    if (!n_name || 2 * n_shared < n_name)
        return false;
    if (!c->is_fence && contains(was, n, c->text, c->n)) /* an unchanged piece of the code is only mentioned */
        return false;
    if (c->is_quoted)
        return true;
    size_t a = 0, b = 0, k = next_name(was, n, &a), m = next_name(c->text, c->n, &b);
    bool same_head = k == m && !memcmp(was + a, c->text + b, k);
    bool same_tail = was[n - 1] == c->text[c->n - 1] && ispunct((unsigned char)was[n - 1]) && was[n - 1] != '.';
    return n_name >= 2 && (same_head || same_tail);
}

/* Returns line idx without the blanks around it. */
static myth_str trimmed(const myth_source *src, uint32_t idx)
{
    uint32_t off, len;
    myth_line_trim(src, idx, &off, &len);
    return (myth_str){(const char *)src->bytes + off, len};
}

/* Adds lines first .. last, without the first one's indentation, if the reading can be a new version of them. */
static void add_place(place list[PLACES], uint32_t *n, const myth_source *src, const reading *c, uint32_t first,
                      uint32_t last, size_t bonus)
{
    myth_str a = trimmed(src, first - 1), b = trimmed(src, last - 1);
    place p = {.off = (uint32_t)((const unsigned char *)a.text - src->bytes), .first = first, .last = last};
    p.len = (uint32_t)(b.text + b.len - a.text);
    if (a.len && b.len && is_meant(&p.score, c, a.text, p.len)) {
        p.score += bonus;
        list[(*n)++] = p;
    }
}

/* Finds the lines around the finding whose first and last line equal those of the reading. */
static bool find_anchors(uint32_t *first, uint32_t *last, const myth_source *src, const reading *c,
                         const myth_finding *f)
{
    size_t n_head = strcspn(c->text, "\n"), from = c->n;
    const char *head = c->text;
    if (n_head >= c->n)
        return false;
    while (strchr(" \t", *head) && n_head) {
        head++;
        n_head--;
    }
    while (n_head && strchr(" \t\r", head[n_head - 1]))
        n_head--;
    while (c->text[from - 1] != '\n')
        from--;
    while (strchr(" \t", c->text[from]))
        from++;
    for (*first = f->first; *first; --*first) {
        myth_str t = trimmed(src, *first - 1);
        if (t.len == n_head && !memcmp(t.text, head, n_head))
            break;
        if (f->first - *first >= ANCHOR)
            return false;
    }
    for (*last = f->last; *last <= src->n_line && *last - f->last < ANCHOR; ++*last) {
        myth_str t = trimmed(src, *last - 1);
        if (t.len == c->n - from && !memcmp(t.text, c->text + from, t.len))
            return *first != 0;
    }
    return false;
}

/* Lists the places that the reading may replace, the likeliest first. They are the line of the evidence, the evidence
 * itself, the cited lines, and the lines that begin and end as the reading does. Those are preferred to the others,
 * because two whole lines that are equal say more than any number of equal bytes. */
static uint32_t find_places(place list[PLACES], const myth_source *src, const reading *c, const myth_finding *f,
                            const myth_citation *at)
{
    uint32_t n = 0, first, last;
    const bool has_lines = memchr(c->text, '\n', c->n) != NULL;
    const char *was = (const char *)src->bytes + at->off;
    place piece = {.off = at->off, .len = at->len, .first = at->line, .last = at->line, .is_piece = true};
    add_place(list, &n, src, c, at->line, at->line, 0);
    if (!has_lines && at->len < trimmed(src, at->line - 1).len && is_meant(&piece.score, c, was, at->len))
        list[n++] = piece;
    if (has_lines && f->last > f->first)
        add_place(list, &n, src, c, f->first, f->last, 0);
    if (has_lines && find_anchors(&first, &last, src, c, f) && last > first)
        add_place(list, &n, src, c, first, last, MYTH_SOURCE_MAX);
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && list[k].score > list[k - 1].score; k--) {
            place swap = list[k];
            list[k] = list[k - 1];
            list[k - 1] = swap;
        }
    return n;
}

/* ---- the new text ---- */

typedef struct {
    myth_mem *mem;
    unsigned char *bytes;
    size_t n, cap;
    bool is_out_of_memory;
} buffer;

static void append_bytes(buffer *b, const void *p, size_t n)
{
    if (b->is_out_of_memory || !MYTH_ARRAY_MORE(b->mem, MYTH_MEM_OTHER, "patch", &b->bytes, b->n, n, &b->cap)) {
        b->is_out_of_memory = true;
        return;
    }
    if (n)
        memcpy(b->bytes + b->n, p, n);
    b->n += n;
}

static size_t blanks(const char *p, size_t n)
{
    size_t k = 0;
    while (k < n && (p[k] == ' ' || p[k] == '\t'))
        k++;
    return k;
}

/* Appends the reading with the place's indentation in place of its own (the smallest of its lines), and with the file's
 * line ends. The first line gets none, because the file's own indentation is before the place. */
static void append_reindented(buffer *b, const reading *c, const char *indent, size_t n_indent, bool has_cr)
{
    size_t least = SIZE_MAX, n;
    for (size_t at = 0; at < c->n; at += n + 1) {
        const char *end = memchr(c->text + at, '\n', c->n - at);
        n = end ? (size_t)(end - c->text) - at : c->n - at;
        size_t k = blanks(c->text + at, n);
        least = k < n && k < least ? k : least;
    }
    for (size_t at = 0; at < c->n; at += n + 1) {
        const char *end = memchr(c->text + at, '\n', c->n - at);
        n = end ? (size_t)(end - c->text) - at : c->n - at;
        size_t len = n && c->text[at + n - 1] == '\r' ? n - 1 : n, skip = blanks(c->text + at, len);
        skip = skip < least ? skip : least;
        if (at && len > skip)
            append_bytes(b, indent, n_indent);
        append_bytes(b, c->text + at + skip, len - skip);
        if (end)
            append_bytes(b, has_cr ? "\r\n" : "\n", has_cr ? 2 : 1);
    }
}

/* Writes the whole file with the reading at the place. The new text of the place's lines, which are whole lines, is in
 * bytes [*from, *to) of it. */
static void make_text(buffer *b, const myth_source *src, const place *p, const reading *c, size_t *from, size_t *to)
{
    const myth_line *first = &src->line[p->first - 1], *last = &src->line[p->last - 1];
    const uint32_t end = p->last < src->n_line ? src->line[p->last].off : src->len;
    const char *indent = (const char *)src->bytes + first->off;
    *from = first->off;
    append_bytes(b, src->bytes, p->off);
    if (p->is_piece)
        append_bytes(b, c->text, c->n);
    else
        append_reindented(b, c, indent, p->off - first->off,
                          end - last->off > last->len && src->bytes[last->off + last->len] == '\r');
    append_bytes(b, src->bytes + p->off + p->len, end - p->off - p->len);
    *to = b->n;
    append_bytes(b, src->bytes + end, src->len - end);
}

/* ---- trials ---- */

/* Whether the new lines have only characters that reports show unchanged, so that a reader sees all that a patch
 * contains, and whether the diff is valid UTF-8, which JSON needs. */
static bool is_plain(const char *text, size_t n, const char *diff, size_t n_diff)
{
    const char *shown;
    size_t k;
    uint32_t cp;
    for (size_t i = 0, step; i < n; i += step) {
        step = myth_show_one(&shown, &k, text + i, n - i);
        bool is_end = text[i] == '\r' && i + 1 < n && text[i + 1] == '\n';
        if (!is_end && (k != step || memcmp(shown, text + i, k) != 0))
            return false;
    }
    for (size_t i = 0; i < n_diff;) {
        int step = myth_utf8_decode((const unsigned char *)diff + i, n_diff - i, &cp);
        if (!step)
            return false;
        i += (size_t)step;
    }
    return true;
}

/* Sets the flag that is `user` when a piece replaces a secret; the text is not used. */
static void note_secret(void *user, const char *text, size_t len, bool is_placeholder)
{
    (void)text;
    (void)len;
    *(bool *)user = *(bool *)user || is_placeholder;
}

/* Whether a secret is in the lines that the diff shows or in the diff itself. */
static bool has_secret(const myth_patches *p, const myth_source *src, const place *at, const char *diff, size_t n)
{
    bool found = false;
    uint32_t first = at->first > AROUND ? at->first - AROUND : 1,
             last = at->last + AROUND < src->n_line ? at->last + AROUND : src->n_line;
    uint32_t off = src->line[first - 1].off, end = last < src->n_line ? src->line[last].off : src->len;
    myth_redact_bytes(p->r->redactor, src, off, end - off, note_secret, &found);
    myth_redact_text(p->r->redactor, diff, n, note_secret, &found);
    return found;
}

/* Parses a text; when that fails, is_parsed is false. */
static parse parse_of(const myth_patches *p, const file *f, const unsigned char *bytes, size_t n)
{
    myth_chunks k = {0};
    parse out = {0};
    if (myth_chunk_file(&k, p->chunker, f->language, f->src->path, bytes, n, NULL) != MYTH_OK)
        return out;
    out = (parse){k.is_structured, k.n_error, k.n_symbol, k.error_bytes};
    myth_chunks_free(&k, p->mem);
    return out;
}

/* Whether a patch has added no syntax error and neither removed nor added a definition. */
static bool is_no_worse(const parse *now, const parse *was)
{
    return now->is_parsed && now->n_error <= was->n_error && now->error_bytes <= was->error_bytes &&
           now->n_symbol == was->n_symbol;
}

/* Tries one reading at one place; sets *out when it passes all checks. Otherwise returns the first check that failed,
 * or MYTH_PATCH_N with *err when memory ran out. */
static myth_patch_result try_place(myth_patches *p, file *f, const place *at, const reading *c, myth_patch *out,
                                   myth_error *err)
{
    const myth_source *src = f->src;
    buffer b = {.mem = p->mem};
    size_t from = 0, to = 0, n_sum = 0, n_diff = 0;
    unsigned char *sum = NULL;
    char *diff = NULL, *text = NULL;
    bool is_conflict = false;
    myth_patch_result result = MYTH_PATCH_NO_CODE;
    myth_status st = MYTH_OK;
    make_text(&b, src, at, c, &from, &to);
    if (b.is_out_of_memory)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "a patch: no memory"));
    const myth_side base = {src->bytes, src->len}, theirs = {b.bytes, b.n};
    if (b.n == src->len && !memcmp(b.bytes, src->bytes, b.n))
        goto fail;
    MYTH_TRY(myth_unified(&diff, &n_diff, p->mem, f->path, base, theirs, err));
    result = MYTH_PATCH_NOT_PLAIN;
    if (!is_plain((const char *)b.bytes + from, to - from, diff, n_diff))
        goto fail;
    result = MYTH_PATCH_SECRET;
    if (has_secret(p, src, at, diff, n_diff))
        goto fail;
    MYTH_TRY(myth_merge3(&sum, &n_sum, &is_conflict, p->mem, base, (myth_side){f->sum, f->n_sum}, theirs, err));
    result = MYTH_PATCH_CONFLICT;
    if (is_conflict)
        goto fail;
    result = MYTH_PATCH_BREAKS;
    parse now = parse_of(p, f, b.bytes, b.n);
    if (!is_no_worse(&now, &f->was))
        goto fail;
    /* With other patches or changes on disk the merged file is another one, which must not be worse either. */
    if (n_sum != b.n || memcmp(sum, b.bytes, n_sum) != 0) {
        parse before = parse_of(p, f, f->sum, f->n_sum);
        now = parse_of(p, f, sum, n_sum);
        if (!is_no_worse(&now, &before))
            goto fail;
    }
    if (!(text = myth_alloc(p->mem, MYTH_MEM_OTHER, "patch", to - from + 1)))
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "a patch: no memory"));
    memcpy(text, b.bytes + from, to - from);
    *out = (myth_patch){
        .first = at->first,
        .last = at->last,
        .text = text,
        .n = to - from,
        .diff = diff,
        .n_diff = n_diff,
    };
    diff = NULL;
    myth_free(p->mem, f->sum);
    f->sum = sum;
    f->n_sum = n_sum;
    sum = NULL;
    result = MYTH_PATCH_MADE;
fail:
    myth_free(p->mem, sum);
    myth_free(p->mem, diff);
    myth_free(p->mem, b.bytes);
    return st == MYTH_OK ? result : MYTH_PATCH_N;
}

/* ---- files ---- */

/* Reads the file as it is on disk now. It may be a FIFO or a device, which is not waited for and not read. */
static myth_status read_ours(myth_patches *p, file *f, const char *where, myth_error *err)
{
    unsigned char *bytes = NULL;
    size_t n = 0;
    struct stat info;
    const int fd = open(where, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    FILE *in = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? fdopen(fd, "rb") : NULL;
    if (fd >= 0 && !in)
        close(fd);
    if (!in) /* the file is gone, was never on disk or is not a regular one: the inspected bytes are used */
        n = f->src->len;
    if (!(bytes = myth_alloc(p->mem, MYTH_MEM_OTHER, "patch", (in ? MYTH_SOURCE_MAX : n) + 1))) {
        if (in)
            fclose(in);
        return myth_fail(err, MYTH_ENOMEM, "%.200s: no memory for a patch", where);
    }
    if (in) {
        n = fread(bytes, 1, MYTH_SOURCE_MAX, in);
        fclose(in);
    } else if (n) {
        memcpy(bytes, f->src->bytes, n);
    }
    unsigned char *fit = myth_realloc(p->mem, MYTH_MEM_OTHER, "patch", bytes, n + 1);
    f->ours = fit ? fit : bytes;
    f->n_ours = n;
    if (!(f->sum = myth_alloc(p->mem, MYTH_MEM_OTHER, "patch", n + 1)))
        return myth_fail(err, MYTH_ENOMEM, "%.200s: no memory for a patch", where);
    if (n)
        memcpy(f->sum, f->ours, n);
    f->n_sum = n;
    return MYTH_OK;
}

/* Finds the file of a source, or adds it. Its language stays NULL when it cannot have patches: standard input, a path
 * that is too long, or no grammar that parses it. */
static myth_status open_file(myth_patches *p, file **out, const myth_source *src, myth_error *err)
{
    char where[PATH_MAX];
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < p->n_file; i++)
        if (p->file[i]->src == src) {
            *out = p->file[i];
            return MYTH_OK;
        }
    file **more = myth_realloc(p->mem, MYTH_MEM_OTHER, "patches", p->file, (p->n_file + 1) * sizeof(*more));
    file *f = myth_alloc(p->mem, MYTH_MEM_OTHER, "patches", sizeof(*f));
    p->file = more ? more : p->file;
    if (!more || !f) {
        myth_free(p->mem, f);
        return myth_fail(err, MYTH_ENOMEM, "patches: no memory");
    }
    p->file[p->n_file++] = *out = f;
    f->src = src;
    const char *language = myth_detect_language(src->path, src->bytes, src->len);
    if (snprintf(where, sizeof(where), "%s%s%s", p->root ? p->root : "", p->root ? "/" : "", src->path) >=
            (int)sizeof(where) ||
        !strcmp(src->path, "-") || !language || !myth_chunk_has_grammar(language))
        return MYTH_OK;
    if (myth_patch_path(f->path, sizeof(f->path), p->mem, where, NULL) != MYTH_OK)
        snprintf(f->path, sizeof(f->path), "%.4000s", src->path + strspn(src->path, "/"));
    f->language = language;
    if ((st = read_ours(p, f, where, err)) != MYTH_OK)
        return st;
    f->was = parse_of(p, f, src->bytes, src->len);
    if (!f->was.is_parsed)
        f->language = NULL;
    return MYTH_OK;
}

/* ---- all ---- */

/* Tries the readings of a fix until one makes a patch. When none does, *result says why the last one that fitted a
 * place failed. */
static myth_status make_patch(myth_patches *p, uint32_t i, myth_patch_result *result, myth_error *err)
{
    const myth_finding *w = &p->r->finding[i];
    reading c[READINGS];
    place at[PLACES];
    file *f = NULL;
    const uint32_t n = read_fix(c, w->fix);
    myth_status st = open_file(p, &f, p->r->block[w->block].src, err);
    *result = MYTH_PATCH_NO_CODE;
    for (uint32_t k = 0; k < n && st == MYTH_OK && *result != MYTH_PATCH_MADE; k++) {
        const uint32_t n_place = find_places(at, f->src, &c[k], w, &p->r->citation[i]);
        if (n_place && !f->language)
            *result = MYTH_PATCH_NO_GRAMMAR;
        for (uint32_t m = 0; f->language && m < n_place && st == MYTH_OK && *result != MYTH_PATCH_MADE; m++) {
            myth_patch_result got = try_place(p, f, &at[m], &c[k], &p->list[i], err);
            if (got == MYTH_PATCH_N)
                st = err && err->code != MYTH_OK ? err->code : MYTH_ENOMEM;
            else if (got != MYTH_PATCH_NO_CODE)
                *result = got;
        }
    }
    return st;
}

myth_status myth_patches_open(myth_patches **out, const myth_report *r, const char *root, const char *worker_path,
                              myth_error *err)
{
    myth_mem *mem;
    myth_status st = myth_mem_open(&mem, 0, err);
    *out = NULL;
    if (st != MYTH_OK)
        return st;
    myth_patches *p = myth_alloc(mem, MYTH_MEM_OTHER, "patches", sizeof(*p));
    if (!p) {
        myth_mem_close(mem);
        return myth_fail(err, MYTH_ENOMEM, "patches: no memory");
    }
    p->mem = mem;
    p->r = r;
    p->root = root;
    p->list = myth_alloc_n(mem, MYTH_MEM_OTHER, "patches", r->n_finding ? r->n_finding : 1, sizeof(*p->list));
    if (!p->list)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "patches: no memory"));
    for (uint32_t i = 0; i < r->n_finding; i++) {
        myth_patch_result result;
        if (!r->finding[i].fix.len || !myth_report_is_active(r, i))
            continue;
        if (!p->chunker)
            MYTH_TRY(myth_chunker_open(&p->chunker, mem, worker_path, err));
        MYTH_TRY(make_patch(p, i, &result, err));
        p->count[result]++;
    }
    *out = p;
    return MYTH_OK;
fail:
    myth_patches_close(p);
    return st;
}

void myth_patches_close(myth_patches *p)
{
    if (!p)
        return;
    myth_mem *mem = p->mem;
    myth_chunker_close(p->chunker);
    for (uint32_t i = 0; p->list && i < p->r->n_finding; i++) {
        myth_free(mem, (void *)(uintptr_t)p->list[i].text);
        myth_free(mem, (void *)(uintptr_t)p->list[i].diff);
    }
    for (uint32_t i = 0; i < p->n_file; i++) {
        myth_free(mem, p->file[i]->ours);
        myth_free(mem, p->file[i]->sum);
        myth_free(mem, p->file[i]);
    }
    myth_free(mem, p->file);
    myth_free(mem, p->list);
    myth_free(mem, p);
    myth_mem_close(mem);
}

const myth_patch *myth_patches_list(const myth_patches *p) { return p->list; }
uint32_t myth_patches_count(const myth_patches *p, myth_patch_result r) { return p->count[r]; }

uint32_t myth_patches_text(const myth_patches *p, char *dst, size_t cap)
{
    uint32_t n = 0;
    for (int k = 0; k < MYTH_PATCH_N; k++)
        n += p->count[k];
    size_t used = (size_t)snprintf(dst, cap, "%u of %u fix%s made into a patch", p->count[MYTH_PATCH_MADE], n,
                                   n == 1 ? "" : "es");
    for (int k = 0; k < MYTH_PATCH_N; k++)
        if (p->count[k] && k != MYTH_PATCH_MADE && used < cap)
            used += (size_t)snprintf(dst + used, cap - used, "; %u: %s", p->count[k],
                                     myth_patch_result_text((myth_patch_result)k));
    return n;
}

/* Writes one diff for each file. A diff is left out when it shows a secret, which the file on disk may have got since
 * the inspection. */
myth_status myth_patches_print(FILE *f, const myth_patches *p, myth_error *err)
{
    for (uint32_t i = 0; p && i < p->n_file; i++) {
        const file *w = p->file[i];
        char *diff = NULL;
        size_t n = 0;
        bool found = false;
        if (!w->ours)
            continue;
        myth_status st = myth_unified(&diff, &n, p->mem, w->path, (myth_side){w->ours, w->n_ours},
                                      (myth_side){w->sum, w->n_sum}, err);
        if (st != MYTH_OK)
            return st;
        myth_redact_text(p->r->redactor, diff, n, note_secret, &found);
        if (!found)
            fwrite(diff, 1, n, f);
        myth_free(p->mem, diff);
    }
    return MYTH_OK;
}

myth_status myth_patches_write(const myth_patches *p, const char *path, myth_error *err)
{
    FILE *f;
    myth_out o;
    myth_status st = myth_out_print_open(&o, &f, path, err);
    return st != MYTH_OK ? st : myth_out_print_close(&o, f, myth_patches_print(f, p, err), err);
}
