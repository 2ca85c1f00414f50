/* facts_keeper.c - who else releases or keeps what a function takes (facts.h): the compiler, where a variable's block
 * ends, an object, who it is given to, a variable of the file, or a lock that lasts. */
#define _GNU_SOURCE /* memmem */
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

/* ---- C++: objects whose destructor closes what they have ---- */

/* Notes "~T" for each destructor of the file that closes something. */
void myth_file_facts_closers(myth_file_facts *ff, const myth_flow *f)
{
    enum { BODY = 1000 };
    static const char *const closes[] = {"close", "Close", "shutdown", "release", "reset", "destroy", "cleanup"};
    const span all = span_of(f, 0, f->n_text);
    char word[MYTH_SPAN_WORD] = "~";
    for (uint32_t at = 0; f->roles->has_alternatives && at < all.n; at++) {
        const char *hit = memchr(all.p + at, '~', all.n - at);
        if (!hit)
            return;
        at = (uint32_t)(hit - all.p) + 1;
        uint32_t i = at, depth = 0;
        char name[MYTH_SPAN_WORD];
        i += word_at(all, i, name);
        if (i == at || i - at + 2 > sizeof(word))
            continue;
        while (i < all.n && i < at + BODY && all.p[i] != '{' && all.p[i] != ';' && all.p[i] != '=')
            i++;
        const uint32_t from = i;
        for (; i < all.n && i < from + BODY && all.p[from] == '{'; i++) {
            depth += all.p[i] == '{';
            depth -= all.p[i] == '}';
            if (depth == 0)
                break;
        }
        if (!has_one(span_of(f, from, i), closes, N_OF(closes)))
            continue;
        memcpy(word + 1, name, strlen(name) + 1);
        myth_file_name *is = myth_file_facts_put(ff, word);
        if (!is)
            return;
        is->is_releasing = true;
    }
}

/* Whether a word of a type is a class whose destructor closes. */
static bool has_closing_class(const myth_file_facts *ff, span type)
{
    char name[MYTH_SPAN_WORD], word[MYTH_SPAN_WORD + 1] = "~";
    for (uint32_t i = 0, n; i < type.n; i += n ? n : 1) {
        n = word_at(type, i, name);
        memcpy(word + 1, name, n + 1);
        const myth_file_name *of = n ? myth_file_facts_find(ff, word) : NULL;
        if (of && of->is_releasing)
            return true;
    }
    return false;
}

/* The word before offset i in its line; empty = something else is. */
static span word_before(span s, uint32_t i)
{
    while (i > 0 && (s.p[i - 1] == ' ' || s.p[i - 1] == '\t'))
        i--;
    uint32_t from = i;
    while (from > 0 && myth_is_word(s.p[from - 1]))
        from--;
    return (span){s.p + from, i - from};
}

/* Whether a word of a statement may be a type: T of T x(f). */
static bool is_type_word(span word)
{
    static const char *const other[] = {"return", "else",   "case",     "throw", "new",       "delete",   "goto", "do",
                                        "not",    "sizeof", "co_await", "and",   "co_return", "co_yield", "or"};
    for (size_t i = 0; i < N_OF(other); i++)
        if (word.n == strlen(other[i]) && memcmp(word.p, other[i], word.n) == 0)
            return false;
    return word.n > 0 && !isdigit((unsigned char)word.p[0]);
}

/* Where a name begins in s, from a byte on, with something behind it; s.n = nowhere. */
static uint32_t offset_of(span s, uint32_t from, const char *name)
{
    const size_t n = strlen(name);
    const char *hit = n > 0 && from + n < s.n ? memmem(s.p + from, s.n - from, name, n) : NULL;
    return hit && hit + n < s.p + s.n ? (uint32_t)(hit - s.p) : s.n;
}

/* Whether the text s declares an object with the name, of a class whose destructor closes: T x, T x(a). The parser
 * takes the second for a function's declaration, so that nothing is known of x. */
static bool declares_closing(const myth_file_facts *ff, span s, const char *name)
{
    const size_t n = strlen(name);
    for (uint32_t i = offset_of(s, 0, name); i < s.n; i = offset_of(s, i + 1, name))
        if (!myth_is_word(s.p[i + n]) && i > 0 && s.p[i - 1] <= ' ' && has_closing_class(ff, word_before(s, i)))
            return true;
    return false;
}

/* Whether the text s makes an object of a variable: T x(f), and T x(f, ...). */
static bool makes_object_of(span s, const char *name)
{
    const size_t n = strlen(name);
    for (uint32_t i = offset_of(s, 0, name); i < s.n; i = offset_of(s, i + 1, name)) {
        if (i == 0 || s.p[i - 1] != '(' || (s.p[i + n] != ')' && s.p[i + n] != ','))
            continue;
        const span object = word_before(s, i - 1);
        const uint32_t at = (uint32_t)(object.p - s.p);
        if (is_type_word(object) && at > 0 && s.p[at - 1] <= ' ' && is_type_word(word_before(s, at)))
            return true;
    }
    return false;
}

/* Whether what call e opened for definition d is closed by an object: it is one, one of which e is a method gave it, or
 * one was made of it before event `to`. */
static bool is_kept_by_object(const myth_facts *k, uint32_t e, uint32_t d, uint32_t to)
{
    enum { FAR = 1 << 14 };
    const myth_flow *f = k->flow;
    const myth_path *p = &f->path[f->event[d].path];
    const uint32_t object = f->event[e].kind == MYTH_EVENT_CALL ? root_of(f, f->event[e].path) : 0;
    if (!f->roles->has_alternatives || f->event[d].kind != MYTH_EVENT_DEFINE || !f->event[d].path)
        return false;
    const uint32_t end = to < f->n_event ? f->event[to].off : f->end, begin = f->event[d].end;
    const bool is_object = !p->is_pointer && has_closing_class(k->file, span_of(f, p->type_off, p->type_end));
    if (is_object || makes_object_of(begin_of(span_of(f, begin, end), FAR), f->names + p->text))
        return true;
    if (!object)
        return false;
    const myth_path *o = &f->path[object];
    const uint32_t from = f->event[e].off > FAR && f->event[e].off - FAR > f->off ? f->event[e].off - FAR : f->off;
    return has_closing_class(k->file, span_of(f, o->type_off, o->type_end)) ||
           declares_closing(k->file, span_of(f, from, f->event[e].off), f->names + o->text);
}

/* ---- functions that keep what they are given ---- */

bool myth_facts_has_part(const char *name, const char *word)
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
        if (myth_facts_has_part(name, takes_over[i]))
            return true;
    return false;
}

/* Go: whether a call closes what it gets: a request's body, of which net/http does so, and whoever makes something of
 * a whole answer: NewDocumentFromResponse(answer). */
static bool is_closed_by_taker(const myth_flow *f, const myth_event *x)
{
    static const char *const body[] = {"http.NewRequest", "http.NewRequestWithContext", "http.Post"};
    const char *name = f->names + x->name;
    return (myth_flow_is_one_of(name, body, N_OF(body)) && x->index >= 2) || strstr(name, "FromResponse") ||
           strstr(name, "FromHTTPResponse");
}

/* Go: whether a call makes of what it gets something that logs are written to, or a part of that. */
static bool makes_log(const char *name)
{
    static const char *const makes[] = {"io.MultiWriter",      "log.New",         "slog.New",
                                        "slog.NewTextHandler", "zapcore.AddSync", "zapcore.Lock",
                                        "slog.NewJSONHandler", "zerolog.New",     "zerolog.MultiLevelWriter"};
    return myth_flow_is_one_of(name, makes, N_OF(makes));
}

/* Whether a call keeps its arguments for all that is logged: log.SetOutput(w). */
static bool sets_log(const char *name)
{
    static const char *const sets[] = {"SetOutput", "SetDefault", "SetLogger", "SetLogOutput", "ReplaceGlobals"};
    return myth_flow_is_one_of(myth_flow_last_word(name), sets, N_OF(sets));
}

/* Whether a definition sets a variable of the package: x = f(), and nothing declares or sets x before. */
static bool is_of_package(const myth_flow *f, uint32_t d)
{
    TSNode n = ts_node_parent(f->event[d].node);
    if (!is_null(n) && strcmp(ts_node_type(n), "expression_list") == 0)
        n = ts_node_parent(n);
    if (is_null(n) || strcmp(ts_node_type(n), "assignment_statement") != 0)
        return false;
    for (uint32_t i = 0; i < d; i++)
        if (f->event[i].kind == MYTH_EVENT_DEFINE && f->event[i].path == f->event[d].path)
            return false;
    return true;
}

/* Whether the result of a call is set for all that is logged, or returned, in the statement of the call. */
static bool is_set_at_once(const myth_flow *f, uint32_t call)
{
    char callee[MYTH_SPAN_TEXT];
    TSNode node = f->event[call].node;
    for (int i = 0; i < 6 && !is_null(node); i++, node = ts_node_parent(node)) {
        const myth_role role = role_of(f, node);
        if (role == MYTH_ROLE_CALL)
            put_tight(callee, node_span(f, child_of(f, node, MYTH_SLOT_CALLEE)));
        if (role == MYTH_ROLE_RETURN || (role == MYTH_ROLE_CALL && sets_log(callee)))
            return true;
        if (role == MYTH_ROLE_ASSIGN || role == MYTH_ROLE_STATEMENT)
            break;
    }
    return false;
}

static bool is_kept_for_log(const myth_flow *f, uint32_t d, int deep);

/* Go: whether what a call makes of an argument gets all that is logged from now on: a file stays open on purpose. */
static bool is_given_to_log(const myth_flow *f, const myth_event *x, int deep)
{
    uint32_t d;
    return makes_log(f->names + x->name) && deep < 4 &&
           (is_set_at_once(f, x->call) || (myth_facts_taker(f, x->call, &d) && is_kept_for_log(f, d, deep)));
}

/* Whether a variable of the function, from event d on, is stored where it outlives the function, returned, or set for
 * all that is logged. */
static bool is_kept_for_log(const myth_flow *f, uint32_t d, int deep)
{
    const uint32_t path = f->event[d].path;
    if (f->path[path].base || is_of_package(f, d))
        return true;
    for (uint32_t i = d + 1; i < f->n_event && i < d + 4 * NEAR; i++) {
        const myth_event *x = &f->event[i];
        if ((x->kind == MYTH_EVENT_DEFINE && x->other == path && f->path[x->path].base) ||
            (x->kind == MYTH_EVENT_FIELD && x->other == path) || (x->kind == MYTH_EVENT_RETURN && x->path == path))
            return true;
        if (x->kind == MYTH_EVENT_ARG && x->path == path &&
            (sets_log(f->names + x->name) || is_given_to_log(f, x, deep + 1)))
            return true;
    }
    return false;
}

bool myth_facts_is_command(const myth_flow *f, uint32_t scope)
{
    static const char *const types[] = {" *cobra.Command", " *cli.Context", " *cli.Command", " *kingpin.ParseContext"};
    const uint32_t nested = myth_facts_nested(f, scope);
    uint32_t from = nested ? f->scope[nested].off : f->off;
    while (nested && from > f->off && f->text[from - 1] != '\n')
        from--;
    const span head = begin_of(span_of(f, from, f->end), DECLARATION);
    for (size_t i = 0; i < N_OF(types) && !f->roles->has_alternatives; i++) {
        const char *hit = memmem(head.p, head.n, types[i], strlen(types[i]));
        const char *end = memchr(head.p, '\n', head.n);
        if (hit && hit > head.p && myth_is_word(hit[-1]) && (!end || hit < end)) /* a name before: a parameter */
            return true;
    }
    return false;
}

bool myth_facts_is_given_to_new(const myth_flow *f, const myth_event *x)
{
    static const char *const makes[] = {"create", "Create", "spawn", "start", "adopt", "send", "compose"};
    bool is_new = false;
    if (!f->roles->has_alternatives && (is_closed_by_taker(f, x) || is_given_to_log(f, x, 0)))
        return true;
    for (size_t i = 0; i < N_OF(makes) - (x->index < 2 ? 2 : 0) && !is_new; i++)
        is_new = myth_facts_has_part(f->names + x->name, makes[i]);
    return is_new && !x->test && !x->is_through && !f->path[x->path].is_pointer && !f->path[x->path].is_array;
}

/* Whether a call makes something of a descriptor, by its name and since its result is used as a pointer, which has it
 * then: c->link = connectFd(fd), z = gzdopen(fd, "r"). */
static bool is_wrapped(const myth_flow *f, const myth_event *x)
{
    static const char *const of[] = {"fd", "Fd", "FD"}, *const reads[] = {"read", "get", "parse", "load", "info",
                                                                          "Read", "Get", "Parse", "Load", "Info"};
    const char *name = f->names + x->name;
    uint32_t d;
    bool is_of = strstr(name, "dopen") != NULL;
    for (size_t i = 0; i < N_OF(of); i++)
        is_of |= myth_facts_has_part(name, of[i]);
    if (!is_of || x->is_through || f->path[x->path].is_pointer || f->path[x->path].is_array ||
        myth_flow_has_one_of(name, reads, N_OF(reads)) || !myth_facts_taker(f, x->call, &d))
        return false;
    const uint32_t made = f->event[d].path;
    bool is_pointer = f->path[made].is_pointer;
    for (uint32_t p = 1; p < f->n_path && !is_pointer; p++)
        is_pointer = made && f->path[p].base == made;
    return is_pointer;
}

/* Whether the standard streams of a child get the descriptor of definition d, which becomes another program then:
 * dup2(fd, 1); execvp(...). Not where it was opened before the child was made: the parent has it, too. */
static bool is_of_child(const myth_flow *f, uint32_t d)
{
    static const char *const stream[] = {"0",
                                         "1",
                                         "2",
                                         "STDIN_FILENO",
                                         "STDOUT_FILENO",
                                         "STDERR_FILENO",
                                         "fileno(stdin)",
                                         "fileno(stdout)",
                                         "fileno(stderr)"};
    char text[MYTH_SPAN_TEXT];
    bool is_given = false;
    for (uint32_t i = d + 1, n = 0; i < f->n_event && n < MYTH_FACTS_NEAR; i++, n++) {
        const myth_event *x = &f->event[i];
        const char *name = f->names + x->name;
        if (x->kind == MYTH_EVENT_CALL && (strstr(name, "fork") || strncmp(name, "clone", 5) == 0))
            return false;
        if (x->kind == MYTH_EVENT_CALL && is_given && strncmp(name, "exec", 4) == 0)
            return true;
        if (x->kind != MYTH_EVENT_ARG || x->path != f->event[d].path || x->index != 0 || strncmp(name, "dup", 3) != 0)
            continue;
        const TSNode list = child_of(f, f->event[x->call].node, MYTH_SLOT_ARGUMENTS);
        if (!is_null(list) && ts_node_named_child_count(list) > 1) {
            put_tight(text, node_span(f, ts_node_named_child(list, 1)));
            is_given |= myth_flow_is_one_of(text, stream, N_OF(stream));
        }
    }
    return false;
}

bool myth_facts_has_keeper(const myth_facts *k, uint32_t e, uint32_t d, uint32_t to)
{
    const myth_flow *f = k->flow;
    const uint32_t path = f->event[d].path;
    if (!path || f->event[d].kind != MYTH_EVENT_DEFINE)
        return false; /* a lock */
    for (uint32_t i = d + 1; f->roles->has_alternatives && i < to && i < f->n_event; i++)
        if (f->event[i].kind == MYTH_EVENT_ARG && f->event[i].path == path && is_wrapped(f, &f->event[i]))
            return true;
    return is_kept_by_object(k, e, d, to) || (f->roles->has_alternatives && is_of_child(f, d));
}

/* The last call before event x, in its block and behind event d, that gets the path by its value; 0 = none. */
static uint32_t last_taker(const myth_flow *f, uint32_t d, uint32_t x, uint32_t path)
{
    for (uint32_t i = x, n = 0; i-- > d + 1 && n < NEAR; n++)
        if (f->event[i].kind == MYTH_EVENT_ARG && f->event[i].path == path && !f->event[i].is_through &&
            f->event[f->event[i].call].scope == f->event[x].scope)
            return f->event[i].call;
    return 0;
}

/* Whether the path is released in a scope that leaves, or behind the label for which it leaves. */
static bool is_releasing_scope(const myth_facts *k, uint32_t s, uint32_t path)
{
    const myth_flow *f = k->flow;
    const myth_scope *in = &f->scope[s];
    for (uint32_t i = 0, n = 0; i < f->n_event && n < MYTH_FACTS_NEAR && in->leaves != MYTH_LEAVES_NOT; i++) {
        n += f->event[i].off >= in->off;
        const bool is_in = f->event[i].off >= in->off && f->event[i].end <= in->end,
                   is_behind = in->leaves == MYTH_LEAVES_TO_LABEL && in->label_off && f->event[i].off > in->label_off;
        if ((is_in || is_behind) && myth_facts_releases(k, i, path))
            return true;
    }
    return false;
}

bool myth_facts_is_taken_where_well(const myth_facts *k, uint32_t d, uint32_t x)
{
    const myth_flow *f = k->flow;
    const bool is_kept = f->event[d].kind == MYTH_EVENT_DEFINE; /* and no lock */
    const uint32_t path = f->event[d].path, taker = is_kept && path ? last_taker(f, d, x, path) : 0;
    uint32_t failed = 0; /* the last branch before x in its block */
    bool is_usual = false;
    for (uint32_t i = d + 1; taker && i < f->n_event && !is_usual; i++)
        is_usual = f->event[i].kind == MYTH_EVENT_ARG && f->event[i].path == path && f->event[i].call != taker &&
                   myth_facts_takes_over(f->names + f->event[i].name);
    for (uint32_t s = 1; is_usual && s < f->n_scope && f->scope[s].off < f->event[x].off; s++)
        if (f->scope[s].kind == MYTH_SCOPE_THEN && f->scope[s].parent == f->event[x].scope &&
            f->scope[s].off > f->event[taker].off && f->scope[s].end <= f->event[x].off)
            failed = s;
    for (uint32_t i = taker + 1; failed && i < x; i++)
        if (f->event[i].kind == MYTH_EVENT_CALL && f->event[i].off >= f->scope[failed].end)
            return false;
    return failed && is_releasing_scope(k, failed, path);
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

/* Whether a result only says how the call went, which gives what it opens through an address: it is compared with zero,
 * which a descriptor is not: if ((res = lib_open(dev, &handle)) != 0). */
bool myth_facts_is_told_beside(const myth_flow *f, uint32_t call, uint32_t d)
{
    static const char *const number[] = {"int", "long", "unsigned", "bool", "gint", "gboolean", "BOOL", "int32_t"};
    const uint32_t path = f->event[d].path;
    const span type = span_of(f, f->path[path].type_off, f->path[path].type_end);
    bool has_address = false, is_number = false;
    for (size_t i = 0; i < N_OF(number); i++)
        is_number |= has_word(type, number[i]);
    for (uint32_t i = call + 1; i < f->n_event && i < call + NEAR && f->event[i].off < f->event[call].end; i++)
        has_address |= f->event[i].kind == MYTH_EVENT_ARG && f->event[i].call == call && f->event[i].is_through;
    if (!has_address || f->path[path].is_pointer || !is_number)
        return false;
    for (uint32_t i = call; i < f->n_event && i < d + NEAR; i++) {
        const myth_event *t = &f->event[i];
        if (t->kind != MYTH_EVENT_TEST || t->path != path)
            continue;
        const TSNode right = child_of(f, t->node, MYTH_SLOT_RIGHT);
        const bool is_zero = !is_null(right) && myth_flow_text_is(f, right, "0");
        return (is_zero && (t->how == MYTH_TEST_EQUAL || t->how == MYTH_TEST_NOT_EQUAL)) || t->how == MYTH_TEST_TRUE ||
               t->how == MYTH_TEST_FALSE;
    }
    return false;
}

/* ---- tests by a function ---- */

bool myth_facts_is_asserted(const myth_flow *f, const myth_event *t)
{
    const myth_test *test = myth_facts_outermost(f, t);
    const span s = span_of(f, test->off, test->end);
    char word[MYTH_SPAN_WORD];
    uint32_t i = 0;
    while (i < s.n && (isspace((unsigned char)s.p[i]) || s.p[i] == '('))
        i++;
    if (i >= s.n || s.p[i] != '!' || !t->path)
        return false;
    const uint32_t n = word_at(s, ++i, word);
    const char *name = f->names + f->path[t->path].text;
    const uint32_t at = i + n + 1, m = (uint32_t)strlen(name);
    return n > 0 && (strstr(word, "assert") || strstr(word, "ASSERT")) && at + m < s.n && s.p[at - 1] == '(' &&
           memcmp(s.p + at, name, m) == 0 && strchr(",)", s.p[at + m]);
}
