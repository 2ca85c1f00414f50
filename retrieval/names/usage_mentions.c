/* usage_mentions.c - the lines of code that have a name and are neither a definition's nor a recorded use's. The
 * full-text index says which files may have the word, the files' text where it is, code_mask.c whether that is code.
 *
 * Order    files with a definition, files with a use, then files of the definitions' languages, then others; of each
 *          the sources before tests, copies and the like; then path and line
 * Cost     one pass over the text of each file that may have the word. A word that the index leaves out, such as a
 *          name of one letter, is looked for in all files */
#include "retrieval/store/fts_tokenizer.h"
#include "retrieval/scan/kinds.h"
#include "usage_look.h"
#include "code_mask.h"
#include "mention_why.h"
#include "engine/base/array.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    myth_view *file;
    uint32_t rank;
} candidate;

typedef struct {
    myth_look *look;
    candidate *file;
    uint32_t n_file, cap_file;
} search;

/* ---- recorded uses ---- */

static int by_line(const void *a, const void *b)
{
    const myth_look_judged *x = a, *y = b;
    if (x->use.file_id != y->use.file_id)
        return x->use.file_id < y->use.file_id ? -1 : 1;
    return (x->use.line > y->use.line) - (x->use.line < y->use.line);
}

/* The index of the first judged use that is not before a line. */
static uint32_t judged_from(const myth_look *l, int64_t file_id, uint32_t line)
{
    uint32_t lo = 0, hi = l->n_judged;
    const myth_look_judged want = {.use = {.file_id = file_id, .line = line}};
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (by_line(&l->judged[mid], &want) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Gives a place the lines of its uses: of one line none, because it is the place's own. */
static void put_lines(myth_look *l, myth_usage_place *p, uint64_t bit, uint32_t *n)
{
    myth_usage *u = l->out;
    uint32_t *lines = u->lines + *n, n_line = 0;
    if (p->n_use < 2)
        return;
    for (uint32_t i = judged_from(l, p->file_id, 0); i < l->n_judged && l->judged[i].use.file_id == p->file_id; i++) {
        const myth_look_judged *j = &l->judged[i];
        if (!(j->of & bit) || j->line0 != p->line0 || strcmp(j->name, p->name) != 0 ||
            (n_line && lines[n_line - 1] == j->use.line))
            continue;
        lines[n_line++] = j->use.line;
    }
    if (n_line < 2)
        return;
    p->lines = lines;
    p->n_lines = n_line;
    *n += n_line;
}

static myth_status list_lines(myth_look *l, myth_error *err)
{
    myth_usage *u = l->out;
    size_t cap = 1;
    uint32_t n = 0;
    if (l->n_judged)
        qsort(l->judged, l->n_judged, sizeof(*l->judged), by_line);
    for (uint32_t i = 0; i < l->n_judged; i++)
        cap += (size_t)__builtin_popcountll(l->judged[i].of);
    if (!(u->lines = myth_alloc_n(u->mem, MYTH_MEM_OTHER, "usage", cap, sizeof(*u->lines))))
        return myth_usage_no_memory(err);
    for (uint32_t i = 0; i < l->n_asked; i++) {
        myth_usage_definition *d = &u->definition[i];
        for (uint32_t k = 0; k < d->callers.n; k++)
            put_lines(l, &d->callers.place[k], UINT64_C(1) << i, &n);
        for (uint32_t k = 0; k < d->tests.n; k++)
            put_lines(l, &d->tests.place[k], UINT64_C(1) << i, &n);
    }
    return MYTH_OK;
}

/* ---- which files ---- */

static uint32_t rank_of(const myth_look *l, const myth_view *f)
{
    const myth_usage *u = l->out;
    const bool is_aside = myth_file_kinds(f->path, f->flags & MYTH_FILE_TEST, f->flags & MYTH_FILE_GENERATED) != 0;
    uint32_t rank = u->n_definition ? 3 : 2;
    for (uint32_t i = 0; i < l->n_asked; i++) {
        const uint32_t own = u->definition[i].file_id == f->id                            ? 0
                           : myth_language_is_kin(f->language, u->definition[i].language) ? 2
                                                                                          : 3;
        rank = own < rank ? own : rank;
    }
    for (uint32_t i = judged_from(l, f->id, 0); rank > 1 && i < l->n_judged && l->judged[i].use.file_id == f->id; i++)
        rank = l->judged[i].of ? 1 : rank;
    return 2 * rank + is_aside;
}

static int by_rank(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : strcmp(x->file->path, y->file->path);
}

/* The query for files whose text may have the name, or the name behind a '$'. *match NULL: the index knows no such
 * words. */
static bool make_match(char **match, const myth_look *l)
{
    const size_t n = strlen(l->name), n_query = myth_fts_quote(NULL, 0, l->name, n);
    char *out = myth_alloc(l->out->mem, MYTH_MEM_OTHER, "usage", 2 * n_query + n + 64);
    *match = NULL;
    if (!out || n_query == 0) {
        myth_free(l->out->mem, out);
        return n_query == 0;
    }
    *match = out;
    memcpy(out, "body:", 5);
    out += 5 + myth_fts_quote(out + 5, n_query + 1, l->name, n);
    if (!isalpha((unsigned char)l->name[0]) && l->name[0] != '_')
        return true;
    memcpy(out, " OR body:\"$", 11);
    memcpy(out + 11, l->name, n); /* quoted names of letters have no quotes inside, which would need more */
    memcpy(out + 11 + n, "\"", 2);
    return true;
}

static myth_status add_file(search *s, int64_t id, myth_error *err)
{
    myth_look *l = s->look;
    myth_view *f;
    myth_status st = myth_view_get(&f, &l->views, id, err);
    if (st != MYTH_OK || myth_language_get(f->language)->has_no_code)
        return st;
    if (!MYTH_ARRAY_ROOM(l->out->mem, MYTH_MEM_OTHER, "usage", &s->file, s->n_file, &s->cap_file))
        return myth_usage_no_memory(err);
    s->file[s->n_file++] = (candidate){f, rank_of(l, f)};
    return MYTH_OK;
}

static myth_status list_files(search *s, myth_error *err)
{
    static const char by_word[] = "SELECT DISTINCT file_id FROM chunks WHERE id IN (SELECT rowid FROM fts WHERE fts "
                                  "MATCH ?1) ORDER BY file_id";
    myth_look *l = s->look;
    myth_store *store = l->views.store;
    sqlite3_stmt *q = NULL;
    char *match;
    myth_status st = MYTH_OK;
    if (!make_match(&match, l))
        return myth_usage_no_memory(err);
    int rc =
        sqlite3_prepare_v2(myth_store_db(store), match ? by_word : "SELECT id FROM files ORDER BY id", -1, &q, NULL);
    if (rc == SQLITE_OK && match)
        sqlite3_bind_text(q, 1, match, -1, SQLITE_STATIC);
    while (st == MYTH_OK && rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        st = add_file(s, sqlite3_column_int64(q, 0), err);
        rc = SQLITE_OK;
    }
    if (st == MYTH_OK)
        st = myth_store_fail(store, rc, err);
    sqlite3_finalize(q);
    myth_free(l->out->mem, match);
    if (s->n_file)
        qsort(s->file, s->n_file, sizeof(*s->file), by_rank);
    return st;
}

/* ---- one file ---- */

/* Finds the name as a whole word, which a '$' may come before where it is a sign. */
static bool find_word(const char *text, size_t n, const char *name, size_t n_name, bool has_sigil, size_t *pos)
{
    const bool is_bare = has_sigil && name[0] != '$';
    for (size_t at = *pos; n_name > 0 && at + n_name <= n; at++) {
        const char *p = memchr(text + at, name[0], n - n_name - at + 1);
        if (!p)
            return false;
        at = (size_t)(p - text);
        const bool is_same = memcmp(p, name, n_name) == 0;
        const bool begins = at == 0 || !myth_is_name_or_dollar(text[at - 1]) || (is_bare && text[at - 1] == '$');
        const size_t end = at + n_name;
        if (is_same && begins && (end == n || !myth_is_name_or_dollar(text[end]) || (is_bare && text[end] == '$'))) {
            *pos = at;
            return true;
        }
    }
    return false;
}

/* Whether a line is in the answer already as a definition's, a use's or an export's. *kind: of a recorded use that
 * belongs to no definition, MYTH_REF_KIND_N when there is none. */
static bool is_known(myth_look *l, const myth_view *f, uint32_t line, myth_ref_kind *kind)
{
    const myth_usage *u = l->out;
    const uint64_t asked = l->n_asked < 64 ? (UINT64_C(1) << l->n_asked) - 1 : UINT64_MAX;
    uint64_t of = 0;
    *kind = MYTH_REF_KIND_N;
    for (uint32_t i = 0; i < u->n_definition; i++)
        if (u->definition[i].file_id == f->id && u->definition[i].line == line) {
            l->out->n_elsewhere += i >= l->n_asked;
            return true;
        }
    for (uint32_t i = 0; i < l->n_asked; i++)
        for (uint32_t k = 0; k < u->definition[i].exports.n; k++)
            if (u->definition[i].exports.place[k].file_id == f->id && u->definition[i].exports.place[k].line == line)
                return true;
    for (uint32_t i = judged_from(l, f->id, line); i < l->n_judged; i++) {
        const myth_look_use *use = &l->judged[i].use;
        if (use->file_id != f->id || use->line != line)
            break;
        of |= l->judged[i].of;
        *kind = use->kind < *kind ? use->kind : *kind; /* a call tells most */
    }
    l->out->n_elsewhere += of && !(of & asked);
    return of != 0;
}

/* The definition that a mention in a file may mean, when it is one. */
static uint32_t meant_by(const myth_look *l, const myth_view *f)
{
    uint32_t found = MYTH_USAGE_ANY;
    if (l->n_asked == 1 && l->out->n_more == 0)
        return 0;
    for (uint32_t i = 0; i < l->n_asked; i++)
        if (l->out->definition[i].file_id == f->id) {
            if (found != MYTH_USAGE_ANY)
                return MYTH_USAGE_ANY;
            found = i;
        }
    return found;
}

/* Adds a line with the name; `at` is where its first occurrence is. */
static myth_status add_mention(myth_look *l, const myth_view *f, const char *code, size_t at, uint32_t line,
                               uint32_t n_use, myth_error *err)
{
    myth_usage *u = l->out;
    myth_ref_kind kind;
    myth_usage_place p;
    const char *parent;
    bool is_test;
    if (is_known(l, f, line, &kind))
        return MYTH_OK;
    if (u->mentions.n == MYTH_USAGE_MENTIONS) {
        u->mentions.n_more++;
        return MYTH_OK;
    }
    myth_status st = myth_look_around(l, &p, &parent, &is_test, f, line, err);
    if (st != MYTH_OK)
        return st;
    p.why = myth_view_is_import(f, line) ? "in an import"
          : kind == MYTH_REF_CALL        ? "calls something of this name"
          : kind == MYTH_REF_TYPE        ? "uses a type of this name"
                                  : myth_mention_why(code, f->n, at, strlen(l->name), myth_language_get(f->language));
    p.is_telling =
        kind != MYTH_REF_CALL && kind != MYTH_REF_TYPE && p.why != myth_mention_word && !myth_view_is_import(f, line);
    p.kind = kind < MYTH_REF_KIND_N ? kind : MYTH_REF_READ;
    p.strength = MYTH_WHY_NAME;
    p.n_use = n_use;
    p.of = meant_by(l, f);
    if (!MYTH_ARRAY_ROOM(u->mem, MYTH_MEM_OTHER, "usage", &u->mentions.place, u->mentions.n, &u->cap_mention))
        return myth_usage_no_memory(err);
    u->mentions.place[u->mentions.n++] = p;
    return MYTH_OK;
}

/* Looks for the name in the code of a file whose text has it. */
static myth_status look_through(myth_look *l, myth_view *f, myth_error *err)
{
    const myth_language *language = myth_language_get(f->language);
    const size_t n_name = strlen(l->name);
    const bool has_sigil = myth_code_has_sigil(language);
    uint32_t line = 1;
    size_t pos = 0;
    myth_status st = myth_view_imports(&l->views, f, err);
    if (st != MYTH_OK)
        return st;
    char *code = myth_alloc(l->out->mem, MYTH_MEM_OTHER, "usage", f->n + 1);
    if (!code)
        return myth_usage_no_memory(err);
    memcpy(code, f->text, f->n);
    if (!myth_code_mask((unsigned char *)code, f->n, l->out->mem, language))
        st = myth_usage_no_memory(err);
    while (st == MYTH_OK && find_word(code, f->n, l->name, n_name, has_sigil, &pos)) {
        const size_t at = pos;
        uint32_t n_use = 0;
        while (line < f->n_line && f->line[line] <= at)
            line++;
        do {
            n_use++;
            pos += n_name;
        } while (find_word(code, f->n, l->name, n_name, has_sigil, &pos) && pos < f->line[line]);
        st = add_mention(l, f, code, at, line, n_use, err);
        pos = f->line[line] > at + n_name ? f->line[line] : at + n_name;
    }
    myth_free(l->out->mem, code);
    return st;
}

static myth_status look_into(myth_look *l, myth_view *f, myth_error *err)
{
    const bool was_read = f->has_text;
    size_t pos = 0;
    myth_status st = myth_view_read(&l->views, f, err);
    if (st == MYTH_OK && find_word((const char *)f->text, f->n, l->name, strlen(l->name),
                                   myth_code_has_sigil(myth_language_get(f->language)), &pos))
        st = look_through(l, f, err);
    if (!was_read)
        myth_view_drop(&l->views, f);
    return st;
}

myth_status myth_look_mentions(myth_look *l, myth_error *err)
{
    search s = {.look = l};
    myth_status st = MYTH_OK;
    MYTH_TRY(list_lines(l, err));
    l->out->word = l->name;
    l->out->has_mentions = true;
    if (!l->name[0])
        return MYTH_OK;
    MYTH_TRY(list_files(&s, err));
    for (uint32_t i = 0; i < s.n_file; i++) {
        if (myth_cancelled(l->is_cancelled))
            MYTH_TRY(myth_fail(err, MYTH_ECANCEL, "symbols: stopped"));
        if (l->out->mentions.n_more) {
            l->out->n_unlooked = s.n_file - i;
            break;
        }
        MYTH_TRY(look_into(l, s.file[i].file, err));
    }
fail:
    myth_free(l->out->mem, s.file);
    return st;
}
