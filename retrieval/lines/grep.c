/* grep.c - see grep.h. Threads take files in the order of the scan and search them. A file's rows wait in a ring of
 * slots until those of all earlier files were handed over; the thread that completes the next file hands them over.
 *
 * Reading   in pieces of whole lines, small enough to be in the cache when they are searched; a longer line makes
 *           its piece grow. A file in UTF-16 is one piece
 * Context   the lines that a match may want in front of it are kept in front of the next piece
 * Links     a file is opened as the scan opened it, so one that has become a link or a pipe since is not read */
#define _GNU_SOURCE
#include "grep.h"
#include "find.h"
#include "regex.h"

#include "engine/base/array.h"
#include "engine/base/thread.h"
#include "engine/base/utf16.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N_SLOT = 256, PIECE_BYTES = 256 << 10, THREAD_MAX = 32, LITERAL_MAX = 64 };

typedef struct {
    uint64_t off, n_text, match_off, n_match;
    size_t text; /* offset in the slot's text */
    uint32_t line;
    bool is_context;
} found_line;

/* The rows of one file. */
typedef struct {
    found_line *row;
    unsigned char *text;
    size_t n_row, cap_row, n_text, cap_text;
    bool is_done, is_unread;
    myth_scan_reason reason; /* why the file is out, by what is in it */
} slot;

typedef struct {
    const myth_scan_list *files;
    const myth_grep_opts *opts;
    myth_mem *mem;
    bool (*on_row)(void *arg, const myth_grep_row *row);
    void *arg;
    int root_fd;
    myth_regex *regex;
    myth_find literal[LITERAL_MAX]; /* one for each line of the pattern */
    unsigned char *folded;
    uint32_t n_literal;
    bool is_by_regex; /* else the regex decides only about lines that are not ASCII */

    pthread_mutex_t lock;
    pthread_cond_t wake;
    uint32_t next, n_out; /* files that threads have taken; files whose rows were handed over */
    bool is_handing, is_ended;
    uint64_t n_row, n_unread;
    slot slot[N_SLOT];
    myth_status st;
    myth_error err;
} grep;

/* Where the lines around the matches of one file end; offsets as in myth_grep_row. */
typedef struct {
    uint64_t shown;   /* behind the last row: no line in front of it is a row again */
    uint32_t line;    /* number of the line that begins there */
    uint32_t n_after; /* rows that the last match still wants behind it */
} context;

/* Lines of a file that are in memory. */
typedef struct {
    const unsigned char *begin, *p, *end; /* from p on they are searched; those in front may be context */
    uint64_t off;                         /* of begin in the file */
} piece;

typedef struct {
    grep *g;
    myth_regex_run *run;
    unsigned char *piece;
    size_t cap;
    const unsigned char *next[LITERAL_MAX]; /* next occurrence of each literal in this piece; past its end = none */
    myth_thread thread;
} worker;

static void fail_grep(grep *g, myth_status st, const char *fmt, const char *path)
{
    pthread_mutex_lock(&g->lock);
    if (g->st == MYTH_OK)
        g->st = myth_fail(&g->err, st, fmt, path);
    g->is_ended = true;
    pthread_cond_broadcast(&g->wake);
    pthread_mutex_unlock(&g->lock);
}

/* ---- one line after another ---- */

/* Whether the bytes are a whole word, as for grep -w. */
static bool is_word_at(const unsigned char *line, const unsigned char *end, const unsigned char *p, size_t n)
{
    return (p == line || !myth_is_word(p[-1])) && (p + n == end || !myth_is_word(p[n]));
}

/* The first occurrence of a literal in a line that is a whole word, or NULL. */
static const unsigned char *find_word(const grep *g, const unsigned char *line, const unsigned char *end, size_t *n_at)
{
    const unsigned char *best = NULL;
    for (uint32_t i = 0; i < g->n_literal; i++) {
        const unsigned char *q = line;
        while ((q = myth_find_next(&g->literal[i], q, end)) && (!best || q < best)) {
            if (is_word_at(line, end, q, g->literal[i].n)) {
                best = q;
                *n_at = g->literal[i].n;
            } else if (q++ == end) {
                break;
            }
        }
    }
    return best;
}

/* Whether a line with one of the literals has one as a whole word. */
static bool is_word_in(worker *w, const unsigned char *line, const unsigned char *end, size_t *at, size_t *n_at,
                       myth_status *st)
{
    if (myth_find_high(line, end) < end)
        return myth_regex_line(w->run, line, (size_t)(end - line), at, n_at, st);
    const unsigned char *found = find_word(w->g, line, end, n_at);
    *at = found ? (size_t)(found - line) : 0;
    return found != NULL;
}

/* The first line at or after *p with one of the literals; parameters as in myth_regex_next. */
static bool next_literal(worker *w, const unsigned char **p, const unsigned char *end, const unsigned char **line,
                         size_t *n_line, size_t *at, size_t *n_at, myth_status *st)
{
    const grep *g = w->g;
    while (*p < end) {
        const unsigned char *s = *p, *first = end;
        for (uint32_t i = 0; i < g->n_literal; i++) {
            if (w->next[i] < s) {
                const unsigned char *found = myth_find_next(&g->literal[i], s, end);
                w->next[i] = found ? found : end;
            }
            if (w->next[i] < first) {
                first = w->next[i];
                *n_at = g->literal[i].n;
            }
        }
        if (first == end)
            return false;
        const unsigned char *nl = memrchr(s, '\n', (size_t)(first - s)), *begin = nl ? nl + 1 : s,
                            *last = myth_line_end(first, end);
        *p = last < end ? last + 1 : end;
        *line = begin;
        *n_line = (size_t)(last - begin);
        *at = (size_t)(first - begin);
        if (!g->opts->is_word || is_word_in(w, begin, last, at, n_at, st))
            return true;
        if (*st != MYTH_OK)
            return false;
    }
    return false;
}

static bool add_row(worker *w, slot *out, const found_line *row, const unsigned char *text)
{
    myth_mem *mem = w->g->mem;
    if (!MYTH_ARRAY_ROOM(mem, MYTH_MEM_OTHER, "grep", &out->row, out->n_row, &out->cap_row))
        return false;
    if (!MYTH_ARRAY_MORE(mem, MYTH_MEM_OTHER, "grep", &out->text, out->n_text, row->n_text, &out->cap_text))
        return false;
    if (row->n_text)
        memcpy(out->text + out->n_text, text, row->n_text);
    out->row[out->n_row] = *row;
    out->row[out->n_row++].text = out->n_text;
    out->n_text += row->n_text;
    return true;
}

static bool add_context(worker *w, slot *out, context *c, const unsigned char *line, const unsigned char *end)
{
    const found_line row = {.off = c->shown, .n_text = (uint64_t)(end - line), .line = c->line, .is_context = true};
    c->shown += row.n_text + 1;
    c->line++;
    return add_row(w, out, &row, line);
}

/* The rows that the last match wants behind it, in front of `to`. */
static bool add_after(worker *w, slot *out, context *c, const piece *s, const unsigned char *to)
{
    for (; c->n_after; c->n_after--) {
        if (c->shown - s->off >= (uint64_t)(to - s->begin))
            break;
        const unsigned char *line = s->begin + (c->shown - s->off);
        if (!add_context(w, out, c, line, myth_line_end(line, to)))
            return false;
    }
    return true;
}

/* The begin of the nth line in front of the one at `line`, or of the first one that there is from `low` on. */
static const unsigned char *lines_before(const unsigned char *low, const unsigned char *line, uint32_t n, uint32_t *got)
{
    for (*got = 0; *got < n && line > low; ++*got) {
        const unsigned char *nl = memrchr(low, '\n', (size_t)(line - 1 - low));
        line = nl ? nl + 1 : low;
    }
    return line;
}

/* The rows around a match that is in line `line_no`, up to the match itself. */
static bool add_around(worker *w, slot *out, context *c, const piece *s, const unsigned char *line, uint32_t line_no)
{
    uint32_t n;
    if (!add_after(w, out, c, s, line))
        return false;
    const unsigned char *low = c->shown > s->off ? s->begin + (c->shown - s->off) : s->begin,
                        *from = lines_before(low, line, w->g->opts->n_before, &n);
    c->shown = s->off + (uint64_t)(from - s->begin);
    c->line = line_no - n;
    for (; n; n--) {
        const unsigned char *stop = myth_line_end(from, line);
        if (!add_context(w, out, c, from, stop))
            return false;
        from = stop + 1;
    }
    return true;
}

/* Searches the whole lines of a piece, the first of which has number *line_no. *line_no is moved past them if it is
 * wanted. */
static myth_status search_piece(worker *w, slot *out, context *c, const piece *s, uint32_t *line_no, bool wants_count)
{
    grep *g = w->g;
    const unsigned char *p = s->p, *counted = p, *line;
    size_t n_line, at, n_at = 0;
    myth_status st = MYTH_OK;
    memset(w->next, 0, sizeof(w->next[0]) * g->n_literal);
    if (g->regex)
        myth_regex_begin(w->run);
    while (g->is_by_regex ? myth_regex_next(w->run, &p, s->end, &line, &n_line, &at, &n_at, &st)
                          : next_literal(w, &p, s->end, &line, &n_line, &at, &n_at, &st)) {
        *line_no += (uint32_t)myth_count_newlines(counted, line);
        counted = line;
        found_line row = {
            .off = s->off + (uint64_t)(line - s->begin),
            .n_text = n_line,
            .match_off = at,
            .n_match = n_at,
            .line = *line_no,
        };
        if (!add_around(w, out, c, s, line, *line_no) || !add_row(w, out, &row, line))
            return MYTH_ENOMEM;
        *c = (context){.shown = row.off + n_line + 1, .line = *line_no + 1, .n_after = g->opts->n_after};
    }
    if (st == MYTH_OK && !add_after(w, out, c, s, s->end))
        return MYTH_ENOMEM;
    if (wants_count)
        *line_no += (uint32_t)myth_count_newlines(counted, s->end);
    return st;
}

/* ---- one file ---- */

static bool grow_piece(worker *w)
{
    unsigned char *p = myth_realloc(w->g->mem, MYTH_MEM_OTHER, "grep", w->piece, 2 * w->cap);
    if (!p)
        return false;
    w->piece = p;
    w->cap *= 2;
    return true;
}

/* Bytes of a mark at the start of a text in UTF-8. */
static size_t mark_bytes(const unsigned char *text, size_t n)
{
    return n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Puts a whole file of *n bytes into UTF-8. */
static bool convert_piece(worker *w, size_t *n, bool is_be)
{
    const size_t cap = 3 * *n + 4 > PIECE_BYTES ? 3 * *n + 4 : PIECE_BYTES;
    unsigned char *text = myth_alloc(w->g->mem, MYTH_MEM_OTHER, "grep", cap);
    if (!text)
        return false;
    *n = myth_utf16_to_utf8(text, w->piece, *n, false, is_be);
    myth_free(w->g->mem, w->piece);
    w->piece = text;
    w->cap = cap;
    return true;
}

static void search_file(worker *w, slot *out, const myth_scan_file *f)
{
    grep *g = w->g;
    int fd = myth_scan_open(g->root_fd, f->path, false);
    struct stat sb;
    size_t n = 0, n_before = 0; /* bytes in the piece, which begins with a line; of lines that were searched before */
    uint64_t off = 0;           /* offset of the piece in the file */
    uint32_t line_no = 1, n_kept;
    context around = {0};
    bool is_unseen = f->unseen != 0, is_first = true, is_be;
    myth_status st = MYTH_OK;
    if (fd < 0 || fstat(fd, &sb) != 0 || !S_ISREG(sb.st_mode)) {
        out->is_unread = true;
        goto done;
    }
    for (bool is_end = false; !is_end && st == MYTH_OK;) {
        if ((n == w->cap || n_before > w->cap / 2) && !grow_piece(w)) {
            st = MYTH_ENOMEM;
            break;
        }
        ssize_t got = read(fd, w->piece + n, w->cap - n);
        if (got < 0) {
            if (errno == EINTR)
                continue;
            out->is_unread = true;
            goto done;
        }
        n += (size_t)got;
        /* A short read at the file's size is its end, which saves a second read for most files. */
        is_end = got == 0 || (n < w->cap && off + n == (uint64_t)sb.st_size);
        if (n < w->cap && !is_end)
            continue; /* read more before searching */
        if (is_unseen && (out->reason = myth_scan_look(f, (uint64_t)sb.st_size, w->piece, n)) != MYTH_SCAN_IN)
            break;
        is_unseen = false;
        if (is_first && myth_utf16_is_marked(w->piece, n, &is_be)) {
            if (!is_end)
                continue;
            if (!convert_piece(w, &n, is_be)) {
                st = MYTH_ENOMEM;
                break;
            }
        }
        const unsigned char *last = is_end ? w->piece + n : memrchr(w->piece + n_before, '\n', n - n_before);
        if (!last)
            continue; /* the line is longer than the piece */
        last += !is_end;
        const size_t n_mark = is_first ? mark_bytes(w->piece, (size_t)(last - w->piece)) : 0;
        const piece lines = {w->piece + n_mark, w->piece + n_mark + n_before, last, off + n_mark};
        st = search_piece(w, out, &around, &lines, &line_no, !is_end);
        const unsigned char *kept = lines_before(lines.begin, last, g->opts->n_before, &n_kept);
        n_before = (size_t)(last - kept);
        n -= (size_t)(kept - w->piece);
        off += (uint64_t)(kept - w->piece);
        memmove(w->piece, kept, n);
        is_first = false;
    }
done:
    if (fd >= 0)
        close(fd);
    if (st == MYTH_ELIMIT)
        fail_grep(g, st, "%.150s: the pattern takes too many steps there; make it simpler or leave the file out",
                  f->path);
    else if (st != MYTH_OK)
        fail_grep(g, st, "%.200s: no room for its lines", f->path);
}

/* ---- threads ---- */

/* Hands over a file's rows; false when the caller wants no more. The last match that is wanted has its lines behind
 * it, too. */
static bool hand_over(grep *g, const slot *s, const myth_scan_file *f)
{
    const uint64_t max = g->opts->max_rows;
    uint64_t last = 0; /* line of the last match */
    for (size_t i = 0; i < s->n_row; i++) {
        const found_line *r = &s->row[i];
        if (max && g->n_row == max && !(r->is_context && r->line <= last + g->opts->n_after))
            return false;
        myth_grep_row row = {
            .path = f->path,
            .off = r->off,
            .line = r->line,
            .text = s->text + r->text,
            .n_text = r->n_text,
            .match_off = r->match_off,
            .n_match = r->n_match,
            .is_context = r->is_context,
        };
        g->n_row += !r->is_context;
        last = r->is_context ? last : r->line;
        if (!g->on_row(g->arg, &row))
            return false;
    }
    return !max || g->n_row < max;
}

/* Hands over completed files in order, unless another thread is doing so. Called with the lock held. */
static void hand_over_ready(grep *g)
{
    if (g->is_handing)
        return;
    g->is_handing = true;
    while (!g->is_ended && g->n_out < g->next && g->slot[g->n_out % N_SLOT].is_done) {
        slot *s = &g->slot[g->n_out % N_SLOT];
        bool goes_on = true;
        if (s->n_row) {
            pthread_mutex_unlock(&g->lock);
            goes_on = hand_over(g, s, &g->files->file[g->n_out]);
            pthread_mutex_lock(&g->lock);
        }
        g->n_unread += s->is_unread;
        if (g->opts->n_out && s->reason != MYTH_SCAN_IN)
            g->opts->n_out[s->reason]++;
        s->reason = MYTH_SCAN_IN;
        s->is_done = s->is_unread = false;
        s->n_row = s->n_text = 0;
        g->n_out++;
        g->is_ended |= !goes_on;
        pthread_cond_broadcast(&g->wake);
    }
    g->is_handing = false;
}

static void *work(void *arg)
{
    worker *w = arg;
    grep *g = w->g;
    pthread_mutex_lock(&g->lock);
    while (!g->is_ended && g->next < g->files->n_file) {
        if (myth_cancelled(g->opts->is_cancelled)) {
            if (g->st == MYTH_OK)
                g->st = myth_fail(&g->err, MYTH_ECANCEL, "stopped while files were searched");
            g->is_ended = true;
            break;
        }
        if (g->next - g->n_out == N_SLOT) {
            pthread_cond_wait(&g->wake, &g->lock);
            continue;
        }
        uint32_t i = g->next++;
        slot *s = &g->slot[i % N_SLOT];
        if (g->files->file[i].reason == MYTH_SCAN_IN) {
            pthread_mutex_unlock(&g->lock);
            search_file(w, s, &g->files->file[i]);
            pthread_mutex_lock(&g->lock);
        }
        s->is_done = true;
        hand_over_ready(g);
    }
    pthread_cond_broadcast(&g->wake);
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

static uint32_t n_threads(const myth_grep_opts *opts, uint32_t n_file)
{
    long n = opts->n_threads ? (long)opts->n_threads : sysconf(_SC_NPROCESSORS_ONLN);
    n = n < 1 ? 1 : n > THREAD_MAX ? THREAD_MAX : n;
    return n_file && (uint32_t)n > n_file ? n_file : (uint32_t)n;
}

/* Behind the class that begins at *p. */
static const unsigned char *skip_class(const unsigned char *p, const unsigned char *end)
{
    p += 1 + (p + 1 < end && p[1] == '^');
    p += p < end && *p == ']'; /* the first is a sign of the class */
    while (p < end && *p != ']') {
        const bool is_named = *p == '[' && p + 1 < end && p[1] == ':';
        const unsigned char *close = is_named ? memmem(p + 2, (size_t)(end - p - 2), ":]", 2) : NULL;
        p = close ? close + 2 : p + (*p == '\\' && p + 1 < end ? 2 : 1);
    }
    return p < end ? p + 1 : end;
}

bool myth_grep_wants_line_end(const unsigned char *pattern, uint64_t n)
{
    const unsigned char *p = pattern, *end = p + n;
    while (p < end) {
        if (*p == '\n' || (*p == '\\' && p + 1 < end && p[1] == 'n'))
            return true;
        if (*p == '\\' && p + 1 < end && p[1] == 'Q') { /* up to the end of the quotation */
            const unsigned char *close = memmem(p, (size_t)(end - p), "\\E", 2);
            p = close ? close + 2 : end;
        } else if (*p == '[') {
            p = skip_class(p, end);
        } else {
            p += *p == '\\' && p + 1 < end ? 2 : 1;
        }
    }
    return false;
}

/* The literals as one expression: their lines as alternatives. */
static myth_status open_as_regex(grep *g, myth_error *err)
{
    const myth_grep_opts *o = g->opts;
    unsigned char *text = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "grep", o->n_pattern + 1, 2);
    size_t n = 0;
    if (!text)
        return myth_fail(err, MYTH_ENOMEM, "no room for a pattern of %llu bytes", (unsigned long long)o->n_pattern);
    for (uint64_t i = 0; i < o->n_pattern; i++) {
        const unsigned char c = o->pattern[i];
        if (c != '\n' && c < 0x80 && !myth_is_word(c) && c != '<' && c != '>') /* \< is the border of a word */
            text[n++] = '\\';
        text[n++] = c == '\n' ? '|' : c;
    }
    const myth_status st = myth_regex_open(&g->regex, g->mem, text, n, o->ignore_case, o->is_word, err);
    myth_free(g->mem, text);
    return st;
}

/* Whether a letter of the literals is another case of a character beyond ASCII. */
static bool is_folded_beyond(const myth_grep_opts *o)
{
    for (uint64_t i = 0; o->ignore_case && i < o->n_pattern; i++) {
        const unsigned char c = myth_lower(o->pattern[i]);
        if (c >= 0x80 || c == 'k' || c == 's')
            return true;
    }
    return false;
}

/* Each line of the pattern is a literal, as for grep -F. */
static myth_status open_literals(grep *g, myth_error *err)
{
    const myth_grep_opts *o = g->opts;
    const unsigned char *p = o->pattern, *end = p + o->n_pattern;
    g->is_by_regex = is_folded_beyond(o);
    if (g->is_by_regex || o->is_word) {
        const myth_status st = open_as_regex(g, err);
        if (st != MYTH_OK)
            return st;
    }
    if (o->ignore_case) {
        if (!(g->folded = myth_alloc(g->mem, MYTH_MEM_OTHER, "grep", o->n_pattern + 1)))
            return myth_fail(err, MYTH_ENOMEM, "no room for a pattern of %llu bytes", (unsigned long long)o->n_pattern);
        for (uint64_t i = 0; i < o->n_pattern; i++)
            g->folded[i] = myth_lower(p[i]);
        p = g->folded;
        end = p + o->n_pattern;
    }
    for (;;) {
        const unsigned char *nl = p < end ? myth_line_end(p, end) : end;
        if (g->n_literal == LITERAL_MAX)
            return myth_fail(err, MYTH_EARG, "pattern: more than %d lines; search for them one by one", LITERAL_MAX);
        myth_find_open(&g->literal[g->n_literal++], p, (size_t)(nl - p), o->ignore_case);
        if (nl == end)
            return MYTH_OK;
        p = nl + 1; /* after the last '\n' follows an empty line */
    }
}

myth_status myth_grep(myth_mem *mem, const myth_scan_list *files, const myth_grep_opts *opts,
                      bool (*on_row)(void *arg, const myth_grep_row *row), void *arg, uint64_t *n_unread,
                      myth_error *err)
{
    grep *g = myth_alloc(mem, MYTH_MEM_OTHER, "grep", sizeof(*g));
    uint32_t n_worker = n_threads(opts, files->n_file), n_started = 1;
    worker *w = g ? myth_alloc_n(mem, MYTH_MEM_OTHER, "grep", n_worker, sizeof(*w)) : NULL;
    myth_status st = MYTH_OK;
    if (!w) {
        myth_free(mem, g);
        return myth_fail(err, MYTH_ENOMEM, "no room to search");
    }
    *g = (grep){
        .files = files,
        .opts = opts,
        .mem = mem,
        .on_row = on_row,
        .arg = arg,
        .root_fd = -1,
        .is_by_regex = opts->is_regex,
    };
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->wake, NULL);
    MYTH_TRY(opts->is_regex ? myth_regex_open(&g->regex, mem, opts->pattern, opts->n_pattern, opts->ignore_case,
                                              opts->is_word, err)
                            : open_literals(g, err));
    g->root_fd = open(opts->root ? opts->root : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (g->root_fd < 0) {
        st = myth_fail(err, errno == ENOENT ? MYTH_ENOTFOUND : MYTH_EIO, "%.160s: %s", opts->root ? opts->root : ".",
                       strerror(errno));
        goto fail;
    }
    for (uint32_t i = 0; i < n_worker; i++) {
        w[i].g = g;
        w[i].cap = PIECE_BYTES;
        if (!(w[i].piece = myth_alloc(mem, MYTH_MEM_OTHER, "grep", w[i].cap))) {
            st = myth_fail(err, MYTH_ENOMEM, "no room for pieces of %d bytes", PIECE_BYTES);
            goto fail;
        }
        if (g->regex)
            MYTH_TRY(myth_regex_run_open(&w[i].run, g->regex, err));
    }
    while (n_started < n_worker && myth_thread_start(&w[n_started].thread, work, &w[n_started]))
        n_started++; /* fewer threads find the same rows */
    work(&w[0]);
    for (uint32_t i = 1; i < n_started; i++)
        myth_thread_join(&w[i].thread);
    if (g->st != MYTH_OK)
        st = myth_fail_as(err, &g->err);
    if (n_unread)
        *n_unread = g->n_unread;
fail:
    for (uint32_t i = 0; i < n_worker; i++) {
        myth_regex_run_close(w[i].run);
        myth_free(mem, w[i].piece);
    }
    for (int i = 0; i < N_SLOT; i++) {
        myth_free(mem, g->slot[i].row);
        myth_free(mem, g->slot[i].text);
    }
    myth_regex_close(g->regex);
    myth_free(mem, g->folded);
    if (g->root_fd >= 0)
        close(g->root_fd);
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->wake);
    myth_free(mem, w);
    myth_free(mem, g);
    return st;
}
