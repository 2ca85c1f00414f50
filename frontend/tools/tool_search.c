/* tool_search.c - search finds the chunks of code that answer a question, the best first; of a name its definitions
 * come before them. */
#define _GNU_SOURCE /* memmem */
#include "shown.h"
#include "unseen.h"

#include "frontend/common/embedding.h"

#include <string.h>

/* Most bytes that whole lines add to a hit that begins or ends inside of one. */
enum { WHOLE_BYTES = 2000, COPIES_SHOWN = 4, HITS_MAX = 256 };

/* Where line `line` begins; the end of the text behind the last one. */
static uint32_t line_off(const myth_source *src, uint32_t line)
{
    return line <= src->n_line ? src->line[line - 1].off : (uint32_t)src->len;
}

/* How much of a text of n bytes is shown: the first lines, of a first one that is longer its whole characters. *last:
 * counted up by the lines before the last of them. */
static size_t cut_text(const char *text, size_t n, size_t most, uint32_t *last)
{
    size_t end = 0;
    if (n <= most)
        return n;
    for (size_t at = 0; at < most; at++)
        if (text[at] == '\n') {
            *last += end != 0;
            end = at + 1;
        }
    if (end)
        return end;
    for (end = most; end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80;)
        end--;
    return end;
}

/* Writes the text, and the number of its last line where it is cut. off: where it is in the open file; text: itself. */
static void put_text(myth_reply *a, const myth_shown *s, const uint32_t *off, const char *text, size_t n,
                     uint32_t line0)
{
    uint32_t last = line0;
    const size_t shown = cut_text(text, n, myth_budget_text(&a->budget), &last);
    myth_jout_key(&a->j, "text");
    if (off)
        myth_shown_put(s, &a->j, *off, (uint32_t)shown);
    else
        myth_shown_put_text(&a->j, text, shown);
    if (shown < n)
        myth_jout_key_u64(&a->j, "last_line_of_text", last);
}

/* The hit's text as its file has it, in whole lines, so that secrets are known from the whole file; else as the index
 * has it. */
static void put_hit_text(myth_reply *a, myth_shown *s, const myth_hit *h)
{
    myth_error err;
    const bool is_open = myth_shown_open_listed(s, h->path, &err) == MYTH_OK && h->line0 >= 1 && h->line0 <= h->line1 &&
                         h->line1 <= s->src.n_line;
    const uint32_t off = is_open ? line_off(&s->src, h->line0) : 0, end = is_open ? line_off(&s->src, h->line1 + 1) : 0;
    if (is_open && end - off <= h->n_text + WHOLE_BYTES && memmem(s->src.bytes + off, end - off, h->text, h->n_text))
        put_text(a, s, &off, (const char *)s->src.bytes + off, end - off, h->line0);
    else
        put_text(a, s, NULL, h->text, h->n_text, h->line0);
}

/* The other places of a text that is a hit once. */
static void put_copies(myth_json_out *j, const myth_hit *h)
{
    if (h->n_copy == 0)
        return;
    myth_jout_key(j, "copies");
    myth_jout_array(j);
    for (uint32_t i = 0; i < h->n_copy && i < COPIES_SHOWN; i++) {
        myth_jout_object(j);
        myth_jout_key_str(j, "path", h->copy[i].path);
        myth_jout_key_u64(j, "start_line", h->copy[i].line0);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    if (h->n_copy > COPIES_SHOWN)
        myth_jout_key_u64(j, "more_copies", h->n_copy - COPIES_SHOWN + h->n_more_copies);
}

/* A name is found by its words too, and the hits of one that occurs nowhere look like any others; of one that does they
 * are some of its lines. */
static myth_status note_name(myth_reply *a, myth_index *x, const myth_usage *u, myth_error *err)
{
    if (u->n_definition == 0 && u->mentions.n == 0)
        myth_reply_note(a, false,
                        "no definition and no use of this name is known; the hits are the nearest by its words");
    else if (u->n_definition == 0 && u->n_unlooked == 0)
        myth_reply_note(a, false,
                        "no definition of this name is known; references lists all %u lines of code that "
                        "have the name",
                        u->mentions.n + u->mentions.n_more);
    else
        myth_reply_note(a, false, "references lists every line of code that has the name");
    return myth_unseen_note_unparsed(a, NULL, x, err);
}

static bool is_in(const myth_hit *h, const myth_usage_definition *d)
{
    return strcmp(h->path, d->path) == 0 && d->line >= h->line0 && d->line <= h->line1;
}

/* A definition of the name. */
static void put_definition(myth_reply *a, myth_shown *s, const myth_hits *hits, const myth_usage_definition *d)
{
    myth_error err;
    myth_json_out *j = &a->j;
    double score = 0;
    if (!myth_reply_begin(a))
        return;
    for (uint32_t i = 0; i < hits->n_hit && score == 0; i++)
        score = is_in(&hits->hit[i], d) ? hits->hit[i].score : 0;
    myth_jout_key_str(j, "path", d->path);
    myth_jout_key_u64(j, "start_line", d->line0);
    myth_jout_key_u64(j, "end_line", d->line1);
    myth_jout_key_str(j, "kind", myth_symbol_kind_name(d->kind));
    myth_jout_key_str(j, "symbol", d->name);
    myth_jout_key_f64(j, "score", score);
    myth_jout_key_str(j, "match", "definition");
    if (myth_shown_open_listed(s, d->path, &err) == MYTH_OK && d->line0 >= 1 && d->line1 <= s->src.n_line) {
        const uint32_t off = line_off(&s->src, d->line0);
        put_text(a, s, &off, (const char *)s->src.bytes + off, line_off(&s->src, d->line1 + 1) - off, d->line0);
    } else {
        put_text(a, s, NULL, d->signature, strlen(d->signature), d->line0);
    }
    myth_reply_end(a);
}

static void put_hit(myth_reply *a, myth_shown *shown, const myth_hit *h)
{
    if (!myth_reply_begin(a))
        return;
    myth_jout_key_str(&a->j, "path", h->path);
    myth_jout_key_u64(&a->j, "start_line", h->line0);
    myth_jout_key_u64(&a->j, "end_line", h->line1);
    myth_jout_key_str(&a->j, "kind", h->kind_name);
    myth_jout_key_str(&a->j, "symbol", h->name);
    myth_jout_key_f64(&a->j, "score", h->score);
    myth_jout_key_str(&a->j, "match", "words");
    put_copies(&a->j, h);
    put_hit_text(a, shown, h);
    myth_reply_end(a);
}

/* Whether a definition that is shown is in this hit, or, by_file, in its file. */
static bool is_shown(const myth_usage *u, uint32_t n, const myth_hit *h, bool by_file)
{
    for (uint32_t i = 0; i < n; i++)
        if (by_file ? strcmp(u->definition[i].path, h->path) == 0 : is_in(h, &u->definition[i]))
            return true;
    return false;
}

/* Whether an earlier definition is in the same file. */
static bool is_second(const myth_usage *u, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++)
        if (strcmp(u->definition[i].path, u->definition[at].path) == 0)
            return true;
    return false;
}

static bool wants_file(void *under, const char *path) { return myth_tools_is_under(path, under); }

static myth_status run_search(myth_tools *t, const json_t *args, myth_reply *a, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_index *x;
    myth_semantic semantic = {0};
    myth_hits hits = {0};
    myth_usage u = {0};
    myth_shown shown;
    uint32_t n = 0, n_definition = 0;
    char under[MYTH_TOOL_TEXT_MAX + 1] = "";
    const uint64_t k = (uint64_t)myth_tool_number(t, args, "max_hits") + a->skip;
    myth_search_opts so = {
        .query = myth_tool_text(args, "query"),
        .mode = MYTH_SEARCH_AUTO,
        .k = (uint32_t)(k < HITS_MAX ? k : HITS_MAX),
        .user = under,
        .by_file = myth_tool_bool(args, "by_file"),
        .with_text = true,
        .narrow = true,
    };
    myth_shown_start(&shown, t);
    if (myth_tool_text(args, "under"))
        MYTH_TRY(myth_tools_path(under, sizeof(under), myth_tool_text(args, "under"), err));
    so.wants_file = under[0] ? wants_file : NULL;
    MYTH_TRY(myth_tools_index(&x, t, err));
    MYTH_TRY(myth_semantic_open(&semantic, t->cli, x, NULL, &so, err));
    MYTH_TRY(myth_search(&hits, x, &so, err));
    const bool is_name = hits.n_hit && strcmp(hits.query_kind, "symbol") == 0;
    if (is_name)
        MYTH_TRY(myth_usage_find_all(&u, x, so.query, t->cli->cancel, err));
    for (; n_definition < u.n_definition && n < so.k; n_definition++)
        if (myth_tools_is_under(u.definition[n_definition].path, under) &&
            (!so.by_file || !is_second(&u, n_definition))) {
            put_definition(a, &shown, &hits, &u.definition[n_definition]);
            n++;
        }
    for (uint32_t i = 0; i < hits.n_hit && n < so.k; i++)
        if (!is_shown(&u, n_definition, &hits.hit[i], so.by_file)) {
            put_hit(a, &shown, &hits.hit[i]);
            n++;
        }
    if (is_name)
        MYTH_TRY(note_name(a, x, &u, err));
    if (hits.n_hit == 0)
        myth_reply_note(a, false, "no chunk has a word of it; search_text finds lines by their text");
    else if (n == so.k)
        myth_reply_note(a, false, "the best %u are shown, and there may be more; max_hits says how many", so.k);
fail:
    myth_shown_close(&shown);
    myth_usage_free(&u);
    myth_hits_free(&hits);
    myth_semantic_close(&semantic, t->cli);
    return st;
}

static const myth_tool_arg search_args[] = {
    {.name = "query",
     .kind = MYTH_TOOL_TEXT,
     .is_required = true,
     .help = "a question, words of the code, a name, or a phrase in double quotes"},
    {.name = "max_hits", .kind = MYTH_TOOL_NUMBER, .def = 10, .min = 1, .max = HITS_MAX, .help = "most hits"},
    {.name = "under", .kind = MYTH_TOOL_TEXT, .help = "only files below this folder, relative to the root"},
    {.name = "by_file", .kind = MYTH_TOOL_BOOL, .help = "only the best hit of each file"},
};

const myth_tool myth_tool_search = {
    .name = "search",
    .title = "Search code",
    .help =
        "Find the pieces of code that answer a question or have its words, the best first, of a name its definitions "
        "before them, each with its lines, "
        "symbol and text. A text that is in several places is one hit with copies; one that is long is cut, and "
        "last_line_of_text says where.",
    .items = "hits",
    .arg = search_args,
    .n_arg = sizeof(search_args) / sizeof(search_args[0]),
    .run = run_search,
};
