/* tool_names.c - find_symbol shows where a name is defined; references shows what uses, tests and re-exports it, and
 * why each use is believed. */
#include "shown.h"

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
    enum { SHOWN = MYTH_REPLY_NOTES - 1 };
    myth_near near[SHOWN];
    uint32_t n = 0;
    myth_status st = myth_usage_nearest(near, SHOWN, &n, x, name, err);
    if (st == MYTH_OK)
        myth_reply_note(a, false, n ? "no such definition; similar names follow" : "no such definition");
    for (uint32_t i = 0; st == MYTH_OK && i < n; i++)
        myth_reply_note(a, false, "%.60s in %.80s:%u", near[i].name, near[i].path, near[i].line);
    return st;
}

static myth_status find_usage(myth_usage *u, myth_tools *t, const json_t *args, myth_reply *a, myth_error *err)
{
    myth_index *x;
    const char *name = myth_tool_text(args, "name");
    myth_status st = myth_tools_index(&x, t, err);
    if (st == MYTH_OK)
        st = myth_usage_find(u, x, name, t->cli->cancel, err);
    if (st == MYTH_OK && u->n_definition == 0)
        st = note_nearest(a, x, name, err);
    if (st == MYTH_OK && u->n_more)
        myth_reply_note(a, true, "%u more definitions of this name; choose with PATH::NAME or TYPE.NAME", u->n_more);
    if (st == MYTH_OK && u->n_unseen)
        myth_reply_note(a, true, "%llu more uses of the name were not judged", (unsigned long long)u->n_unseen);
    return st;
}

static myth_status run_find_symbol(myth_tools *t, const json_t *args, myth_reply *a, myth_error *err)
{
    myth_usage u = {0};
    myth_status st = find_usage(&u, t, args, a, err);
    for (uint32_t i = 0; st == MYTH_OK && i < u.n_definition; i++)
        put_definition(a, &u.definition[i]);
    myth_usage_free(&u);
    return st;
}

/* ---- references ---- */

typedef struct {
    myth_reply *a;
    myth_shown shown;
    const char *wanted; /* the relation that is shown; NULL = callers, tests and exports */
} uses;

static void put_use(uses *r, const myth_usage_definition *d, const myth_usage_place *p, const char *relation)
{
    myth_json_out *j = &r->a->j;
    myth_error err;
    char of[32];
    if (!myth_reply_begin(r->a))
        return;
    myth_jout_key_str(j, "path", p->path);
    myth_jout_key_u64(j, "line", p->line);
    myth_jout_key_str(j, "relation", relation);
    myth_jout_key_str(j, "name", p->name);
    myth_jout_key_str(j, "parent", p->parent);
    myth_jout_key_str(j, "why", p->why);
    myth_jout_key_str(j, "reason", myth_why_name(p->strength));
    myth_jout_key_u64(j, "uses", p->n_use);
    if (myth_shown_open_listed(&r->shown, p->path, &err) == MYTH_OK) {
        myth_jout_key(j, "text");
        myth_shown_put_line(&r->shown, j, p->line);
    }
    snprintf(of, sizeof(of), ":%u", d->line);
    myth_jout_key(j, "of");
    myth_jout_text_begin(j);
    myth_jout_text_part(j, d->path, strlen(d->path));
    myth_jout_text_part(j, of, strlen(of));
    myth_jout_text_end(j);
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

static myth_status run_references(myth_tools *t, const json_t *args, myth_reply *a, myth_error *err)
{
    myth_usage u = {0};
    uses r = {.a = a, .wanted = myth_tool_text(args, "relation")};
    myth_shown_start(&r.shown, t);
    myth_status st = find_usage(&u, t, args, a, err);
    if (st == MYTH_OK) {
        myth_json_out *j = myth_reply_head(a);
        myth_jout_key_u64(j, "definitions", u.n_definition + u.n_more);
        myth_reply_head_end(a);
    }
    for (uint32_t i = 0; st == MYTH_OK && i < u.n_definition; i++) {
        const myth_usage_definition *d = &u.definition[i];
        put_uses(&r, d, &d->callers, "caller");
        put_uses(&r, d, &d->tests, "test");
        put_uses(&r, d, &d->exports, "export");
        put_uses(&r, d, &d->callees, "callee");
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

static const myth_tool_arg find_symbol_args[] = {NAME_ARG};

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
     .words = "caller|test|export|callee",
     .help = "only these; not given: callers, tests and re-exports"},
};

const myth_tool myth_tool_references = {
    .name = "references",
    .title = "Find uses",
    .help = "Show what calls, tests and re-exports a name, with the line of each use and the reason why it is believed "
            "to be one; relation callee shows what the definition itself uses.",
    .items = "references",
    .arg = references_args,
    .n_arg = sizeof(references_args) / sizeof(references_args[0]),
    .run = run_references,
};
