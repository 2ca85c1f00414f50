/* usage.c - see usage.h. Finds the definitions by name and qualifier, judges every use of the name against each of
 * them, and then judges what a definition uses in the same way.
 *
 * Evidence    the file of the use, its language, its imports, and what is written before the name in its line */
#define _GNU_SOURCE /* strcasestr, realpath */
#include "retrieval/index/index_impl.h"
#include "retrieval/scan/kinds.h"
#include "usage_look.h"
#include "usage_why.h"
#include "join_lines.h"
#include "engine/base/array.h"
#include "engine/base/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(MYTH_USAGE_DEFINITIONS <= 64, "a bit each in myth_view");

enum { CALLEES = 128, CALLEE_DEFINITIONS = 32, SIGNATURE_BYTES = 400 };

static myth_status no_memory(myth_error *err) { return myth_usage_no_memory(err); }

myth_status myth_usage_no_memory(myth_error *err) { return myth_fail(err, MYTH_ENOMEM, "symbols: no memory"); }

static const char *put_text(myth_look *l, const char *s)
{
    const char *t = myth_usage_text(l->out, s, strlen(s));
    l->is_out_of_memory |= !t;
    return t ? t : "";
}

/* ---- definitions ---- */

static const char definition_sql[] = "SELECT s.file_id, s.name, s.parent, s.kind, s.line0, s.line1, s.name_line, "
                                     "s.signature_off, s.signature_bytes, s.flags FROM symbols s "
                                     "WHERE s.name=?1 ORDER BY s.id LIMIT ?2";

static const char *blob_text(myth_look *l, sqlite3_stmt *q, int i)
{
    const char *t = myth_usage_text(l->out, sqlite3_column_blob(q, i), (size_t)sqlite3_column_bytes(q, i));
    l->is_out_of_memory |= !t;
    return t ? t : "";
}

/* Fills a definition from the current row of definition_sql. */
static myth_status read_definition(myth_look *l, myth_usage_definition *d, sqlite3_stmt *q, bool with_signature,
                                   myth_error *err)
{
    myth_view *f = NULL;
    myth_status st = myth_view_get(&f, &l->views, sqlite3_column_int64(q, 0), err);
    if (st != MYTH_OK)
        return st;
    uint64_t off = (uint64_t)sqlite3_column_int64(q, 7), n = (uint64_t)sqlite3_column_int64(q, 8);
    int kind = sqlite3_column_int(q, 3);
    *d = (myth_usage_definition){
        .path = f->path,
        .language = f->language,
        .name = blob_text(l, q, 1),
        .parent = blob_text(l, q, 2),
        .line0 = (uint32_t)sqlite3_column_int64(q, 4),
        .line1 = (uint32_t)sqlite3_column_int64(q, 5),
        .line = (uint32_t)sqlite3_column_int64(q, 6),
        .kind = (myth_symbol_kind)kind,
        .file_id = f->id,
        .is_exported = sqlite3_column_int64(q, 9) & MYTH_SYMBOL_EXPORTED,
        .signature = "",
    };
    d->is_test = (f->flags & MYTH_FILE_TEST) || kind == MYTH_SYMBOL_TEST;
    if (kind < 0 || kind >= MYTH_SYMBOL_KIND_N || off > f->n || n > f->n - off)
        return myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_REBUILD_INDEX, "%.160s: its symbols are damaged",
                                f->path);
    if (with_signature) {
        char text[SIGNATURE_BYTES];
        size_t n_text = n < sizeof(text) ? n : sizeof(text);
        st = myth_store_text(l->views.store, (unsigned char *)text, f->id, off, n_text, err);
        if (st != MYTH_OK)
            return st;
        size_t at = myth_join_lines(text, myth_drop_comments(text, n_text, f->language));
        /* does not cut inside a UTF-8 character */
        while (at > 0 && n_text < n && ((unsigned char)text[at - 1] & 0xc0) == 0x80)
            at--;
        d->signature = myth_usage_text(l->out, text, at);
        l->is_out_of_memory |= !d->signature;
    }
    return l->is_out_of_memory ? no_memory(err) : MYTH_OK;
}

/* Adds the definitions that the qualifier names. is_rest: adds the others, so that each use finds its own
 * definition. */
static myth_status find_definitions(myth_look *l, const char *name, const char *qualifier, size_t n_qualifier,
                                    bool is_rest, myth_error *err)
{
    myth_usage *u = l->out;
    sqlite3_stmt *q = NULL;
    myth_status st = MYTH_OK;
    int rc = sqlite3_prepare_v2(myth_store_db(l->views.store), definition_sql, -1, &q, NULL);
    if (rc == SQLITE_OK && !u->definition &&
        !(u->definition =
              myth_alloc_n(u->mem, MYTH_MEM_OTHER, "usage", MYTH_USAGE_DEFINITIONS, sizeof(*u->definition))))
        st = no_memory(err);
    sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 2, 1 << 16);
    while (rc == SQLITE_OK && st == MYTH_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        myth_usage_definition d;
        rc = SQLITE_OK;
        if ((st = read_definition(l, &d, q, false, err)) != MYTH_OK)
            break;
        if (qualifier && myth_usage_is_qualified(qualifier, n_qualifier, d.path, d.parent) == is_rest)
            continue;
        if (u->n_definition == MYTH_USAGE_DEFINITIONS)
            u->n_more += !is_rest;
        else if ((st = read_definition(l, &d, q, true, err)) == MYTH_OK)
            u->definition[u->n_definition++] = d;
    }
    if (st == MYTH_OK)
        st = myth_store_fail(l->views.store, rc, err);
    sqlite3_finalize(q);
    return st;
}

/* Behind the root of the index, where a path is below it; else NULL. */
static const char *below(const char *root, const char *path)
{
    const size_t n = strlen(root), n_root = n && root[n - 1] == '/' ? n - 1 : n;
    return strncmp(path, root, n_root) == 0 && path[n_root] == '/' ? path + n_root + 1 : NULL;
}

/* A name after a path as the index has it: without the "./" before it, and without the root of an absolute one, which
 * may lead there by links. NULL: no memory. */
static const char *without_root(const myth_look *l, const char *asked)
{
    const char *found, *end = strstr(asked, "::");
    char path[PATH_MAX], real[PATH_MAX];
    while (asked[0] == '.' && asked[1] == '/')
        asked += 1 + strspn(asked + 1, "/");
    if (asked[0] != '/')
        return asked;
    if ((found = below(l->index->root, asked)) && !strstr(found, "../"))
        return found;
    if (!end || (size_t)(end - asked) >= sizeof(path))
        return asked;
    memcpy(path, asked, (size_t)(end - asked));
    path[end - asked] = '\0';
    if (!realpath(path, real) || !(found = below(l->index->root, real)) || strlen(real) + strlen(end) >= sizeof(real))
        return asked;
    strcat(real, end);
    return myth_usage_text(l->out, found, strlen(found));
}

/* Looks up the name as written, else its last part with the rest as its qualifier. */
static myth_status find_name(myth_look *l, const char *asked, myth_error *err)
{
    if (!(asked = without_root(l, asked)))
        return no_memory(err);
    size_t n = strlen(asked);
    const char *paren = strchr(asked, '(');
    if (paren && paren > asked && n > 1 && asked[n - 1] == ')')
        n = (size_t)(paren - asked);
    const char *name = l->name = myth_usage_text(l->out, asked, n);
    if (!name)
        return no_memory(err);
    myth_status st = find_definitions(l, name, NULL, 0, false, err);
    size_t part = myth_usage_last_part(name, n), n_qualifier = part - (part ? myth_usage_mark_before(name, part) : 0);
    l->n_asked = l->out->n_definition;
    if (st != MYTH_OK || l->out->n_definition > 0 || part == 0)
        return st;
    l->name = name + part;
    st = find_definitions(l, l->name, name, n_qualifier, false, err);
    l->n_asked = l->out->n_definition;
    if (st == MYTH_OK && l->n_asked > 0)
        st = find_definitions(l, l->name, name, n_qualifier, true, err);
    return st;
}

static const char *reason_text(myth_look *l, myth_why why, myth_ref_kind kind, const char *name, const char *parent,
                               const myth_usage_relation *r, bool is_same_file)
{
    char text[MYTH_USAGE_WHY];
    myth_usage_say(text, why, kind, name, parent, r, is_same_file);
    return put_text(l, text);
}

/* ---- places ---- */

myth_status myth_look_around(myth_look *l, myth_usage_place *p, const char **parent, bool *is_test, const myth_view *f,
                             uint32_t line, myth_error *err)
{
    static const char sql[] =
        "SELECT name, parent, kind, line0, line1 FROM symbols WHERE id BETWEEN ?1 AND ?2 AND line0<=?3 AND line1>=?3 "
        "AND "
        "kind NOT IN (?4, ?5) ORDER BY kind IN (?6, ?7, ?8, ?9) DESC, line1-line0, id DESC LIMIT 1";
    int rc = l->around ? SQLITE_OK : sqlite3_prepare_v2(myth_store_db(l->views.store), sql, -1, &l->around, NULL);
    if (rc != SQLITE_OK)
        return myth_store_fail(l->views.store, rc, err);
    sqlite3_stmt *q = l->around;
    const int64_t value[] = {f->id * MYTH_SYMBOL_IDS,
                             f->id * MYTH_SYMBOL_IDS + MYTH_SYMBOL_IDS - 1,
                             line,
                             MYTH_SYMBOL_CONSTANT,
                             MYTH_SYMBOL_VARIABLE,
                             MYTH_SYMBOL_FUNCTION,
                             MYTH_SYMBOL_METHOD,
                             MYTH_SYMBOL_TEST,
                             MYTH_SYMBOL_MACRO};
    for (int i = 0; i < 9; i++)
        sqlite3_bind_int64(q, i + 1, value[i]);
    rc = sqlite3_step(q);
    *p = (myth_usage_place){
        .path = f->path,
        .name = "",
        .parent = "",
        .line = line,
        .line0 = line,
        .line1 = line,
        .file_id = f->id,
    };
    *parent = "";
    *is_test = (f->flags & MYTH_FILE_TEST) != 0;
    if (rc == SQLITE_ROW) {
        p->name = blob_text(l, q, 0);
        *parent = p->parent = blob_text(l, q, 1);
        *is_test |= sqlite3_column_int(q, 2) == MYTH_SYMBOL_TEST;
        p->line0 = (uint32_t)sqlite3_column_int64(q, 3);
        p->line1 = (uint32_t)sqlite3_column_int64(q, 4);
    }
    sqlite3_reset(q);
    return l->is_out_of_memory                   ? no_memory(err)
         : rc == SQLITE_ROW || rc == SQLITE_DONE ? MYTH_OK
                                                 : myth_store_fail(l->views.store, rc, err);
}

/* ---- uses ---- */

static bool add_use(void *arg, const myth_store_ref *ref)
{
    myth_look *l = arg;
    if (ref->kind == MYTH_REF_IMPORT)
        return true;
    if (l->n_use == MYTH_USAGE_USES) {
        l->out->n_unseen++;
        return true;
    }
    if (!MYTH_ARRAY_ROOM(l->out->mem, MYTH_MEM_OTHER, "usage", &l->use, l->n_use, &l->cap_use)) {
        l->is_out_of_memory = true;
        return false;
    }
    l->use[l->n_use++] = (myth_look_use){ref->file_id, ref->line, ref->kind};
    return true;
}

/* In C a struct may have a function's name (struct stat, stat()), and nothing calls a type. */
static bool fits_kind(myth_ref_kind use_kind, const char *language, const myth_usage_definition *d)
{
    const myth_language *l = myth_language_get(language);
    const bool calls_types = !l->has_directives || l->has_bare_methods;
    bool is_type = d->kind == MYTH_SYMBOL_CLASS || d->kind == MYTH_SYMBOL_TYPE || d->kind == MYTH_SYMBOL_MODULE;
    if (use_kind == MYTH_REF_CALL && is_type && !calls_types)
        return false;
    return use_kind != MYTH_REF_TYPE || is_type || d->kind == MYTH_SYMBOL_MACRO || d->kind == MYTH_SYMBOL_CONSTANT ||
           d->kind == MYTH_SYMBOL_VARIABLE;
}

static uint32_t n_kin(const myth_look *l, const char *language)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->out->n_definition; i++)
        n += myth_language_is_kin(l->out->definition[i].language, language) && !l->out->definition[i].is_test;
    return n + l->out->n_more;
}

/* Whether a file's text names the type of a definition; looked up once for each pair. */
static bool mentions_type(const myth_look *l, myth_view *f, const myth_usage_definition *d)
{
    size_t pos = 0;
    const char *type = myth_usage_last_of(d->parent);
    if (!myth_usage_is_of_object(d) || !type[0] || f->id == d->file_id)
        return true;
    bool is_asked = d >= l->out->definition && d < l->out->definition + l->out->n_definition;
    uint64_t bit = is_asked ? 1ull << (d - l->out->definition) : 0;
    if (f->type_known & bit)
        return (f->type_there & bit) != 0;
    bool is_there = myth_word_find((const char *)f->text, f->n, type, strlen(type), &pos);
    f->type_known |= bit;
    f->type_there |= is_there ? bit : 0;
    return is_there;
}

/* The strongest reason of all occurrences in the line, apart from imports. */
static myth_status judge_line(myth_look *l, int *why, myth_usage_relation *r, myth_view *f, const myth_look_use *u,
                              const char *name, const char *around_parent, const myth_usage_definition *d,
                              uint32_t n_of_name, myth_error *err)
{
    char receiver[MYTH_RECEIVER_BYTES], path[MYTH_RECEIVER_BYTES];
    size_t n, pos = 0, n_name = strlen(name);
    myth_status st = myth_view_imports(&l->views, f, err);
    const char *line = myth_view_line(f, u->line, &n);
    *why = n > 0 && !myth_word_find(line, n, name, n_name, &pos)
             ? MYTH_WHY_NAME
             : MYTH_USAGE_CANNOT; /* the name is on a later line of the statement */
    *r = (myth_usage_relation){.why = MYTH_WHY_NAME};
    bool has_type = st == MYTH_OK && mentions_type(l, f, d);
    for (pos = 0; st == MYTH_OK && myth_word_find(line, n, name, n_name, &pos); pos += n_name) {
        myth_usage_place_of_use p = {
            .file = f,
            .receiver = receiver,
            .around_parent = around_parent,
            .n_of_name = n_of_name,
            .has_type = has_type,
        };
        bool is_alias = strcmp(name, d->name) != 0;
        p.has_receiver = myth_receiver_of(line, pos, receiver, sizeof(receiver));
        myth_usage_relation one = {.why = MYTH_WHY_NAME};
        int now = myth_usage_judge(&p, d, &one, is_alias);
        *why = now > *why ? now : *why;
        if (f->id != d->file_id && *why < MYTH_WHY_QUALIFIED && !myth_usage_is_of_object(d) &&
            myth_usage_path_of(line, pos, n_name, path, sizeof(path)) &&
            myth_module_means(f->language, f->path, path, d->path) == MYTH_MODULE_FILE) {
            *why = MYTH_WHY_QUALIFIED;
            *r = (myth_usage_relation){.why = MYTH_WHY_QUALIFIED, .spec = put_text(l, path)};
            continue;
        }
        for (uint32_t i = 0; i < f->n_import && f->id != d->file_id && now != MYTH_USAGE_CANNOT; i++) {
            if (!myth_usage_relate(&one, f, &f->import[i], d) ||
                (now = myth_usage_judge(&p, d, &one, is_alias)) <= *why)
                continue;
            *why = now;
            *r = one;
        }
    }
    return st;
}

static myth_status note_judged(myth_look *l, const myth_look_judged *j, myth_error *err)
{
    if (!l->with_mentions)
        return MYTH_OK;
    if (!MYTH_ARRAY_ROOM(l->out->mem, MYTH_MEM_OTHER, "usage", &l->judged, l->n_judged, &l->cap_judged))
        return no_memory(err);
    l->judged[l->n_judged++] = *j;
    return MYTH_OK;
}

/* Adds a use to the definitions that it belongs to. `name` is what the use's file calls it. */
static myth_status place_use(myth_look *l, const myth_look_use *u, const char *name, myth_error *err)
{
    myth_usage *out = l->out;
    myth_view *f = NULL;
    myth_usage_place p;
    const char *around_parent;
    bool is_test;
    myth_usage_relation r[MYTH_USAGE_DEFINITIONS];
    int why[MYTH_USAGE_DEFINITIONS], best = MYTH_WHY_NAME;
    uint64_t of = 0;
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_view_get(&f, &l->views, u->file_id, err));
    MYTH_TRY(myth_view_imports(&l->views, f, err));
    if (myth_view_is_import(f, u->line))
        return MYTH_OK;
    MYTH_TRY(myth_look_around(l, &p, &around_parent, &is_test, f, u->line, err));
    uint32_t n = n_kin(l, f->language);
    for (uint32_t i = 0; i < out->n_definition; i++) {
        const myth_usage_definition *d = &out->definition[i];
        why[i] = MYTH_USAGE_CANNOT;
        if (!myth_language_is_kin(f->language, d->language) || !fits_kind(u->kind, f->language, d))
            continue;
        MYTH_TRY(judge_line(l, &why[i], &r[i], f, u, name, around_parent, d, n, err));
        best = why[i] > best ? why[i] : best;
    }
    for (uint32_t i = 0; i < out->n_definition; i++) {
        myth_usage_definition *d = &out->definition[i];
        bool is_inside = f->id == d->file_id && u->line >= d->line0 && u->line <= d->line1;
        if (why[i] < best || is_inside || (best == MYTH_WHY_NAME && u->kind == MYTH_REF_READ))
            continue;
        p.strength = (myth_why)why[i];
        p.kind = u->kind;
        p.why = reason_text(l, p.strength, u->kind, d->name, d->parent, &r[i], f->id == d->file_id);
        if (l->is_out_of_memory ||
            !myth_usage_add_place(l->out->mem, is_test && !d->is_test ? &d->tests : &d->callers, &p))
            return no_memory(err);
        of |= UINT64_C(1) << i;
    }
    st = note_judged(l, &(myth_look_judged){*u, of, p.line0, p.name}, err);
fail:
    return st;
}

typedef struct {
    myth_look *look;
    const char *alias;
} aliased;

static bool add_alias_use(void *arg, const myth_store_ref *ref)
{
    aliased *a = arg;
    return strcmp(ref->name, a->alias) != 0 || add_use(a->look, ref);
}

/* Finds uses in files that import the name under an alias. */
static myth_status find_alias_uses(myth_look *l, myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t n_view = l->views.n_view; /* files with the name itself were looked into before */
    for (uint32_t k = 0; k < n_view; k++) {
        const myth_view *f = l->views.view[k];
        for (uint32_t i = 0; f->has_imports && i < f->n_import; i++) {
            char alias[MYTH_RECEIVER_BYTES] = "";
            for (uint32_t n = 0; n < l->out->n_definition && !alias[0]; n++) {
                const myth_usage_definition *d = &l->out->definition[n];
                myth_usage_relation r;
                if (f->id != d->file_id && !d->parent[0] && myth_language_is_kin(f->language, d->language) &&
                    myth_usage_relate(&r, f, &f->import[i], d) && r.names_it && strcmp(r.alias, d->name) != 0)
                    snprintf(alias, sizeof(alias), "%s", r.alias);
            }
            if (!alias[0])
                continue;
            aliased a = {l, alias};
            l->n_use = 0;
            MYTH_TRY(myth_store_refs(l->views.store, f->id, add_alias_use, &a, err));
            for (uint32_t n = 0; n < l->n_use; n++)
                MYTH_TRY(place_use(l, &l->use[n], alias, err));
        }
    }
fail:
    return st;
}

static myth_status find_uses(myth_look *l, myth_error *err)
{
    myth_status st = myth_store_refs_named(l->views.store, l->name, add_use, l, err);
    if (st == MYTH_OK && l->is_out_of_memory)
        st = no_memory(err);
    uint32_t n = l->n_use;
    for (uint32_t i = 0; i < n && st == MYTH_OK; i++) {
        if (myth_cancelled(l->is_cancelled))
            return myth_fail(err, MYTH_ECANCEL, "symbols: stopped");
        st = place_use(l, &l->use[i], l->name, err);
    }
    return st == MYTH_OK ? find_alias_uses(l, err) : st;
}

/* ---- tests by the name of their file ---- */

static myth_status find_tests_by_file(myth_look *l, myth_error *err)
{
    myth_usage *u = l->out;
    sqlite3_stmt *q = NULL;
    myth_status st = MYTH_OK;
    int rc = sqlite3_prepare_v2(myth_store_db(l->views.store),
                                "SELECT id, path, language FROM files WHERE flags & ?1 ORDER BY path", -1, &q, NULL);
    sqlite3_bind_int(q, 1, MYTH_FILE_TEST);
    while (rc == SQLITE_OK && st == MYTH_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        char path[1024], stem[256], own[256], why[MYTH_USAGE_WHY], base[256];
        snprintf(path, sizeof(path), "%.*s", sqlite3_column_bytes(q, 1), (const char *)sqlite3_column_blob(q, 1));
        const char *language = (const char *)sqlite3_column_text(q, 2);
        myth_usage_bare_stem(stem, sizeof(stem), path);
        const char *name = myth_base_name(path);
        bool is_named_test = strcasestr(name, "test") || strcasestr(name, "spec");
        for (uint32_t i = 0; i < u->n_definition && st == MYTH_OK && language; i++) {
            myth_usage_definition *d = &u->definition[i];
            myth_usage_bare_stem(own, sizeof(own), d->path);
            if (d->is_test || d->tests.n > 0 || !own[0] || strcmp(own, stem) != 0 || !is_named_test ||
                !myth_language_is_kin(language, d->language))
                continue;
            myth_view *f = NULL;
            if ((st = myth_view_get(&f, &l->views, sqlite3_column_int64(q, 0), err)) != MYTH_OK)
                break;
            myth_usage_stem_of(base, sizeof(base), d->path);
            snprintf(why, sizeof(why), "its name says that it tests %.60s", base);
            myth_usage_place p = {
                .path = f->path,
                .name = "",
                .parent = "",
                .why = put_text(l, why),
                .line = 1,
                .line0 = 1,
                .line1 = 1,
                .strength = MYTH_WHY_NAME,
                .file_id = f->id,
            };
            if (l->is_out_of_memory || !myth_usage_add_place(l->out->mem, &d->tests, &p))
                st = no_memory(err);
        }
        rc = SQLITE_OK;
    }
    if (st == MYTH_OK)
        st = myth_store_fail(l->views.store, rc, err);
    sqlite3_finalize(q);
    return st;
}

/* ---- callees ---- */

typedef struct {
    const char *name;
    uint32_t line;
    myth_ref_kind kind;
} callee;

typedef struct {
    myth_look *look;
    const myth_usage_definition *d;
    callee callee[CALLEES];
    uint32_t n;
} callees;

static bool add_callee(void *arg, const myth_store_ref *ref)
{
    callees *c = arg;
    if ((ref->kind != MYTH_REF_CALL && ref->kind != MYTH_REF_TYPE) || ref->line < c->d->line0 ||
        ref->line > c->d->line1 || strcmp(ref->name, c->d->name) == 0)
        return true;
    for (uint32_t i = 0; i < c->n; i++)
        if (strcmp(c->callee[i].name, ref->name) == 0)
            return true;
    if (c->n == CALLEES) {
        c->look->out->has_more_callees = true;
        return false;
    }
    c->callee[c->n] = (callee){myth_usage_text(c->look->out, ref->name, strlen(ref->name)), ref->line, ref->kind};
    c->look->is_out_of_memory |= !c->callee[c->n].name;
    c->n += !c->look->is_out_of_memory;
    return !c->look->is_out_of_memory;
}

static myth_status place_callee(myth_look *l, myth_usage_definition *d, myth_view *f, const callee *c, myth_error *err)
{
    myth_usage_definition found[CALLEE_DEFINITIONS];
    int why[CALLEE_DEFINITIONS], best = MYTH_WHY_ONLY;
    myth_usage_relation r[CALLEE_DEFINITIONS];
    uint32_t n = 0, n_of_name = 0;
    myth_status st = MYTH_OK;
    sqlite3_stmt *q = l->by_name;
    int rc = SQLITE_OK;
    if (!q) {
        rc = sqlite3_prepare_v2(myth_store_db(l->views.store), definition_sql, -1, &l->by_name, NULL);
        q = l->by_name;
    }
    if (rc != SQLITE_OK)
        return myth_store_fail(l->views.store, rc, err);
    sqlite3_bind_text(q, 1, c->name, -1, SQLITE_STATIC);
    sqlite3_bind_int(q, 2, CALLEE_DEFINITIONS);
    while (st == MYTH_OK && n < CALLEE_DEFINITIONS && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        st = read_definition(l, &found[n], q, false, err);
        n += st == MYTH_OK && myth_language_is_kin(found[n].language, d->language) &&
             fits_kind(c->kind, d->language, &found[n]) && (d->is_test || !found[n].is_test);
    }
    if (st == MYTH_OK && rc != SQLITE_ROW)
        st = myth_store_fail(l->views.store, rc, err);
    sqlite3_reset(q);
    for (uint32_t i = 0; i < n; i++)
        n_of_name += !found[i].is_test;
    for (uint32_t i = 0; i < n && st == MYTH_OK; i++) {
        myth_look_use u = {f->id, c->line, c->kind};
        st = judge_line(l, &why[i], &r[i], f, &u, c->name, d->parent, &found[i], n_of_name, err);
        best = why[i] > best ? why[i] : best;
    }
    for (uint32_t i = 0; i < n && st == MYTH_OK; i++) {
        char text[MYTH_USAGE_WHY];
        if (why[i] < best)
            continue;
        snprintf(text, sizeof(text), "%s in line %u", c->kind == MYTH_REF_CALL ? "called" : "used", c->line);
        myth_usage_place p = {
            .path = found[i].path,
            .name = found[i].name,
            .parent = found[i].parent,
            .why = put_text(l, text),
            .line = found[i].line,
            .line0 = found[i].line0,
            .line1 = found[i].line1,
            .kind = c->kind,
            .strength = (myth_why)why[i],
            .file_id = found[i].file_id,
        };
        if (l->is_out_of_memory || !myth_usage_add_place(l->out->mem, &d->callees, &p))
            st = no_memory(err);
    }
    return st;
}

static myth_status find_callees(myth_look *l, myth_usage_definition *d, myth_error *err)
{
    myth_view *f = NULL;
    myth_status st = MYTH_OK;
    callees *c = myth_alloc(l->out->mem, MYTH_MEM_OTHER, "usage", sizeof(*c));
    if (!c)
        return no_memory(err);
    c->look = l;
    c->d = d;
    MYTH_TRY(myth_view_get(&f, &l->views, d->file_id, err));
    MYTH_TRY(myth_view_imports(&l->views, f, err));
    MYTH_TRY(myth_store_refs(l->views.store, d->file_id, add_callee, c, err));
    for (uint32_t i = 0; i < c->n; i++)
        MYTH_TRY(place_callee(l, d, f, &c->callee[i], err));
    st = l->is_out_of_memory ? no_memory(err) : MYTH_OK;
fail:
    myth_free(l->out->mem, c);
    return st;
}

/* ---- all of it ---- */

static myth_status find_all(myth_look *l, const char *asked, myth_error *err)
{
    myth_usage *u = l->out;
    myth_status st = find_name(l, asked, err);
    if (st == MYTH_OK && !u->n_definition && !(st = myth_usage_alias(&asked, &l->views, l->name, err)) && asked)
        st = find_name(l, asked, err);
    if (st == MYTH_OK && u->n_definition == 0 && l->with_mentions)
        return myth_look_mentions(l, err);
    if (st != MYTH_OK || u->n_definition == 0)
        return st;
    qsort(u->definition, l->n_asked, sizeof(*u->definition), myth_usage_by_worth);
    MYTH_TRY(myth_look_exports(l, err));
    for (uint32_t i = 0; i < u->n_definition; i++)
        MYTH_TRY(myth_look_packages(l, &u->definition[i], err));
    MYTH_TRY(find_uses(l, err));
    if (l->with_mentions)
        MYTH_TRY(myth_look_mentions(l, err));
    for (; u->n_definition > l->n_asked; u->n_definition--)
        myth_usage_free_places(u->mem, &u->definition[u->n_definition - 1]);
    MYTH_TRY(find_tests_by_file(l, err));
    for (uint32_t i = 0; i < u->n_definition; i++) {
        MYTH_TRY(l->with_callees ? find_callees(l, &u->definition[i], err) : MYTH_OK);
        myth_usage_sort_places(&u->definition[i].callers);
        myth_usage_sort_places(&u->definition[i].tests);
        myth_usage_sort_places(&u->definition[i].callees);
        myth_usage_sort_places(&u->definition[i].exports);
    }
fail:
    return st;
}

static void close_look(myth_look *l)
{
    sqlite3_finalize(l->around);
    sqlite3_finalize(l->by_name);
    myth_free(l->out->mem, l->use);
    myth_free(l->out->mem, l->judged);
    myth_views_close(&l->views);
}

static myth_status find_usage(myth_usage *out, myth_index *x, const char *name, bool with_callees, bool with_mentions,
                              const myth_cancel *is_cancelled, myth_error *err)
{
    myth_store *store = myth_index_store(x);
    *out = (myth_usage){.mem = x->mem};
    myth_look l = {
        .views = {.mem = x->mem, .store = store, .out = out},
        .out = out,
        .index = x,
        .is_cancelled = is_cancelled,
        .with_callees = with_callees,
        .with_mentions = with_mentions,
    };
    myth_status st = myth_store_read_begin(store, err);
    if (st != MYTH_OK)
        return st;
    st = find_all(&l, name, err);
    close_look(&l);
    myth_store_read_end(store);
    if (st != MYTH_OK)
        myth_usage_free(out);
    return st;
}

myth_status myth_usage_find(myth_usage *out, myth_index *x, const char *name, const myth_cancel *is_cancelled,
                            myth_error *err)
{
    return find_usage(out, x, name, true, false, is_cancelled, err);
}

myth_status myth_usage_find_uses(myth_usage *out, myth_index *x, const char *name, const myth_cancel *is_cancelled,
                                 myth_error *err)
{
    return find_usage(out, x, name, false, false, is_cancelled, err);
}

myth_status myth_usage_find_all(myth_usage *out, myth_index *x, const char *name, const myth_cancel *is_cancelled,
                                myth_error *err)
{
    return find_usage(out, x, name, true, true, is_cancelled, err);
}

myth_status myth_usage_around_line(myth_usage_around *out, bool *is_found, myth_index *x, const char *path,
                                   uint32_t line, myth_error *err)
{
    myth_store *store = myth_index_store(x);
    myth_usage u = {.mem = x->mem};
    myth_look l = {.views = {.mem = x->mem, .store = store, .out = &u}, .out = &u, .index = x};
    sqlite3_stmt *q = NULL;
    myth_usage_place p;
    const char *parent;
    bool is_test;
    *is_found = false;
    *out = (myth_usage_around){0};
    myth_status st = myth_store_read_begin(store, err);
    if (st != MYTH_OK)
        return st;
    int rc = sqlite3_prepare_v2(myth_store_db(store), "SELECT id FROM files WHERE path=?1", -1, &q, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_blob(q, 1, path, (int)strlen(path), SQLITE_STATIC);
        rc = sqlite3_step(q);
    }
    int64_t id = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
    sqlite3_finalize(q);
    st = myth_store_fail(store, rc, err);
    myth_view *f = NULL;
    if (st == MYTH_OK && id && (st = myth_view_get(&f, &l.views, id, err)) == MYTH_OK &&
        (st = myth_look_around(&l, &p, &parent, &is_test, f, line, err)) == MYTH_OK && p.name[0]) {
        snprintf(out->name, sizeof(out->name), "%s", p.name);
        snprintf(out->parent, sizeof(out->parent), "%s", p.parent);
        out->line0 = p.line0;
        out->line1 = p.line1;
        *is_found = true;
    }
    close_look(&l);
    myth_store_read_end(store);
    myth_usage_free(&u);
    return st;
}
