/* facts_results.c - facts about results of calls that no condition asks for, and why that is as it should be: what is
 * done with them needs no test, or the call is another one than its name says (facts.h). */
#define _GNU_SOURCE /* memmem */
#include "facts_span.h"

#include <stdio.h>

/* Goes to the next event behind i that is about the path and that event `from` comes to; UINT32_MAX = there is none. */
static uint32_t next_of(const myth_flow *f, uint32_t from, uint32_t i, uint32_t path)
{
    for (i++; i < f->n_event && i < from + MYTH_FACTS_NEAR; i++)
        if (f->event[i].path && myth_flow_is_part(f, f->event[i].path, path) && myth_flow_reaches(f, from, i))
            return i;
    return UINT32_MAX;
}

/* The path of argument `index` of a call, also where its address is given; 0 = it has none. */
static uint32_t given_path(const myth_flow *f, uint32_t call, uint32_t index)
{
    for (uint32_t i = call + 1; i < f->n_event && i < call + 64 && f->event[i].off < f->event[call].end; i++)
        if (f->event[i].kind == MYTH_EVENT_ARG && f->event[i].call == call && f->event[i].index == index)
            return f->event[i].path;
    return 0;
}

static uint32_t n_arguments(const myth_facts *k, uint32_t e)
{
    uint32_t n = 0;
    while (n < 16 && !is_null(myth_facts_argument(k, e, n)))
        n++;
    return n;
}

/* ---- on purpose ---- */

/* Whether a node is thrown away by a cast: (void)x */
static bool is_to_void(const myth_flow *f, uint32_t at)
{
    while (at > f->off && isspace((unsigned char)f->text[at - 1]))
        at--;
    return at >= f->off + 6 && memcmp(f->text + at - 6, "(void)", 6) == 0;
}

int myth_fact_waived(myth_facts *k, uint32_t e)
{
    static const char *const ignores[] = {"ignore", "ignored", "unused"};
    static const char *const unused[] = {"maybe_unused", "((unused", "((__unused__", "UNUSED"};
    const myth_flow *f = k->flow;
    uint32_t d;
    if (is_to_void(f, myth_facts_event(k, e)->off))
        return 1;
    if (myth_facts_event(k, e)->kind != MYTH_EVENT_CALL || !myth_facts_taker(f, e, &d))
        return 0;
    uint32_t from = f->event[d].off;
    if (myth_flow_is_one_of(last_word(f, f->event[d].path), ignores, N_OF(ignores)))
        return 1;
    while (from > f->off && !strchr(";{}", f->text[from - 1]))
        from--;
    if (has_one(span_of(f, from, f->event[d].end), unused, N_OF(unused)))
        return 1;
    const uint32_t next = next_of(f, d, d, f->event[d].path);
    return next != UINT32_MAX && f->event[next].path == f->event[d].path && is_to_void(f, f->event[next].off);
}

/* The next statement behind one; null = none. */
static TSNode next_statement(TSNode node)
{
    do
        node = ts_node_next_named_sibling(node);
    while (!is_null(node) && ts_node_is_extra(node)); /* a comment */
    return node;
}

/* Whether a call is the last statement of a program: of the file, of main, or of a branch that asks for __name__. */
int myth_fact_at_end(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    TSNode node = myth_facts_event(k, e)->node;
    for (int i = 0; i < 4 && !is_null(node) && role_of(f, node) != MYTH_ROLE_STATEMENT; i++)
        node = ts_node_parent(node);
    for (int i = 0; i < 2; i++) {
        if (is_null(node) || !is_null(next_statement(node)))
            return 0;
        const TSNode block = ts_node_parent(node), owner = is_null(block) ? block : ts_node_parent(block);
        if (is_null(owner)) /* the file's */
            return !is_null(block);
        if (role_of(f, owner) == MYTH_ROLE_FUNCTION)
            return strcmp(f->names + f->name, "main") == 0;
        if (role_of(f, owner) != MYTH_ROLE_IF || !has_text(begin_of(node_span(f, owner), 30), "__name__"))
            return 0;
        node = owner;
    }
    return 0;
}

/* ---- other calls of the same name ---- */

enum { LIBRARY_UNKNOWN, LIBRARY_NO, LIBRARY_YES };

/* Go: whether a client's Get or Do is none of net/http, by what it is given, what it gives, and what that has. */
static bool is_of_other_client(const myth_facts *k, uint32_t e)
{
    static const char *const method[] = {"Get", "Do"};
    static const char *const member[] = {"Body", "StatusCode", "Status", "Header", "Request", "ContentLength", "Proto"};
    const myth_flow *f = k->flow;
    const char *name = f->names + f->event[e].name, *last = myth_flow_last_word(name);
    uint32_t d;
    bool has_member = false;
    if (f->roles->has_alternatives || last - name < 7 || memcmp(last - 6, "lient.", 6) != 0 ||
        !myth_flow_is_one_of(last, method, N_OF(method)))
        return false;
    if (n_arguments(k, e) != 1 || !myth_facts_taker(f, e, &d))
        return n_arguments(k, e) != 1;
    const TSNode results = ts_node_parent(f->event[d].node);
    if (!is_null(results) && ts_node_named_child_count(results) == 1)
        return true;
    for (uint32_t p = 1; p < f->n_path; p++) {
        if (f->path[p].base != f->event[d].path)
            continue;
        if (myth_flow_is_one_of(last_word(f, p), member, N_OF(member)))
            return false;
        has_member = true;
    }
    return has_member;
}

int myth_fact_library(myth_facts *k, uint32_t e)
{
    static const struct {
        const char *name;
        uint8_t least, most; /* arguments */
        bool is_std;         /* C++ has it in std, too */
    } all[] = {{"accept", 3, 3, false},     {"accept4", 4, 4, false},    {"asprintf", 2, 16, false},
               {"bind", 3, 3, false},       {"calloc", 2, 2, true},      {"chdir", 1, 1, false},
               {"chmod", 2, 2, false},      {"chown", 3, 3, false},      {"chroot", 1, 1, false},
               {"connect", 3, 3, false},    {"dup2", 2, 2, false},       {"fchown", 3, 3, false},
               {"fcntl", 2, 3, false},      {"fgets", 3, 3, true},       {"fopen", 2, 2, true},
               {"fork", 0, 0, false},       {"fread", 4, 4, true},       {"fscanf", 2, 16, true},
               {"fseek", 3, 3, true},       {"ftruncate", 2, 2, false},  {"fwrite", 4, 4, true},
               {"getline", 3, 3, false},    {"initgroups", 2, 2, false}, {"ioctl", 2, 3, false},
               {"listen", 2, 2, false},     {"malloc", 1, 1, true},      {"mkdir", 1, 2, false},
               {"pipe", 1, 1, false},       {"pipe2", 2, 2, false},      {"pread", 4, 4, false},
               {"pwrite", 4, 4, false},     {"read", 3, 3, false},       {"realloc", 2, 2, true},
               {"recv", 4, 4, false},       {"remove", 1, 1, true},      {"rename", 2, 2, true},
               {"scanf", 1, 16, true},      {"send", 4, 4, false},       {"sendfile", 4, 6, false},
               {"setsockopt", 5, 5, false}, {"snprintf", 3, 16, true},   {"socketpair", 4, 4, false},
               {"sscanf", 2, 16, true},     {"strdup", 1, 1, false},     {"strndup", 2, 2, false},
               {"unlink", 1, 1, false},     {"vasprintf", 3, 3, false},  {"write", 3, 3, false},
               {"writev", 3, 3, false}};
    const myth_flow *f = k->flow;
    if (myth_facts_event(k, e)->kind != MYTH_EVENT_CALL)
        return LIBRARY_UNKNOWN;
    if (is_of_other_client(k, e))
        return LIBRARY_NO;
    const char *name = f->names + myth_facts_event(k, e)->name, *last = myth_flow_last_word(name);
    for (size_t i = 0; i < N_OF(all); i++) {
        if (strcmp(last, all[i].name) != 0)
            continue;
        const size_t m = (size_t)(last - name);
        const bool is_plain = m == 0 || (m == 2 && memcmp(name, "::", 2) == 0) ||
                              (m == 5 && memcmp(name, "std::", 5) == 0 && all[i].is_std);
        const uint32_t n = n_arguments(k, e);
        return is_plain && n >= all[i].least && n <= all[i].most ? LIBRARY_YES : LIBRARY_NO;
    }
    return LIBRARY_UNKNOWN;
}

/* ---- what needs no test ---- */

enum {
    SETTLED_NO,
    SETTLED_ERRNO,
    SETTLED_GROWN,
    SETTLED_NUMBERS,
    SETTLED_COUNTED,
    SETTLED_SIZE,
    SETTLED_TAKEN,
    SETTLED_MEMBER,
    SETTLED_WAIT,
    SETTLED_MACRO,
    SETTLED_FITS,
    SETTLED_VALUE,
    SETTLED_REPORTED,
    SETTLED_CALLERS,
    SETTLED_GIVEN,
    SETTLED_AVAILABLE,
    SETTLED_AGAIN,
    SETTLED_TOLD,
    SETTLED_KERNEL,
    SETTLED_ADDRESS,
    SETTLED_CONSTANT
};

/* Whether a number that was read out of a text is checked by errno, or by where it ended. */
static bool is_asked_errno(const myth_flow *f, uint32_t e)
{
    static const char *const reads[] = {"strtol", "strtoul", "strtoll",   "strtoull",  "strtod",
                                        "strtof", "strtold", "strtoimax", "strtoumax", "strtoq"};
    enum { NEAR = 96 };
    const uint32_t end = given_path(f, e, 1);
    if (!myth_flow_is_one_of(myth_flow_last_word(f->names + f->event[e].name), reads, N_OF(reads)))
        return false;
    for (uint32_t i = e + 1; i < f->n_event && i < e + NEAR; i++) {
        const myth_event *x = &f->event[i];
        if (!(x->kind == MYTH_EVENT_TEST || x->test) || !x->path || x->off < f->event[e].end ||
            !myth_flow_reaches(f, e, i))
            continue;
        if ((end && (myth_flow_is_part(f, x->path, end) || (x->other && myth_flow_is_part(f, x->other, end)))) ||
            strcmp(f->names + f->path[x->path].text, "errno") == 0)
            return true;
    }
    return false;
}

/* Whether a function gives back what it was given, and has put something to it: list = list_append(list, item). Those
 * that take memory for the result itself, and give NULL where there is none, are others. */
static bool is_grown(myth_facts *k, uint32_t e)
{
    static const char *const fails[] = {"alloc", "dup", "curl_slist_append"};
    const char *name = myth_flow_last_word(k->flow->names + myth_facts_event(k, e)->name);
    return !myth_flow_has_one_of(name, fails, N_OF(fails)) && myth_fact_library(k, e) != LIBRARY_YES &&
           myth_fact(k, MYTH_FACT_replaces, e) == 1;
}

/* Whether a condition of a loop around event d asks for what event x changes by the result: avail of avail -= n. */
static bool is_asked_by_loop(const myth_flow *f, uint32_t d, uint32_t x)
{
    uint32_t changed = 0;
    for (uint32_t i = x; i < f->n_event && i < x + 8 && f->event[i].statement == f->event[x].statement; i++)
        if (f->event[i].kind == MYTH_EVENT_DEFINE)
            changed = f->event[i].path;
    for (uint32_t i = 0; changed && i < d; i++) {
        const myth_event *t = &f->event[i];
        const uint32_t then = t->kind == MYTH_EVENT_TEST && t->test ? myth_facts_outermost(f, t)->then : 0;
        if (then && f->scope[then].kind == MYTH_SCOPE_LOOP && (t->path == changed || t->other == changed) &&
            myth_flow_is_inside(f, f->event[d].scope, then))
            return true;
    }
    return false;
}

/* Whether a node is a sum with what its left side was: x += n */
static bool is_sum_with_itself(const myth_flow *f, TSNode n)
{
    return role_of(f, n) == MYTH_ROLE_CHANGE || myth_flow_is_operator(f, n, "+=") || myth_flow_is_operator(f, n, "-=");
}

/* Whether a result is only counted (n -= size) before it is asked for, or what it was counted in is by the loop. A
 * number of elements that were read, which is never below zero, may be put into another variable, too. */
static bool is_counted_first(const myth_flow *f, uint32_t e, uint32_t d)
{
    const bool is_read = strcmp(myth_flow_last_word(f->names + f->event[e].name), "fread") == 0;
    bool is_by_loop = false;
    for (uint32_t x = next_of(f, d, d, f->event[d].path); x != UINT32_MAX; x = next_of(f, d, x, f->event[d].path)) {
        if (f->event[x].kind == MYTH_EVENT_TEST || f->event[x].test)
            return true;
        if (f->event[x].kind == MYTH_EVENT_DEFINE && f->event[x].path == f->event[d].path)
            break;
        const TSNode sum = f->event[x].kind == MYTH_EVENT_USE ? ts_node_parent(f->event[x].node) : (TSNode){0};
        if (is_null(sum) || !(is_sum_with_itself(f, sum) || (is_read && role_of(f, sum) == MYTH_ROLE_ASSIGN)))
            return false;
        is_by_loop |= is_asked_by_loop(f, d, x);
    }
    return is_by_loop;
}

/* Whether only numbers are put into a text: that does not fail, and is as long as they are. */
static bool is_of_numbers(const myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    if (strcmp(myth_flow_last_word(f->names + myth_facts_event(k, e)->name), "snprintf") != 0)
        return false;
    const TSNode format = myth_facts_argument(k, e, 2);
    if (is_null(format) || role_of(f, format) != MYTH_ROLE_TEXT)
        return false;
    const span s = node_span(f, format);
    for (uint32_t i = 0; i < s.n; i++) {
        if (s.p[i] != '%')
            continue;
        for (i++; i < s.n && strchr("0123456789+-# .lhzjt", s.p[i]);)
            i++;
        if (i >= s.n || !strchr("diuxXoc%\"", s.p[i])) /* "%" PRIu64 */
            return false;
    }
    return true;
}

/* Whether the first use of a result is as the size of memory that is asked for: where it is the number of a failure,
 * there is none, and that is tested. */
static bool is_size_of_tested(const myth_flow *f, uint32_t d)
{
    static const char *const takes[] = {"alloc", "Alloc"};
    uint32_t line, taker;
    const uint32_t x = next_of(f, d, d, f->event[d].path);
    if (x == UINT32_MAX || f->event[x].kind != MYTH_EVENT_ARG || f->event[x].path != f->event[d].path ||
        !myth_flow_has_one_of(f->names + f->event[x].name, takes, N_OF(takes)))
        return false;
    const uint32_t call = f->event[x].call;
    if (call < f->n_event && f->event[call].test)
        return true;
    return call < f->n_event && myth_facts_taker(f, call, &taker) &&
           myth_facts_checked(f, taker, &line) == MYTH_CHECKED_TESTED;
}

/* Whether a result is only handed to functions that take a missing one: free, what releases by its name, curl_easy_,
 * those of the file that ask for it first. It may be returned behind them. */
static bool is_only_released(const myth_facts *k, uint32_t d)
{
    static const char *const takes[] = {"free", "Free", "curl_easy_"};
    const myth_flow *f = k->flow;
    uint32_t n = 0;
    for (uint32_t x = next_of(f, d, d, f->event[d].path); x != UINT32_MAX; x = next_of(f, d, x, f->event[d].path)) {
        const myth_event *u = &f->event[x];
        if (u->kind == MYTH_EVENT_DEFINE && u->path == f->event[d].path)
            break;
        if (n > 0 && (u->kind == MYTH_EVENT_RETURN || u->kind == MYTH_EVENT_LEAVE))
            continue;
        if (u->kind != MYTH_EVENT_ARG || u->path != f->event[d].path)
            return false;
        const myth_file_parameter *does = myth_facts_summary(k, u->call, u->index);
        if (!(does && does->is_asked && f->path[u->path].is_pointer) &&
            !myth_flow_has_one_of(f->names + u->name, takes, N_OF(takes)))
            return false;
        n++;
    }
    return n > 0;
}

/* Whether a read is only a wait: nothing uses the bytes, which go to a variable of this function, nor the result. */
static bool is_wait(const myth_facts *k, uint32_t e)
{
    static const char *const reads[] = {"read", "recv"};
    const myth_flow *f = k->flow;
    uint32_t d, line;
    if (!myth_flow_is_one_of(myth_flow_last_word(f->names + myth_facts_event(k, e)->name), reads, N_OF(reads)))
        return false;
    const uint32_t to = given_path(f, e, f->roles->has_alternatives ? 1 : 0); /* Java: the only or first one */
    if (!to || f->path[to].base != 0 || (f->path[to].type_end == 0 && !f->path[to].is_declared) ||
        myth_facts_is_static(f, &f->path[to]) ||
        (myth_facts_taker(f, e, &d) && myth_facts_checked(f, d, &line) != MYTH_CHECKED_IGNORED))
        return false;
    bool is_again = false; /* in a loop, whose next turn comes to what stands before */
    for (uint32_t s = myth_facts_event(k, e)->scope; s; s = f->scope[s].parent)
        is_again |= f->scope[s].kind == MYTH_SCOPE_LOOP;
    for (uint32_t i = 0; i < f->n_event && i < e + MYTH_FACTS_NEAR; i++) {
        const myth_event *x = &f->event[i];
        const bool is_it = (x->path && myth_flow_is_part(f, x->path, to)) || x->other == to;
        const bool is_set = x->kind == MYTH_EVENT_DEFINE && x->path == to && x->value != MYTH_VALUE_PARAMETER;
        const bool is_own = x->off >= f->event[e].off && x->end <= f->event[e].end;
        if (is_it && !is_set && !is_own && (i < e ? is_again || x->other == to : myth_flow_reaches(f, e, i)))
            return false;
    }
    return true;
}

/* The text of a macro of the file, with the lines that a backslash continues. */
static span macro_of(const myth_flow *f, const char *name)
{
    const char *const end = f->text + f->n_text;
    char word[MYTH_SPAN_WORD];
    for (const char *p = f->text; p < end && (p = memchr(p, '#', (size_t)(end - p))) != NULL; p++) {
        const char *at = p + 1;
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        if (end - at < 8 || memcmp(at, "define", 6) != 0)
            continue;
        for (at += 6; at < end && (*at == ' ' || *at == '\t');)
            at++;
        if (word_at(span_of(f, 0, f->n_text), (uint32_t)(at - f->text), word) == 0 || strcmp(word, name) != 0)
            continue;
        const char *to = at;
        while (to < end && (*to != '\n' || to[-1] == '\\'))
            to++;
        return (span){at, (uint32_t)(to - at)};
    }
    return (span){"", 0};
}

/* Whether the first thing behind a definition that speaks of its path is a macro of the file, which asks for it. */
static bool is_asked_by_macro(const myth_flow *f, uint32_t d)
{
    const uint32_t next = next_of(f, d, d, f->event[d].path);
    for (uint32_t i = d + 1; i < f->n_event && i < next && i < d + 16; i++) {
        const char *name = f->names + f->event[i].name;
        if (f->event[i].kind != MYTH_EVENT_CALL || f->event[i].scope != f->event[d].scope ||
            !myth_flow_is_constant_name(name))
            continue;
        const span s = macro_of(f, name);
        for (uint32_t at = 0; at + 2 < s.n; at++) {
            uint32_t from = at + 2;
            if (memcmp(s.p + at, "if", 2) != 0 || (at > 0 && myth_is_word(s.p[at - 1])))
                continue;
            while (from < s.n && (s.p[from] == ' ' || s.p[from] == '('))
                from++;
            if (has_word(begin_of((span){s.p + from, s.n - from}, MYTH_SPAN_WORD), last_word(f, f->event[d].path)))
                return true;
        }
    }
    return false;
}

/* Whether a descriptor is put where poll looks for it, which leaves out those that are below zero. */
static bool is_polled(const myth_flow *f, uint32_t d)
{
    const uint32_t path = f->event[d].path;
    if (!f->path[path].base || strcmp(f->names + f->path[path].last, "fd") != 0)
        return false;
    for (uint32_t i = d + 1; i < f->n_event && i < d + 64; i++)
        if (f->event[i].kind == MYTH_EVENT_CALL && strstr(f->names + f->event[i].name, "poll"))
            return true;
    return false;
}

/* Whether a result that nothing here uses is in a member, and the functions of the file ask whether it is there. */
static bool is_asked_by_readers(const myth_facts *k, uint32_t d)
{
    const myth_flow *f = k->flow;
    char key[MYTH_FLOW_PATH_BYTES + 2];
    uint32_t line;
    if (!f->path[f->event[d].path].base || f->names[f->path[f->event[d].path].text] == '*' ||
        myth_facts_checked(f, d, &line) != MYTH_CHECKED_IGNORED)
        return false;
    myth_file_facts_field(key, f, f->event[d].path);
    const myth_file_name *n = myth_file_facts_find(k->file, key);
    return n && n->n_tested > 0 && n->n_tested >= n->n_used;
}

/* Whether the first thing that is done with a result is to give it a second name, which is tested or returned. */
static bool is_asked_as_other(const myth_flow *f, uint32_t d)
{
    uint32_t line;
    for (uint32_t i = d + 1; i < f->n_event && i < d + 16; i++) {
        const myth_event *x = &f->event[i];
        if (x->kind == MYTH_EVENT_DEFINE && x->other == f->event[d].path && x->value == MYTH_VALUE_PATH &&
            x->path != f->event[d].path && myth_flow_reaches(f, d, i)) {
            const myth_checked is = myth_facts_checked(f, i, &line);
            return is == MYTH_CHECKED_TESTED || is == MYTH_CHECKED_RETURNED;
        }
        if (x->path && myth_flow_is_part(f, x->path, f->event[d].path) && x->kind != MYTH_EVENT_USE)
            return false;
    }
    return false;
}

/* Java: whether a call reads into an array that was made for what is there to be read: new byte[in.available()]. */
static bool is_of_available(const myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const uint32_t to = f->roles->has_alternatives ? 0 : given_path(f, e, 0);
    uint32_t d, n = 0;
    char size[MYTH_SPAN_WORD];
    if (!to || !myth_facts_definition(k, to, e, &d))
        return false;
    const span s = begin_of(definition_span(f, &f->event[d]), MYTH_SPAN_TEXT);
    while (n < s.n && s.p[n] != '[')
        n++;
    if (has_text(s, ".available()"))
        return true;
    if (n + 1 >= s.n || word_at(s, n + 1, size) == 0)
        return false;
    for (uint32_t i = d; i-- > 0 && d - i < 64;)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].path && !f->path[f->event[i].path].base &&
            strcmp(last_word(f, f->event[i].path), size) == 0)
            return has_text(begin_of(definition_span(f, &f->event[i]), MYTH_SPAN_TEXT), ".available()");
    return false;
}

int myth_fact_settled(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    uint32_t d;
    if (myth_facts_event(k, e)->kind != MYTH_EVENT_CALL)
        return SETTLED_NO;
    if (is_wait(k, e))
        return SETTLED_WAIT;
    if (is_of_available(k, e))
        return SETTLED_AVAILABLE;
    if (myth_facts_is_of_kernel(k, e))
        return SETTLED_KERNEL;
    if (myth_facts_is_of_address(k, e))
        return SETTLED_ADDRESS;
    if (myth_facts_is_of_constant(k, e))
        return SETTLED_CONSTANT;
    if (!myth_facts_taker(f, e, &d))
        return SETTLED_NO;
    if (myth_facts_is_set_again(f, d))
        return SETTLED_AGAIN;
    if (is_asked_errno(f, e))
        return SETTLED_ERRNO;
    if (is_grown(k, e))
        return SETTLED_GROWN;
    if (is_of_numbers(k, e))
        return SETTLED_NUMBERS;
    if (is_counted_first(f, e, d))
        return SETTLED_COUNTED;
    if (is_size_of_tested(f, d))
        return SETTLED_SIZE;
    if (strcmp(f->names + myth_facts_event(k, e)->name, "curl_easy_init") == 0 || is_only_released(k, d) ||
        is_polled(f, d)) /* all of curl_easy_ take a missing handle and say so */
        return SETTLED_TAKEN;
    if (is_asked_by_macro(f, d))
        return SETTLED_MACRO;
    if (myth_facts_is_asked_by_callers(f, d))
        return SETTLED_CALLERS;
    if (myth_facts_is_given(f, e, d))
        return SETTLED_GIVEN;
    if (is_asked_by_readers(k, d) || is_asked_as_other(f, d))
        return SETTLED_MEMBER;
    if (myth_facts_fits(k, e))
        return SETTLED_FITS;
    if (myth_facts_is_value(k, e, d))
        return SETTLED_VALUE;
    const uint32_t next = next_of(f, d, d, f->event[d].path);
    if (myth_facts_is_told(f, e, next))
        return SETTLED_TOLD;
    return myth_facts_is_reported(f, d, next) ? SETTLED_REPORTED : SETTLED_NO;
}

/* ---- values that were there before ---- */

/* Whether event x gives the path, what it is a part of, or its first element (s[0], *s) a value before it is scanned
 * into. */
static bool sets(const myth_flow *f, const myth_event *x, uint32_t path)
{
    static const char *const wipes[] = {"memset", "bzero"};
    const char *text = f->names + f->path[x->path].text;
    if (x->kind == MYTH_EVENT_ARG)
        return x->index == 0 && myth_flow_is_part(f, path, x->path) &&
               myth_flow_is_one_of(f->names + x->name, wipes, N_OF(wipes));
    const bool is_first =
        f->path[x->path].base == path && (text[0] == '*' || strcmp(text + strcspn(text, "["), "[0]") == 0);
    return x->kind == MYTH_EVENT_DEFINE && (is_first || myth_flow_is_part(f, path, x->path)) &&
           x->value != MYTH_VALUE_OUT && x->value != MYTH_VALUE_NOTHING && x->value != MYTH_VALUE_PARAMETER;
}

/* Whether event e is in a loop that begins behind event x, and may be run again: its branch does not leave. */
static bool is_again_behind(const myth_flow *f, uint32_t e, uint32_t x)
{
    for (uint32_t s = f->event[e].scope; s && !myth_flow_is_inside(f, f->event[x].scope, s); s = f->scope[s].parent) {
        if (f->scope[s].kind == MYTH_SCOPE_LOOP)
            return true;
        if (f->scope[s].leaves != MYTH_LEAVES_NOT)
            return false;
    }
    return false;
}

/* Whether argument `path` of a scanning call has a value before, in this function. *is_asked: one that says that
 * nothing was found, a number below zero, or any that is asked for. *is_default: the call is made on some ways only
 * that come from there, in no loop or in a branch of one, so it is what the path has on all others. *is_fresh: no scan
 * before can have changed it. */
static bool is_preset(const myth_flow *f, uint32_t call, uint32_t path, bool *is_asked, bool *is_default,
                      bool *is_fresh)
{
    bool is_set = false, is_inner = false, is_stale = true;
    for (uint32_t i = 0; i < f->n_event; i++) {
        const myth_event *x = &f->event[i];
        if (x->kind == MYTH_EVENT_TEST && x->path &&
            (x->path == path || x->other == path || myth_flow_is_part(f, x->path, path)))
            *is_asked |= x->off > f->event[call].end;
        if (i >= call || !x->path)
            continue;
        if (x->kind == MYTH_EVENT_DEFINE && x->value != MYTH_VALUE_OUT && myth_flow_is_part(f, path, x->path)) {
            is_set = false;
            const TSNode value = myth_facts_value_node(f, x);
            *is_asked |= !is_null(value) && myth_flow_first_byte(f, value) == '-';
        }
        if (sets(f, x, path)) {
            is_set = true;
            is_inner = f->event[call].scope != x->scope && myth_flow_is_inside(f, f->event[call].scope, x->scope) &&
                       f->scope[f->event[call].scope].kind != MYTH_SCOPE_LOOP;
            is_stale = !myth_flow_is_inside(f, f->event[call].scope, x->scope) || is_again_behind(f, call, i);
        } else if (x->kind == MYTH_EVENT_DEFINE && x->value == MYTH_VALUE_OUT && x->path == path)
            is_stale = true;
    }
    *is_default &= is_inner;
    *is_fresh &= is_set && !is_stale;
    return is_set;
}

/* Whether a path is a member behind a parameter or a variable of the file that only a case of a switch scans into: in
 * all other cases it keeps what it had before. */
static bool is_kept_by_cases(const myth_flow *f, uint32_t call, uint32_t path)
{
    const uint32_t root = root_of(f, path);
    bool is_case = false;
    for (uint32_t s = f->event[call].scope; s; s = f->scope[s].parent)
        is_case |= f->scope[s].kind == MYTH_SCOPE_CASE;
    for (uint32_t i = 0; i < call; i++)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].path == root)
            return is_case && root != path && f->event[i].value == MYTH_VALUE_PARAMETER;
    return is_case && root != path && f->path[root].type_end == 0 && !f->path[root].is_declared;
}

int myth_fact_preset(myth_facts *k, uint32_t e)
{
    static const char *const scans[] = {"sscanf", "fscanf", "scanf"};
    const myth_flow *f = k->flow;
    bool is_asked = false, is_default = true, is_fresh = true;
    if (myth_facts_event(k, e)->kind != MYTH_EVENT_CALL)
        return 0;
    const char *last = myth_flow_last_word(f->names + myth_facts_event(k, e)->name);
    if (!myth_flow_is_one_of(last, scans, N_OF(scans)))
        return 0;
    const uint32_t first = strcmp(last, "scanf") == 0 ? 1 : 2, n = n_arguments(k, e);
    for (uint32_t i = first; i < n; i++) {
        const uint32_t path = given_path(f, e, i);
        if (!path || !(is_kept_by_cases(f, e, path) || is_preset(f, e, path, &is_asked, &is_default, &is_fresh)))
            return 0;
    }
    return n > first && (is_asked || is_default || is_fresh);
}

/* ---- rights ---- */

enum { RIGHTS_UNKNOWN, RIGHTS_GAINED, RIGHTS_DROPPED };

/* Whether a call of the function before has replaced the groups, and its result is looked at. */
static bool has_dropped_groups(const myth_flow *f, uint32_t e)
{
    uint32_t d, line;
    for (uint32_t i = 0; i < e; i++)
        if (f->event[i].kind == MYTH_EVENT_CALL && strcmp(f->names + f->event[i].name, "setgroups") == 0 &&
            (f->event[i].test ||
             (myth_facts_taker(f, i, &d) && myth_facts_checked(f, d, &line) == MYTH_CHECKED_TESTED)))
            return true;
    return false;
}

int myth_fact_rights(myth_facts *k, uint32_t e)
{
    static const char *const groups[] = {"initgroups", "setgroups"};
    const myth_flow *f = k->flow;
    if (myth_facts_event(k, e)->kind != MYTH_EVENT_CALL)
        return RIGHTS_UNKNOWN;
    const char *name = f->names + myth_facts_event(k, e)->name;
    if (myth_flow_is_one_of(name, groups, N_OF(groups)))
        return has_dropped_groups(f, e) ? RIGHTS_DROPPED : RIGHTS_UNKNOWN;
    const uint32_t n = n_arguments(k, e);
    if (strncmp(name, "set", 3) != 0 || !strstr(name, "id") || n == 0)
        return RIGHTS_UNKNOWN;
    const TSNode given = myth_facts_argument(k, e, n == 1 ? 0 : 1); /* the effective one of several */
    const TSNode a = is_null(given) ? given : myth_flow_inner(f, given);
    const bool is_root = !is_null(a) && role_of(f, a) == MYTH_ROLE_NUMBER && myth_flow_first_byte(f, a) == '0';
    return is_root ? RIGHTS_GAINED : RIGHTS_UNKNOWN;
}

/* ---- what is always there ---- */

/* Whether call text `s`, which begins behind the name, gives an address as argument number `index`; *end: behind it. */
static bool gives_address(span s, uint32_t index, uint32_t *end)
{
    uint32_t depth = 0, at = 0, i = 0;
    bool is = false, is_begin = false;
    for (; i < s.n && i < 4096; i++) {
        const char c = s.p[i];
        if (c == '(' || c == '[' || c == '{')
            is_begin |= depth++ == 0;
        else if (c == ')' || c == ']' || c == '}') {
            if (--depth == 0)
                break;
        } else if (c == ',' && depth == 1) {
            at++;
            is_begin = true;
        } else if (c > ' ') {
            is |= is_begin && at == index && c == '&';
            is_begin = false;
        }
    }
    *end = i + 1;
    return is;
}

/* Whether the event's path is a parameter of a static function to which every call in the file gives an address. */
int myth_fact_always_there(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const uint32_t path = myth_facts_event(k, e)->path;
    uint32_t index = UINT32_MAX, n_call = 0, end;
    char word[MYTH_SPAN_WORD];
    for (uint32_t i = 0; i < f->n_event && f->event[i].value == MYTH_VALUE_PARAMETER; i++)
        if (f->event[i].path == path && path)
            index = i;
    const char *name = f->names + f->name;
    if (index == UINT32_MAX || strncmp(f->text + f->off, "static", 6) != 0 || !*name)
        return 0;
    const span all = span_of(f, 0, f->n_text);
    for (const char *p = f->text; (p = memmem(p, (size_t)(f->text + f->n_text - p), name, strlen(name))) != NULL;) {
        const uint32_t at = (uint32_t)(p - f->text), n = word_at(all, at, word);
        uint32_t behind = at + n;
        p++;
        if (n != strlen(name) || (at >= f->off && at < f->end))
            continue;
        while (behind < f->n_text && isspace((unsigned char)f->text[behind]))
            behind++;
        if (behind >= f->n_text || f->text[behind] != '(')
            return 0; /* its address is taken, or something else has its name */
        const bool is_address = gives_address(span_of(f, behind, f->n_text), index, &end);
        if (is_address)
            n_call++;
        else {
            uint32_t before = at; /* a declaration has its type before it */
            while (before > 0 && isspace((unsigned char)f->text[before - 1]))
                before--;
            const bool is_declared = before > 0 && (myth_is_word(f->text[before - 1]) || f->text[before - 1] == '*');
            if (!is_declared || behind + end >= f->n_text || f->text[behind + end] != ';' ||
                has_word(span_of(f, before > 6 ? before - 6 : 0, before), "return"))
                return 0;
        }
    }
    return n_call > 0;
}
