/* cmd_symbols.c - prints what the index knows about a name: its definitions, their callers and why each was matched,
 * tests, callees, re-exports, and the other lines of code that have the name. */
#include "frontend/cli/json_out.h"
#include "frontend/common/open_index.h"
#include "engine/base/text.h"

#include <string.h>
#include <unistd.h>

typedef struct {
    uint32_t top;
    bool json;
} symbols_opts;

static const myth_option symbols_options[] = {
    {"top", "-k", MYTH_OPT_U32, "N", offsetof(symbols_opts, top), "20", 1, 256,
     "most callers and other places to show for a definition, and most other lines; JSON has all"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(symbols_opts, json), NULL, 0, 0,
     "print [{\"path\",\"line\",\"kind\",\"name\",\"signature\",\"callers\",\"tests\",...}]"},
};
static const myth_option_group symbols_groups[] = {MYTH_GROUP("symbols", symbols_opts, symbols_options)};

static void json_places(myth_json_out *j, const char *key, const myth_usage_places *p, bool with_name)
{
    myth_jout_key(j, key);
    myth_jout_array(j);
    for (uint32_t i = 0; i < p->n; i++) {
        const myth_usage_place *at = &p->place[i];
        myth_jout_object(j);
        myth_jout_key_str(j, "path", at->path);
        myth_jout_key_u64(j, "line", at->line);
        myth_jout_key_str(j, "why", at->why);
        if (with_name) {
            myth_jout_key_str(j, "name", at->name);
            myth_jout_key_str(j, "parent", at->parent);
            myth_jout_key_u64(j, "start_line", at->line0);
            myth_jout_key_u64(j, "end_line", at->line1);
            myth_jout_key_str(j, "reason", myth_why_name(at->strength));
            myth_jout_key_u64(j, "uses", at->n_use);
            if (at->n_lines) {
                myth_jout_key(j, "lines");
                myth_jout_array(j);
                for (uint32_t k = 0; k < at->n_lines; k++)
                    myth_jout_u64(j, at->lines[k]);
                myth_jout_end(j);
            }
        }
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

/* The mentions that may mean a definition: of a name with several, those in other files are of each. */
static void json_mentions(myth_json_out *j, const myth_usage *u, uint32_t definition)
{
    myth_jout_key(j, "mentions");
    myth_jout_array(j);
    for (uint32_t i = 0; i < u->mentions.n; i++) {
        const myth_usage_place *at = &u->mentions.place[i];
        if (at->of != definition && at->of != MYTH_USAGE_ANY)
            continue;
        myth_jout_object(j);
        myth_jout_key_str(j, "path", at->path);
        myth_jout_key_u64(j, "line", at->line);
        myth_jout_key_str(j, "why", at->why);
        myth_jout_key_str(j, "name", at->name);
        myth_jout_key_str(j, "parent", at->parent);
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

static void put_json(const myth_usage *u)
{
    myth_json_out j;
    myth_jout_start(&j, stdout);
    myth_jout_array(&j);
    for (uint32_t i = 0; i < u->n_definition; i++) {
        const myth_usage_definition *d = &u->definition[i];
        myth_jout_object(&j);
        myth_jout_key_str(&j, "path", d->path);
        myth_jout_key_u64(&j, "line", d->line);
        myth_jout_key_str(&j, "kind", myth_symbol_kind_name(d->kind));
        myth_jout_key_str(&j, "name", d->name);
        myth_jout_key_str(&j, "signature", d->signature);
        json_places(&j, "callers", &d->callers, true);
        json_places(&j, "tests", &d->tests, true);
        json_places(&j, "callees", &d->callees, true);
        json_places(&j, "exports", &d->exports, false);
        json_mentions(&j, u, i);
        myth_jout_key_str(&j, "parent", d->parent);
        myth_jout_key_u64(&j, "start_line", d->line0);
        myth_jout_key_u64(&j, "end_line", d->line1);
        myth_jout_key_bool(&j, "exported", d->is_exported);
        myth_jout_end(&j);
    }
    myth_jout_end(&j);
}

static void put_name(const char *parent, const char *name)
{
    if (parent[0]) {
        myth_term_path(stdout, parent);
        putchar('.');
    }
    myth_term_path(stdout, name);
}

static void put_places(const char *title, const myth_usage_places *p, uint32_t top)
{
    if (p->n == 0)
        return;
    printf("  %s\n", title);
    for (uint32_t i = 0; i < p->n && i < top; i++) {
        const myth_usage_place *at = &p->place[i];
        fputs("    ", stdout);
        myth_term_path(stdout, at->path);
        printf(":%u  ", at->line);
        if (at->name[0]) {
            put_name(at->parent, at->name);
            fputs("  ", stdout);
        }
        myth_term_path(stdout, at->why);
        putchar('\n');
    }
    uint32_t n_hidden = p->n_more + (p->n > top ? p->n - top : 0);
    if (n_hidden)
        printf("    and %u more\n", n_hidden);
}

/* Prints the other lines of code with the name: below the definition when there is one, else on their own. */
static void put_mentions(const myth_usage *u, uint32_t top)
{
    const myth_usage_definition *d = u->n_definition == 1 ? u->definition : NULL;
    if (!d && u->mentions.n) {
        myth_term_path(stdout, u->word);
        putchar('\n');
    }
    put_places("other lines of code with the name", &u->mentions, top);
    if (d && !d->callers.n && !d->tests.n && !d->exports.n && !u->mentions.n)
        puts("  no use is recorded, and no other line of code has the name");
}

static void put_text(const myth_cli *cli, const myth_usage *u, uint32_t top)
{
    for (uint32_t i = 0; i < u->n_definition; i++) {
        const myth_usage_definition *d = &u->definition[i];
        fputs(myth_term_color(cli->term, stdout, MYTH_COLOR_BOLD), stdout);
        myth_term_path(stdout, d->path);
        fputs(myth_term_color(cli->term, stdout, MYTH_COLOR_NONE), stdout);
        printf(":%u  %s ", d->line, myth_symbol_kind_name(d->kind));
        put_name(d->parent, d->name);
        fputs("\n    ", stdout);
        myth_term_path(stdout, d->signature);
        putchar('\n');
        put_places("callers", &d->callers, top);
        put_places("tests", &d->tests, top);
        put_places("calls", &d->callees, top);
        put_places("re-exported or declared in", &d->exports, top);
    }
    put_mentions(u, top);
    if (u->n_unlooked)
        myth_term_note(cli->term, "lines with the name in %u more file%s not counted", u->n_unlooked,
                       myth_s(u->n_unlooked));
    if (u->n_more)
        myth_term_note(cli->term, "and %u more definition%s; choose one with PATH::NAME or TYPE.NAME", u->n_more,
                       myth_s(u->n_more));
    if (u->n_unseen)
        myth_term_note(cli->term, "%llu more use%s of the name not checked", (unsigned long long)u->n_unseen,
                       myth_s(u->n_unseen));
}

static myth_status print_nearest(myth_cli *cli, myth_index *x, const char *name, myth_error *err)
{
    enum { SHOWN = 5 };
    myth_near near[SHOWN];
    uint32_t n;
    myth_status st = myth_usage_nearest(near, SHOWN, &n, x, name, err);
    if (st != MYTH_OK)
        return st;
    myth_error line; /* myth_fail makes the text safe to print */
    if (n)
        myth_fail(&line, MYTH_ENOTFOUND, "%.120s: no such definition; similar names are:", name);
    else if (access(name, F_OK) == 0)
        myth_fail(&line, MYTH_ENOTFOUND, "%.100s: no such definition, but a file; mythos inspect-file inspects it",
                  name);
    else
        myth_fail(&line, MYTH_ENOTFOUND,
                  "%.80s: no such definition; mythos search finds text: mythos search -F \"%.80s\"", name, name);
    myth_term_note(cli->term, "%s", line.msg);
    for (uint32_t i = 0; i < n; i++) {
        myth_fail(&line, MYTH_ENOTFOUND, "  %.100s  %.120s:%u", near[i].name, near[i].path, near[i].line);
        myth_term_note(cli->term, "%s", line.msg);
    }
    return MYTH_OK;
}

static int run_symbols(myth_cli *cli, const void *opts)
{
    const symbols_opts *o = opts;
    myth_error err = {0};
    myth_status st = MYTH_OK;
    myth_index *x = NULL;
    myth_usage u = {0};
    uint64_t n_unparsed = 0;
    const char *name = cli->arg[0], *dir = myth_cli_dir(cli, 1);
    if (!*name)
        return myth_cli_failf(cli, MYTH_EARG, "symbols: NAME is empty; the command is mythos symbols NAME [DIR]");
    MYTH_TRY(myth_cli_index(&x, cli, cli->mem, dir, NULL, &err));
    MYTH_TRY(myth_usage_find_all(&u, x, name, cli->cancel, &err));
    if (u.n_definition == 0)
        MYTH_TRY(print_nearest(cli, x, name, &err));
    else if (!strchr(name, '(') && !myth_text_ends(name, u.definition[0].name))
        myth_term_note(cli->term, "%.120s: a name that a re-export gives to %.120s", name, u.definition[0].name);
    MYTH_TRY(myth_cli_note_unparsed(&n_unparsed, cli, x, &err));
    if (o->json)
        put_json(&u);
    else
        put_text(cli, &u, o->top);
fail:;
    int code = st != MYTH_OK  ? myth_cli_fail(cli, &err)
             : u.n_definition ? myth_cli_answered(cli, MYTH_EXIT_CLEAN)
             : n_unparsed     ? MYTH_EXIT_INCOMPLETE
                              : myth_cli_answered(cli, MYTH_EXIT_FINDINGS);
    myth_usage_free(&u);
    myth_index_close(x);
    return code;
}

const myth_command myth_cmd_symbols = {
    .name = "symbols",
    .args = "NAME [DIR]",
    .help = "show where a name is defined, what uses and tests it, and why each use was matched",
    .detail =
        "NAME is a name as it is defined, or qualified: Type.method, path/file.py::Type.method. Every caller has the "
        "reason why it was matched, the most certain "
        "first; \"same name only\" is the weakest. Callers are what the parsers record: calls, types, arguments; the "
        "other "
        "lines of code that have the name (assign, compare, return it; a field's) are listed behind them, in JSON as "
        "\"mentions\" of each definition that they may mean. A name that only a re-export gives (export { make as "
        "create } from) "
        "leads to the definition behind it. The index is created or brought up to date first. The exit code "
        "is 1 when the name is not defined, and similar names and the lines that have it are printed; it is 3 when a "
        "file or a directory "
        "could not be read, or the name is not defined and some files were not read for definitions. Such files "
        "(too large for their parser, nested too deep) are counted in a note.",
    .group = symbols_groups,
    .n_group = 1,
    .opts_bytes = sizeof(symbols_opts),
    .min_arg = 1,
    .max_arg = 2,
    .run = run_symbols,
};
