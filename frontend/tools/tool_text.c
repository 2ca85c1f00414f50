/* tool_text.c - search_text finds every line that has a text or matches an expression; open_file shows the lines of a
 * file. */
#include "shown.h"
#include "unseen.h"

#include <string.h>

/* ---- search_text ---- */

/* A longer line is shown around its first match. */
enum { LINE_BYTES = 400, BEFORE_MATCH = 100 };

typedef struct {
    myth_reply *a;
    myth_shown shown;
    bool only_files;
    char *last;      /* only_files: the path of the rows before, NULL = there are none; in the ledger */
    uint64_t n_line; /* how many there are */
} matches;

static bool is_tail(const unsigned char *text, uint64_t at) { return (text[at] & 0xc0) == 0x80; }

/* Moves [*from, *to) to whole characters of a line. */
static void cut_line(const myth_grep_row *row, uint64_t *from, uint64_t *to)
{
    *from = row->match_off > BEFORE_MATCH ? row->match_off - BEFORE_MATCH : 0;
    if (row->n_text <= LINE_BYTES)
        *from = 0;
    *to = row->n_text - *from > LINE_BYTES ? *from + LINE_BYTES : row->n_text;
    for (int i = 0; i < 3 && *from < *to && is_tail(row->text, *from); i++)
        ++*from;
    for (int i = 0; i < 3 && *to > *from && *to < row->n_text && is_tail(row->text, *to); i++)
        --*to;
}

/* The row's text as the open file has it; else without the file, when it was changed meanwhile or cannot be read. */
static void put_row_text(matches *m, const myth_grep_row *row, uint64_t from, uint64_t to)
{
    myth_error err;
    myth_json_out *j = &m->a->j;
    const bool is_open = myth_shown_open_listed(&m->shown, row->path, &err) == MYTH_OK &&
                         row->off + row->n_text <= m->shown.src.len &&
                         memcmp(m->shown.src.bytes + row->off, row->text, row->n_text) == 0;
    if (is_open)
        myth_shown_put(&m->shown, j, (uint32_t)(row->off + from), (uint32_t)(to - from));
    else
        myth_shown_put_text(j, (const char *)row->text + from, to - from);
}

static void put_file(matches *m)
{
    if (m->last && myth_reply_begin(m->a)) {
        myth_jout_key_str(&m->a->j, "path", m->last);
        myth_jout_key_u64(&m->a->j, "lines", m->n_line);
        myth_reply_end(m->a);
    }
    m->n_line = 0;
}

/* Counts a line. Without memory for its path the answer fails. */
static bool count_line(matches *m, const myth_grep_row *row)
{
    if (!m->last || strcmp(m->last, row->path) != 0) {
        put_file(m);
        char *next = myth_realloc(m->a->mem, MYTH_MEM_OTHER, "path", m->last, strlen(row->path) + 1);
        if (!next) {
            m->a->has_failed = true;
            return false;
        }
        m->last = strcpy(next, row->path);
    }
    m->n_line++;
    return true;
}

static bool on_row(void *arg, const myth_grep_row *row)
{
    matches *m = arg;
    uint64_t from, to;
    if (m->only_files)
        return count_line(m, row);
    if (!myth_reply_begin(m->a))
        return true;
    cut_line(row, &from, &to);
    myth_jout_key_str(&m->a->j, "path", row->path);
    myth_jout_key_u64(&m->a->j, "line", row->line);
    myth_jout_key(&m->a->j, "text");
    put_row_text(m, row, from, to);
    if (row->is_context)
        myth_jout_key_bool(&m->a->j, "context", true);
    if (to - from < row->n_text)
        myth_jout_key_u64(&m->a->j, "bytes_of_line", row->n_text);
    myth_reply_end(m->a);
    return true;
}

/* ---- a text of several lines ---- */

/* What is searched for, and the file that was looked into last: rows of one line of it say which files may have it. */
typedef struct {
    matches *m;
    const char *text;
    bool is_line_begin; /* it stands where a line begins */
    char *last;         /* path of the file; in the ledger */
    uint64_t n_closed;
} sequence;

/* Whether the text, with line ends of either kind, is at `at`; *n: how many bytes it has there. */
static bool is_at(const unsigned char *at, const unsigned char *end, const char *text, size_t *n)
{
    const unsigned char *p = at;
    for (; *text; text++, p++) {
        if (*text == '\n' && p + 1 < end && p[0] == '\r' && p[1] == '\n')
            p++;
        if (p == end || *p != (unsigned char)*text)
            return false;
    }
    *n = (size_t)(p - at);
    return true;
}

/* Whether a place, which may be the second byte of a line end, is where a line begins. */
static bool begins_line(const unsigned char *p, const unsigned char *bytes)
{
    p -= p > bytes && *p == '\n' && p[-1] == '\r';
    return p == bytes || p[-1] == '\n';
}

static void put_sequence(const sequence *q, uint32_t off, size_t n)
{
    const myth_source *src = &q->m->shown.src;
    myth_reply *a = q->m->a;
    uint32_t first = 0, last;
    if (!myth_reply_begin(a)) /* before the lines are counted: there may be very many of it */
        return;
    while (first + 1 < src->n_line && src->line[first + 1].off <= off)
        first++;
    for (last = first; last + 1 < src->n_line && src->line[last + 1].off < off + n;)
        last++;
    const uint32_t from = src->line[first].off, to = src->line[last].off + src->line[last].len;
    const size_t most = myth_budget_text(&a->budget);
    uint32_t shown = to - from < most ? to - from : (uint32_t)most;
    while (shown < to - from && shown > 0 && is_tail(src->bytes + from, shown))
        shown--;
    myth_jout_key_str(&a->j, "path", q->last);
    myth_jout_key_u64(&a->j, "line", first + 1);
    myth_jout_key_u64(&a->j, "end_line", last + 1);
    myth_jout_key(&a->j, "text");
    myth_shown_put(&q->m->shown, &a->j, from, shown);
    myth_reply_end(a);
}

/* Looks for the whole text in the file of a row, once. */
static bool on_part(void *arg, const myth_grep_row *row)
{
    sequence *q = arg;
    myth_error err;
    size_t n = 0;
    if (q->last && strcmp(q->last, row->path) == 0)
        return true;
    char *next = myth_realloc(q->m->a->mem, MYTH_MEM_OTHER, "path", q->last, strlen(row->path) + 1);
    if (!next) {
        q->m->a->has_failed = true;
        return false;
    }
    q->last = strcpy(next, row->path);
    if (myth_shown_open_listed(&q->m->shown, row->path, &err) != MYTH_OK) {
        q->n_closed++;
        return true;
    }
    const unsigned char *bytes = q->m->shown.src.bytes, *end = bytes + q->m->shown.src.len;
    for (const unsigned char *p = bytes; p < end && (p = memchr(p, q->text[0], (size_t)(end - p))) != NULL;) {
        const bool is_here = (!q->is_line_begin || begins_line(p, bytes)) && is_at(p, end, q->text, &n);
        if (is_here)
            put_sequence(q, (uint32_t)(p - bytes), n);
        p += is_here ? n : 1;
    }
    return true;
}

/* Finds a text that has line ends: the files with its longest line are looked into. A first line end is where
 * a line begins, which the first line of a file does, too. */
static myth_status find_sequence(matches *m, const myth_scan_list *list, const myth_grep_opts *opts, uint64_t *n_unread,
                                 myth_error *err)
{
    myth_grep_opts go = *opts;
    sequence q = {.m = m, .text = (const char *)opts->pattern};
    if (opts->ignore_case || opts->is_word || m->only_files || opts->n_before)
        return myth_fail(err, MYTH_EARG,
                         "search_text: the pattern has several lines, which are found as they are, "
                         "without ignore_case, word, files and context");
    go.n_pattern = 0;
    q.is_line_begin = *q.text == '\n';
    q.text += q.is_line_begin;
    for (const char *p = q.text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        const size_t n = strcspn(p, "\n");
        if (n > go.n_pattern) {
            go.pattern = (const unsigned char *)p;
            go.n_pattern = n;
        }
    }
    if (go.n_pattern == 0)
        return myth_fail(err, MYTH_EARG, "search_text: the pattern has only line ends");
    const myth_status st = myth_grep(m->a->mem, list, &go, on_part, &q, n_unread, err);
    myth_free(m->a->mem, q.last);
    if (q.n_closed)
        myth_reply_note(m->a, true, "%llu files with a line of the pattern are too large to look for the others",
                        (unsigned long long)q.n_closed);
    return st;
}

static myth_status scan_files(myth_scan_list *list, myth_tools *t, const char *const *globs, myth_error *err)
{
    const myth_scan_opts so = {
        .root = t->dir,
        .globs = globs,
        .names_only = true,
        .n_threads = t->cli->global->n_threads,
        .is_cancelled = t->cli->cancel,
    };
    return myth_scan(list, t->cli->mem, &so, err);
}

static myth_status run_search_text(myth_tools *t, const json_t *args, myth_reply *a, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_scan_list list = {0};
    myth_opt_list globs;
    const char *glob[MYTH_OPT_LIST_MAX + 1] = {0};
    uint64_t n_out[MYTH_SCAN_REASON_N] = {0};
    matches m = {.a = a, .only_files = myth_tool_bool(args, "files")};
    const uint32_t around = m.only_files ? 0 : (uint32_t)myth_tool_number(t, args, "context");
    uint64_t n_unread = 0;
    const char *pattern = myth_tool_text(args, "pattern");
    const myth_grep_opts go = {
        .root = t->dir,
        .pattern = (const unsigned char *)pattern,
        .n_pattern = strlen(pattern),
        .is_regex = myth_tool_bool(args, "regex"),
        .ignore_case = myth_tool_bool(args, "ignore_case"),
        .is_word = myth_tool_bool(args, "word"),
        .n_threads = t->cli->global->n_threads,
        .n_before = around,
        .n_after = around,
        .n_out = n_out,
        .is_cancelled = t->cli->cancel,
    };
    myth_shown_start(&m.shown, t);
    myth_tool_texts(&globs, args, "globs");
    for (int i = 0; i < globs.n; i++)
        glob[i] = globs.item[i];
    MYTH_TRY(scan_files(&list, t, globs.n ? glob : NULL, err));
    if (list.n_file == 0)
        myth_reply_note(a, false, "no file %s", globs.n ? "passes globs" : "is in this directory");
    if (go.is_regex && myth_grep_wants_line_end(go.pattern, go.n_pattern))
        MYTH_TRY(myth_fail(err, MYTH_EARG,
                           "search_text: the expression asks for a line end, and it is matched with each "
                           "line alone; without regex a pattern may have several lines"));
    if (!go.is_regex && strchr(pattern, '\n'))
        MYTH_TRY(find_sequence(&m, &list, &go, &n_unread, err));
    else
        MYTH_TRY(myth_grep(t->cli->mem, &list, &go, on_row, &m, &n_unread, err));
    put_file(&m);
    n_unread += list.n_out[MYTH_SCAN_UNREADABLE];
    t->cli->n_unread += n_unread;
    if (!a->is_found || list.n_out[MYTH_SCAN_BORDER])
        MYTH_TRY(myth_unseen_note_scan(a, t, globs.n ? glob : NULL, n_out, err));
fail:
    myth_free(t->cli->mem, m.last);
    myth_shown_close(&m.shown);
    myth_scan_close(&list, t->cli->mem);
    return st;
}

static const myth_tool_arg search_text_args[] = {
    {.name = "pattern",
     .kind = MYTH_TOOL_TEXT,
     .is_required = true,
     .help = "the text to find; one of several lines is found with its end_line"},
    {.name = "regex", .kind = MYTH_TOOL_BOOL, .help = "pattern is a Perl-compatible expression"},
    {.name = "ignore_case", .kind = MYTH_TOOL_BOOL, .help = "find it in upper or lower case"},
    {.name = "word", .kind = MYTH_TOOL_BOOL, .help = "find whole words only"},
    {.name = "globs",
     .kind = MYTH_TOOL_TEXTS,
     .help = "only files that match one of them, such as *.{c,h}; '!G' leaves files out"},
    {.name = "files", .kind = MYTH_TOOL_BOOL, .help = "only the files, each with how many of its lines match"},
    {.name = "context",
     .kind = MYTH_TOOL_NUMBER,
     .max = 20,
     .help = "so many lines before and behind each that matches, marked as context"},
};

const myth_tool myth_tool_search_text = {
    .name = "search_text",
    .title = "Search lines",
    .help = "Find every line that contains a text or matches a regular expression. The files are read, so no matching "
            "line is missed; lines that do not fit are counted.",
    .items = "matches",
    .arg = search_text_args,
    .n_arg = sizeof(search_text_args) / sizeof(search_text_args[0]),
    .run = run_search_text,
};

/* ---- open_file ---- */

/* A line; of one that is long its first characters, and how many bytes it has. */
static void put_file_line(myth_reply *a, const myth_shown *s, uint32_t line)
{
    const myth_line *l = &s->src.line[line - s->lines_before - 1];
    const size_t most = myth_budget_text(&a->budget);
    uint32_t n = l->len;
    myth_jout_key_u64(&a->j, "line", line);
    myth_jout_key(&a->j, "text");
    if (n > most)
        for (n = (uint32_t)most; n > 0 && is_tail(s->src.bytes + l->off, n);)
            n--;
    myth_shown_put(s, &a->j, l->off, n);
    if (n < l->len)
        myth_jout_key_u64(&a->j, "bytes_of_line", l->len);
}

static myth_status run_open_file(myth_tools *t, const json_t *args, myth_reply *a, myth_error *err)
{
    char path[MYTH_TOOL_TEXT_MAX + 1];
    myth_shown s;
    myth_status st = MYTH_OK;
    const int64_t first = myth_tool_number(t, args, "first_line"), last = myth_tool_number(t, args, "last_line");
    myth_shown_start(&s, t);
    MYTH_TRY(myth_tools_path(path, sizeof(path), myth_tool_text(args, "path"), err));
    if (last && last < first)
        MYTH_TRY(myth_fail(err, MYTH_EARG, "open_file: last_line %lld is before first_line %lld", (long long)last,
                           (long long)first));
    MYTH_TRY(myth_shown_open_at(&s, path, (uint32_t)first, err));
    const uint32_t n_line = s.n_line, n_open = s.lines_before + s.src.n_line;
    if (first > n_line && n_line)
        MYTH_TRY(myth_fail(err, MYTH_EARG, "open_file: first_line %lld is past the end; %.160s has %u line%s",
                           (long long)first, path, n_line, n_line == 1 ? "" : "s"));
    myth_json_out *j = myth_reply_head(a);
    myth_jout_key_str(j, "path", path);
    myth_jout_key_u64(j, "lines_of_file", n_line);
    myth_reply_head_end(a);
    const uint32_t end = last && last < n_line ? (uint32_t)last : n_line;
    for (uint32_t i = (uint32_t)first; i <= end && i <= n_open; i++) {
        if (!myth_reply_begin(a))
            continue;
        put_file_line(a, &s, i);
        myth_reply_end(a);
    }
    a->left_out += end > n_open ? end - n_open : 0;
    a->is_found = true;
fail:
    myth_shown_close(&s);
    return st;
}

static const myth_tool_arg open_file_args[] = {
    {.name = "path", .kind = MYTH_TOOL_TEXT, .is_required = true, .help = "the file, relative to the root"},
    {.name = "first_line", .kind = MYTH_TOOL_NUMBER, .def = 1, .min = 1, .max = INT32_MAX, .help = "from this line"},
    {.name = "last_line",
     .kind = MYTH_TOOL_NUMBER,
     .min = 1,
     .max = INT32_MAX,
     .help = "up to this line, which is shown; not given: to the end of the file"},
};

const myth_tool myth_tool_open_file = {
    .name = "open_file",
    .title = "Read lines",
    .help = "Show lines of one file with their numbers. Only files that the scan includes can be read: none that is "
            "ignored, binary, a link or outside of the root. Known secrets are replaced. A long line is cut, and "
            "bytes_of_line says how many bytes it has.",
    .items = "lines",
    .arg = open_file_args,
    .n_arg = sizeof(open_file_args) / sizeof(open_file_args[0]),
    .run = run_open_file,
};
