/* tool_names.c - find_symbol shows where a name is defined; references shows what uses, tests and re-exports it, why
 * each use is believed, and the other lines of code that have the name. */
#define _GNU_SOURCE /* memmem */
#include "shown.h"
#include "unseen.h"

#include "engine/base/text.h"

#include <string.h>

static void put_definition(myth_reply *a, const myth_usage_definition *d)
{
    myth_json_out *j = &a->j;
    if (!myth_reply_begin(a))
        return;
    myth_jout_key_str(j, "path", d->path);
    myth_jout_key_u64(j, "line", d->line);
    myth_jout_key_u64(j, "start_line", d->line0);
    myth_jout_key_u64(j, "end_line", d->line1);
    myth_jout_key_str(j, "kind", myth_symbol_kind_name(d->kind));
    myth_jout_key_str(j, "name", d->name);
    myth_jout_key_str(j, "parent", d->parent);
    myth_jout_key(j, "signature");
    myth_shown_put_text(j, d->signature, strlen(d->signature));
    myth_jout_key_bool(j, "exported", d->is_exported);
    myth_jout_key_bool(j, "test", d->is_test);
    myth_jout_key_u64(j, "callers", d->callers.n + d->callers.n_more);
    myth_jout_key_u64(j, "tests", d->tests.n + d->tests.n_more);
    myth_jout_key_u64(j, "callees", d->callees.n + d->callees.n_more);
    myth_reply_end(a);
}

/* Names that are similar to one that is not defined. */
static myth_status note_nearest(myth_reply *a, myth_index *x, const char *name, myth_error *err)
{
    enum { SHOWN = 3 };
    myth_near near[SHOWN];
    uint32_t n = 0;
    myth_status st = myth_usage_nearest(near, SHOWN, &n, x, name, err);
    if (st == MYTH_OK)
        myth_reply_note(a, false, n ? "no such definition; similar names follow" : "no such definition");
    for (uint32_t i = 0; st == MYTH_OK && i < n; i++)
        myth_reply_note(a, false, "%.60s in %.80s:%u", near[i].name, near[i].path, near[i].line);
    return st;
}

/* Whether the name that was asked for is this one, whatever it is qualified with. */
static bool ends_with(const char *asked, const char *name) { return strchr(asked, '(') || myth_text_ends(asked, name); }

/* Says which files may define or use it without being known to. When nothing was found, that is not certain then. */
static myth_status note_unparsed(myth_reply *a, myth_tools *t, myth_index *x, bool is_found, myth_error *err)
{
    uint64_t n;
    const myth_status st = myth_unseen_note_unparsed(a, &n, x, err);
    t->n_missed += is_found ? 0 : n;
    return st;
}

static myth_status find_usage(myth_usage *u, myth_tools *t, const json_t *args, myth_reply *a, myth_error *err)
{
    myth_index *x;
    const char *name = myth_tool_text(args, "name");
    myth_status st = myth_tools_index(&x, t, err);
    if (st == MYTH_OK)
        st = myth_usage_find_all(u, x, name, t->cli->cancel, err);
    if (st == MYTH_OK && u->n_definition == 0)
        st = note_nearest(a, x, name, err);
    else if (st == MYTH_OK && strcmp(u->word, u->definition[0].name) == 0 && !ends_with(name, u->word))
        myth_reply_note(a, true, "a re-export calls %.60s so; lines with the name that it gives are not looked for",
                        u->word);
    if (st == MYTH_OK)
        st = note_unparsed(a, t, x, u->n_definition > 0, err);
    if (st == MYTH_OK && u->n_definition == 0)
        st = myth_unseen_note_scan(a, t, NULL, NULL, err);
    if (st == MYTH_OK && u->n_more)
        myth_reply_note(a, true, "%u more definitions of this name; choose with PATH::NAME or TYPE.NAME", u->n_more);
    if (st == MYTH_OK && u->n_unseen)
        myth_reply_note(a, true, "%llu more uses of the name were not judged", (unsigned long long)u->n_unseen);
    if (st == MYTH_OK && u->n_unlooked)
        myth_reply_note(a, true, "lines with the name in %u more files are not counted", u->n_unlooked);
    return st;
}

static void put_head(myth_reply *a, const myth_usage *u, bool with_definitions)
{
    myth_json_out *j = myth_reply_head(a);
    if (with_definitions)
        myth_jout_key_u64(j, "definitions", u->n_definition + u->n_more);
    myth_jout_key_u64(j, "mentions", u->mentions.n + u->mentions.n_more);
    myth_reply_head_end(a);
}

static myth_status run_find_symbol(myth_tools *t, const json_t *args, myth_reply *a, myth_error *err)
{
    myth_usage u = {0};
    char under[MYTH_TOOL_TEXT_MAX + 1] = "";
    myth_status st = MYTH_OK;
    if (myth_tool_text(args, "under"))
        MYTH_TRY(myth_tools_path(under, sizeof(under), myth_tool_text(args, "under"), err));
    st = find_usage(&u, t, args, a, err);
    if (st == MYTH_OK) {
        put_head(a, &u, false);
        if (u.mentions.n)
            myth_reply_note(
                a, false,
                "callers are the uses that a parser records: calls, types, arguments; %u more lines of code "
                "have the name, and references lists them",
                u.mentions.n + u.mentions.n_more);
    }
    for (uint32_t i = 0; st == MYTH_OK && i < u.n_definition; i++)
        if (myth_tools_is_under(u.definition[i].path, under))
            put_definition(a, &u.definition[i]);
fail:
    myth_usage_free(&u);
    return st;
}

/* ---- references ---- */

typedef struct {
    myth_reply *a;
    myth_shown shown;
    const char *wanted; /* the relation that is shown; NULL = callers, tests, exports and mentions */
    const char *word;   /* the name as mentions have it */
    uint32_t n_changed; /* places whose line is not what the index has */
} uses;

/* Whether the open file has the place as the index has it. */
static bool is_there(const uses *r, const myth_usage_place *p, bool is_mention)
{
    const myth_source *src = &r->shown.src;
    const myth_line *line = p->line >= 1 && p->line <= src->n_line ? &src->line[p->line - 1] : NULL;
    return line && (!is_mention || memmem(src->bytes + line->off, line->len, r->word, strlen(r->word)));
}

/* d NULL: it may mean several definitions, or there is none. */
static void put_use(uses *r, const myth_usage_definition *d, const myth_usage_place *p, const char *relation)
{
    myth_json_out *j = &r->a->j;
    myth_error err;
    char of[32];
    if (!myth_reply_begin(r->a))
        return;
    const bool is_open = myth_shown_open_listed(&r->shown, p->path, &err) == MYTH_OK;
    r->n_changed += !is_open || !is_there(r, p, strcmp(relation, "mention") == 0);
    myth_jout_key_str(j, "path", p->path);
    myth_jout_key_u64(j, "line", p->line);
    myth_jout_key_str(j, "relation", relation);
    myth_jout_key_str(j, "name", p->name);
    myth_jout_key_str(j, "parent", p->parent);
    myth_jout_key_str(j, "why", p->why);
    myth_jout_key_str(j, "reason", myth_why_name(p->strength));
    myth_jout_key_u64(j, "uses", p->n_use);
    if (p->n_lines) {
        myth_jout_key(j, "lines");
        myth_jout_array(j);
        for (uint32_t i = 0; i < p->n_lines; i++)
            myth_jout_u64(j, p->lines[i]);
        myth_jout_end(j);
    }
    if (is_open) {
        myth_jout_key(j, "text");
        myth_shown_put_line(&r->shown, j, p->line);
    }
    if (d) {
        snprintf(of, sizeof(of), ":%u", d->line);
        myth_jout_key(j, "of");
        myth_jout_text_begin(j);
        myth_jout_text_part(j, d->path, strlen(d->path));
        myth_jout_text_part(j, of, strlen(of));
        myth_jout_text_end(j);
    }
    myth_reply_end(r->a);
}

static void put_uses(uses *r, const myth_usage_definition *d, const myth_usage_places *p, const char *relation)
{
    const bool is_callee = strcmp(relation, "callee") == 0;
    if (r->wanted ? strcmp(r->wanted, relation) != 0 : is_callee)
        return;
    for (uint32_t i = 0; i < p->n; i++)
        put_use(r, d, &p->place[i], relation);
    r->a->left_out += p->n_more;
}

/* What the answer is not complete for, and what it leaves out because it is about something else. */
static void note_limits(const uses *r, const myth_usage *u)
{
    const bool is_callee = r->wanted && strcmp(r->wanted, "callee") == 0;
    if (is_callee && u->has_more_callees)
        myth_reply_note(r->a, true, "a definition has more callees than were looked up");
    if (!is_callee && u->has_more_exports)
        myth_reply_note(r->a, true, "the name is in more files than were read for what gives it on");
    if (is_callee)
        myth_reply_note(r->a, false, "callees are what more than a name says is meant");
    if (u->n_elsewhere && !is_callee)
        myth_reply_note(r->a, false, "%llu lines mean other definitions of the name",
                        (unsigned long long)u->n_elsewhere);
    if (r->n_changed)
        myth_reply_note(r->a, true,
                        "%u places are not as the index has them: their files changed since, or cannot be "
                        "read; ask again",
                        r->n_changed);
}

static void put_mentions(uses *r, const myth_usage *u)
{
    const uint32_t n = u->mentions.n + u->mentions.n_more;
    if (r->wanted && strcmp(r->wanted, "mention") != 0) {
        if (n)
            myth_reply_note(r->a, false, "%u more lines of code have the name; relation mention lists them", n);
        return;
    }
    for (uint32_t i = 0; i < u->mentions.n; i++) {
        const myth_usage_place *p = &u->mentions.place[i];
        put_use(r, p->of < u->n_definition ? &u->definition[p->of] : NULL, p, "mention");
    }
    r->a->left_out += u->mentions.n_more;
}

static myth_status run_references(myth_tools *t, const json_t *args, myth_reply *a, myth_error *err)
{
    myth_usage u = {0};
    uses r = {.a = a, .wanted = myth_tool_text(args, "relation")};
    myth_shown_start(&r.shown, t);
    myth_status st = find_usage(&u, t, args, a, err);
    r.word = u.word;
    if (st == MYTH_OK)
        put_head(a, &u, true);
    for (uint32_t i = 0; st == MYTH_OK && i < u.n_definition; i++) {
        const myth_usage_definition *d = &u.definition[i];
        put_uses(&r, d, &d->callers, "caller");
        put_uses(&r, d, &d->tests, "test");
        put_uses(&r, d, &d->exports, "export");
        put_uses(&r, d, &d->callees, "callee");
    }
    if (st == MYTH_OK) {
        put_mentions(&r, &u);
        note_limits(&r, &u);
    }
    myth_shown_close(&r.shown);
    myth_usage_free(&u);
    return st;
}

#define NAME_ARG                                                                          \
    {                                                                                     \
        .name = "name", .kind = MYTH_TOOL_TEXT, .is_required = true,                      \
        .help = "the name as it is defined, or Type.method, or path/file.py::Type.method" \
    }

static const myth_tool_arg find_symbol_args[] = {
    NAME_ARG,
    {.name = "under",
     .kind = MYTH_TOOL_TEXT,
     .help = "only definitions in files below this folder, relative to the root"},
};

const myth_tool myth_tool_find_symbol = {
    .name = "find_symbol",
    .title = "Find a definition",
    .help = "Show where a name is defined, with its signature and lines, and how many callers and tests it has. "
            "Similar names are noted when it is not defined.",
    .items = "definitions",
    .arg = find_symbol_args,
    .n_arg = sizeof(find_symbol_args) / sizeof(find_symbol_args[0]),
    .run = run_find_symbol,
};

static const myth_tool_arg references_args[] = {
    NAME_ARG,
    {.name = "relation",
     .kind = MYTH_TOOL_TEXT,
     .words = "caller|test|export|callee|mention",
     .help = "only these; not given: all but callees"},
};

const myth_tool myth_tool_references = {
    .name = "references",
    .title = "Find uses",
    .help =
        "Show what calls, tests and re-exports a name, with the line of each use and the reason why it is believed "
        "to be one; then, as relation mention, every other line of code that has the name (assigns, compares, "
        "returns it, a field's), not those of comments, strings, documents and data; relation callee shows what the "
        "definition itself uses.",
    .items = "references",
    .arg = references_args,
    .n_arg = sizeof(references_args) / sizeof(references_args[0]),
    .run = run_references,
};
