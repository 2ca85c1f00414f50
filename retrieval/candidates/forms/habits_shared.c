/* habits_shared.c - members of a class that its functions use under a lock, and that one function uses without it
 * (habits.c).
 *
 * File    read once: which function of a class does what with which member, and whether a lock is held there. What
 *         other functions do shows that the lock is meant for the member
 * Quiet   a function that speaks of a lock anywhere, or is called where one is held; one that is private, whose callers
 *         know when it may be called; one that makes, opens or ends the object
 * Limits  SHARED_FUNCTIONS and SHARED_USES of a file; what follows is not read */
#include "habits.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { SHARED_FUNCTIONS = 1024, SHARED_USES = 8192, SHARED_CALLS = 8192, SHARED_NAME = 64, SHARED_DEEP = 300 };

typedef enum { USE_OTHER, USE_READ, USE_EACH, USE_CHANGED } shared_how;

typedef struct {
    char class_name[SHARED_NAME], name[SHARED_NAME];
    TSNode node;
    bool is_private, is_quiet, is_called_locked;
} shared_function;

typedef struct {
    char member[SHARED_NAME];
    uint32_t function, line;
    TSNode node;
    uint8_t how;
    bool is_locked;
} shared_use;

typedef struct {
    char name[SHARED_NAME];
    uint32_t function;
    bool is_locked;
} shared_call;

/* Of the file that is read: the process has one thread. */
static shared_function function[SHARED_FUNCTIONS];
static shared_use used[SHARED_USES];
static shared_call called[SHARED_CALLS];
static uint32_t n_function, n_used, n_called;
static uint32_t place[64], n_place; /* numbers of uses */

typedef enum { IN_CPP, IN_JAVA, IN_GO, IN_PYTHON } shared_language;

typedef struct {
    const myth_flow *f;
    shared_language in;
    char class_name[SHARED_NAME], self[SHARED_NAME];
    uint32_t function; /* 1 + its number; 0 = none */
} reading;

/* ---- words ---- */

static bool find_text(const myth_flow *f, uint32_t from, uint32_t end, const char *want)
{
    const size_t n = strlen(want);
    for (uint32_t i = from; i + n <= end && i + n <= f->n_text; i++) {
        size_t k = 0;
        while (k < n && tolower((unsigned char)f->text[i + k]) == want[k])
            k++;
        if (k == n)
            return true;
    }
    return false;
}

static bool speaks(const myth_flow *f, TSNode node, const char *const *words, size_t n)
{
    for (size_t i = 0; !is_null(node) && i < n; i++)
        if (find_text(f, ts_node_start_byte(node), ts_node_end_byte(node), words[i]))
            return true;
    return false;
}

static bool short_text(const myth_flow *f, TSNode node, char dst[SHARED_NAME])
{
    return myth_habit_text(f, node, dst, SHARED_NAME);
}

/* ---- where a lock is held ---- */

static bool is_taking(const reading *r, TSNode statement)
{
    static const char *const guards[] = {"lock_guard", "scoped_lock", "unique_lock", "shared_lock",
                                         "locker",     "mutexlock",   "scopedlock",  "lockguard",
                                         "autolock",   "writelock",   "readlock"};
    static const char *const ends[] = {
        ".lock()",       ".Lock()", ".RLock()", ".lock();", "->lock()", ".acquire()", ".lockInterruptibly()",
        ".lock_shared()"};
    char text[2 * MYTH_HABIT_TEXT];
    if (r->in == IN_CPP && (is_type(statement, "declaration")))
        return speaks(r->f, field_of(statement, "type"), guards, sizeof(guards) / sizeof(*guards));
    if (!is_type(statement, "expression_statement") || !myth_habit_text(r->f, statement, text, sizeof(text)))
        return false;
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        if (strstr(text, ends[i]))
            return true;
    return strstr(text, "mutex_lock(") || strstr(text, "_LOCK(") || strstr(text, "mutexLock(");
}

static bool is_giving(const reading *r, TSNode statement)
{
    char text[2 * MYTH_HABIT_TEXT];
    return is_type(statement, "expression_statement") && myth_habit_text(r->f, statement, text, sizeof(text)) &&
           (strstr(text, "nlock(") || strstr(text, "nlock_shared(") || strstr(text, ".release()") ||
            strstr(text, "NLOCK("));
}

static bool is_lock_word(const myth_flow *f, TSNode node)
{
    static const char *const words[] = {"lock", "mutex", "cond", "sem", "monitor"};
    return speaks(f, node, words, sizeof(words) / sizeof(*words));
}

/* ---- what is done with a member ---- */

static const char *const changing[] = {"push_back",
                                       "emplace_back",
                                       "insert",
                                       "erase",
                                       "emplace",
                                       "clear",
                                       "pop_back",
                                       "push_front",
                                       "pop_front",
                                       "push",
                                       "pop",
                                       "append",
                                       "remove",
                                       "add",
                                       "put",
                                       "putAll",
                                       "addAll",
                                       "removeAll",
                                       "removeIf",
                                       "addFirst",
                                       "addLast",
                                       "removeFirst",
                                       "removeLast",
                                       "offer",
                                       "poll",
                                       "putIfAbsent",
                                       "extend",
                                       "popitem",
                                       "setdefault",
                                       "discard",
                                       "update",
                                       "popleft",
                                       "appendleft",
                                       "computeIfAbsent",
                                       "takeFirst",
                                       "takeLast",
                                       "prepend",
                                       "removeOne",
                                       "insert_or_assign",
                                       "try_emplace"};
static const char *const looking[] = {"find", "contains",     "containsKey",   "get",   "count",
                                      "at",   "getOrDefault", "containsValue", "value", "indexOf"};
static const char *const parts[] = {"items", "values", "keys", "entrySet", "keySet", "stream", "iterator", "forEach"};

static bool is_of(const char *name, const char *const *list, size_t n) { return myth_flow_is_one_of(name, list, n); }
#define IS_ONE(name, list) is_of(name, list, sizeof(list) / sizeof(*(list)))

/* Copies made of a collection go over it, too: list(x), sorted(x.items()). */
static shared_how use_of(const reading *r, TSNode node)
{
    char name[SHARED_NAME];
    TSNode at = node, up = ts_node_parent(node), method, arguments;
    bool is_part = false;
    for (int i = 0; i < 8 && !is_null(up); i++, at = up, up = ts_node_parent(up)) {
        const char *type = ts_node_type(up);
        if (strcmp(type, "for_range_loop") == 0 || strcmp(type, "enhanced_for_statement") == 0 ||
            strcmp(type, "range_clause") == 0 || strcmp(type, "for_statement") == 0 ||
            strcmp(type, "for_in_clause") == 0) {
            const TSNode right = field_of(up, "right"), value = field_of(up, "value");
            return (!is_null(right) && ts_node_eq(right, at)) || (!is_null(value) && ts_node_eq(value, at)) ? USE_EACH
                                                                                                            : USE_OTHER;
        }
        if (strcmp(type, "delete_statement") == 0)
            return i > 0 && is_type(at, "subscript") ? USE_CHANGED : USE_OTHER;
        if (is_call(up)) {
            const TSNode object = myth_habit_receiver(up, &method, &arguments);
            if (is_null(method) || !short_text(r->f, method, name))
                return USE_OTHER;
            if (!is_null(object) && ts_node_eq(object, at)) { /* Java's has no member between */
                if (IS_ONE(name, changing))
                    return is_part ? USE_OTHER : USE_CHANGED;
                if (IS_ONE(name, looking))
                    return is_part ? USE_OTHER : USE_READ;
                if (!IS_ONE(name, parts))
                    return USE_OTHER;
                is_part = true;
                if (strcmp(name, "forEach") == 0 || strcmp(name, "stream") == 0)
                    return USE_EACH;
                continue;
            }
            return USE_OTHER;
        }
        if (is_type(up, "argument_list")) {
            const TSNode call = ts_node_parent(up);
            if (!is_call(call) || !short_text(r->f, field_of(call, "function"), name))
                return USE_OTHER;
            if (r->in == IN_GO && strcmp(name, "delete") == 0)
                return ts_node_eq(ts_node_named_child(up, 0), at) ? USE_CHANGED : USE_OTHER;
            return r->in == IN_PYTHON && is_part && (strcmp(name, "sorted") == 0 || strcmp(name, "sum") == 0)
                     ? USE_EACH
                     : USE_OTHER;
        }
        const myth_role role = role_of(r->f, up);
        if (role == MYTH_ROLE_INDEX) {
            if (!ts_node_eq(ts_node_named_child(up, 0), at))
                return USE_OTHER;
            const TSNode over = ts_node_parent(up);
            const bool is_set = (role_of(r->f, over) == MYTH_ROLE_ASSIGN || role_of(r->f, over) == MYTH_ROLE_CHANGE ||
                                 is_type(over, "expression_list")) &&
                                !is_null(ts_node_named_child(over, 0)) && ts_node_eq(ts_node_named_child(over, 0), up);
            const TSNode top = is_type(over, "expression_list") ? ts_node_parent(over) : over;
            const TSNode left = field_of(top, "left");
            const TSNode made = field_of(over, "declarator");
            if (is_type(over, "delete_statement") ||
                (r->in == IN_CPP && is_type(over, "init_declarator") && is_type(made, "reference_declarator")))
                return USE_CHANGED; /* T &x = map[key] makes an element */
            if (!is_set)
                return USE_READ;
            if (is_type(top, "inc_statement") || is_type(top, "update_expression"))
                return USE_CHANGED;
            return !is_null(left) && (ts_node_eq(left, over) || ts_node_eq(left, up)) ? USE_CHANGED : USE_READ;
        }
        if (role == MYTH_ROLE_MEMBER) {
            /* the method of a call: what is asked is the call above */
            const TSNode over = ts_node_parent(up);
            if (!is_call(over) || !ts_node_eq(field_of(over, "function"), up))
                return USE_OTHER;
            myth_habit_receiver(over, &method, &arguments);
            if (!short_text(r->f, method, name))
                return USE_OTHER;
            if (IS_ONE(name, changing))
                return is_part ? USE_OTHER : USE_CHANGED;
            if (IS_ONE(name, looking))
                return is_part ? USE_OTHER : USE_READ;
            if (!IS_ONE(name, parts))
                return USE_OTHER;
            is_part = true;
            up = over;
            continue;
        }
        return USE_OTHER;
    }
    return USE_OTHER;
}

/* The member of the object itself that a node names; false = none. */
static bool member_of(const reading *r, TSNode node, char dst[SHARED_NAME])
{
    char base[SHARED_NAME];
    if (r->in == IN_PYTHON || r->in == IN_GO) {
        const bool is_go = r->in == IN_GO;
        return is_type(node, is_go ? "selector_expression" : "attribute") &&
               short_text(r->f, field_of(node, is_go ? "operand" : "object"), base) && r->self[0] &&
               strcmp(base, r->self) == 0 && short_text(r->f, field_of(node, is_go ? "field" : "attribute"), dst);
    }
    const TSNode up = ts_node_parent(node);
    if (is_type(node, "field_access") || is_type(node, "field_expression")) {
        const TSNode object = is_type(node, "field_access") ? field_of(node, "object") : field_of(node, "argument");
        return is_type(object, "this") && short_text(r->f, field_of(node, "field"), dst);
    }
    if (!is_type(node, "identifier") || !short_text(r->f, node, dst))
        return false;
    if (is_type(up, "field_access") && ts_node_eq(field_of(up, "field"), node))
        return false;
    if (is_type(up, "method_invocation") && ts_node_eq(field_of(up, "name"), node))
        return false;
    return !isupper((unsigned char)dst[0]);
}

static void put_use(reading *r, TSNode node, bool is_locked)
{
    shared_use u = {.function = r->function - 1, .is_locked = is_locked, .node = node, .line = line_of(node)};
    if (n_used == SHARED_USES || !member_of(r, node, u.member))
        return;
    u.how = (uint8_t)use_of(r, node);
    if (u.how != USE_OTHER)
        used[n_used++] = u;
}

static void put_call(reading *r, TSNode call, bool is_locked)
{
    TSNode method, arguments;
    shared_call c = {.function = r->function - 1, .is_locked = is_locked};
    myth_habit_receiver(call, &method, &arguments);
    if (n_called < SHARED_CALLS && !is_null(method) && short_text(r->f, method, c.name))
        called[n_called++] = c;
}

/* ---- the file ---- */

static bool is_quiet_name(const char *name)
{
    static const char *const words[] = {"lock",    "init",   "setup",    "test",    "unsafe",   "debug",
                                        "dump",    "destr",  "start",    "open",    "tostring", "string",
                                        "clone",   "create", "shutdown", "stop",    "close",    "finish",
                                        "cleanup", "load",   "destroy",  "dispose", "teardown", "restore"};
    char low[SHARED_NAME];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof(low); n++)
        low[n] = (char)tolower((unsigned char)name[n]);
    low[n] = '\0';
    return n == 0 || low[0] == '~' || strncmp(low, "__", 2) == 0 ||
           myth_flow_has_one_of(low, words, sizeof(words) / sizeof(*words));
}

/* The same of the code of a node, without its comments. */
static bool speaks_in_code(const myth_flow *f, TSNode node, const char *const *words, size_t n, int deep)
{
    const uint32_t n_child = ts_node_named_child_count(node);
    if (strstr(ts_node_type(node), "comment"))
        return false;
    if (n_child == 0 || deep > SHARED_DEEP)
        return speaks(f, node, words, n);
    for (uint32_t i = 0; i < n_child; i++)
        if (speaks_in_code(f, ts_node_named_child(node, i), words, n, deep + 1))
            return true;
    return false;
}

/* Whether a function, or the comment before it, speaks of locks: somebody thought of how it is called. */
static bool is_aware(const myth_flow *f, TSNode node)
{
    static const char *const words[] = {"lock", "mutex", "synchron", "atomic", "guard", "acquire", "not thread"};
    TSNode before = ts_node_prev_named_sibling(node);
    if (speaks_in_code(f, node, words, sizeof(words) / sizeof(*words), 0))
        return true;
    for (int i = 0; i < 12 && !is_null(before) && strstr(ts_node_type(before), "comment"); i++) {
        if (speaks(f, before, words, sizeof(words) / sizeof(*words)))
            return true;
        before = ts_node_prev_named_sibling(before);
    }
    return false;
}

/* The name of a function and of its class: of C++ also what stands before ::. */
static void name_function(reading *r, TSNode node, shared_function *out)
{
    TSNode name = field_of(node, "name");
    char text[2 * MYTH_HABIT_TEXT];
    snprintf(out->class_name, sizeof(out->class_name), "%s", r->class_name);
    if (r->in == IN_CPP) {
        TSNode d = field_of(node, "declarator");
        for (int i = 0; i < 6 && !is_null(d) && !is_type(d, "function_declarator"); i++) {
            const TSNode next = field_of(d, "declarator");
            d = is_null(next) ? ts_node_named_child(d, 0) : next;
        }
        name = field_of(d, "declarator");
        if (!is_null(name) && myth_habit_text(r->f, name, text, sizeof(text)) && strstr(text, "::")) {
            char *last = text;
            for (char *p = strstr(text, "::"); p; p = strstr(p + 2, "::"))
                last = p;
            snprintf(out->name, sizeof(out->name), "%.*s", SHARED_NAME - 1, last + 2);
            *last = '\0';
            snprintf(out->class_name, sizeof(out->class_name), "%.*s", SHARED_NAME - 1, text);
            return;
        }
    }
    if (r->in == IN_GO) {
        const TSNode list = field_of(node, "receiver");
        const TSNode receiver = is_null(list) ? list : ts_node_named_child(list, 0);
        out->class_name[0] = '\0';
        if (!is_null(receiver) && short_text(r->f, field_of(receiver, "type"), out->class_name))
            short_text(r->f, field_of(receiver, "name"), r->self);
        if (out->class_name[0] == '*')
            memmove(out->class_name, out->class_name + 1, strlen(out->class_name));
    }
    if (r->in == IN_PYTHON)
        snprintf(r->self, sizeof(r->self), "self");
    if (is_null(name) || !short_text(r->f, name, out->name))
        out->name[0] = '\0';
}

static bool is_private(const reading *r, TSNode node, const char *name)
{
    if (r->in == IN_GO)
        return islower((unsigned char)name[0]);
    if (r->in == IN_PYTHON)
        return name[0] == '_';
    const TSNode body = field_of(node, "body");
    const uint32_t end = is_null(body) ? ts_node_end_byte(node) : ts_node_start_byte(body);
    return r->in == IN_JAVA && (find_text(r->f, ts_node_start_byte(node), end, "private") ||
                                !find_text(r->f, ts_node_start_byte(node), end, "public"));
}

static void read_node(reading *r, TSNode node, bool is_locked, int deep);

static void read_children(reading *r, TSNode node, bool is_locked, int deep)
{
    const bool is_block = role_of(r->f, node) == MYTH_ROLE_BLOCK;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
        const TSNode child = ts_node_named_child(node, i);
        if (is_block && is_giving(r, child))
            is_locked = false;
        else if (is_block && is_taking(r, child))
            is_locked = true;
        read_node(r, child, is_locked, deep + 1);
    }
}

static void read_function(reading *r, TSNode node, int deep)
{
    const TSNode body = field_of(node, "body");
    reading inner = *r;
    if (n_function == SHARED_FUNCTIONS || is_null(body))
        return;
    shared_function *fn = &function[n_function++];
    memset(fn, 0, sizeof(*fn));
    fn->node = node;
    name_function(&inner, node, fn);
    inner.function = n_function;
    fn->is_private = is_private(r, node, fn->name);
    fn->is_quiet = is_quiet_name(fn->name) || is_aware(r->f, node) || is_type(node, "constructor_declaration") ||
                   strcmp(fn->name, fn->class_name) == 0;
    const bool is_locked =
        r->in == IN_JAVA && find_text(r->f, ts_node_start_byte(node), ts_node_start_byte(body), "synchronized ");
    read_node(&inner, body, is_locked, deep + 1);
}

static void read_node(reading *r, TSNode node, bool is_locked, int deep)
{
    const char *type = ts_node_type(node);
    if (deep > SHARED_DEEP)
        return;
    if (!r->function && (strcmp(type, "class_definition") == 0 || strcmp(type, "class_declaration") == 0 ||
                         strcmp(type, "class_specifier") == 0 || strcmp(type, "struct_specifier") == 0)) {
        reading inner = *r;
        if (short_text(r->f, field_of(node, "name"), inner.class_name))
            read_children(&inner, node, false, deep);
        return;
    }
    if (role_of(r->f, node) == MYTH_ROLE_FUNCTION && !r->function) {
        read_function(r, node, deep);
        return;
    }
    if (r->function) {
        put_use(r, node, is_locked);
        if (is_call(node))
            put_call(r, node, is_locked);
        if (strcmp(type, "with_statement") == 0 && is_lock_word(r->f, ts_node_named_child(node, 0)))
            is_locked = true;
        if (strcmp(type, "synchronized_statement") == 0)
            is_locked = true;
    }
    read_children(r, node, is_locked, deep);
}

/* Functions that are called where a lock is held, or by such functions. */
static void settle(void)
{
    for (int round = 0; round < 4; round++)
        for (uint32_t c = 0; c < n_called; c++)
            for (uint32_t i = 0; i < n_function; i++) {
                const shared_function *by = &function[called[c].function];
                if (strcmp(function[i].name, called[c].name) != 0 || i == called[c].function)
                    continue;
                function[i].is_called_locked |= called[c].is_locked || by->is_called_locked;
            }
}

/* Whether a word of the function is the member's name for something of its own. */
static bool is_shadowed(const myth_flow *f, TSNode node, const char *member, int deep)
{
    char name[SHARED_NAME];
    static const char *const types[] = {"variable_declarator",   "formal_parameter",     "init_declarator",
                                        "parameter_declaration", "for_range_loop",       "enhanced_for_statement",
                                        "declaration",           "reference_declarator", "pointer_declarator"};
    if (deep > SHARED_DEEP)
        return true;
    if (IS_ONE(ts_node_type(node), types))
        for (int i = 0; i < 2; i++) {
            const TSNode of = field_of(node, i ? "declarator" : "name");
            if (!is_null(of) && short_text(f, of, name) && strcmp(name, member) == 0)
                return true;
        }
    if (is_type(node, "reference_declarator") && short_text(f, ts_node_named_child(node, 0), name) &&
        strcmp(name, member) == 0)
        return true;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (is_shadowed(f, ts_node_named_child(node, i), member, deep + 1))
            return true;
    return false;
}

/* Java and C++: the text of the member's declaration in the file; a null span where there is none. */
static bool find_declared(const myth_flow *f, TSNode node, const char *member, char type[256], int deep)
{
    char name[SHARED_NAME];
    if (deep > 12 || role_of(f, node) == MYTH_ROLE_FUNCTION)
        return false;
    if (is_type(node, "field_declaration")) {
        for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
            TSNode of = ts_node_named_child(node, i);
            if (is_type(of, "variable_declarator"))
                of = field_of(of, "name");
            if (short_text(f, of, name) && strcmp(name, member) == 0) {
                uint32_t n = ts_node_end_byte(node) - ts_node_start_byte(node);
                n = n < 254 ? n : 254;
                type[0] = ' ';
                memcpy(type + 1, f->text + ts_node_start_byte(node), n);
                type[n + 1] = '\0';
                return true;
            }
        }
        return false;
    }
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (find_declared(f, ts_node_named_child(node, i), member, type, deep + 1))
            return true;
    return false;
}

/* Whether the member's declaration says that it is a collection, and none that needs no lock. */
static bool is_plain_collection(const reading *r, TSNode root, const char *member)
{
    char set[SHARED_NAME + 16];
    static const char *const collections[] = {"map<",   "vector<", "list<",  "set<",     "deque<", "queue<",
                                              "QHash<", "QMap<",   "QList<", "QVector<", "QSet<"};
    static const char *const of_java[] = {
        " Map<",        " HashMap<",       " TreeMap<",    " LinkedHashMap<", " List<",    " ArrayList<",
        " LinkedList<", " Set<",           " HashSet<",    " TreeSet<",       " Queue<",   " Deque<",
        " ArrayDeque<", " PriorityQueue<", " Collection<", " SortedMap<",     " EnumMap<", " LinkedHashSet<"};
    static const char *const safe[] = {"Concurrent",   "CopyOnWrite", "Blocking",     "atomic",  "Atomic",
                                       "synchronized", "ThreadLocal", "thread_local", "GUARDED", "Vector<",
                                       "Hashtable",    "volatile",    "Immutable",    "Cache"};
    char type[256];
    if (r->in == IN_GO || r->in == IN_PYTHON)
        return true;
    if (!find_declared(r->f, root, member, type, 0))
        return r->in == IN_CPP && (member[strlen(member) - 1] == '_' || strncmp(member, "m_", 2) == 0);
    snprintf(set, sizeof(set), "%.60s = ", member);
    for (uint32_t i = 0, n = (uint32_t)strlen(set); r->in == IN_JAVA && i + n + 80 < r->f->n_text; i++) {
        char value[81];
        if (r->f->text[i] != set[0] || memcmp(r->f->text + i, set, n) != 0)
            continue;
        memcpy(value, r->f->text + i + n, 80);
        value[80] = '\0';
        if (myth_flow_has_one_of(value, safe, sizeof(safe) / sizeof(*safe)))
            return false;
    }
    const bool is_one = r->in == IN_JAVA
                          ? myth_flow_has_one_of(type, of_java, sizeof(of_java) / sizeof(*of_java))
                          : myth_flow_has_one_of(type, collections, sizeof(collections) / sizeof(*collections));
    return is_one && !myth_flow_has_one_of(type, safe, sizeof(safe) / sizeof(*safe));
}

static bool is_same_member(const shared_use *a, const shared_use *b)
{
    return strcmp(a->member, b->member) == 0 &&
           strcmp(function[a->function].class_name, function[b->function].class_name) == 0;
}

/* Whether other functions show that a lock is meant for what this use is of. */
static bool is_meant_locked(uint32_t u)
{
    uint32_t n_locked = 0, n_open = 0, last = UINT32_MAX;
    bool is_changed = false, is_locked_here = false;
    for (uint32_t i = 0; i < n_used; i++) {
        const shared_use *v = &used[i];
        if (!is_same_member(&used[u], v))
            continue;
        is_locked_here |= v->function == used[u].function && v->is_locked;
        const shared_function *fn = &function[v->function];
        if (v->is_locked) {
            is_changed |= v->how == USE_CHANGED || v->how == USE_READ;
            n_locked += v->function != last;
        } else if (!fn->is_quiet && !fn->is_called_locked)
            n_open += v->function != last;
        last = v->function;
    }
    return !is_locked_here && is_changed && n_locked >= 2 && 2 * n_open <= n_locked;
}

/* Whether a member is changed somewhere under a lock: an element is set, added or removed. */
static bool is_changed_locked(uint32_t u)
{
    for (uint32_t i = 0; i < n_used; i++)
        if (used[i].is_locked && used[i].how == USE_CHANGED && is_same_member(&used[u], &used[i]))
            return true;
    return false;
}

void myth_habit_shared_file(const myth_roles *roles, const char *text, uint32_t n, TSNode root, bool is_cpp)
{
    const myth_flow f = {.roles = roles, .text = text, .n_text = n, .names = (char *)(uintptr_t) ""};
    static const char *const checked[] = {"guarded_by(", "requires(", "exclusive_locks_required", "sanitizer"};
    reading r = {.f = &f,
                 .in = is_cpp               ? IN_CPP
                     : myth_habit_is_java() ? IN_JAVA
                     : myth_habit_is_go()   ? IN_GO
                                            : IN_PYTHON};
    n_function = n_used = n_called = n_place = 0;
    if (!is_lock_word(&f, root) && !find_text(&f, 0, n, "synchronized"))
        return;
    for (size_t i = 0; is_cpp && i < sizeof(checked) / sizeof(*checked); i++)
        if (find_text(&f, 0, n, checked[i]))
            return; /* the compiler looks */
    read_node(&r, root, false, 0);
    settle();
    for (uint32_t u = 0; u < n_used && n_place < sizeof(place) / sizeof(*place); u++) {
        const shared_function *fn = &function[used[u].function];
        if (used[u].is_locked || fn->is_quiet || fn->is_called_locked || fn->is_private)
            continue;
        if (r.in == IN_PYTHON && used[u].how != USE_EACH)
            continue; /* one step of a list or dictionary cannot be divided there */
        if (!is_meant_locked(u) || !is_changed_locked(u) || !is_plain_collection(&r, root, used[u].member) ||
            ((is_cpp || r.in == IN_JAVA) && is_shadowed(&f, fn->node, used[u].member, 0)))
            continue;
        bool is_new = true; /* the first of a member and function is enough */
        for (uint32_t i = 0; i < n_place; i++)
            is_new &= used[place[i]].function != used[u].function || !is_same_member(&used[place[i]], &used[u]);
        if (is_new)
            place[n_place++] = u;
    }
}

void myth_habit_shared(myth_flow *f)
{
    for (uint32_t i = 0; i < n_place && !f->is_file; i++) {
        const shared_use *u = &used[place[i]];
        uint32_t line = 0;
        if (ts_node_start_byte(u->node) < f->off || ts_node_end_byte(u->node) > f->end)
            continue;
        for (uint32_t v = 0; v < n_used && !line; v++)
            if (used[v].is_locked && used[v].how == USE_CHANGED && is_same_member(u, &used[v]))
                line = used[v].line;
        myth_misuse_put(f, MYTH_MISUSE_UNLOCKED, u->node, u->node, line);
    }
}
