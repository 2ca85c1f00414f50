/* find.c - the worker's side of candidates.h: opens the rules of a grammar once, reads each function of a file and
 * tries the rows at every event.
 *
 * Passes   two: what the other functions of the file do (facts.h) is known only after all were read. Flows are kept
 *          between the passes, for functions of up to MOST_EVENTS events together; those behind are read again
 * Answer   a head, the candidates, their names */
#include "find.h"
#include "retrieval/candidates/change/change.h"
#include "retrieval/candidates/flow/flow_impl.h"
#include "pack.h"

#include "engine/base/array.h"
#include "engine/base/hash.h"
#include "retrieval/parse/grammars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tree_sitter/api.h>

#include "rules.inc"

enum { CHANGED = 1024 /* most functions of a file that a change is looked for in */ };
enum { GRAMMARS = 16, ROWS = 512, MOST_EVENTS = 1 << 20, ROUNDS = 3 /* of calls that hand a request on */ };

typedef struct {
    char name[16];
    myth_roles roles;
    myth_pack rules;
    bool is_open;
} grammar_rules;

typedef struct {
    uint32_t from, to; /* numbers, from 1 */
} lines;

typedef struct {
    grammar_rules *of;
    const myth_tree *tree;
    myth_flow *flow; /* [n_flow] of the functions, in their order */
    TSNode *function;
    uint32_t n_flow, cap_flow, cap_function;
    uint64_t n_event;
    myth_file_facts file;
    myth_candidates out;
    myth_mem *mem;
    uint32_t cap, cap_names;
    bool is_failed;
    uint32_t cut_line;   /* the first from which on a function was too long to be read; 0 = none was */
    uint16_t seen[ROWS]; /* candidates of each row in this function; in this file for a row that says so */
    uint32_t n_before;   /* candidates of the functions before this one */
    uint16_t *row;       /* [out.n] of each candidate, before they are sorted */
    uint32_t cap_row;
    uint64_t
        *unchanged; /* [n_unchanged] of a change: the hashes of the functions before it, in order; NULL = no change */
    uint32_t n_unchanged, cap_unchanged;
    lines *unused; /* [n_unused] from the line #if 0 to the one that ends it */
    uint32_t n_unused, cap_unused;
} finding;

static grammar_rules open_rules[GRAMMARS];

static grammar_rules *rules_of(myth_mem *mem, const char *grammar, const TSLanguage *language)
{
    uint32_t wrong;
    for (int i = 0; i < GRAMMARS; i++) {
        grammar_rules *g = &open_rules[i];
        if (g->is_open && strcmp(g->name, grammar) == 0)
            return g;
        if (g->is_open)
            continue;
        snprintf(g->name, sizeof(g->name), "%s", grammar);
        if (!myth_roles_open(&g->roles, mem, language))
            return NULL;
        if (!myth_pack_open(&g->rules, mem, grammar, (const char *)rules_text, sizeof(rules_text) - 1, &wrong) ||
            g->rules.n_row > ROWS) {
            myth_pack_close(&g->rules);
            myth_roles_close(&g->roles);
            return NULL;
        }
        g->is_open = true;
        return g;
    }
    return NULL;
}

/* ---- what the compiler never sees ---- */

/* Whether a line is #if 0, also in brackets, with a comment or with a condition that does not matter behind it. */
static bool is_never(const char *p, const char *end)
{
    static const char *const never[] = {"if 0\n", "if 0 ", "if 0\r",  "if 0\t",   "if 0/",
                                        "if (0)", "if(0)", "if  0\n", "if false", "if FALSE"};
    for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
        if (myth_flow_is_directive(p, end, never[i]))
            return true;
    return false;
}

/* Finds the lines between #if 0 and its #else or #endif. */
static bool find_unused(finding *w)
{
    const char *const text = (const char *)w->tree->text, *const end = text + w->tree->n;
    uint32_t line = 1, depth = 0, from = 0; /* depth: of #if in it */
    if (strcmp(w->tree->grammar, "c") != 0 && strcmp(w->tree->grammar, "cpp") != 0)
        return true;
    for (const char *p = text; p < end; line++) {
        const char *next = memchr(p, '\n', (size_t)(end - p));
        const bool is_if = myth_flow_is_directive(p, end, "if"), is_end = myth_flow_is_directive(p, end, "endif");
        const bool is_other = myth_flow_is_directive(p, end, "else") || myth_flow_is_directive(p, end, "elif");
        if (!from && is_never(p, end))
            from = line;
        else if (from && is_if)
            depth++;
        else if (from && depth > 0 && is_end)
            depth--;
        else if (from && depth == 0 && (is_end || is_other)) {
            if (!MYTH_ARRAY_ROOM(w->mem, MYTH_MEM_OTHER, "unused lines", &w->unused, w->n_unused, &w->cap_unused))
                return false;
            w->unused[w->n_unused++] = (lines){from, line};
            from = 0;
        }
        p = next ? next + 1 : end;
    }
    return true;
}

static bool is_unused(const finding *w, uint32_t line)
{
    for (uint32_t i = 0; i < w->n_unused; i++)
        if (line > w->unused[i].from && line < w->unused[i].to)
            return true;
    return false;
}

static void close_rules(void)
{
    for (int i = 0; i < GRAMMARS; i++)
        if (open_rules[i].is_open) {
            myth_pack_close(&open_rules[i].rules);
            myth_roles_close(&open_rules[i].roles);
            open_rules[i].is_open = false;
        }
}

static uint32_t put_text(finding *w, const char *text)
{
    const uint32_t at = w->out.n_names, n = (uint32_t)strlen(text) + 1;
    if (n == 1 && at > 0)
        return 0;
    if (!MYTH_ARRAY_MORE(w->mem, MYTH_MEM_OTHER, "candidates", &w->out.names, at, n, &w->cap_names)) {
        w->is_failed = true;
        return 0;
    }
    memcpy(w->out.names + at, text, n);
    w->out.n_names += n;
    return at;
}

/* ---- one row at one event ---- */

typedef struct {
    const myth_pack *rules;
    int list;
} release_list;

static bool is_release(const void *arg, const char *name)
{
    const release_list *r = arg;
    if (r->list < 0)
        return false;
    const myth_pack_mask m = myth_pack_lists_of(r->rules, name);
    return myth_fact_lists_has(&m, r->list);
}

static myth_fact_lists lists_of(const void *arg, const char *name) { return myth_pack_lists_of(arg, name); }

/* What is known of the event that rows are tried at: many of them ask the same. */
typedef struct {
    uint64_t round; /* that it was asked in; 0 = never */
    int list, value;
    uint32_t line;
    char text[768];
} known_fact;

static known_fact known[MYTH_FACT_N];
static uint64_t round_now; /* counts events, of all flows */

static int value_of(myth_facts *k, myth_fact_kind fact, uint32_t event)
{
    known_fact *is = &known[fact];
    if (is->round != round_now || is->list != k->list) {
        const uint32_t line = k->at_line;
        k->at_line = 0;
        is->value = myth_fact(k, fact, event);
        is->line = k->at_line;
        is->round = round_now;
        is->list = k->list;
        k->at_line = line;
    }
    if (is->line)
        k->at_line = is->line;
    return is->value;
}

static const char *text_of(myth_facts *k, myth_fact_kind fact, uint32_t event)
{
    known_fact *is = &known[fact];
    if (is->round != round_now) {
        myth_fact_text(k, fact, event, is->text, sizeof(is->text));
        is->round = round_now;
    }
    return is->text;
}

/* callee: the lists that have the name of the function that is called. */
static bool holds(myth_facts *k, const myth_pack *r, const myth_pack_condition *c, const myth_pack_mask *callee,
                  uint32_t event)
{
    bool is;
    if (c->list >= 0 && c->fact == MYTH_FACT_callee)
        is = myth_fact_lists_has(callee, c->list);
    else if (c->list >= 0)
        is = myth_pack_lists_text(r, c->list, text_of(k, c->fact, event));
    else
        is = c->values >> value_of(k, c->fact, event) & 1;
    return is != c->is_not;
}

/* What a test compares with: its path, else what kind of value it is. */
static void put_other(char *dst, size_t cap, myth_facts *k, uint32_t e)
{
    const char *name = k->flow->names + k->flow->path[k->flow->event[e].other].text;
    char kind[16];
    if (!myth_fact_value_name(MYTH_FACT_versus, myth_fact(k, MYTH_FACT_versus, e), kind))
        kind[0] = '\0';
    snprintf(dst, cap, "%s",
             *name                          ? name
             : strcmp(kind, "size") == 0    ? "a size"
             : strcmp(kind, "call") == 0    ? "the result of a call"
             : strcmp(kind, "element") == 0 ? "an element"
             : strcmp(kind, "field") == 0   ? "a field"
                                            : "another value");
}

/* What an event is about: its path, or the name of a member. */
static uint32_t path_name(const myth_flow *f, const myth_event *e)
{
    return e->kind == MYTH_EVENT_FIELD ? e->name : f->path[e->path].text;
}

/* The sentence of a row with what was found in the places of {path} and others. */
static void fill_say(char *dst, size_t cap, const myth_pack_row *row, myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = &f->event[e];
    size_t n = 0;
    for (const char *p = row->say; *p && n + 1 < cap;) {
        char value[192] = "";
        const char *end = *p == '{' ? strchr(p, '}') : NULL;
        if (!end) {
            dst[n++] = *p++;
            continue;
        }
        const size_t m = (size_t)(end - p - 1);
        if (m == 4 && memcmp(p + 1, "path", 4) == 0)
            snprintf(value, sizeof(value), "%s", f->names + path_name(f, at));
        else if (m == 5 && memcmp(p + 1, "other", 5) == 0)
            put_other(value, sizeof(value), k, e);
        else if (m == 6 && memcmp(p + 1, "callee", 6) == 0)
            myth_fact_text(k, MYTH_FACT_callee, e, value, sizeof(value));
        else if (m == 6 && memcmp(p + 1, "origin", 6) == 0)
            myth_fact_text(k, MYTH_FACT_origin_call, e, value, sizeof(value));
        else if (m == 4 && memcmp(p + 1, "line", 4) == 0)
            snprintf(value, sizeof(value), "%u", k->at_line);
        else if (m == 3 && memcmp(p + 1, "was", 3) == 0 && at->kind == MYTH_EVENT_LOST)
            snprintf(value, sizeof(value), "%s", f->names + f->lost[at->call].text);
        else if (m == 5 && memcmp(p + 1, "stays", 5) == 0 && at->kind == MYTH_EVENT_LOST)
            snprintf(value, sizeof(value), "%u", f->lost[at->call].stays);
        for (const char *v = value; *v && n + 1 < cap; v++)
            dst[n++] = *v;
        p = end + 1;
    }
    dst[n] = '\0';
}

/* The facts that a report shows: all with values that say something about this kind of event. */
static void fill_facts(char *dst, size_t cap, myth_facts *k, uint32_t e)
{
    static const myth_fact_kind about_path[] = {MYTH_FACT_origin,  MYTH_FACT_origin_call, MYTH_FACT_tested,
                                                MYTH_FACT_bounded, MYTH_FACT_released,    MYTH_FACT_release_later,
                                                MYTH_FACT_escapes, MYTH_FACT_type};
    static const myth_fact_kind about_call[] = {MYTH_FACT_callee,  MYTH_FACT_result,      MYTH_FACT_checked,
                                                MYTH_FACT_leaves,  MYTH_FACT_args,        MYTH_FACT_arg0,
                                                MYTH_FACT_arg1,    MYTH_FACT_arg2,        MYTH_FACT_size_bounded,
                                                MYTH_FACT_guarded, MYTH_FACT_defined_here};
    static const myth_fact_kind about_test[] = {MYTH_FACT_how, MYTH_FACT_versus, MYTH_FACT_loop_test, MYTH_FACT_indexes,
                                                MYTH_FACT_versus_type};
    static const myth_fact_kind about_all[] = {MYTH_FACT_scope, MYTH_FACT_elsewhere};
    const myth_event *at = &k->flow->event[e];
    const struct {
        const myth_fact_kind *fact;
        size_t n;
        bool is_shown;
    } part[] = {
        {about_path, sizeof(about_path) / sizeof(*about_path), at->path != 0},
        {about_call, sizeof(about_call) / sizeof(*about_call), at->kind == MYTH_EVENT_CALL},
        {about_test, sizeof(about_test) / sizeof(*about_test), at->kind == MYTH_EVENT_TEST},
        {about_all, sizeof(about_all) / sizeof(*about_all), true},
    };
    const uint32_t line = k->at_line;
    size_t n = 0;
    dst[0] = '\0';
    for (size_t p = 0; p < sizeof(part) / sizeof(*part); p++)
        for (size_t i = 0; part[p].is_shown && i < part[p].n; i++) {
            const myth_fact_kind fact = part[p].fact[i];
            char value[100] = "", name[16];
            if (!myth_fact_values(fact))
                myth_fact_text(k, fact, e, value, sizeof(value));
            else if (myth_fact_value_name(fact, myth_fact(k, fact, e), name))
                snprintf(value, sizeof(value), "%s", name);
            if (value[0] && n + 1 < cap)
                n += (size_t)snprintf(dst + n, cap - n, "%s%s=%s", n ? " " : "", myth_fact_name(fact), value);
        }
    k->at_line = line;
}

/* The candidate of this function that is about the same as event e: of the rule, and at the same node or about the same
 * path. Where a change took several lines away at once, each is about its own path alone. out.n where there is none. */
static uint32_t same_as(const finding *w, const myth_pack_row *row, const myth_flow *f, uint32_t e)
{
    const myth_event *at = &f->event[e];
    const uint32_t path = at->kind == MYTH_EVENT_CALL ? 0 : path_name(f, at);
    for (uint32_t i = w->out.n; i-- > w->n_before;) {
        const myth_candidate_place *c = &w->out.candidate[i];
        if (strcmp(w->out.names + c->rule, row->id) == 0 &&
            ((c->off == at->off && at->kind != MYTH_EVENT_LOST) ||
             (path && strcmp(w->out.names + c->path, f->names + path) == 0)))
            return i;
    }
    return w->out.n;
}

/* Whether two rows say the same of a value, at another kind of use. */
static bool says_the_same(const myth_pack *rules, uint32_t a, uint32_t b)
{
    const int x = rules->row[a].like, y = rules->row[b].like;
    return x == (int)b || y == (int)a || (x >= 0 && x == y);
}

/* Of two places about the same, the one of the earlier row stays: sharp rows stand before wide ones. Of rows that say
 * the same the first place in the text stays. False: the row has
 * as many places as it may, and no wider row of its rule may have this one. */
static bool add(finding *w, const myth_pack_row *row, uint32_t r, myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = &f->event[e];
    char text[1024];
    if (is_unused(w, at->line))
        return true;
    if (w->seen[r] >= row->most)
        return false;
    const bool is_lost = at->kind == MYTH_EVENT_LOST;
    const uint32_t path = path_name(f, at), n = same_as(w, row, f, e);
    if (n < w->out.n && (w->row[n] <= r || says_the_same(&w->of->rules, w->row[n], r)))
        return true;
    if (!MYTH_ARRAY_ROOM(w->mem, MYTH_MEM_OTHER, "candidates", &w->out.candidate, w->out.n, &w->cap) ||
        !MYTH_ARRAY_ROOM(w->mem, MYTH_MEM_OTHER, "candidates", &w->row, w->out.n, &w->cap_row)) {
        w->is_failed = true;
        return true;
    }
    if (n < w->out.n)
        w->seen[w->row[n]]--;
    w->seen[r]++;
    myth_candidate_place c = {
        .off = at->off,
        .bytes = at->end - at->off,
        .line0 = at->line,
        .line1 = myth_flow_last_line(at->node),
        .function_line0 = f->line0,
        .function_line1 = f->line1,
        .about_line =
            is_lost ? f->lost[at->call].stays : k->at_line, /* the line of what is gone is none of this text */
        .is_lost = is_lost,
        .from = at->kind == MYTH_EVENT_FIELD ? UINT32_MAX : myth_facts_call_off(k, e),
    };
    c.rule = put_text(w, row->id);
    c.row = put_text(w, row->name);
    c.function = put_text(w, f->names + f->name);
    c.path = put_text(w, f->names + path);
    c.callee = put_text(w, at->kind == MYTH_EVENT_FIELD ? "" : f->names + at->name);
    fill_say(text, sizeof(text), row, k, e);
    c.say = put_text(w, text);
    fill_facts(text, sizeof(text), k, e);
    c.facts = put_text(w, text);
    w->out.candidate[n] = c;
    w->row[n] = (uint16_t)r;
    w->out.n += n == w->out.n;
    return true;
}

static void try_rows(finding *w, myth_flow *f)
{
    const myth_pack *rules = &w->of->rules;
    release_list release = {rules, -1};
    myth_facts k = {.flow = f, .file = &w->file, .is_release = is_release, .arg = &release, .list = -1};
    for (uint32_t r = 0; r < rules->n_row; r++)
        w->seen[r] = rules->row[r].is_once ? w->seen[r] : 0;
    w->n_before = w->out.n;
    for (uint32_t e = 0; e < f->n_event && !w->is_failed; e++) {
        const uint8_t kind = f->event[e].kind;
        if (w->unchanged && kind != MYTH_EVENT_LOST)
            continue;
        round_now++;
        const char *full = "";
        const myth_pack_mask callee = myth_pack_lists_of(rules, f->names + f->event[e].name);
        for (uint32_t i = rules->first[kind]; i < rules->first[kind + 1]; i++) {
            const uint32_t r = rules->order[i];
            const myth_pack_row *row = &rules->row[r];
            bool is = strcmp(row->id, full) != 0;
            release.list = k.list = row->release;
            k.at_line = 0;
            for (uint32_t c = 0; is && c < row->n_condition; c++)
                is = holds(&k, rules, &row->condition[c], &callee, e);
            if (is && !add(w, row, r, &k, e))
                full = row->id;
        }
    }
}

/* ---- a file ---- */

/* Reads function number i, or with the root of the file what is outside of all. */
static bool read_flow(finding *w, uint32_t i)
{
    myth_flow *f = &w->flow[i];
    myth_flow_open(f, w->mem, &w->of->roles, (const char *)w->tree->text, w->tree->n);
    f->stop = w->tree->stop;
    f->stop_arg = w->tree->stop_arg;
    return myth_flow_read(f, w->function[i], ts_node_is_null(ts_node_parent(w->function[i])));
}

/* ---- a change ---- */

static int by_hash(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static uint64_t hash_of(const myth_tree *tree, TSNode node)
{
    const uint32_t off = ts_node_start_byte(node), end = ts_node_end_byte(node);
    return end <= tree->n && off <= end ? myth_hash_bytes(tree->text + off, end - off) : 0;
}

/* Whether the function stands before the change word by word. */
static bool is_unchanged(const finding *w, TSNode function)
{
    const uint64_t hash = hash_of(w->tree, function);
    return bsearch(&hash, w->unchanged, w->n_unchanged, sizeof(hash), by_hash) != NULL;
}

static bool on_old_function(void *arg, TSNode function)
{
    finding *w = arg;
    if (!MYTH_ARRAY_ROOM(w->mem, MYTH_MEM_OTHER, "functions before a change", &w->unchanged, w->n_unchanged,
                         &w->cap_unchanged))
        return false;
    w->unchanged[w->n_unchanged++] = hash_of(w->tree->before, function);
    return true;
}

/* Lists the functions before the change. */
static bool list_old(finding *w)
{
    if (!MYTH_ARRAY_ROOM(w->mem, MYTH_MEM_OTHER, "functions before a change", &w->unchanged, 0, &w->cap_unchanged) ||
        !myth_flow_each(&w->of->roles, *w->tree->before->root, on_old_function, w))
        return false;
    if (w->n_unchanged > 1)
        qsort(w->unchanged, w->n_unchanged, sizeof(*w->unchanged), by_hash);
    return true;
}

/* What is known while the functions before a change are gone through. */
typedef struct {
    finding *w;
    uint64_t *hash; /* [n_hash] of the functions after it, in order */
    bool *is_taken; /* [w->n_flow] its function before the change was found */
    uint32_t n_hash, n;
} comparing;

static void close_flow(myth_flow *f)
{
    if (f->mem)
        myth_flow_close(f);
}

/* Compares a function, or with the root what is outside of all, with what it became. */
static bool compare_old(comparing *c, TSNode node, bool is_file)
{
    finding *w = c->w;
    const myth_tree *before = w->tree->before;
    myth_flow old = {0};
    myth_flow_open(&old, w->mem, &w->of->roles, (const char *)before->text, before->n);
    old.stop = before->stop;
    old.stop_arg = before->stop_arg;
    bool is_good = myth_flow_read(&old, node, is_file), is_found = false;
    const char *name = is_good ? old.names + old.name : "";
    for (uint32_t i = 0; i < w->n_flow && is_good && !is_found && (is_file || *name); i++) {
        myth_flow *f = &w->flow[i];
        if (!f->mem || c->is_taken[i] || f->is_file != is_file || strcmp(f->names + f->name, name) != 0)
            continue;
        is_found = c->is_taken[i] = true;
        if (!f->cut_line && !old.cut_line)
            is_good = myth_change_lost(f, &old);
        if (is_good)
            try_rows(w, f);
        is_good = is_good && !w->is_failed;
    }
    close_flow(&old);
    return is_good;
}

static bool on_changed_function(void *arg, TSNode function)
{
    comparing *c = arg;
    const uint64_t hash = hash_of(c->w->tree->before, function);
    if (bsearch(&hash, c->hash, c->n_hash, sizeof(hash), by_hash) || c->n++ >= CHANGED)
        return true;
    return compare_old(c, function, false);
}

/* Finds the places of a change, when the functions after it were read. */
static bool read_change(finding *w)
{
    comparing c = {.w = w};
    c.hash = myth_alloc_n(w->mem, MYTH_MEM_OTHER, "functions of a change", w->n_flow + 1u, sizeof(*c.hash));
    c.is_taken = myth_alloc_n(w->mem, MYTH_MEM_OTHER, "functions of a change", w->n_flow + 1u, sizeof(*c.is_taken));
    bool is_good = c.hash && c.is_taken;
    for (uint32_t i = 0; is_good && i < w->n_flow; i++) {
        c.hash[c.n_hash++] = hash_of(w->tree, w->function[i]);
        c.is_taken[i] = false;
    }
    if (is_good && c.n_hash > 1)
        qsort(c.hash, c.n_hash, sizeof(*c.hash), by_hash);
    is_good = is_good && compare_old(&c, *w->tree->before->root, true) &&
              myth_flow_each(&w->of->roles, *w->tree->before->root, on_changed_function, &c);
    myth_free(w->mem, c.hash);
    myth_free(w->mem, c.is_taken);
    return is_good;
}

/* ---- the functions of a file ---- */

static bool on_function(void *arg, TSNode function)
{
    finding *w = arg;
    if (!MYTH_ARRAY_ROOM(w->mem, MYTH_MEM_OTHER, "flows", &w->flow, w->n_flow, &w->cap_flow) ||
        !MYTH_ARRAY_ROOM(w->mem, MYTH_MEM_OTHER, "flows", &w->function, w->n_flow, &w->cap_function))
        return false;
    myth_flow *f = &w->flow[w->n_flow];
    const bool is_file = w->n_flow == 0;
    w->function[w->n_flow++] = function;
    if (!read_flow(w, w->n_flow - 1))
        return false;
    myth_file_facts_add(&w->file, f);
    if (w->unchanged) {
        if (!is_file && is_unchanged(w, function))
            myth_flow_close(f);
        w->n_event += f->n_event;
        if (f->mem && w->n_event > MOST_EVENTS)
            myth_flow_close(f);
        return !w->file.is_failed;
    }
    w->n_event += f->n_event;
    if (f->cut_line && !w->cut_line)
        w->cut_line = f->cut_line;
    const bool is_outer = f->is_outer;
    if (w->n_event > MOST_EVENTS)
        myth_flow_close(f);
    return !w->file.is_failed && (!is_outer || myth_flow_each(&w->of->roles, function, on_function, w));
}

/* Follows what comes from requests from function to function of the file, where their flows are kept. */
static void hand_requests(finding *w)
{
    const release_list through = {&w->of->rules, myth_pack_list_number(&w->of->rules, "hands-requests-on")};
    bool is_new = through.list >= 0;
    for (int round = 0; round < ROUNDS && is_new; round++) {
        is_new = false;
        for (uint32_t i = 0; i < w->n_flow; i++) {
            myth_facts k = {
                .flow = &w->flow[i], .file = &w->file, .is_release = is_release, .arg = &through, .list = through.list};
            if (w->flow[i].mem && myth_facts_has_request(&w->file, &w->flow[i]))
                is_new |= myth_facts_hand_requests(&k, &w->file);
        }
    }
}

static bool try_function(finding *w, uint32_t i)
{
    myth_flow *f = &w->flow[i];
    if (!f->mem && !read_flow(w, i)) /* it was closed to save memory */
        return false;
    myth_facts_swapped(&w->file, f);
    if (!f->is_file)
        myth_facts_copied(f, w->function[i]);
    myth_facts_contrary(f, w->function[i]);
    myth_facts_habits(&w->file, f, w->function[i], *w->tree->root);
    myth_facts_shown(f, w->function[i], *w->tree->root);
    if (!f->is_failed)
        try_rows(w, f);
    const bool is_good = !w->is_failed && !f->is_failed;
    myth_flow_close(f);
    return is_good;
}

static int by_place(const void *a, const void *b)
{
    const myth_candidate_place *x = a, *y = b;
    if (x->off != y->off)
        return x->off < y->off ? -1 : 1;
    return x->rule < y->rule ? -1 : x->rule > y->rule; /* in the order in which they were found */
}

static bool put_bytes(myth_tree_answer *out, const void *src, uint32_t n)
{
    if (!MYTH_ARRAY_MORE(out->mem, MYTH_MEM_OTHER, "answer of a reader", &out->bytes, out->n, n, &out->cap))
        return false;
    if (n)
        memcpy(out->bytes + out->n, src, n);
    out->n += n;
    return true;
}

static bool read_tree(const myth_tree *tree, myth_tree_answer *out)
{
    finding w = {.mem = out->mem, .tree = tree, .file = {.mem = out->mem}};
    w.of = rules_of(out->mem, tree->grammar, tree->language);
    if (!w.of)
        return false;
    put_text(&w, "");
    bool is_good = !w.is_failed && find_unused(&w) && (!tree->before || list_old(&w));
    if (w.of->rules.n_row > 0)
        is_good = is_good && on_function(&w, *tree->root) && myth_flow_each(&w.of->roles, *tree->root, on_function, &w);
    if (w.of->rules.n_row > 0)
        myth_facts_habits_file(&w.file, &w.of->roles, (const char *)tree->text, tree->n, *tree->root);
    myth_file_facts_settle(&w.file, lists_of, &w.of->rules);
    if (is_good && tree->before)
        is_good = read_change(&w);
    else if (is_good)
        hand_requests(&w);
    for (uint32_t i = 0; i < w.n_flow && is_good && !tree->before; i++)
        is_good = try_function(&w, i);
    if (w.out.n > 1)
        qsort(w.out.candidate, w.out.n, sizeof(*w.out.candidate), by_place);
    const myth_candidates_head head = {w.out.n, w.out.n_names, w.n_flow ? w.n_flow - 1 : 0, w.cut_line};
    is_good = is_good && put_bytes(out, &head, sizeof(head)) &&
              put_bytes(out, w.out.candidate, (uint32_t)(w.out.n * sizeof(*w.out.candidate))) &&
              put_bytes(out, w.out.names, w.out.n_names);
    for (uint32_t i = 0; i < w.n_flow; i++)
        if (w.flow[i].mem)
            myth_flow_close(&w.flow[i]);
    myth_free(w.mem, w.flow);
    myth_free(w.mem, w.function);
    myth_free(w.mem, w.out.candidate);
    myth_free(w.mem, w.row);
    myth_free(w.mem, w.unused);
    myth_free(w.mem, w.unchanged);
    myth_free(w.mem, w.out.names);
    myth_file_facts_close(&w.file);
    return is_good;
}

const myth_tree_reader myth_candidates_reader = {read_tree, close_rules};

/* ---- what there is ---- */

bool myth_candidates_has(const char *language)
{
    const int g = myth_grammar_find(language);
    return g >= 0 && myth_pack_is_for((const char *)rules_text, sizeof(rules_text) - 1, myth_grammar_get(g).name);
}

uint32_t myth_candidates_rules(char id[][MYTH_CANDIDATES_NAME], uint32_t most)
{
    return myth_pack_ids((const char *)rules_text, sizeof(rules_text) - 1, id, most);
}

uint32_t myth_candidates_rows(myth_mem *mem, const char *grammar, uint32_t *wrong_line,
                              void (*each)(void *user, const char *id, const char *row), void *user)
{
    myth_pack r;
    const bool is_good = myth_pack_open(&r, mem, grammar, (const char *)rules_text, sizeof(rules_text) - 1, wrong_line);
    const uint32_t n = is_good ? r.n_row : 0;
    for (uint32_t i = 0; i < n; i++)
        each(user, r.row[i].id, r.row[i].name);
    myth_pack_close(&r);
    return n;
}
