/* tool_search.c - search finds the chunks of code that answer a question, the best first. */
#include "shown.h"
#include "unseen.h"

#include "frontend/common/embedding.h"

#include <string.h>

/* The hit's text as its file has it, so that secrets are known from the whole file; else as the index has it. */
static void put_hit_text(myth_shown *s, myth_json_out *j, const myth_hit *h)
{
    myth_error err;
    const bool is_open =
        myth_shown_open_listed(s, h->path, &err) == MYTH_OK && h->line0 >= 1 && h->line0 <= s->src.n_line;
    const uint32_t off = is_open ? s->src.line[h->line0 - 1].off : 0;
    if (is_open && h->n_text <= s->src.len - off && memcmp(s->src.bytes + off, h->text, h->n_text) == 0)
        myth_shown_put(s, j, off, (uint32_t)h->n_text);
    else
        myth_shown_put_text(j, h->text, h->n_text);
}

/* The other places of a text that is a hit once. */
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
        myth_jout_end(j);
    }
    myth_jout_end(j);
    if (h->n_more_copies)
        myth_jout_key_u64(j, "more_copies", h->n_more_copies);
}

/* A name is found by its words too, and the hits of one that occurs nowhere look like any others; of one that does they
 * are some of its lines. */
static myth_status note_name(myth_reply *a, myth_tools *t, myth_index *x, const char *name, myth_error *err)
{
    myth_usage u = {0};
    myth_status st = myth_usage_find_all(&u, x, name, t->cli->cancel, err);
    if (st == MYTH_OK && u.n_definition == 0 && u.mentions.n == 0)
        myth_reply_note(a, false,
                        "no definition and no use of this name is known; the hits are the nearest by its words");
    else if (st == MYTH_OK && u.n_definition == 0 && u.n_unlooked == 0)
        myth_reply_note(a, false,
                        "no definition of this name is known; references lists all %u lines of code that "
                        "have the name",
                        u.mentions.n + u.mentions.n_more);
    else if (st == MYTH_OK)
        myth_reply_note(a, false, "references lists every line of code that has the name");
    if (st == MYTH_OK)
        st = myth_unseen_note_unparsed(a, NULL, x, err);
    myth_usage_free(&u);
    return st;
}

static myth_status run_search(myth_tools *t, const json_t *args, myth_reply *a, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_index *x;
    myth_semantic semantic = {0};
    myth_hits hits = {0};
    myth_shown shown;
    myth_search_opts so = {
        .query = myth_tool_text(args, "query"),
        .mode = MYTH_SEARCH_AUTO,
        .k = (uint32_t)myth_tool_number(t, args, "max_hits"),
        .by_file = myth_tool_bool(args, "by_file"),
        .with_text = true,
        .narrow = true,
    };
    myth_shown_start(&shown, t);
    MYTH_TRY(myth_tools_index(&x, t, err));
    MYTH_TRY(myth_semantic_open(&semantic, t->cli, x, NULL, &so, err));
    MYTH_TRY(myth_search(&hits, x, &so, err));
    for (uint32_t i = 0; i < hits.n_hit; i++) {
        const myth_hit *h = &hits.hit[i];
        if (!myth_reply_begin(a))
            continue;
        myth_jout_key_str(&a->j, "path", h->path);
        myth_jout_key_u64(&a->j, "start_line", h->line0);
        myth_jout_key_u64(&a->j, "end_line", h->line1);
        myth_jout_key_str(&a->j, "kind", h->kind_name);
        myth_jout_key_str(&a->j, "symbol", h->name);
        myth_jout_key_f64(&a->j, "score", h->score);
        put_copies(&a->j, h);
        myth_jout_key(&a->j, "text");
        put_hit_text(&shown, &a->j, h);
        myth_reply_end(a);
    }
    if (hits.n_hit && strcmp(hits.query_kind, "symbol") == 0)
        MYTH_TRY(note_name(a, t, x, so.query, err));
    if (hits.n_hit == 0)
        myth_reply_note(a, false, "no chunk has a word of it; search_text finds lines by their text");
    else if (hits.n_hit == so.k)
        myth_reply_note(a, false, "the best %u are shown, and there may be more; max_hits says how many", so.k);
fail:
    myth_shown_close(&shown);
    myth_hits_free(&hits);
    myth_semantic_close(&semantic, t->cli);
    return st;
}

static const myth_tool_arg search_args[] = {
    {.name = "query",
     .kind = MYTH_TOOL_TEXT,
     .is_required = true,
     .help = "a question, words of the code, a name, or a phrase in double quotes"},
    {.name = "max_hits", .kind = MYTH_TOOL_NUMBER, .def = 10, .min = 1, .max = 256, .help = "most hits"},
    {.name = "by_file", .kind = MYTH_TOOL_BOOL, .help = "only the best hit of each file"},
};

const myth_tool myth_tool_search = {
    .name = "search",
    .title = "Search code",
    .help = "Find the pieces of code that answer a question or have its words, the best first, each with its lines, "
            "symbol and text. A text that is in several places is one hit with copies.",
    .items = "hits",
    .arg = search_args,
    .n_arg = sizeof(search_args) / sizeof(search_args[0]),
    .run = run_search,
};
