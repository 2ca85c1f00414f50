/* rows.c - see rows.h. */
#include "rows.h"
#include "engine/base/array.h"

#include <string.h>

/* Lines of a text that are printed, and bytes of each; other places of it. */
enum { SHOWN = 3, SHOWN_BYTES = 120, COPIES_SHOWN = 3 };

/* Whether this line is in the same file as the previous one, when each file is listed once. */
static bool is_same_file(myth_rows *r, const char *path)
{
    if (r->last && strcmp(r->last, path) == 0)
        return true;
    size_t n = strlen(path) + 1;
    if (!MYTH_ARRAY_MORE(r->cli->mem, MYTH_MEM_OTHER, "path", &r->last, 0, n, &r->cap_last))
        return r->is_full = true;
    memcpy(r->last, path, n);
    return false;
}

/* Opens the list of --json at its first row, or at the end of a search without any: a search that is refused prints
 * nothing. */
static void begin_json(myth_rows *r)
{
    if (!r->json || r->has_begun)
        return;
    myth_jout_start(&r->j, stdout);
    myth_jout_array(&r->j);
    r->has_begun = true;
}

/* Prints, with --count, the file that just ended and how many of its lines match. */
static void put_count(myth_rows *r)
{
    if (!r->n_in_file)
        return;
    if (r->json) {
        myth_jout_object(&r->j);
        myth_jout_key_str(&r->j, "path", r->last);
        myth_jout_key_u64(&r->j, "count", r->n_in_file);
        myth_jout_end(&r->j);
    } else {
        myth_term_path(stdout, r->last);
        printf(":%llu\n", (unsigned long long)r->n_in_file);
    }
    r->n_in_file = 0;
}

void myth_rows_mark(myth_rows *r, const char *path, uint32_t line)
{
    for (uint32_t i = 0; r->hits && i < r->hits->n_hit; i++) {
        const myth_hit *h = &r->hits->hit[i];
        if (line >= h->line0 && line <= h->line1 && strcmp(h->path, path) == 0)
            r->is_shown[i] = true;
    }
}

/* How a row was found, and of a name whether it occurs anywhere. */
static void put_match(myth_rows *r, const char *match, bool found)
{
    myth_jout_key_str(&r->j, "match", match);
    if (r->is_name)
        myth_jout_key_bool(&r->j, "found", found);
}

static bool is_printed(const myth_rows *r, const myth_grep_row *at)
{
    for (uint32_t i = 0; i < r->n_exact; i++)
        if (at->line == r->exact->row[i].line && strcmp(at->path, r->exact->row[i].path) == 0)
            return true;
    return false;
}

/* What every row in JSON begins with. */
static void begin_row(myth_json_out *j, const char *path, uint32_t first, uint32_t last, const char *symbol,
                      const char *kind)
{
    myth_jout_object(j);
    myth_jout_key_str(j, "path", path);
    myth_jout_key_u64(j, "start_line", first);
    myth_jout_key_u64(j, "end_line", last);
    myth_jout_key_str(j, "symbol", symbol);
    myth_jout_key_str(j, "kind", kind);
}

/* The score, and the parts that it has when a ranking gave it; h NULL = none did. */
static void put_parts(myth_json_out *j, double score, const myth_hit *h)
{
    myth_jout_key_f64(j, "score", score);
    myth_jout_key(j, "parts");
    myth_jout_object(j);
    for (uint32_t i = 0; h && i < h->n_part; i++)
        myth_jout_key_f64(j, h->part[i].name, h->part[i].value);
    myth_jout_end(j);
}

/* Prints a line of a file without its end, of which \r is a part, or its first bytes. */
static void put_line(const char *text, size_t n, size_t most)
{
    n -= n > 0 && text[n - 1] == '\r';
    myth_term_safe(stdout, text, n < most ? n : most);
}

/* Parts a line from the previous one when they do not follow each other, as grep does. */
static void part_groups(myth_rows *r, const myth_grep_row *at)
{
    const bool is_same = is_same_file(r, at->path);
    if (r->last_line && !(is_same && at->line == r->last_line + 1))
        puts("--");
    r->last_line = at->line;
}

bool myth_rows_line(void *arg, const myth_grep_row *at)
{
    myth_rows *r = arg;
    if (is_printed(r, at))
        return true;
    if (r->most && r->n_row == r->most)
        return false;
    if (r->is_silent) {
        r->n_row++;
        return true;
    }
    begin_json(r);
    myth_rows_mark(r, at->path, at->line);
    if (r->counts) {
        if (!r->last || strcmp(r->last, at->path) != 0)
            put_count(r);
        is_same_file(r, at->path);
        r->n_in_file++;
        r->n_row++;
        return !r->is_full;
    }
    if (r->only_files && is_same_file(r, at->path))
        return !r->is_full;
    r->n_row += !at->is_context;
    if (r->json) {
        begin_row(&r->j, at->path, at->line, at->line, "", "line");
        put_parts(&r->j, at->is_context ? 0 : 1, NULL);
        myth_jout_key(&r->j, "text");
        myth_jout_text(&r->j, (const char *)at->text, at->n_text);
        put_match(r, at->is_context ? "context" : "line", true);
        myth_jout_end(&r->j);
        return true;
    }
    if (r->has_context)
        part_groups(r, at);
    myth_term_path(stdout, at->path);
    if (!r->only_files) {
        printf(at->is_context ? "-%u-" : ":%u:", at->line);
        put_line((const char *)at->text, at->n_text, SIZE_MAX);
    }
    putchar('\n');
    return !r->is_full;
}

static void put_copies(myth_json_out *j, const myth_hit *h)
{
    if (h->n_copy == 0)
        return;
    myth_jout_key(j, "copies");
    myth_jout_array(j);
    for (uint32_t i = 0; i < h->n_copy; i++) {
        myth_jout_object(j);
        myth_jout_key_str(j, "path", h->copy[i].path);
        myth_jout_key_u64(j, "start_line", h->copy[i].line0);
        myth_jout_key_u64(j, "end_line", h->copy[i].line1);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    if (h->n_more_copies)
        myth_jout_key_u64(j, "more_copies", h->n_more_copies);
}

static void put_hit_json(myth_rows *r, const myth_hit *h, bool found)
{
    myth_json_out *j = &r->j;
    begin_json(r);
    begin_row(j, h->path, h->line0, h->line1, h->name, h->kind_name);
    put_parts(j, h->score, h);
    myth_jout_key(j, "text");
    myth_jout_text(j, h->text, h->n_text);
    myth_jout_key_str(j, "parent", h->parent);
    myth_jout_key(j, "matching_lines");
    myth_jout_array(j);
    for (uint32_t i = 0; i < h->n_match; i++)
        myth_jout_u64(j, h->match[i]);
    myth_jout_end(j);
    put_match(r, "words", found);
    put_copies(j, h);
    myth_jout_end(j);
}

static void put_first_lines(const char *text, uint64_t n_text, int most)
{
    const char *p = text, *end = p + n_text;
    for (int i = 0; i < most && p < end; i++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((stop ? stop : end) - p);
        fputs("    ", stdout);
        put_line(p, n, SHOWN_BYTES);
        putchar('\n');
        p += n + 1;
    }
}

static void put_path(const myth_cli *cli, const char *path)
{
    fputs(myth_term_color(cli->term, stdout, MYTH_COLOR_BOLD), stdout);
    myth_term_path(stdout, path);
    fputs(myth_term_color(cli->term, stdout, MYTH_COLOR_NONE), stdout);
}

static void put_name(const char *parent, const char *name)
{
    if (parent[0]) {
        myth_term_safe(stdout, parent, strlen(parent));
        putchar('.');
    }
    myth_term_safe(stdout, name, strlen(name));
}

static bool is_matching(const myth_hit *h, uint32_t line)
{
    for (uint32_t i = 0; i < h->n_match; i++)
        if (h->match[i] == line)
            return true;
    return false;
}

/* Prints the first line of a hit and the lines that match, each with its number and those that match with a mark; the
 * first lines when none matches. */
static void put_matching_lines(const myth_cli *cli, const myth_hit *h)
{
    const char *p = h->text, *end = p + h->n_text;
    for (uint32_t line = h->line0; p < end; line++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        const size_t n = (size_t)((stop ? stop : end) - p);
        const bool is_match = is_matching(h, line);
        if (is_match || line == h->line0 || (!h->n_match && line < h->line0 + SHOWN)) {
            fputs(is_match ? myth_term_color(cli->term, stdout, MYTH_COLOR_BOLD) : "", stdout);
            printf("  %c %5u  ", is_match ? '>' : ' ', line);
            put_line(p, n, SHOWN_BYTES);
            fputs(is_match ? myth_term_color(cli->term, stdout, MYTH_COLOR_NONE) : "", stdout);
            putchar('\n');
        }
        p += n + 1;
    }
}

/* Prints the place of a hit and its lines. */
static void put_hit_text(const myth_cli *cli, const myth_hit *h, bool explain)
{
    put_path(cli, h->path);
    printf(":%u-%u  %s", h->line0, h->line1, h->kind_name);
    if (h->name[0]) {
        putchar(' ');
        put_name(h->parent, h->name);
    }
    printf("  %.3f\n", h->score);
    if (explain) {
        fputs("   ", stdout);
        for (uint32_t i = 0; i < h->n_part; i++)
            printf(" %s %.3f", h->part[i].name, h->part[i].value);
        putchar('\n');
    }
    put_matching_lines(cli, h);
    for (uint32_t i = 0; i < h->n_copy && i < COPIES_SHOWN; i++) {
        fputs("    the same text: ", stdout);
        myth_term_path(stdout, h->copy[i].path);
        printf(":%u\n", h->copy[i].line0);
    }
    if (h->n_copy > COPIES_SHOWN)
        printf("    and %u more copies of it\n", h->n_copy - COPIES_SHOWN + h->n_more_copies);
}

void myth_rows_hits(myth_rows *r, const myth_hits *hits, bool found, uint32_t most)
{
    for (uint32_t i = 0, n = 0; i < hits->n_hit && n < most; i++) {
        if (r->is_shown && r->is_shown[i])
            continue;
        n++;
        if (r->json) {
            put_hit_json(r, &hits->hit[i], found);
        } else if (r->only_paths) {
            myth_term_path(stdout, hits->hit[i].path);
            putchar('\n');
        } else {
            put_hit_text(r->cli, &hits->hit[i], r->explain);
        }
    }
    if (r->explain && !r->json)
        myth_term_note(r->cli->term,
                       "query kind %s: %u terms used, %u dropped, %llu chunks scored; vectors added %u chunks, %u "
                       "chunks have no vector",
                       hits->query_kind, hits->n_term, hits->n_dropped, (unsigned long long)hits->n_seen, hits->n_near,
                       hits->n_without);
}

/* The best chunk that has the line; NULL when none has. */
static const myth_hit *hit_with(const myth_hits *hits, const char *path, uint32_t line)
{
    for (uint32_t i = 0; i < hits->n_hit; i++)
        if (line >= hits->hit[i].line0 && line <= hits->hit[i].line1 && strcmp(hits->hit[i].path, path) == 0)
            return &hits->hit[i];
    return NULL;
}

static void put_exact_json(myth_rows *r, const myth_occurrence *o)
{
    myth_json_out *j = &r->j;
    const myth_hit *hit = o->is_definition ? hit_with(r->hits, o->path, o->line) : NULL;
    begin_json(r);
    begin_row(j, o->path, o->line0, o->line1, o->name, o->kind);
    put_parts(j, hit ? hit->score : 0, hit);
    myth_jout_key(j, "text");
    myth_jout_text(j, o->text, o->n_text);
    put_match(r, o->is_definition ? "definition" : "use", true);
    myth_jout_key_u64(j, "line", o->line);
    myth_jout_key_str(j, "parent", o->parent);
    myth_jout_key_str(j, "why", o->why);
    myth_jout_end(j);
}

static void put_exact_text(const myth_cli *cli, const myth_occurrence *o)
{
    put_path(cli, o->path);
    printf(":%u  %s", o->line, o->is_definition ? o->kind : o->name[0] ? "in" : o->kind);
    if (o->name[0]) {
        putchar(' ');
        put_name(o->parent, o->name);
    }
    if (o->is_definition) {
        printf("  definition, lines %u-%u\n", o->line0, o->line1);
    } else {
        fputs("  ", stdout);
        myth_term_safe(stdout, o->why, strlen(o->why));
        putchar('\n');
    }
    const char *p = o->text, *end = p + o->n_text;
    for (uint32_t i = o->line0; i < o->line && p < end; i++) { /* begins with the line of the name */
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        p = stop ? stop + 1 : end;
    }
    put_first_lines(p, (uint64_t)(end - p), o->is_definition ? SHOWN : 1);
}

void myth_rows_exact(myth_rows *r, const myth_occurrence *o)
{
    myth_rows_mark(r, o->path, o->line);
    if (r->json)
        put_exact_json(r, o);
    else
        put_exact_text(r->cli, o);
}

static void put_near_json(myth_rows *r, const myth_near *near)
{
    myth_json_out *j = &r->j;
    begin_json(r);
    begin_row(j, near->path, near->line, near->line, near->name, "name");
    put_parts(j, near->score, NULL);
    myth_jout_key_str(j, "text", "");
    put_match(r, "near", false);
    myth_jout_end(j);
}

void myth_rows_near(myth_rows *r, const myth_near *near)
{
    if (r->json) {
        put_near_json(r, near);
        return;
    }
    put_path(r->cli, near->path);
    printf(":%u  ", near->line);
    myth_term_safe(stdout, near->name, strlen(near->name));
    putchar('\n');
}

myth_status myth_rows_end_lines(myth_rows *r, myth_error *err)
{
    put_count(r);
    return r->is_full ? myth_fail(err, MYTH_ENOMEM, "search: out of memory for a path") : MYTH_OK;
}

void myth_rows_close(myth_rows *r, bool ok)
{
    if (ok)
        begin_json(r);
    if (r->has_begun)
        myth_jout_end(&r->j);
    myth_free(r->cli->mem, r->last);
    r->last = NULL;
}
