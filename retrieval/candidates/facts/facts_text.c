/* facts_text.c - facts about the source of an event: names, texts, what looks like a secret (facts.h). */
#define _GNU_SOURCE /* memmem */
#include "facts_span.h"

#include <stdio.h>

TSNode myth_facts_value_node(const myth_flow *f, const myth_event *e)
{
    TSNode value = {0}, n = e->node;
    if (e->kind == MYTH_EVENT_FIELD)
        value = value_of_pair(f, n);
    for (int i = 0; i < 4 && !ts_node_is_null(n) && ts_node_is_null(value); i++, n = ts_node_parent(n))
        value = myth_roles_child(f->roles, n, MYTH_SLOT_RIGHT);
    return ts_node_is_null(value) ? value : myth_flow_inner(f, value); /* Go: a list of one */
}

/* Whether a text names something instead of being it: a setting, a kind of token, a variable of the environment. */
static bool is_name_of_secret(const char *low)
{
    static const char *const word[] = {"pass", "token", "secret", "key", "auth", "pwd", "login", "user", "header"};
    return myth_flow_has_one_of(low, word, sizeof(word) / sizeof(*word));
}

enum { SECRET_NO, SECRET_YES, SECRET_SURE };

int myth_fact_secret(myth_facts *k, uint32_t e)
{
    static const char *const mark[] = {"example",     "changeme", "xxx",      "your", "test", "dummy",
                                       "placeholder", "secret",   "password", "none", "null"};
    const myth_flow *f = k->flow;
    const TSNode value = myth_facts_value_node(f, myth_facts_event(k, e));
    if (ts_node_is_null(value) || myth_roles_of(f->roles, value) != MYTH_ROLE_TEXT)
        return SECRET_NO;
    const uint32_t off = ts_node_start_byte(value), end = ts_node_end_byte(value);
    if (off > 0 && (f->text[off - 1] == '[' || f->text[off - 1] == '{')) /* a list of one, of names */
        return SECRET_NO;
    char low[128];
    uint32_t m = 0, n_letter = 0, n_digit = 0, n_other = 0, n_new = 0;
    for (uint32_t i = off; i < end && i < f->n_text && m + 1 < sizeof(low); i++) {
        const unsigned char c = (unsigned char)f->text[i];
        if (c == ' ' || c == '<' || c == '{' || c == '$' || c == '%' || c == '\n' || c == '/')
            return SECRET_NO;
        low[m++] = (char)tolower(c);
        n_letter += isalpha(c) != 0;
        n_digit += isdigit(c) != 0;
        n_other += c == '.' || c == ':' || c == '_' || c == '-';
        n_new += m > 1 && low[m - 1] != low[m - 2];
    }
    low[m] = '\0';
    if (end - off < 8 || n_letter + n_digit < 6 || n_new < 5) /* with its quotes */
        return SECRET_NO;
    for (size_t i = 0; i < sizeof(mark) / sizeof(*mark); i++)
        if (strstr(low, mark[i]) && strlen(mark[i]) + 6 > m)
            return SECRET_NO;
    if (n_digit < 2 && (n_other > 0 || is_name_of_secret(low)))
        return SECRET_NO;
    return n_letter > 2 && n_digit > 1 ? SECRET_SURE : SECRET_YES;
}

/* ---- where a secret is used ---- */

/* The source of the condition or the label that a scope depends on, without blanks. */
static void put_condition(const myth_flow *f, uint32_t scope, char dst[MYTH_SPAN_TEXT])
{
    const myth_scope *s = &f->scope[scope];
    span text = {"", 0};
    if (s->kind == MYTH_SCOPE_THEN && s->test)
        text = span_of(f, f->test[s->test - 1].off, f->test[s->test - 1].end);
    else if (s->kind == MYTH_SCOPE_CASE) {
        text = span_of(f, s->off, s->end);
        for (uint32_t i = 0; i < text.n; i++)
            if (text.p[i] == ':' || text.p[i] == '\n')
                text.n = i;
    }
    put_tight(dst, text);
}

/* if (len(users) == 0), but not if (password.empty()) */
int myth_fact_when_none(myth_facts *k, uint32_t e)
{
    static const char *const none[] = {"==0",      ".isEmpty()", ".IsEmpty()", ".is_empty()",
                                       ".empty()", "NotFound",   "ErrNoRows",  "DoesNotExist"};
    static const char *const secret[] = {"ass", "pwd", "Pwd", "ecret", "key", "Key"};
    const myth_flow *f = k->flow;
    char text[MYTH_SPAN_TEXT];
    for (uint32_t s = myth_facts_event(k, e)->scope; s; s = f->scope[s].parent) {
        put_condition(f, s, text);
        if (myth_flow_has_one_of(text, none, N_OF(none)) && !myth_flow_has_one_of(text, secret, N_OF(secret)))
            return 1;
    }
    return 0;
}

enum { SCHEME_NO, SCHEME_NAMED, SCHEME_ANSWER };

/* The variable that the line of a call is about: t of t := hash(x). Its length; 0 = there is none. */
static uint32_t line_keeps(const myth_flow *f, uint32_t off, char word[MYTH_SPAN_WORD])
{
    static const char *const declares[] = {"const", "let", "var", "String", "final"};
    uint32_t from = off, n;
    while (from > f->off && f->text[from - 1] != '\n')
        from--;
    const span line = span_of(f, from, off);
    for (uint32_t i = 0; i < line.n; i += n ? n : 1) {
        n = word_at(line, i, word);
        if (n == 0 || myth_flow_is_one_of(word, declares, N_OF(declares)))
            continue;
        for (i += n; i < line.n && strchr(" :", line.p[i]);)
            i++;
        return i + 1 < line.n && line.p[i] == '=' && line.p[i + 1] != '=' ? n : 0;
    }
    return 0;
}

/* Whether a text compares the variable with what somebody sent: t == token, token.equals(t). */
static bool compares_with_sent(span s, const char *name)
{
    static const char *const sent[] = {"token", "Token", "response", "Response", "digest", "answer", "challenge"};
    static const char *const how[] = {"==", ".equals("};
    for (uint32_t i = 0; i < s.n; i++) {
        uint32_t end = i;
        while (end < s.n && s.p[end] != '\n')
            end++;
        const span line = {s.p + i, end - i};
        i = end;
        if (has_word(line, name) && has_one(line, how, N_OF(how)) && has_one(line, sent, N_OF(sent)))
            return true;
    }
    return false;
}

int myth_fact_scheme(myth_facts *k, uint32_t e)
{
    static const char *const digest[] = {"\"MD5", "'MD5", "\"md5",  "'md5",  "\"SHA",  "'SHA",
                                         "\"sha", "'sha", "\"{MD5", "'{MD5", "\"{SHA", "'{SHA"};
    static const char *const salt[] = {"salt", "Salt", "nonce", "Nonce", "challenge", "Challenge"};
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    char text[MYTH_SPAN_TEXT], word[MYTH_SPAN_WORD];
    for (uint32_t s = at->scope; s; s = f->scope[s].parent) {
        put_condition(f, s, text);
        if (myth_flow_has_one_of(text, digest, N_OF(digest)))
            return SCHEME_NAMED;
    }
    uint32_t end = at->end;
    while (end < f->end && end < f->n_text && f->text[end] != '\n')
        end++;
    return line_keeps(f, at->off, word) && has_one(span_of(f, at->off, end), salt, N_OF(salt)) &&
                   compares_with_sent(span_of(f, end, f->end), word)
             ? SCHEME_ANSWER
             : SCHEME_NO;
}

static void put_source(const myth_flow *f, uint32_t off, uint32_t end, char *dst, size_t cap)
{
    size_t n = 0;
    for (uint32_t i = off; i < end && i < f->n_text && n + 1 < cap; i++)
        if (f->text[i] > ' ')
            dst[n++] = f->text[i];
    dst[n] = '\0';
}

/* ---- files of secrets ---- */

/* A piece of code without what is written in its texts. */
static span put_without_texts(char dst[MYTH_SPAN_TEXT + 1], span s)
{
    uint32_t n = 0;
    char quote = '\0';
    for (uint32_t i = 0; i < s.n && n < MYTH_SPAN_TEXT; i++) {
        const bool is_quote = s.p[i] == '"' || s.p[i] == '\'';
        if (quote ? s.p[i] == quote : is_quote)
            quote = quote ? '\0' : s.p[i];
        else if (!quote)
            dst[n++] = s.p[i];
    }
    dst[n] = '\0';
    return (span){dst, n};
}

/* Whether a file that a call opens gets something whose name says that it is secret, and nothing narrows its mode. */
int myth_fact_gets_secret(myth_facts *k, uint32_t e)
{
    static const char *const secret[] = {"secret",   "private_key",   "privateKey",   "privkey",
                                         "passw",    "refresh_token", "access_token", "credential",
                                         "priv_key", "private_bytes", "PrivateKey"};
    static const char *const narrows[] = {"chmod", "umask", "0600", "0o600", "S_IRUSR", "setPermissions"};
    static const char *const writes[] = {"write", "print", "puts", "dump", "Write", "Encode", "encode", "save", "PEM"};
    static const char *const other[] = {"encrypt", "hash", "public", "getpass"};
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    uint32_t d = UINT32_MAX;
    const char *file = NULL;
    if (at->kind != MYTH_EVENT_CALL || has_one(span_of(f, f->off, f->end), narrows, N_OF(narrows)))
        return 0;
    if (myth_facts_taker(f, e, &d) && f->event[d].path)
        file = last_word(f, f->event[d].path);
    char word[MYTH_SPAN_WORD], next[MYTH_SPAN_WORD];
    if (!file && named_behind(f, at->end, word))
        file = word;
    for (uint32_t i = e + 1; file && i < f->n_event; i++) {
        const myth_event *x = &f->event[i];
        char bare[MYTH_SPAN_TEXT + 1];
        const bool is_set = x->kind == MYTH_EVENT_DEFINE && i != d && x->off > at->end + 4 && x->path &&
                            strcmp(last_word(f, x->path), file) == 0;
        if (is_set || (x->kind == MYTH_EVENT_CALL && x->off > at->end && named_behind(f, x->end, next) &&
                       strcmp(next, file) == 0))
            break; /* another file has the name from here on */
        if (x->kind != MYTH_EVENT_CALL)
            continue;
        const span s = put_without_texts(bare, begin_of(node_span(f, x->node), MYTH_SPAN_TEXT));
        if (has_word(s, file) && myth_flow_has_one_of(f->names + x->name, writes, 9) &&
            has_one(s, secret, N_OF(secret)) && !has_one(s, other, N_OF(other))) {
            k->at_line = x->line;
            return 1;
        }
    }
    return 0;
}

/* ---- calls in the text of the file ---- */

enum { MOST_OF_ARGUMENT = 2000 };

static span trimmed(span s)
{
    while (s.n > 0 && isspace((unsigned char)s.p[0]))
        s = (span){s.p + 1, s.n - 1};
    while (s.n > 0 && isspace((unsigned char)s.p[s.n - 1]))
        s.n--;
    return s;
}

/* Whether a name that stands at p is declared or defined there, by the word before it: a type, def, func. */
static bool is_declared_at(const myth_flow *f, const char *p)
{
    static const char *const before[] = {"return", "else",  "case", "await",  "in", "not",   "and",
                                         "or",     "yield", "do",   "assert", "if", "while", "elif"};
    const char *end = p;
    while (end > f->text && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\n' || end[-1] == '\r'))
        end--;
    if (end == f->text)
        return true; /* its first word */
    if (end[-1] == '*')
        return end == p; /* char *f(x), but 2 * f(x) */
    if (end[-1] == '>')
        return end < p; /* List<T> f(x), but p->f(x) */
    const char *word = end;
    while (word > f->text && myth_is_word(word[-1]))
        word--;
    for (size_t i = 0; i < N_OF(before); i++)
        if ((size_t)(end - word) == strlen(before[i]) && memcmp(word, before[i], (size_t)(end - word)) == 0)
            return false;
    if (word < end && memchr(end, '\n', (size_t)(p - end))) /* static int, and the name in a line of its own */
        return p[-1] == '\n' && strncmp(f->text + f->off, "def ", 4) != 0 &&
               strncmp(f->text + f->off, "async ", 6) != 0;
    return word < end;
}

bool myth_facts_next_call(const myth_flow *f, const char *name, uint32_t *at, span argument[MYTH_CALL_ARGUMENTS],
                          uint32_t *n)
{
    const uint32_t m = (uint32_t)strlen(name);
    const char *const end = f->text + f->n_text;
    for (const char *p = f->text + *at; m > 0 && p < end && (p = memchr(p, name[0], (size_t)(end - p))); p++) {
        const char *q = p + m;
        if ((size_t)(end - p) < m || memcmp(p, name, m) != 0 || (p > f->text && myth_is_word(p[-1])))
            continue;
        while (q < end && (*q == ' ' || *q == '\n'))
            q++;
        if (q >= end || *q != '(' || is_declared_at(f, p))
            continue;
        int deep = 0;
        char quote = '\0';
        const char *from = ++q;
        *at = (uint32_t)(q - f->text);
        *n = 0;
        for (; q < end && (deep > 0 || quote || *q != ')') && q - from < MOST_OF_ARGUMENT; q++) {
            if (quote && *q == '\\')
                q += q + 1 < end;
            else if (quote)
                quote = *q == quote ? '\0' : quote;
            else if (*q == '"' || *q == '\'')
                quote = *q;
            else if (*q == ',' && deep == 0) {
                if (*n < MYTH_CALL_ARGUMENTS)
                    argument[(*n)++] = trimmed((span){from, (uint32_t)(q - from)});
                from = q + 1;
            } else
                deep += strchr("([{", *q) ? 1 : strchr(")]}", *q) ? -1 : 0;
        }
        const span last = trimmed((span){from, (uint32_t)((q < end ? q : end) - from)});
        if (last.n > 0 && *n < MYTH_CALL_ARGUMENTS)
            argument[(*n)++] = last;
        return true;
    }
    return false;
}

/* Whether a condition in the lines before a call, in the same function, has both texts. */
static bool is_asked_above(const myth_flow *f, uint32_t call, const char *a, const char *b)
{
    static const char *const function[] = {"def ", "async def ", "func ", "function "};
    static const char *const asks[] = {"if ", "if(", "while ", "assert"};
    enum { LINES = 25, LINE = 300 };
    for (uint32_t n = 0, end = call; n < LINES && end > 0; n++) {
        uint32_t off = end;
        while (off > 0 && f->text[off - 1] != '\n')
            off--;
        char line[LINE];
        span s = begin_of(span_of(f, off, end), LINE - 1);
        memcpy(line, s.p, s.n);
        line[s.n] = '\0';
        if (has_one(s, asks, N_OF(asks)) && has_text(s, a) && has_word(s, b))
            return true;
        if (myth_flow_begins_with(line + strspn(line, " \t"), function, N_OF(function)))
            return false;
        end = off > 0 ? off - 1 : 0;
    }
    return false;
}

/* Which parameter of the function a word is, as a caller counts them; UINT32_MAX = none. */
static uint32_t parameter_of(const myth_flow *f, const char *word)
{
    uint32_t index = 0;
    for (uint32_t i = 0; i < f->n_event && f->event[i].value == MYTH_VALUE_PARAMETER; i++) {
        const char *name = f->event[i].path ? last_word(f, f->event[i].path) : "";
        if (strcmp(name, word) == 0)
            return index;
        index += strcmp(name, "self") != 0 && strcmp(name, "cls") != 0;
    }
    return UINT32_MAX;
}

bool myth_facts_is_split_asked(const myth_flow *f, span made)
{
    span argument[MYTH_CALL_ARGUMENTS];
    char text[MYTH_SPAN_WORD], word[MYTH_SPAN_WORD], given[MYTH_SPAN_WORD];
    uint32_t at = 0, n = 0, n_call = 0, off = 0;
    while (off < made.n && made.p[off] != '"' && made.p[off] != '\'')
        off++;
    for (uint32_t i = off + 1; i < made.n && made.p[i] != made.p[off] && n + 1 < sizeof(text); i++)
        text[n++] = made.p[i];
    text[n] = '\0';
    const uint32_t index = n > 0 && word_at(made, 0, word) ? parameter_of(f, word) : UINT32_MAX;
    if (index >= MYTH_CALL_ARGUMENTS || !f->names[f->name])
        return false;
    while (myth_facts_next_call(f, f->names + f->name, &at, argument, &n)) {
        if (at >= f->off && at < f->end)
            continue; /* of itself */
        if (n <= index || word_at(argument[index], 0, given) != argument[index].n || ++n_call > 8 ||
            !is_asked_above(f, at, text, given))
            return false;
    }
    return n_call > 0;
}

/* ---- what the file is for ---- */

bool myth_facts_is_for_browser(const myth_flow *f)
{
    const span all = span_of(f, 0, f->n_text);
    return has_text(all, "import com.google.gwt.") && has_text(all, ".client;");
}

/* C: whether a digest is printed into the text of a request. */
static bool is_printed(const myth_flow *f, uint32_t e)
{
    static const char *const request[] = {"request", "req_buf", "query", "url"};
    for (uint32_t i = e + 1; f->event[e].kind == MYTH_EVENT_CALL && f->roles->has_alternatives && i < f->n_event; i++) {
        const myth_event *c = &f->event[i];
        const TSNode list = c->kind == MYTH_EVENT_CALL && strstr(f->names + c->name, "printf")
                              ? child_of(f, c->node, MYTH_SLOT_ARGUMENTS)
                              : (TSNode){0};
        if (!is_null(list) && ts_node_named_child_count(list) > 2 &&
            has_one(node_span(f, ts_node_named_child(list, 0)), request, N_OF(request)) &&
            (has_text(node_span(f, list), "digest") || has_text(node_span(f, list), "md5") ||
             has_text(node_span(f, list), "hash")))
            return true;
    }
    return false;
}

/* Whether a function, by its name, sends a request: requests.post, fetch, $.ajax; a database has fetch and get, too. */
static bool sends_request(const char *name)
{
    static const char *const sure[] = {"post", "ajax", "urlopen", "getJSON", "axios", "sendRequest"};
    static const char *const way[] = {"get", "put", "patch", "request", "send", "emit", "fetch"};
    static const char *const by[] = {"requests", "httpx", "axios", "http", "$",
                                     "socket",   "xhr",   "ws.",   "api.", "window."};
    const char *last = myth_flow_last_word(name);
    return strcmp(name, "fetch") == 0 || myth_flow_is_one_of(last, sure, N_OF(sure)) ||
           (myth_flow_is_one_of(last, way, N_OF(way)) && myth_flow_has_one_of(name, by, N_OF(by)));
}

enum { SENT_NAMES = 8, SENT_NEAR = 600, SENT_BYTES = 2000 };

/* The assignment that event x stands on the left of; null = none. */
static TSNode assignment_of(const myth_flow *f, const myth_event *x)
{
    TSNode n = x->node;
    for (int i = 0; i < 4 && !is_null(n) && role_of(f, n) != MYTH_ROLE_ASSIGN; i++)
        n = ts_node_parent(n);
    const TSNode left = is_null(n) || role_of(f, n) != MYTH_ROLE_ASSIGN ? (TSNode){0} : child_of(f, n, MYTH_SLOT_LEFT);
    const bool is_left = !is_null(left) && ts_node_start_byte(left) <= x->off && x->off < ts_node_end_byte(left);
    return is_left ? n : (TSNode){0};
}

/* Whether a piece of code has the text, with no letter beside it; is_whole: and no part of what it names. */
static bool has_name(span s, span name, bool is_whole)
{
    for (uint32_t i = 0; name.n > 0 && i + name.n <= s.n; i++) {
        const char before = i > 0 ? s.p[i - 1] : ' ', behind = i + name.n < s.n ? s.p[i + name.n] : ' ';
        if (memcmp(s.p + i, name.p, name.n) == 0 && !myth_is_word(before) && before != '.' && !myth_is_word(behind) &&
            !(is_whole && (behind == '.' || behind == '[')))
            return true;
    }
    return false;
}

/* Whether a piece of code has what a target keeps: by its name, or as the whole of what it is a part of. */
static bool has_kept(span s, span target)
{
    uint32_t n = target.n;
    while (n > 0 && target.p[n - 1] != '[' && target.p[n - 1] != '.')
        n--;
    return has_name(s, target, false) || (n > 1 && has_name(s, (span){target.p, n - 1}, true));
}

/* Whether what call e gives is sent in a request by this function: at once, or through the variables that get it. */
static bool is_sent(const myth_flow *f, uint32_t e)
{
    const myth_event *at = &f->event[e];
    span kept[SENT_NAMES];
    uint32_t n = 0;
    for (uint32_t i = e > SENT_NEAR ? e - SENT_NEAR : 0; i < f->n_event && i < e + SENT_NEAR; i++) {
        const myth_event *x = &f->event[i];
        const bool is_call = x->kind == MYTH_EVENT_CALL;
        const bool is_set = x->kind == MYTH_EVENT_DEFINE || x->kind == MYTH_EVENT_DEREF; /* a[b] = c of Python */
        if (is_call ? i == e || x->end < at->off || !sends_request(f->names + x->name) : !is_set || n == SENT_NAMES)
            continue;
        const TSNode by = is_call ? x->node : assignment_of(f, x);
        if (is_null(by))
            continue;
        const span s = begin_of(node_span(f, is_call ? by : child_of(f, by, MYTH_SLOT_RIGHT)), SENT_BYTES);
        bool is_it = s.n > 0 && s.p <= f->text + at->off && s.p + s.n >= f->text + at->end;
        for (uint32_t w = 0; w < n && !is_it && x->off > at->off; w++)
            is_it = has_kept(s, kept[w]);
        if (is_it && is_call)
            return true;
        if (is_it)
            kept[n++] = begin_of(node_span(f, child_of(f, by, MYTH_SLOT_LEFT)), MYTH_SPAN_TEXT);
    }
    return false;
}

/* The first line of a text that is a comment by its first letters, in small letters; false = it is none. */
static bool put_comment(char *dst, uint32_t cap, span s)
{
    uint32_t n = 0, from = 0;
    while (from < s.n && isspace((unsigned char)s.p[from]) && s.p[from] != '\n')
        from++;
    for (; from + n < s.n && s.p[from + n] != '\n' && n + 1 < cap; n++)
        dst[n] = (char)tolower((unsigned char)s.p[from + n]);
    dst[n] = '\0';
    return n > 1 && (dst[0] == '#' || dst[0] == '*' || (dst[0] == '/' && strchr("/*", dst[1])));
}

/* Whether a comment near event e, in its function, says that a protocol or service prescribes what is hashed: one that
 * speaks of both in its lines. */
static bool is_prescribed(const myth_flow *f, const myth_event *at)
{
    static const char *const word[] = {"requirement", "protocol",    "pecification", "rfc",
                                       "compatib",    "require the", "required by",  "prescrib"};
    static const char *const about[] = {"sha", "md5", "hash", "digest", "weak", "password", "encrypt", "signature"};
    enum { LINES = 30, COMMENT = 300 };
    char line[COMMENT];
    uint32_t off = at->off, n = 0;
    bool has_word = false, has_about = false;
    while (off > f->off && n < LINES)
        n += f->text[--off] == '\n';
    off += f->text[off] == '\n';
    for (uint32_t i = 0; off < f->end && off < f->n_text && i < n + LINES; i++) {
        const bool is_comment = put_comment(line, sizeof(line), span_of(f, off, f->end));
        has_word = is_comment && (has_word || myth_flow_has_one_of(line, word, N_OF(word)));
        has_about = is_comment && (has_about || myth_flow_has_one_of(line, about, N_OF(about)));
        if (has_word && has_about)
            return true;
        while (off < f->end && off < f->n_text && f->text[off] != '\n')
            off++;
        off++;
    }
    return false;
}

/* Whether a word is of a key that a service or protocol gives out: apiKey, ha1, feverToken. Tokens that a program
 * makes of its own accord are none: sessionToken. */
static bool is_key_of_service(const char *word)
{
    static const char *const key[] = {"apikey", "api_key", "ha1"};
    static const char *const own[] = {"session", "auth",     "access",  "reset", "remember", "csrf",    "login",
                                      "user",    "password", "refresh", "verif", "invite",   "activat", "new",
                                      "get",     "make",     "create",  "gen",   "secret",   "confirm", "email"};
    char low[MYTH_SPAN_WORD];
    size_t n = 0;
    for (; word[n] && n + 1 < sizeof(low); n++)
        low[n] = (char)tolower((unsigned char)word[n]);
    low[n] = '\0';
    return myth_flow_has_one_of(low, key, N_OF(key)) ||
           (n > 7 && strcmp(low + n - 5, "token") == 0 && !myth_flow_has_one_of(low, own, N_OF(own)));
}

/* Whether an event hashes a name and a password with a colon between, for such a key: protocols say so. */
static bool is_key_of_pair(const myth_flow *f, const myth_event *at)
{
    static const char *const joins[] = {"+\":\"+", "+':'+", "\"%s:%s\"", "'%s:%s'", "}:{", "}:${", "\"{}:{}\""};
    static const char *const who[] = {"user", "User", "name", "Name", "login", "Login", "mail", "Mail"};
    static const char *const what[] = {"pass", "Pass", "pwd"};
    uint32_t from = at->off, to = at->end;
    char text[MYTH_SPAN_TEXT], word[MYTH_SPAN_WORD];
    while (from > f->off && f->text[from - 1] != '\n')
        from--;
    while (to < f->n_text && f->text[to] != '\n')
        to++;
    put_tight(text, span_of(f, from, to));
    if (!myth_flow_has_one_of(text, joins, N_OF(joins)) || !myth_flow_has_one_of(text, who, N_OF(who)) ||
        !myth_flow_has_one_of(text, what, N_OF(what)))
        return false;
    const span before = span_of(f, from, at->off);
    for (uint32_t i = 0, n; i < before.n; i += n ? n : 1)
        if ((n = word_at(before, i, word)) && is_key_of_service(word))
            return true;
    return is_key_of_service(f->names + f->name);
}

int myth_fact_for_server(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = &f->event[e];
    return at->kind == MYTH_EVENT_CALL &&
           (is_printed(f, e) || is_sent(f, e) || is_prescribed(f, at) || is_key_of_pair(f, at));
}

int myth_fact_safe_loader(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    char text[MYTH_SPAN_TEXT], loader[MYTH_SPAN_WORD], want[MYTH_SPAN_WORD + 16];
    put_tight(text, node_span(f, f->event[e].node));
    const char *named = strstr(text, "Loader=");
    if (!named || !word_at((span){named + 7, (uint32_t)strlen(named + 7)}, 0, loader))
        return 0;
    snprintf(want, sizeof(want), "class %s(", loader);
    for (uint32_t i = 0; i + strlen(want) < f->n_text; i++) {
        const char *hit = memchr(f->text + i, 'c', f->n_text - i - (uint32_t)strlen(want));
        if (!hit)
            return 0;
        i = (uint32_t)(hit - f->text);
        if (memcmp(hit, want, strlen(want)) == 0) {
            const char *end = memchr(hit, '\n', f->n_text - i);
            return end && has_text((span){hit, (uint32_t)(end - hit)}, "SafeLoader");
        }
    }
    return 0;
}

bool myth_facts_is_declared_unsigned(const myth_flow *f, const char *name)
{
    static const char *const types[] = {"BYTE", "Byte", "byte", "quint8", "guint8", "guchar", "__u8", "xmlChar"};
    static const char *const first[] = {"uint", "UInt", "UINT", "unsigned", "uchar", "u_char", "UCHAR", "u8", "U8"};
    const span all = span_of(f, f->off, f->end);
    bool is_unsigned = false;
    for (uint32_t i = 0, n; i < all.n; i += n ? n : 1) {
        char word[MYTH_SPAN_WORD];
        n = word_at(all, i, word);
        if (n == 0) {
            is_unsigned &= isspace((unsigned char)all.p[i]) || all.p[i] == '*' || all.p[i] == '&';
            continue;
        }
        if (is_unsigned && strcmp(word, name) == 0)
            return true;
        is_unsigned |= myth_flow_is_one_of(word, types, N_OF(types)) || myth_flow_begins_with(word, first, N_OF(first));
    }
    return false;
}

/* Whether a variable of the function has one of some types, by the type's text without blanks. */
static bool has_type(const myth_flow *f, const char *name, const char *const *types, size_t n)
{
    char type[MYTH_SPAN_TEXT];
    for (uint32_t i = 1; i < f->n_path; i++) {
        const myth_path *p = &f->path[i];
        if (p->base || p->type_end == 0 || p->is_pointer || p->is_array || strcmp(f->names + p->text, name) != 0)
            continue;
        put_tight(type, span_of(f, p->type_off, p->type_end));
        return myth_flow_is_one_of(type, types, n);
    }
    return false;
}

/* Whether a size is the product of two unsigned variables of 32 bits or less, taken in 64 bits: (size_t)n * m */
static bool is_wide_product(const myth_flow *f, span size)
{
    static const char *const casts[] = {"(size_t)", "(uint64_t)", "(unsignedlong)", "(unsignedlonglong)"};
    static const char *const half[] = {"unsigned", "unsignedint",   "uint32_t",     "uint16_t",     "uint8_t",
                                       "uInt",     "unsignedshort", "unsignedchar", "std::uint32_t"};
    char text[MYTH_SPAN_TEXT], name[MYTH_SPAN_WORD];
    put_tight(text, size);
    const char *p = text;
    for (int i = 0; i < 2; i++) {
        size_t cast = 0;
        for (size_t c = 0; c < N_OF(casts) && cast == 0; c++)
            cast = strncmp(p, casts[c], strlen(casts[c])) == 0 ? strlen(casts[c]) : 0;
        p += cast;
        const uint32_t n = word_at((span){p, (uint32_t)strlen(p)}, 0, name);
        if ((i == 0 && cast == 0) || n == 0 || !has_type(f, name, half, N_OF(half)) || p[n] != (i == 0 ? '*' : '\0'))
            return false;
        p += n + 1;
    }
    return true;
}

int myth_fact_wide(myth_facts *k, uint32_t e)
{
    for (uint32_t i = 0; i < 4 && myth_facts_event(k, e)->kind == MYTH_EVENT_CALL; i++)
        if (is_wide_product(k->flow, node_span(k->flow, myth_facts_argument(k, e, i))))
            return 1;
    return 0;
}

/* Whether a text that stands behind a name declares or makes a map of Go: names map[int]string, names: make(map[ */
static bool makes_map(span s)
{
    uint32_t i = 0;
    while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t' || s.p[i] == ':' || s.p[i] == '='))
        i++;
    if (i + 5 < s.n && memcmp(s.p + i, "make(", 5) == 0)
        i += 5;
    return i > 0 && i + 4 < s.n && memcmp(s.p + i, "map[", 4) == 0;
}

/* Whether the file asks what has the name what only a map is asked: names.count(key), names.find(key) != names.end();
 * of a text the latter is not done. In Go: whether it makes a map of that name. */
static bool is_map_by_name(const myth_flow *f, const char *name)
{
    static const char *const asks[] = {"find(", "end()", "count(", "contains(", "lower_bound("};
    const char *const end = f->text + f->n_text;
    const size_t n = strlen(name);
    bool has_find = false, has_end = false;
    for (const char *p = f->text; n > 0 && (p = memmem(p, (size_t)(end - p), name, n)) != NULL; p += n) {
        const span rest = {p + n, (uint32_t)(end - p - n)};
        const uint32_t at = rest.n > 2 && rest.p[0] == '.' ? 1 : rest.n > 2 && memcmp(rest.p, "->", 2) == 0 ? 2 : 0;
        if (p > f->text && myth_is_word(p[-1]))
            continue;
        if (!f->roles->has_alternatives && makes_map(rest))
            return true;
        for (size_t i = 0; at > 0 && f->roles->has_alternatives && i < N_OF(asks); i++) {
            const size_t m = strlen(asks[i]);
            if (rest.n - at < m || memcmp(rest.p + at, asks[i], m) != 0)
                continue;
            has_find |= i == 0;
            has_end |= i == 1;
            if (i > 1 || (has_find && has_end))
                return true;
        }
    }
    return false;
}

bool myth_facts_is_keyed(const myth_facts *k, uint32_t path, uint32_t key)
{
    const myth_flow *f = k->flow;
    static const char *const types[] = {"map<", "Map<", "map[", "QHash", "json::", "Json::"};
    char want[MYTH_SPAN_TEXT];
    const span own = span_of(f, f->off, f->end);
    if (!path || f->path[path].is_array || !k->file || !k->file->has_maps)
        return false;
    const span type = span_of(f, f->path[path].type_off, f->path[path].type_end);
    if (!f->roles->has_alternatives && type.n > 0)
        return has_text(begin_of(type, 4), "map[");
    if (has_one(type, types, N_OF(types)) || is_map_by_name(f, last_word(f, path)))
        return true;
    snprintf(want, sizeof(want), ".find(%s)", key ? f->names + f->path[key].text : "");
    return f->roles->has_alternatives && key && has_text(own, want) && has_text(own, ".end()");
}

/* The whole lines of event e. */
static void lines_of(const myth_flow *f, const myth_event *e, uint32_t *off, uint32_t *end)
{
    *off = e->off;
    *end = e->end;
    while (*off > 0 && f->text[*off - 1] != '\n')
        --*off;
    while (*end < f->n_text && f->text[*end] != '\n')
        ++*end;
}

/* The source of an argument, or of an event's path; of a variable that of its value. */
static TSNode source_node(const myth_facts *k, uint32_t event, uint32_t i)
{
    myth_flow *f = k->flow;
    const myth_event *e = myth_facts_event(k, event);
    uint32_t path = e->path, name, d;
    TSNode node = e->node;
    if (e->kind == MYTH_EVENT_CALL) {
        node = myth_facts_argument(k, event, i);
        if (ts_node_is_null(node))
            return node;
        if (myth_roles_of(f->roles, node) == MYTH_ROLE_KEYWORD)
            node = myth_roles_child(f->roles, node, MYTH_SLOT_RIGHT);
        path = 0;
        if (myth_flow_value(f, node, &path, &name) != MYTH_VALUE_PATH)
            path = 0;
    }
    if (!path || !myth_facts_definition(k, path, event, &d) || myth_facts_event(k, d)->path != path ||
        myth_facts_event(k, d)->value == MYTH_VALUE_PARAMETER)
        return node;
    const TSNode value = myth_facts_value_node(f, myth_facts_event(k, d));
    return ts_node_is_null(value) ? node : value;
}

/* The type that the path is declared with where it got its value, if that is a declaration: a name may be declared
 * twice in a function. */
static void put_type(const myth_facts *k, uint32_t event, char *dst, size_t cap)
{
    const myth_flow *f = k->flow;
    const myth_path *p = &f->path[myth_facts_event(k, event)->path];
    uint32_t d;
    TSNode type = {0};
    if (myth_facts_definition(k, myth_facts_event(k, event)->path, event, &d)) {
        TSNode n = ts_node_parent(f->event[d].node);
        for (int i = 0; i < 3 && !ts_node_is_null(n) && ts_node_is_null(type); i++, n = ts_node_parent(n))
            if (strstr(ts_node_type(n), "declaration") || strcmp(ts_node_type(n), "formal_parameter") == 0)
                type = myth_roles_child(f->roles, n, MYTH_SLOT_TYPE);
    }
    if (ts_node_is_null(type))
        put_source(f, p->type_off, p->type_end, dst, cap);
    else
        put_source(f, ts_node_start_byte(type), ts_node_end_byte(type), dst, cap);
}

void myth_fact_text(myth_facts *k, myth_fact_kind fact, uint32_t event, char *dst, size_t cap)
{
    const myth_flow *f = k->flow;
    const myth_event *e = myth_facts_event(k, event);
    const char *text = "";
    uint32_t off = e->off, end = e->end;
    TSNode node = {0};
    switch (fact) {
    case MYTH_FACT_text: put_source(f, off, end, dst, cap); return;
    case MYTH_FACT_lines:
        lines_of(f, e, &off, &end);
        put_source(f, off, end, dst, cap);
        return;
    case MYTH_FACT_value_text: node = myth_facts_value_node(f, e); break;
    case MYTH_FACT_within: node = myth_facts_within(k, event); break;
    case MYTH_FACT_tried: node = myth_facts_tried(k, event); break;
    case MYTH_FACT_origin_text: node = myth_facts_origin_node(k, event); break;
    case MYTH_FACT_arg0_text: node = source_node(k, event, 0); break;
    case MYTH_FACT_arg1_text: node = source_node(k, event, 1); break;
    case MYTH_FACT_arg2_text: node = source_node(k, event, 2); break;
    case MYTH_FACT_function: text = f->names + f->name; break;
    case MYTH_FACT_origin_call: text = f->names + myth_facts_origin_call(k, event); break;
    case MYTH_FACT_callee: text = f->names + e->name; break;
    case MYTH_FACT_type_text: put_type(k, event, dst, cap); return;
    case MYTH_FACT_name:
        if (e->kind == MYTH_EVENT_FIELD)
            text = f->names + e->name;
        else if (e->path)
            text = f->names + f->path[e->path].last;
        break;
    case MYTH_FACT_other_name:
        if (e->other)
            text = f->names + f->path[e->other].last;
        break;
    default: break;
    }
    if (ts_node_is_null(node))
        snprintf(dst, cap, "%s", text);
    else
        put_source(f, ts_node_start_byte(node), ts_node_end_byte(node), dst, cap);
}
