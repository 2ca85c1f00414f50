/* facts_keeper.c - who else releases or keeps what a function takes (facts.h): the compiler, where a variable's block
 * ends, the process, where it ends, here or in all callers, a variable of the file, or a lock that lasts. */
#include "facts_span.h"

#include "engine/base/table.h"

enum { NEAR = 64, DECLARATION = 256, LINES = 16 };

/* ---- variables that are released where their block ends ---- */

/* Whether a word of a declaration stands for an attribute that releases the variable, by what projects call such. */
static bool is_releasing_word(const myth_file_facts *ff, const char *word)
{
    static const char *const part[] = {"cleanup",    "autofree", "auto_free", "autoptr", "autoclose",
                                       "auto_close", "autofd",   "autovar",   "scoped_"};
    static const char *const whole[] = {"g_auto", "__free"};
    char low[MYTH_SPAN_WORD];
    size_t n = 0;
    for (; word[n] && n + 1 < sizeof(low); n++)
        low[n] = (char)tolower((unsigned char)word[n]);
    low[n] = '\0';
    const myth_file_name *name = myth_file_facts_find(ff, word);
    return (name && name->is_releasing) || strncmp(word, "__do_", 5) == 0 ||
           myth_flow_has_one_of(low, part, N_OF(part)) || myth_flow_is_one_of(word, whole, N_OF(whole));
}

/* Whether the words of a declaration, up to its first value, release what it declares: cleanup_free char *p,
 * g_autoptr(T) p, int fd __attribute__((cleanup(f))). A type of such a name, which no other type follows, does not. */
static bool has_releasing_word(const myth_file_facts *ff, span s)
{
    static const char *const tag[] = {"struct", "union", "enum", "typedef"};
    static const char *const qualifier[] = {"const", "volatile", "static", "restrict", "unused"};
    char word[MYTH_SPAN_WORD];
    bool is_found = false, is_tag = false;
    int n_behind = 0;
    for (uint32_t i = 0; i < s.n;) {
        const uint32_t n = word_at(s, i, word);
        if (n == 0) {
            i++;
            continue;
        }
        uint32_t next = i + n;
        while (next < s.n && s.p[next] <= ' ')
            next++;
        const bool is_call = next < s.n && s.p[next] == '(';
        if (is_call &&
            (strcmp(word, "cleanup") == 0 || strcmp(word, "__cleanup__") == 0 || strcmp(word, "__free") == 0))
            return true;
        if (is_found)
            n_behind += !myth_flow_is_one_of(word, qualifier, N_OF(qualifier));
        else if (!is_tag && is_releasing_word(ff, word)) {
            is_found = true;
            n_behind = 0;
        }
        is_tag = myth_flow_is_one_of(word, tag, N_OF(tag));
        i += n;
    }
    return is_found && n_behind >= 2; /* a type and a name */
}

/* The words that the variable is declared with: of the line in which its type begins, to the first value. */
static span specifiers_of(const myth_flow *f, uint32_t path)
{
    uint32_t from = f->path[path].type_off, to = f->path[path].type_end;
    if (to <= from || to > f->n_text)
        return (span){"", 0};
    const uint32_t most = f->n_text - to > DECLARATION ? to + DECLARATION : f->n_text;
    while (from > 0 && !strchr(";{}/\n", f->text[from - 1]))
        from--;
    while (to < most && !strchr("=;{/", f->text[to]))
        to++;
    return span_of(f, from, to);
}

bool myth_facts_is_released_by_itself(const myth_facts *k, uint32_t path)
{
    const myth_flow *f = k->flow;
    return f->roles->has_alternatives && has_releasing_word(k->file, specifiers_of(f, path));
}

void myth_file_facts_releasing(myth_file_facts *ff, const myth_flow *f)
{
    const span all = span_of(f, 0, f->n_text);
    char word[MYTH_SPAN_WORD];
    for (uint32_t at = 0; f->roles->has_alternatives && at < all.n; at++) {
        const char *hit = memchr(all.p + at, 'c', all.n - at);
        if (!hit)
            return;
        at = (uint32_t)(hit - all.p);
        if (at + 8 > all.n || memcmp(hit, "cleanup", 7) != 0)
            continue;
        uint32_t from = at;
        for (int i = 0; i < LINES; i++, from--) { /* the first of the lines that a backslash continues */
            while (from > 0 && all.p[from - 1] != '\n')
                from--;
            if (from < 2 || all.p[from - 2] != '\\')
                break;
        }
        const span line = {all.p + from, at - from};
        if (!myth_flow_is_directive(line.p, line.p + line.n, "define") ||
            !(has_text(line, "attribute") || has_text(line, "gnu::")))
            continue;
        const char *define = memchr(line.p, 'd', line.n); /* the text has no zero at its end */
        uint32_t i = define ? (uint32_t)(define - line.p) + 6 : line.n;
        while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'))
            i++;
        if (word_at(line, i, word) == 0)
            continue;
        myth_file_name *name = myth_file_facts_put(ff, word);
        if (!name)
            return;
        name->is_releasing = true;
    }
}

/* ---- functions that keep what they are given ---- */

/* Whether a name has the word between borders: at its begin or behind a sign, and no small letter behind it. */
static bool has_part(const char *name, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = name; (p = strstr(p, word)) != NULL; p += n) {
        const char before = p == name ? '_' : p[-1], after = p[n];
        const bool is_begin =
            !isalpha((unsigned char)before) || (isupper((unsigned char)*p) && islower((unsigned char)before));
        if (is_begin && !islower((unsigned char)after))
            return true;
    }
    return false;
}

bool myth_facts_takes_over(const char *name)
{
    static const char *const takes_over[] = {"add",      "append", "insert", "push",    "put",    "set",  "attach",
                                             "register", "store",  "own",    "queue",   "link",   "wrap", "enqueue",
                                             "Add",      "Insert", "Push",   "Set",     "Append", "Put",  "Attach",
                                             "Register", "ADD",    "APPEND", "PREPEND", "INSERT", "PUSH", "ENQUEUE"};
    for (size_t i = 0; i < sizeof(takes_over) / sizeof(*takes_over); i++)
        if (has_part(name, takes_over[i]))
            return true;
    return false;
}

bool myth_facts_is_given_to_new(const myth_flow *f, const myth_event *x)
{
    static const char *const makes[] = {"create", "Create", "spawn", "start", "adopt", "send", "compose"};
    bool is_new = false;
    for (size_t i = 0; i < N_OF(makes) - (x->index < 2 ? 2 : 0) && !is_new; i++)
        is_new = has_part(f->names + x->name, makes[i]);
    return is_new && !x->test && !x->is_through && !f->path[x->path].is_pointer && !f->path[x->path].is_array;
}

/* ---- the end of the process ---- */

/* Whether a call ends the process, by its name. */
static bool ends_process(const char *name)
{
    static const char *const part[] = {"exit", "abort", "fatal", "panic", "_Exit", "out_of_memory", "oom"};
    static const char *const whole[] = {"die", "err", "errx", "verr", "verrx", "xdie", "pdie", "perror_die"};
    const char *last = myth_flow_last_word(name);
    return myth_flow_has_one_of(last, part, N_OF(part)) || myth_flow_is_one_of(last, whole, N_OF(whole));
}

/* Whether the process ends in a scope that begins behind event `from`, whatever else is done there. */
static bool is_end_of_process(const myth_flow *f, uint32_t from, uint32_t scope)
{
    for (uint32_t i = from; i < f->n_event && f->event[i].off < f->scope[scope].end; i++)
        if (f->event[i].kind == MYTH_EVENT_CALL && f->event[i].scope == scope && !f->event[i].test &&
            f->event[i].off >= f->scope[scope].off && ends_process(f->names + f->event[i].name))
            return true;
    return false;
}

int myth_fact_ends(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    uint32_t d;
    if (f->event[e].kind != MYTH_EVENT_CALL || !myth_facts_taker(f, e, &d))
        return 0;
    for (uint32_t i = d + 1; i < f->n_event && i < d + NEAR; i++) {
        const myth_event *t = &f->event[i];
        if (t->path != f->event[d].path)
            continue;
        if (t->kind == MYTH_EVENT_DEFINE)
            return 0;
        if (t->kind != MYTH_EVENT_TEST || !t->test)
            continue;
        const myth_test *test = myth_facts_outermost(f, t);
        if (test->is_assert)
            return 1;
        const uint32_t gone = is_for_gone(t->how) ? test->then : is_for_there(t->how) ? test->other : 0;
        return gone != 0 && is_end_of_process(f, d, gone);
    }
    return 0;
}

bool myth_facts_never_returns(const myth_flow *f, uint32_t d)
{
    for (uint32_t i = d + 1; i < f->n_event; i++) {
        const myth_event *x = &f->event[i];
        if (x->kind == MYTH_EVENT_LEAVE && x->scope == 0 && x->index == MYTH_ROLE_NONE &&
            role_of(f, x->node) == MYTH_ROLE_CALL && !myth_flow_is_optional(f, x->off, f->event[d].off, f->end))
            return true;
    }
    return false;
}

bool myth_facts_is_behind_end(const myth_flow *f, uint32_t x)
{
    for (uint32_t i = x, n = 0; i-- > 0 && n < NEAR; n++) {
        const myth_event *end = &f->event[i];
        if (end->kind == MYTH_EVENT_LEAVE && end->scope == f->event[x].scope && end->off < f->event[x].off &&
            end->index == MYTH_ROLE_NONE && role_of(f, end->node) == MYTH_ROLE_CALL)
            return true;
    }
    return false;
}

/* ---- what is kept on purpose ---- */

bool myth_facts_is_global(const myth_flow *f, uint32_t path)
{
    const span all = span_of(f, f->off, f->end);
    for (uint32_t i = 0; i + 7 < all.n; i++) {
        const char *hit = memchr(all.p + i, 'g', all.n - i - 7);
        if (!hit)
            break;
        i = (uint32_t)(hit - all.p);
        const char *end = memchr(hit, '\n', all.n - i);
        const span names = {hit + 7, (uint32_t)((end ? end : all.p + all.n) - hit)};
        if (memcmp(hit, "global ", 7) == 0 && end && has_word((span){names.p, names.n - 7}, last_word(f, path)))
            return true;
    }
    return false;
}

/* Whether a function gives what a variable keeps that outlives it: one of the file or of an object, which it has set
 * itself, or what another such function gave. */
static bool gives_kept(const myth_file_facts *ff, const myth_flow *f, uint32_t r)
{
    const uint32_t path = f->event[r].path;
    const myth_path *p = &f->path[path];
    const bool is_own = p->type_end > p->type_off || p->is_declared;
    const bool outlives = !is_own || myth_facts_is_static(f, p);
    if (p->base != 0 || myth_flow_is_constant_name(f->names + p->text))
        return false;
    for (uint32_t i = 0; i < r; i++) {
        const myth_event *d = &f->event[i];
        if (d->kind != MYTH_EVENT_DEFINE || d->path != path || d->value != MYTH_VALUE_CALL)
            continue;
        const myth_file_name *from = myth_file_facts_find(ff, f->names + d->name);
        if (outlives || (from && from->is_keeper))
            return true;
    }
    return false;
}

void myth_file_facts_keepers(myth_file_facts *ff, const myth_flow *f)
{
    bool is_keeper = false;
    for (uint32_t i = 0; f->roles->has_alternatives && i < f->n_event && !is_keeper; i++)
        is_keeper =
            f->event[i].kind == MYTH_EVENT_RETURN && !myth_facts_nested(f, f->event[i].scope) && gives_kept(ff, f, i);
    myth_file_name *name = is_keeper ? myth_file_facts_put(ff, f->names + f->name) : NULL;
    if (name)
        name->is_keeper = true;
}

bool myth_facts_is_kept_by_callee(const myth_facts *k, uint32_t d)
{
    const myth_flow *f = k->flow;
    const bool is_result = f->event[d].kind == MYTH_EVENT_DEFINE && f->event[d].value == MYTH_VALUE_CALL;
    const myth_file_name *from = is_result ? myth_file_facts_find(k->file, f->names + f->event[d].name) : NULL;
    return from && from->is_keeper;
}

bool myth_facts_is_locked(const myth_flow *f, uint32_t a, uint32_t path)
{
    static const char *const lock[] = {"flock", "lockf", "fcntl"};
    const myth_event *arg = &f->event[a];
    if (arg->kind != MYTH_EVENT_ARG || arg->path != path || arg->index != 0 ||
        !myth_flow_is_one_of(f->names + arg->name, lock, N_OF(lock)))
        return false;
    const span s = span_of(f, f->event[arg->call].off, f->event[arg->call].end);
    const bool is_set = f->names[arg->name + 1] != 'c' || has_text(s, "SETLK");
    return is_set && !has_text(s, "LOCK_UN") && !has_text(s, "F_ULOCK");
}

/* ---- ways out on which nothing is left to do ---- */

bool myth_facts_is_failed_close(const myth_flow *f, uint32_t x)
{
    static const char *const name[] = {"close", "fclose", "pclose", "closedir"};
    const myth_scope *in = &f->scope[f->event[x].scope];
    bool is_close = false;
    if (f->event[x].kind != MYTH_EVENT_LEAVE || in->kind != MYTH_SCOPE_THEN || !in->test)
        return false;
    const myth_test *t = &f->test[in->test - 1];
    for (uint32_t i = x; i-- > 0 && f->event[i].off >= t->off;) {
        if (f->event[i].kind != MYTH_EVENT_CALL || f->event[i].off >= t->end)
            continue;
        if (!myth_flow_is_one_of(f->names + f->event[i].name, name, N_OF(name)))
            return false;
        is_close = true;
    }
    return is_close;
}

/* The hash of a value's text; 0 = it is none of the file's constants. What is below zero has one hash. */
static uint64_t hash_of_value(const myth_flow *f, TSNode node, bool is_below_zero)
{
    char text[MYTH_SPAN_TEXT];
    const span s = is_null(node) ? (span){"", 0} : node_span(f, myth_flow_inner(f, node));
    put_tight(text, s);
    if (is_below_zero)
        return strcmp(text, "0") == 0 ? myth_hash_bytes("-", 1) : 0;
    if (text[0] == '-' && isdigit((unsigned char)text[1]))
        return myth_hash_bytes("-", 1);
    const bool is_constant = isdigit((unsigned char)text[0]) || myth_flow_is_constant_name(text);
    return is_constant ? myth_hash_bytes(text, strlen(text)) : 0;
}

/* The first test of what a call gave; NULL = none is near. */
static const myth_event *test_of_call(const myth_flow *f, uint32_t call)
{
    const myth_event *c = &f->event[call];
    uint32_t d;
    const uint32_t path = myth_facts_taker(f, call, &d) ? f->event[d].path : 0;
    for (uint32_t i = call + 1; i < f->n_event && i < call + NEAR; i++) {
        const myth_event *t = &f->event[i];
        const bool is_around = t->off <= c->off && t->end >= c->end;
        if (t->kind == MYTH_EVENT_TEST && t->test && (is_around || (path && t->path == path)))
            return t;
    }
    return NULL;
}

void myth_file_facts_ended(myth_file_facts *ff, const myth_flow *f, uint32_t call)
{
    const myth_event *t = f->roles->has_alternatives ? test_of_call(f, call) : NULL;
    if (!t || (t->how != MYTH_TEST_EQUAL && t->how != MYTH_TEST_LESS) || f->test[t->test - 1].is_chain)
        return;
    const uint32_t then = f->test[t->test - 1].then;
    const uint64_t value = hash_of_value(f, child_of(f, t->node, MYTH_SLOT_RIGHT), t->how == MYTH_TEST_LESS);
    if (then == 0 || value == 0 || !is_end_of_process(f, call, then))
        return;
    myth_file_name *n = myth_file_facts_put(ff, f->names + f->event[call].name);
    if (!n)
        return;
    n->ended_on = n->n_ended == 0 || n->ended_on == value ? value : 0;
    n->n_ended++;
}

bool myth_facts_ends_callers(const myth_facts *k, uint32_t x)
{
    const myth_flow *f = k->flow;
    const myth_event *at = &f->event[x];
    if (at->kind != MYTH_EVENT_LEAVE || at->index != MYTH_ROLE_RETURN || f->off + 6 > f->n_text ||
        memcmp(f->text + f->off, "static", 6) != 0 || ts_node_named_child_count(at->node) != 1)
        return false;
    const myth_file_name *n = myth_file_facts_find(k->file, f->names + f->name);
    return n && n->n_ended > 0 && n->n_ended == n->n_tested + n->n_used && n->ended_on != 0 &&
           n->ended_on == hash_of_value(f, ts_node_named_child(at->node, 0), false);
}
