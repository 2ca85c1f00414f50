/* facts_readers.c - facts about what reads texts from outside: readers of XML, filters of directories, archives,
 * templates (facts.h).
 *
 * Behind     what a value was made of is its source, and that of the values of the variables in it, with the types of
 *            those that are parameters: words in it tell where it comes from
 * Words      what a function or a file protects itself by is told by words in its source
 * Cost       MOST_BEHIND bytes behind a value; the source of a file is looked through: rules ask for the rest before */
#include "facts_span.h"
#include "retrieval/candidates/flow/flow_impl.h"

#include "engine/base/chars.h"

#include <ctype.h>
#include <string.h>

enum { MOST_BEHIND = 4096, DEEP = 4, NEAR = 256 };

typedef struct {
    char text[MOST_BEHIND];
    uint32_t n;
} behind;

static bool in_function(const myth_flow *f, const char *const *word, size_t n)
{
    return has_one(span_of(f, f->off, f->end), word, n);
}
static bool in_file(const myth_flow *f, const char *const *word, size_t n)
{
    return has_one(span_of(f, 0, f->n_text), word, n);
}

static void put(behind *b, const char *text, uint32_t n)
{
    for (uint32_t i = 0; i < n && b->n + 2 < sizeof(b->text); i++)
        if (!isspace((unsigned char)text[i]))
            b->text[b->n++] = text[i];
    if (b->n + 1 < sizeof(b->text))
        b->text[b->n++] = ' ';
    b->text[b->n] = '\0';
}

/* Puts what bytes from..to, which are near event e, are made of. */
static void put_behind(const myth_facts *k, behind *b, uint32_t from, uint32_t to, uint32_t e, int deep)
{
    const myth_flow *f = k->flow;
    const uint32_t first = e > NEAR ? e - NEAR : 0;
    put(b, f->text + from, to - from);
    for (uint32_t i = first; deep < DEEP && i < f->n_event && i < e + NEAR; i++) {
        const myth_event *x = &f->event[i];
        uint32_t d;
        if (x->off < from || x->end > to || !x->path || x->kind == MYTH_EVENT_DEFINE ||
            !myth_facts_definition(k, x->path, i, &d))
            continue;
        const myth_event *def = &f->event[d];
        const myth_path *p = &f->path[def->path];
        if (p->type_end > p->type_off && p->type_end <= f->n_text)
            put(b, f->text + p->type_off, p->type_end - p->type_off);
        const TSNode value = def->value == MYTH_VALUE_PARAMETER ? (TSNode){0} : myth_facts_value_node(f, def);
        if (!is_null(value) && (ts_node_start_byte(value) < from || ts_node_end_byte(value) > to))
            put_behind(k, b, ts_node_start_byte(value), ts_node_end_byte(value), d, deep + 1);
    }
}

static const char *behind_argument(const myth_facts *k, uint32_t call, uint32_t index)
{
    static behind b; /* the process has one thread */
    const TSNode node = myth_facts_argument(k, call, index);
    b.n = 0;
    b.text[0] = '\0';
    if (!is_null(node))
        put_behind(k, &b, ts_node_start_byte(node), ts_node_end_byte(node), call, 0);
    return b.text;
}

/* ---- XML ---- */

static bool reads_xml(const char *name)
{
    static const char *const word[] = {"parse", "createXMLStreamReader", "createXMLEventReader", "build", "read"};
    return myth_flow_is_one_of(myth_flow_last_word(name), word, N_OF(word));
}

/* Whether what call r reads comes from outside: a stream or text that the function is given, or an answer. */
static bool reads_outside(const myth_facts *k, uint32_t r)
{
    static const char *const own[] = {"getResource", "File", "Path", "ClassLoader", "classLoader", "bundle.", "Bundle",
                                      "getEntry(",   "file", "path", "resource",    "\"<",         "config",  "Config"};
    static const char *const type[] = {"InputStream", "InputSource", "Reader", "byte[]", "String", "MultipartFile"};
    static const char *const net[] = {"openStream",     "getEntity",  "esponse", "getBody",       "equest", "ocket",
                                      "getInputStream", "executeUrl", "upload",  "MultipartFile", "ayload", "HttpUtil"};
    const char *text = behind_argument(k, r, 0);
    if (!*text || myth_flow_has_one_of(text, own, N_OF(own)))
        return false;
    if (myth_flow_has_one_of(text, net, N_OF(net)))
        return true;
    /* a class that opens files or resources by itself hands these to its own functions */
    static const char *const opens[] = {"getResource", "FileInputStream", "new File("};
    if (in_file(k->flow, opens, N_OF(opens)))
        return false;
    const int given = myth_facts_given(k, r, 0);
    return given >= MYTH_GIVEN_FIELD && myth_flow_has_one_of(text, type, N_OF(type)) &&
           (!strstr(text, "String") || strstr(text, "StringReader") || strstr(text, "getBytes"));
}

/* Whether the file reads XML that some function of it is given, and sets nothing: for a factory that is a field. */
static bool file_reads_outside(const myth_flow *f, const char *const *set, size_t n)
{
    static const char *const own[] = {"getResource", "FileInputStream", "new File(", "newInputStream"};
    static const char *const type[] = {"(InputStream ", "(Reader ", "(byte[] ", "(InputSource ", "(MultipartFile "};
    static const char *const reads[] = {".parse(", ".createXMLStreamReader(", ".createXMLEventReader(", ".build("};
    return !in_file(f, set, n) && !in_file(f, own, N_OF(own)) && in_file(f, type, N_OF(type)) &&
           in_file(f, reads, N_OF(reads));
}

int myth_fact_reads_xml(myth_facts *k, uint32_t e)
{
    static const char *const set[] = {"setFeature",       "setAttribute",   "setProperty", "setExpandEntityReferences",
                                      "ntityResolver",    "FEATURE_SECURE", "SUPPORT_DTD", "ACCESS_EXTERNAL",
                                      "disallow-doctype", "setXMLResolver"};
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    uint32_t d;
    if (in_function(f, set, N_OF(set)))
        return 0;
    const bool is_kept = myth_facts_taker(f, e, &d) && d < f->n_event && f->event[d].path;
    const uint32_t kept = is_kept ? f->event[d].path : 0;
    for (uint32_t i = 0; kept && i < f->n_event; i++) /* harden(factory) */
        if ((f->event[i].kind == MYTH_EVENT_ARG || f->event[i].kind == MYTH_EVENT_RETURN) && f->event[i].path == kept)
            return 0;
    for (uint32_t i = 0; i < f->n_event; i++) {
        const myth_event *r = &f->event[i];
        if (r->kind == MYTH_EVENT_CALL && r->name && r->end >= at->end && reads_xml(f->names + r->name) &&
            reads_outside(k, i))
            return 1;
    }
    return kept && !f->path[kept].is_declared && file_reads_outside(f, set, N_OF(set));
}

/* ---- filters of directories ---- */

/* Whether a text has "(attribute=" with something that is not constant behind it: "(uid=" + x, (uid={x}, (uid=%s. */
static bool is_filled_filter(const char *s, uint32_t n)
{
    for (uint32_t i = 0; i + 3 < n; i++) {
        if (s[i] != '(' || !isalpha((unsigned char)s[i + 1]))
            continue;
        uint32_t j = i + 1;
        while (j < n && (isalnum((unsigned char)s[j]) || s[j] == '-' || s[j] == '.' || s[j] == ':' || s[j] == ';'))
            j++;
        if (j < n && (s[j] == '~' || s[j] == '<' || s[j] == '>'))
            j++;
        if (j >= n || s[j] != '=')
            continue;
        j++;
        j += j < n && s[j] == '*';
        if (j + 2 < n && s[j] == '%' && (s[j + 1] == 's' || s[j + 1] == 'v') && memchr(s + j, ')', n - j))
            return true;
        if (j + 2 < n && (s[j] == '{' || (s[j] == '$' && s[j + 1] == '{')) && !isdigit((unsigned char)s[j + 1]) &&
            memchr(s + j, ')', n - j))
            return true;
        if (j < n && (s[j] == '"' || s[j] == '\'' || s[j] == '`')) {
            for (j++; j < n && isspace((unsigned char)s[j]);)
                j++;
            if (j + 2 < n && s[j] == '+')
                return true;
        }
    }
    return false;
}

static bool is_filter(const myth_flow *f, TSNode node)
{
    static const char *const safe[] = {"scape", "ncode", "int(", "sanit", "quote", "Number("};
    if (is_null(node))
        return false;
    const uint32_t off = ts_node_start_byte(node), end = ts_node_end_byte(node);
    return end <= f->n_text && end - off < 2000 && is_filled_filter(f->text + off, end - off) &&
           !has_one(span_of(f, off, end), safe, N_OF(safe));
}

int myth_fact_filter(myth_facts *k, uint32_t e)
{
    static const char *const about[] = {"ldap", "Ldap", "LDAP", "javax.naming"};
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    if (at->kind != MYTH_EVENT_CALL) {
        const TSNode value = myth_facts_value_node(f, at);
        return is_filter(f, value) && in_file(f, about, N_OF(about)) && myth_fact_given(k, e) >= MYTH_GIVEN_FIELD;
    }
    for (uint32_t i = 0; i < MYTH_FACTS_PARAMETERS; i++) {
        const TSNode node = myth_facts_argument(k, e, i);
        if (is_null(node))
            break;
        if (is_filter(f, node) && myth_facts_given(k, e, i) >= MYTH_GIVEN_FIELD && in_file(f, about, N_OF(about)))
            return 1;
    }
    return 0;
}

/* ---- archives ---- */

/* Whether the word of m letters at s[i] stands by itself. */
static bool is_word_at(const char *s, size_t i, size_t m)
{
    const char before = i ? s[i - 1] : ' ', after = s[i + m];
    return !myth_is_word(before) && before != '.' && before != '>' && !myth_is_word(after);
}

/* Finds "X.member" by itself in a text, X being a name; copies X. */
static bool find_member(const char *text, const char *member, char *dst, size_t cap)
{
    for (const char *p = text; (p = strstr(p, member)) != NULL; p++) {
        const char *from = p;
        const char after = p[strlen(member)];
        while (from > text && myth_is_word(from[-1]))
            from--;
        if (from == p || (size_t)(p - from) >= cap || (from > text && from[-1] == '.') || myth_is_word(after) ||
            after == '.')
            continue;
        memcpy(dst, from, (size_t)(p - from));
        dst[p - from] = '\0';
        return true;
    }
    return false;
}

/* Whether the function has the text front, a name and the text back, in this order on one line. */
static bool has_line(const myth_flow *f, const char *front, const char *name, const char *back)
{
    const size_t n = strlen(front), m = strlen(name), l = strlen(back);
    for (uint32_t i = f->off; i + n + m < f->end && f->end <= f->n_text; i++) {
        if (memcmp(f->text + i, front, n) != 0 || memcmp(f->text + i + n, name, m) != 0)
            continue;
        if (myth_is_word(f->text[i + n + m]))
            continue;
        for (uint32_t j = i + (uint32_t)(n + m); j + l <= f->end && f->text[j] != '\n'; j++)
            if (memcmp(f->text + j, back, l) == 0)
                return true;
    }
    return false;
}

/* Go: of a header that Next gives, or of a file of a reader of zip. */
static bool is_entry_go(const myth_flow *f, const char *text)
{
    static const char *const of[] = {"archive/tar\"", "archive/zip\""};
    static const char *const writes[] = {"os.Create(", "os.OpenFile(", "os.MkdirAll(", "os.WriteFile("};
    static const char *const checks[] = {"HasPrefix(", "IsLocal(", "ecureJoin(", "filepath.Rel(", "\"..\"",
                                         "\"../\"",    "IsAbs(",   "HasLocal",   "anitize",       "alid"};
    char x[64];
    return find_member(text, ".Name", x, sizeof(x)) && in_file(f, of, N_OF(of)) &&
           (has_line(f, "", x, ".Next()") || has_line(f, ", ", x, ".File {") || has_line(f, "", x, "*zip.File")) &&
           in_file(f, writes, N_OF(writes)) && !in_function(f, checks, N_OF(checks));
}

/* Whether a function calls something that checks a path, by its name. */
static bool calls_check(const myth_flow *f)
{
    static const char *const part[] = {"ravers",   "afe_path",  "afePath",    "isSafe",      "is_safe",  "isInside",
                                       "isWithin", "is_within", "checkEntry", "check_entry", "cleanPath"};
    for (uint32_t i = 0; i < f->n_event; i++)
        if (f->event[i].kind == MYTH_EVENT_CALL && myth_flow_has_one_of(f->names + f->event[i].name, part, N_OF(part)))
            return true;
    return false;
}

static bool is_entry_java(const myth_flow *f, const char *text)
{
    static const char *const writes[] = {"FileOutputStream",     "Files.copy", "Files.newOutputStream",
                                         "Files.write",          "mkdir",      "copyToFile",
                                         "copyInputStreamToFile"};
    static const char *const checks[] = {"startsWith(", "normalize(",  "getCanonical", "toRealPath",
                                         "\"..",        "getFileName", "lastIndexOf",  "FilenameUtils",
                                         "alid",        "checkPath",   "anitize",      "ecure"};
    char x[64];
    return find_member(text, ".getName()", x, sizeof(x)) && has_line(f, "Entry ", x, "") &&
           in_function(f, writes, N_OF(writes)) && !in_function(f, checks, N_OF(checks));
}

static bool is_entry_python(const myth_flow *f, const char *text)
{
    static const char *const of[] = {"zipfile.", "tarfile.", "ZipFile("};
    static const char *const writes[] = {"\"wb\"", "'wb'", "write_bytes(", "copyfileobj("};
    static const char *const checks[] = {"\"..\"",         "'..'",         "\"../",           "'../",
                                         "startswith(",    "commonpath(",  "basename(",       "isabs(",
                                         "is_relative_to", "relative_to(", "secure_filename", "realpath(",
                                         "alid",           "sanit",        "commonprefix(",   "safe_join"};
    char x[64];
    if (!in_function(f, of, N_OF(of)) || !in_function(f, writes, N_OF(writes)) ||
        has_one(span_of(f, f->off, f->end), checks, N_OF(checks)))
        return false;
    if (find_member(text, ".filename", x, sizeof(x)))
        return has_line(f, "for ", x, " in ");
    if (find_member(text, ".name", x, sizeof(x)))
        return has_line(f, "for ", x, "getmembers()") || has_line(f, "for ", x, " in tar");
    for (size_t i = 0; text[i]; i++) { /* a name of namelist() by itself */
        size_t m = 0;
        while (myth_is_word(text[i + m]))
            m++;
        if (m == 0 || m >= sizeof(x))
            continue;
        memcpy(x, text + i, m);
        x[m] = '\0';
        if (is_word_at(text, i, m) && (has_line(f, "for ", x, "namelist()") || has_line(f, "for ", x, "getnames()")))
            return true;
        i += m - 1;
    }
    return false;
}

/* C: the name is a text that the function fills with bytes of what it read, or gets from an archive. */
static bool is_entry_c(const myth_facts *k, uint32_t e, uint32_t index)
{
    static const char *const writes[] = {"\"wb\"", "\"w\"", "\"wb+\"", "O_CREAT"};
    static const char *const checks[] = {"\"..", "'.'", "\"/..", "SECURE_NODOTDOT", "\"../"};
    static const char *const names[] = {"archive_entry_pathname", "archive_entry_pathname_utf8", "zip_get_name"};
    static const char *const fills[] = {"memcpy", "fread", "gzread", "strncpy", "unzGetCurrentFileInfo", "read"};
    const myth_flow *f = k->flow;
    const TSNode node = myth_facts_argument(k, e, index);
    uint32_t d;
    if (is_null(node) || in_file(f, checks, N_OF(checks)) || !in_file(f, writes, N_OF(writes)))
        return false;
    const uint32_t off = ts_node_start_byte(node), end = ts_node_end_byte(node);
    for (uint32_t i = e > NEAR ? e - NEAR : 0; i < f->n_event && i < e + NEAR; i++) {
        const myth_event *x = &f->event[i];
        if (x->off < off || x->end > end || !x->path)
            continue;
        if (myth_facts_definition(k, x->path, i, &d) && f->event[d].value == MYTH_VALUE_CALL &&
            myth_flow_is_one_of(f->names + f->event[d].name, names, N_OF(names)))
            return true;
        bool is_filled = false, is_read = false;
        for (uint32_t c = 0; c < e; c++) {
            const myth_event *call = &f->event[c];
            if (call->kind != MYTH_EVENT_CALL || !call->name)
                continue;
            const char *name = f->names + call->name;
            is_read |= strstr(name, "fread") || strstr(name, "gzread") || strcmp(name, "read") == 0 ||
                       strstr(name, "unzGetCurrentFileInfo");
            if (!myth_flow_is_one_of(myth_flow_last_word(name), fills, N_OF(fills)))
                continue;
            for (uint32_t a = 0; a < 3; a++) {
                const TSNode to = myth_facts_argument(k, c, a);
                if (!is_null(to) && a != (strcmp(name, "memcpy") == 0) &&
                    ts_node_end_byte(to) - ts_node_start_byte(to) == end - off &&
                    memcmp(f->text + ts_node_start_byte(to), f->text + off, end - off) == 0)
                    is_filled = true;
            }
        }
        if (is_filled && is_read)
            return true;
    }
    return false;
}

/* Whether the file fetches from a fixed address at which a project publishes its releases: an updater, which runs what
 * it fetched anyway. */
static bool is_of_release(const myth_flow *f)
{
    static const char *const at[] = {"\"https://", "'https://"};
    const span all = span_of(f, 0, f->n_text);
    for (size_t i = 0; i < N_OF(at); i++) {
        const uint32_t n = (uint32_t)strlen(at[i]);
        for (uint32_t from = 0; from + n < all.n; from++) {
            const char *p = memchr(all.p + from, at[i][0], all.n - n - from);
            if (!p)
                break;
            from = (uint32_t)(p - all.p);
            const char *end = memchr(p + 1, at[i][0], all.n - from - 1);
            if (end && memcmp(p, at[i], n) == 0 && has_text((span){p, (uint32_t)(end - p)}, "/releases"))
                return true;
        }
    }
    return false;
}

int myth_fact_entry(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    static const char *const includes[] = {"#include"};
    const bool is_c = in_file(f, includes, 1);
    if (at->kind == MYTH_EVENT_DEFINE) { /* root / info.filename */
        static behind b;
        const TSNode value = myth_facts_value_node(f, at);
        if (is_null(value) || ts_node_end_byte(value) - ts_node_start_byte(value) > 200)
            return 0;
        b.n = 0;
        put(&b, f->text + ts_node_start_byte(value), ts_node_end_byte(value) - ts_node_start_byte(value));
        const char *slash = strrchr(b.text, '/');
        return slash && slash > b.text && !strchr(slash, '"') && !strchr(slash, '\'') && is_entry_python(f, slash + 1);
    }
    for (uint32_t i = 0; i < MYTH_FACTS_PARAMETERS; i++) {
        const TSNode node = myth_facts_argument(k, e, i);
        if (is_null(node))
            break;
        if (is_c && i > 1 && is_entry_c(k, e, i))
            return 1;
        const char *text = is_c ? "" : behind_argument(k, e, i);
        if (is_entry_go(f, text) || is_entry_java(f, text) || (i > 0 && is_entry_python(f, text)))
            return calls_check(f) ? 0 : is_of_release(f) ? 2 : 1;
    }
    return 0;
}

/* ---- what was uploaded ---- */

static bool is_from_net(const char *text)
{
    static const char *const net[] = {"equests.get(",    "equest.files", "urlopen(",   "urlretrieve(", "httpx.",
                                      "esponse.content", "upload",       "UploadFile", "ownload",      ".content"};
    return myth_flow_has_one_of(text, net, N_OF(net));
}

/* The function that opened what call e is a method of; 0 = none is known. */
static uint32_t opened_by(const myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const uint32_t path = myth_facts_event(k, e)->path;
    char name[MYTH_SPAN_WORD];
    for (uint32_t i = e, n = 0; path && i-- > 0 && n < MYTH_FACTS_NEAR; n++)
        if (f->event[i].kind == MYTH_EVENT_CALL && named_behind(f, f->event[i].end, name) &&
            strcmp(name, last_word(f, path)) == 0)
            return f->event[i].name;
    return myth_facts_origin_call(k, e);
}

/* Python: a tar archive is unpacked as its names say, and comes from outside. */
int myth_fact_unpacks(myth_facts *k, uint32_t e)
{
    static const char *const checks[] = {"filter=",           "startswith(",   "commonpath(", "is_within",
                                         "members=",          "commonprefix(", "safe",        "realpath(",
                                         "extraction_filter", "data_filter"};
    static const char *const strips[] = {"ipFile", "zip", "7z", "7Zip", "SevenZip", "RarFile", "rarfile"};
    const myth_flow *f = k->flow;
    const char *own = f->names + myth_facts_event(k, e)->name, *of = f->names + opened_by(k, e);
    if (in_function(f, checks, N_OF(checks)))
        return 0;
    if (!strstr(of, "tar") &&
        (myth_flow_has_one_of(of, strips, N_OF(strips)) || myth_flow_has_one_of(own, strips, N_OF(strips))))
        return 0; /* their names lose what leads out of the folder */
    for (uint32_t i = 0; i < f->n_event; i++) {
        const myth_event *c = &f->event[i];
        if (c->kind != MYTH_EVENT_CALL || !c->name || c->off > myth_facts_event(k, e)->off ||
            strcmp(f->names + c->name, "tarfile.open") != 0)
            continue;
        for (uint32_t a = 0; a < 3; a++)
            if (is_from_net(behind_argument(k, i, a)))
                return 2;
        if (myth_facts_given(k, i, 0) >= MYTH_GIVEN_PARAMETER)
            return 1;
    }
    return 0;
}

/* Python: a file of a request was stored at the path that the call reads. */
int myth_fact_uploaded(myth_facts *k, uint32_t e)
{
    static const char *const of[] = {"request.files", "UploadFile", "request.FILES"};
    const myth_flow *f = k->flow;
    const TSNode node = myth_facts_argument(k, e, 0);
    if (is_null(node) || !in_function(f, of, N_OF(of)))
        return 0;
    const uint32_t off = ts_node_start_byte(node), n = ts_node_end_byte(node) - off;
    for (uint32_t i = 0; i < e; i++) {
        const myth_event *c = &f->event[i];
        if (c->kind != MYTH_EVENT_CALL || !c->name || strcmp(myth_flow_last_word(f->names + c->name), "save") != 0)
            continue;
        const TSNode to = myth_facts_argument(k, i, 0);
        if (!is_null(to) && ts_node_end_byte(to) - ts_node_start_byte(to) == n &&
            memcmp(f->text + ts_node_start_byte(to), f->text + off, n) == 0)
            return 1;
    }
    return 0;
}

/* ---- templates ---- */

/* Go: a template of text/template is written to the answer of a request, as a page. */
int myth_fact_text_page(myth_facts *k, uint32_t e)
{
    static const char *const text[] = {"\"text/template\""}, *const html[] = {"\"html/template\""};
    static const char *const safe[] = {"text/plain", "application/",      "text/css", "text/javascript",
                                       "text/xml",   "text/event-stream", "text/yaml"};
    static const char *const page[] = {"text/html", "<html", "<body", "<!doctype", "<!DOCTYPE",
                                       ".html\"",   "<p>",   "<div",  ".tmpl\"",   ".gohtml\""};
    const myth_flow *f = k->flow;
    const TSNode node = myth_facts_argument(k, e, 0);
    if (is_null(node) || !in_file(f, text, 1) || in_file(f, html, 1) || in_function(f, safe, N_OF(safe)) ||
        !in_file(f, page, N_OF(page)))
        return 0;
    char x[64];
    const uint32_t off = ts_node_start_byte(node), n = ts_node_end_byte(node) - off;
    if (n >= sizeof(x) - 1)
        return 0;
    memcpy(x, f->text + off + (f->text[off] == '&'), n);
    x[n - (f->text[off] == '&')] = '\0';
    if (has_line(f, "", x, "http.ResponseWriter"))
        return 1;
    /* a buffer that is written to the answer later */
    return (has_line(f, "", x, "bytes.Buffer") && has_line(f, "", "w", "http.ResponseWriter") &&
            (has_line(f, "", x, ".WriteTo(w)") || has_line(f, "w.Write(", x, ".Bytes()")));
}
