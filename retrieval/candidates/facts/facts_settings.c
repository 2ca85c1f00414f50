/* facts_settings.c - facts about settings that protect something: who chose them, what is fixed in the source, and what
 * the file does besides (facts.h).
 *
 * Words     what a condition or a file is about is told by words in its source: they are looked for as they are
 * Fixed     a value of texts and numbers that are written there, by itself, through a variable of the function that
 *           nothing else was done with, or through a name that the file sets once outside of functions
 * Cost      the source of a file is looked through, and MOST_NODES nodes of it: rules ask for the rest before */
#define _GNU_SOURCE /* memmem */
#include "facts_impl.h"
#include "retrieval/candidates/flow/flow_impl.h"

#include "engine/base/chars.h"

#include <ctype.h>
#include <string.h>

enum { MOST_NODES = 20000, DEEP = 8, CONDITION = 400 };

/* Whether bytes off..end of the file have one of the words; is_any: in capitals too, words in small letters. */
static bool has_word(const myth_flow *f, uint32_t off, uint32_t end, const char *const *word, size_t n, bool is_any)
{
    end = end < f->n_text ? end : f->n_text;
    for (size_t w = 0; w < n; w++) {
        const size_t m = strlen(word[w]);
        for (uint32_t i = off; i + m <= end; i++) {
            size_t j = 0;
            while (j < m && (is_any ? tolower((unsigned char)f->text[i + j]) : f->text[i + j]) == word[w][j])
                j++;
            if (j == m)
                return true;
        }
    }
    return false;
}

/* The innermost function around event e; null = none. */
static TSNode function_around(const myth_facts *k, uint32_t e)
{
    TSNode n = myth_facts_event(k, e)->node;
    while (!ts_node_is_null(n) && myth_roles_of(k->flow->roles, n) != MYTH_ROLE_FUNCTION)
        n = ts_node_parent(n);
    return n;
}

/* ---- tests ---- */

/* The offset of the first of the words; UINT32_MAX = none. */
static uint32_t first_word(const myth_flow *f, const char *const *word, size_t n)
{
    uint32_t first = UINT32_MAX;
    for (size_t w = 0; w < n; w++) {
        const char *at = memmem(f->text, f->n_text, word[w], strlen(word[w]));
        first = at && (uint32_t)(at - f->text) < first ? (uint32_t)(at - f->text) : first;
    }
    return first;
}

/* Java: whether a part of the package's name says that it is for tests: package shop.test; */
static bool is_in_test_package(const myth_flow *f)
{
    static const char *const word[] = {"test", "tests", "junit", "testing", "mock", "mocks", "testutil", "fixtures"};
    const char *const end = f->text + f->n_text;
    for (const char *p = f->text; p && p < end; p = memchr(p, '\n', (size_t)(end - p)), p = p ? p + 1 : p) {
        if (end - p < 10 || memcmp(p, "package ", 8) != 0)
            continue;
        char part[16];
        size_t n = 0;
        for (p += 8; p < end && *p != '\n'; p++) {
            if (isalnum((unsigned char)*p)) {
                n += n + 1 < sizeof(part);
                part[n - 1] = (char)tolower((unsigned char)*p);
                continue;
            }
            part[n] = '\0';
            if (myth_flow_is_one_of(part, word, N_OF(word)) && (*p == '.' || *p == ';'))
                return true;
            n = 0;
        }
        return false;
    }
    return false;
}

void myth_file_facts_tests(myth_file_facts *ff, const myth_flow *f)
{
    static const char *const word[] = {
        "cmocka.h",   "gtest/gtest.h",   "catch2/",     "QtTest",        "QTest",       "\"testing\"", "net/http/test",
        "unittest",   "pytest",          "django.test", "org.junit",     "org.testng",  "\ndescribe(", "'vitest'",
        "\"vitest\"", "@jest/global",    "'node:test'", "\"node:test\"", "\ntest(",     "\tdescribe(", "require('chai'",
        "clar.h",     "boost/test/unit", "from 'chai'", "onsi/gomega\"", "onsi/ginkgo", "CppUnit/",    "cppunit/",
        "_unity.h",   "\"unity.h",       "<unity.h",    "doctest.h",     "munit.h"};
    static const char *const map[] = {".end()",     ">end()",        ".count(", ">count(", ".contains(",
                                      ">contains(", ".lower_bound(", "map[",    "map<",    "Map<",
                                      "QHash",      "json::",        "Json::"};
    static const char *const part[] = {"#[cfg(test)]", "#[test]", "#[tokio::test]"}; /* of a file of Rust */
    const bool is_whole = first_word(f, word, N_OF(word)) != UINT32_MAX || is_in_test_package(f);
    ff->has_maps = has_word(f, 0, f->n_text, map, N_OF(map), false);
    ff->tests_off = is_whole ? 0 : first_word(f, part, N_OF(part));
}

int myth_fact_in_tests(myth_facts *k, uint32_t e)
{
    static const char *const name[] = {"test_", "Test", "Benchmark", "LLVMFuzzer", "mock"};
    static const char *const part[] = {"Mock", "_mock"};
    return myth_flow_has_one_of(k->flow->names + k->flow->name, part, N_OF(part)) ||
           myth_flow_begins_with(k->flow->names + k->flow->name, name, N_OF(name)) ||
           k->file->tests_off <= myth_facts_event(k, e)->off;
}

/* ---- who chose it ---- */

enum { CHOSEN_NO, CHOSEN_BRANCH, CHOSEN_OPTION, CHOSEN_COMMENT };

/* Whether a condition asks for something that somebody set: what comes then was wanted. */
static bool is_option(const myth_flow *f, const myth_test *t)
{
    static const char *const word[] = {"insecure", "verif",     "check",     "skip",   "trust", "valid",
                                       "selfsign", "self_sign", "self-sign", "debug",  "dev",   "local",
                                       "test",     "strict",    "allow",     "unsafe", "cert",  "reject",
                                       "ignor",    "requir",    "noauth",    "danger", "peer"};
    static const char *const prod[] = {"prod"}, *const no[] = {"!", "not "};
    uint32_t end = t->end < f->n_text ? t->end : f->n_text;
    if (t->off < end && f->text[t->off] == '#') /* #if: its line */
        for (uint32_t i = t->off; i < end; i++)
            if (f->text[i] == '\n')
                end = i;
    if (end > t->off + CONDITION)
        end = t->off + CONDITION;
    return has_word(f, t->off, end, word, N_OF(word), true) ||
           (has_word(f, t->off, end, prod, 1, true) && has_word(f, t->off, end, no, N_OF(no), false));
}

/* Whether event e is in a class that is about developing: class DevelopmentConfig. */
static bool is_of_developers(const myth_facts *k, uint32_t e)
{
    static const char *const word[] = {"dev", "test", "local", "debug"};
    for (TSNode n = myth_facts_event(k, e)->node; !ts_node_is_null(n); n = ts_node_parent(n)) {
        if (strncmp(ts_node_type(n), "class_d", 7) != 0)
            continue;
        const TSNode name = myth_roles_child(k->flow->roles, n, MYTH_SLOT_LEFT);
        if (!ts_node_is_null(name) &&
            has_word(k->flow, ts_node_start_byte(name), ts_node_end_byte(name), word, N_OF(word), true))
            return true;
    }
    return false;
}

/* Whether a comment in the lines of event e, or in those beside, says what a certificate is taken for that nobody can
 * check: one that a device made for itself. */
static bool is_commented(const myth_flow *f, const myth_event *e)
{
    static const char *const word[] = {"self signed", "self-signed", "selfsigned"}, *const mark[] = {"//", "/*", "* "};
    uint32_t off = e->off, end = e->end;
    for (int line = 0; line < 3 && off > 0 && e->off - off < CONDITION; off--)
        line += f->text[off - 1] == '\n';
    for (int line = 0; line < 2 && end < f->n_text && end - e->end < CONDITION; end++)
        line += f->text[end] == '\n';
    for (uint32_t at = off, to; at < end; at = to + 1) {
        for (to = at; to < end && f->text[to] != '\n';)
            to++;
        for (uint32_t i = at; i + 1 < to; i++)
            if (has_word(f, i, i + 2, mark, N_OF(mark), false) && has_word(f, i, to, word, N_OF(word), true))
                return true;
    }
    return false;
}

int myth_fact_chosen(myth_facts *k, uint32_t e)
{
    static const char *const named[] = {"nsecure", "nverified", "nsafe", "INSECURE"}, *const call[] = {"("};
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    const bool is_named = myth_flow_has_one_of(f->names + f->name, named, N_OF(named));
    int is = is_named || is_of_developers(k, e) ? CHOSEN_OPTION : CHOSEN_NO;
    for (uint32_t s = at->scope; s && is != CHOSEN_OPTION; s = f->scope[s].parent) {
        const myth_scope *in = &f->scope[s];
        if (in->kind == MYTH_SCOPE_CASE)
            is = CHOSEN_BRANCH;
        else if ((in->kind == MYTH_SCOPE_THEN || in->kind == MYTH_SCOPE_ELSE) && in->test)
            is = is_option(f, &f->test[in->test - 1]) ? CHOSEN_OPTION : CHOSEN_BRANCH;
    }
    for (uint32_t s = 1; s < f->n_scope && is != CHOSEN_OPTION; s++) { /* if (verify) return strict(); no calls */
        const myth_scope *x = &f->scope[s];
        if (x->kind == MYTH_SCOPE_THEN && x->leaves == MYTH_LEAVES_FUNCTION && x->test && x->end <= at->off &&
            myth_flow_is_inside(f, at->scope, x->parent) && is_option(f, &f->test[x->test - 1]) &&
            !has_word(f, f->test[x->test - 1].off, f->test[x->test - 1].end, call, 1, false))
            is = CHOSEN_OPTION;
    }
    return is == CHOSEN_NO && is_commented(f, at) ? CHOSEN_COMMENT : is;
}

/* ---- where it is used ---- */

enum { USED_HERE, USED_OPTION, USED_ELSEWHERE };
enum { MOST_USES = 16, MOST_UP = 60 };

/* Whether an option asks for a node; *method: the name of the method that it is in, null = none. */
static bool is_under_option(const myth_flow *f, TSNode node, TSNode *method)
{
    *method = (TSNode){0};
    TSNode below = node;
    for (int i = 0; i < MOST_UP && !is_null(node); i++, below = node, node = ts_node_parent(node)) {
        const TSNode cond = role_of(f, node) == MYTH_ROLE_IF     ? child_of(f, node, MYTH_SLOT_CONDITION)
                          : role_of(f, node) == MYTH_ROLE_CHOICE ? ts_node_named_child(node, 0)
                                                                 : (TSNode){0};
        if (!is_null(cond) && !ts_node_eq(cond, below)) {
            const myth_test t = {.off = ts_node_start_byte(cond), .end = ts_node_end_byte(cond)};
            if (is_option(f, &t))
                return true;
        }
        if (strcmp(ts_node_type(node), "method_declaration") == 0) {
            *method = child_of(f, node, MYTH_SLOT_LEFT);
            return false;
        }
    }
    return false;
}

/* How the file uses the name of a node outside of `own`: a use in a method counts as the method is used. */
static int used(const myth_flow *f, TSNode name, TSNode own, int deep)
{
    const TSNode root = ts_tree_root_node(name.tree);
    const uint32_t at = ts_node_start_byte(name), n = ts_node_end_byte(name) - at;
    uint32_t n_use = 0;
    for (uint32_t i = 0; n > 0 && i + n < f->n_text; i++) {
        const char *p = memchr(f->text + i, f->text[at], f->n_text - n - i);
        if (!p)
            break;
        i = (uint32_t)(p - f->text);
        const bool is_inside = i >= ts_node_start_byte(own) && i < ts_node_end_byte(own);
        const char before = i > 0 ? f->text[i - 1] : ' ', behind = f->text[i + n];
        if (is_inside || memcmp(p, f->text + at, n) != 0 || myth_is_word(before) || myth_is_word(behind))
            continue;
        const TSNode node = ts_node_descendant_for_byte_range(root, i, i + n);
        TSNode method;
        if (is_null(node) || strstr(ts_node_type(node), "comment") || role_of(f, node) == MYTH_ROLE_TEXT)
            continue;
        if (++n_use > MOST_USES)
            return USED_HERE;
        if (is_under_option(f, node, &method))
            continue;
        const TSNode whole = is_null(method) ? method : ts_node_parent(method);
        if (deep == 2 || is_null(method) || used(f, method, whole, deep + 1) != USED_OPTION)
            return USED_HERE;
    }
    return n_use > 0 ? USED_OPTION : USED_ELSEWHERE;
}

int myth_fact_put_to_use(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    TSNode node = function_around(k, e);
    node = is_null(node) ? node : ts_node_parent(node);
    for (int i = 0; i < 8 && !is_null(node) && role_of(f, node) != MYTH_ROLE_FUNCTION;
         i++, node = ts_node_parent(node)) {
        const bool is_class = strcmp(ts_node_type(node), "class_declaration") == 0;
        if (!is_class && role_of(f, node) != MYTH_ROLE_ASSIGN)
            continue;
        const TSNode name = child_of(f, node, MYTH_SLOT_LEFT);
        const int is = is_null(name) ? USED_HERE : used(f, name, node, 0);
        return is == USED_ELSEWHERE && !is_class ? USED_HERE : is;
    }
    return USED_HERE;
}

/* ---- what is done besides ---- */

int myth_fact_rechecked(myth_facts *k, uint32_t e)
{
    static const char *const word[] = {"get_verify_result",
                                       "get_peer_certificate",
                                       "get1_peer_certificate",
                                       "get0_peer_certificate",
                                       "X509_verify_cert",
                                       "X509_check_host",
                                       "VerifyPeerCertificate",
                                       "VerifyConnection",
                                       "requestCert",
                                       "getPeerCertificate",
                                       "server_method",
                                       "SSL_accept",
                                       "fingerprint",
                                       "peerCertificate",
                                       "get_peer_cert",
                                       "getpeercert",
                                       "PeerCertSANs",
                                       "TOFU",
                                       "pinned"};
    (void)e;
    return has_word(k->flow, 0, k->flow->n_text, word, N_OF(word), false);
}

int myth_fact_verified(myth_facts *k, uint32_t e)
{
    static const char *const word[] = {"erify", "ParseWithClaims", ".Parse", "ecodeAndCheck"};
    const myth_flow *f = k->flow;
    const char *own = f->names + myth_facts_event(k, e)->name;
    for (uint32_t i = 0; i < f->n_event; i++) {
        const char *name = f->names + f->event[i].name;
        if (f->event[i].kind != MYTH_EVENT_CALL || i == e)
            continue;
        if (strcmp(name, own) == 0 || (myth_flow_has_one_of(name, word, N_OF(word)) && !strstr(name, "nverified")))
            return 1;
    }
    return 0;
}

int myth_fact_sent(myth_facts *k, uint32_t e)
{
    static const char *const word[] = {"bearer",       "authorization",   "req.cookies",     "req.headers",
                                       ".header(\"x-", "request.headers", "request.cookies", "ctx.cookies"};
    (void)e;
    return has_word(k->flow, k->flow->off, k->flow->end, word, N_OF(word), true);
}

/* Go: of math/rand. Java: the file makes a Random, and no SecureRandom. */
int myth_fact_guessable(myth_facts *k, uint32_t e)
{
    static const char *const weak[] = {"\"math/rand", "new Random("};
    static const char *const strong[] = {"\"crypto/rand\"", "SecureRandom"};
    const char *name = k->flow->names + myth_facts_event(k, e)->name;
    if (strncmp(name, "mrand.", 6) == 0 || strncmp(name, "mathrand.", 9) == 0)
        return 1;
    return has_word(k->flow, 0, k->flow->n_text, weak, N_OF(weak), false) &&
           !has_word(k->flow, 0, k->flow->n_text, strong, N_OF(strong), false);
}

/* ---- functions that do nothing ---- */

enum { HOLLOW_NO, HOLLOW_EMPTY, HOLLOW_TRUE };

int myth_fact_hollow(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const TSNode function = function_around(k, e);
    const TSNode body = ts_node_is_null(function) ? function : myth_roles_child(f->roles, function, MYTH_SLOT_BODY);
    if (ts_node_is_null(body))
        return HOLLOW_NO;
    TSNode only = {0};
    for (uint32_t i = 0; i < ts_node_named_child_count(body); i++) {
        const TSNode child = ts_node_named_child(body, i);
        if (ts_node_is_extra(child)) /* a comment */
            continue;
        if (!ts_node_is_null(only))
            return HOLLOW_NO;
        only = child;
    }
    if (ts_node_is_null(only))
        return HOLLOW_EMPTY;
    if (myth_flow_text_is(f, only, "return;"))
        return HOLLOW_EMPTY;
    return myth_flow_text_is(f, only, "return true;") ? HOLLOW_TRUE : HOLLOW_NO;
}

TSNode myth_facts_within(const myth_facts *k, uint32_t e)
{
    const TSNode function = function_around(k, e);
    return ts_node_is_null(function) ? function : myth_roles_child(k->flow->roles, function, MYTH_SLOT_LEFT);
}

/* ---- what is fixed ---- */

enum { FIXED_NO, FIXED_ZERO, FIXED_BYTES, FIXED_TEXT };

static int fixed(const myth_facts *k, TSNode node, uint32_t e, int deep);

/* Whether something was done with a variable between its definition and event e: it may have been filled. */
static bool is_touched(const myth_flow *f, uint32_t path, uint32_t d, uint32_t e)
{
    for (uint32_t i = d + 1; i < e; i++)
        if (f->event[i].kind != MYTH_EVENT_TEST && f->event[i].path && f->event[i].off > f->event[d].end &&
            (myth_flow_is_part(f, f->event[i].path, path) || myth_flow_is_part(f, path, f->event[i].path)))
            return true;
    return false;
}

/* The value that a name of n bytes gets outside of functions; null where it gets none, or several. */
static TSNode value_in_file(myth_flow *f, TSNode root, const char *name, size_t n)
{
    TSNode found = {0};
    int left = MOST_NODES, n_found = 0;
    TSTreeCursor c = ts_tree_cursor_new(root);
    for (bool is_more = ts_tree_cursor_goto_first_child(&c); is_more && left-- > 0;) {
        const TSNode node = ts_tree_cursor_current_node(&c);
        const bool is_function = myth_roles_of(f->roles, node) == MYTH_ROLE_FUNCTION;
        TSNode key = is_function ? (TSNode){0} : myth_roles_child(f->roles, node, MYTH_SLOT_LEFT);
        const TSNode value = is_function ? key : myth_roles_child(f->roles, node, MYTH_SLOT_RIGHT);
        if (ts_node_is_null(key) && !is_function)
            key = myth_roles_child(f->roles, node, MYTH_SLOT_FIELD);
        if (!ts_node_is_null(key) && !ts_node_is_null(value)) {
            bool a = false, b = false, is_called = false;
            const TSNode declared = myth_flow_declared(f, key, &a, &b, &is_called);
            key = ts_node_is_null(declared) ? key : declared;
            const uint32_t off = ts_node_start_byte(key), end = ts_node_end_byte(key);
            if (end - off == n && end <= f->n_text && memcmp(f->text + off, name, n) == 0) {
                found = value;
                n_found++;
            }
        }
        if (!is_function && ts_tree_cursor_goto_first_child(&c))
            continue;
        while ((is_more = ts_tree_cursor_goto_next_sibling(&c)) == false && ts_tree_cursor_goto_parent(&c))
            ;
    }
    ts_tree_cursor_delete(&c);
    return n_found == 1 ? found : (TSNode){0};
}

/* Of a variable, or of a member that belongs to the class or file. */
static int fixed_name(const myth_facts *k, TSNode node, uint32_t e, int deep)
{
    myth_flow *f = k->flow;
    const uint32_t path = myth_flow_path(f, node);
    uint32_t d;
    if (!path)
        return FIXED_NO;
    const char *name = f->names + f->path[path].text;
    if (strncmp(name, "StandardCharsets.", 17) == 0 || strncmp(name, "Charsets.", 9) == 0)
        return FIXED_ZERO;
    if (myth_facts_definition(k, path, e, &d)) {
        const myth_event *def = myth_facts_event(k, d);
        const TSNode value = myth_facts_value_node(f, def);
        if (def->path != path || def->value == MYTH_VALUE_PARAMETER || def->value == MYTH_VALUE_LOOP ||
            ts_node_is_null(value) || is_touched(f, path, d, e))
            return FIXED_NO;
        return fixed(k, value, d, deep + 1);
    }
    const char *last = f->names + f->path[path].last;
    const bool is_own =
        strncmp(name, "this.", 5) == 0 || strncmp(name, "self.", 5) == 0 || isupper((unsigned char)*name);
    if (last != name && !is_own)
        return FIXED_NO;
    char word[MYTH_FLOW_PATH_BYTES + 1] = "";
    strncpy(word, last, sizeof(word) - 1);
    TSNode root = node;
    for (TSNode up = node; !ts_node_is_null(up); up = ts_node_parent(up))
        root = up;
    const TSNode value = value_in_file(f, root, word, strlen(word));
    const int is = ts_node_is_null(value) ? FIXED_NO : fixed(k, value, e, deep + 1);
    return is == FIXED_ZERO ? FIXED_NO : is; /* it may be filled anywhere */
}

/* Of all named children but types. */
static int fixed_children(const myth_facts *k, TSNode node, uint32_t e, int deep, int none)
{
    int most = none;
    for (uint32_t i = 0; i < ts_node_named_child_count(node) && i < 64; i++) {
        const TSNode child = ts_node_named_child(node, i);
        const char *type = ts_node_type(child);
        if (ts_node_is_extra(child) || strstr(type, "type") == type || strstr(type, "_type"))
            continue;
        const int is = fixed(k, child, e, deep + 1);
        if (is == FIXED_NO)
            return FIXED_NO;
        most = is > most ? is : most;
    }
    return most;
}

/* Of a call that gives what it gets in another form, or a new array. */
static int fixed_call(const myth_facts *k, TSNode node, uint32_t e, int deep)
{
    static const char *const fresh[] = {"make", "Buffer.alloc"};
    static const char *const of_base[] = {"getBytes", "encode",      "as_bytes",    "to_vec", "into",
                                          "as_ref",   "toCharArray", "toByteArray", "c_str",  "data"};
    static const char *const form[] = {
        "Buffer.from",      "bytes",      "bytes.fromhex", "bytearray", "Uint8Array",    "IvParameterSpec",
        "GCMParameterSpec", "unhexlify",  "from_slice",    "new",       "b64decode",     "Utf8.parse",
        "Hex.parse",        "from_bytes", "utf8ToBytes",   "str2bytes", "SecretKeySpec", "hmacShaKeyFor",
        "from_secret"};
    myth_flow *f = k->flow;
    const TSNode callee = myth_roles_child(f->roles, node, MYTH_SLOT_CALLEE);
    const TSNode list = myth_roles_child(f->roles, node, MYTH_SLOT_ARGUMENTS);
    if (ts_node_is_null(callee))
        return FIXED_NO;
    const uint32_t called = myth_flow_callee_name(f, node, callee); /* the names may move */
    const char *name = f->names + called;
    const char *last = myth_flow_last_word(name);
    if (myth_flow_is_one_of(name, fresh, N_OF(fresh)))
        return FIXED_ZERO;
    if (myth_flow_is_one_of(last, of_base, N_OF(of_base))) {
        const bool is_member = myth_roles_of(f->roles, callee) == MYTH_ROLE_MEMBER;
        const TSNode base =
            myth_roles_child(f->roles, is_member ? callee : node, MYTH_SLOT_BASE); /* Java: the node's */
        return ts_node_is_null(base) || ts_node_eq(base, callee) ? FIXED_NO : fixed(k, base, e, deep + 1);
    }
    const bool is_form = myth_flow_is_one_of(name, form, N_OF(form)) || myth_flow_is_one_of(last, form, N_OF(form)) ||
                         strstr(name, "Utf8.parse") || strstr(name, "Hex.parse");
    return is_form && !ts_node_is_null(list) ? fixed_children(k, list, e, deep, FIXED_ZERO) : FIXED_NO;
}

static int fixed(const myth_facts *k, TSNode node, uint32_t e, int deep)
{
    static const char *const many[] = {
        "array",           "list",       "tuple",           "array_expression",           "array_initializer",
        "literal_value",   "token_tree", "literal_element", "type_conversion_expression", "initializer_list",
        "slice_expression"};
    myth_flow *f = k->flow;
    node = ts_node_is_null(node) ? node : myth_flow_inner(f, node);
    if (ts_node_is_null(node) || deep > DEEP)
        return FIXED_NO;
    const char *type = ts_node_type(node);
    switch (myth_roles_of(f->roles, node)) {
    case MYTH_ROLE_TEXT:
        return myth_flow_is_filled(node)                             ? FIXED_NO
             : ts_node_end_byte(node) - ts_node_start_byte(node) < 3 ? FIXED_ZERO
                                                                     : FIXED_TEXT;
    case MYTH_ROLE_NUMBER: return myth_flow_first_byte(f, node) == '0' ? FIXED_ZERO : FIXED_BYTES;
    case MYTH_ROLE_CONSTANT: return FIXED_ZERO;
    case MYTH_ROLE_KEYWORD: return fixed(k, myth_roles_child(f->roles, node, MYTH_SLOT_RIGHT), e, deep + 1);
    case MYTH_ROLE_NAME:
    case MYTH_ROLE_MEMBER: return fixed_name(k, node, e, deep);
    case MYTH_ROLE_CALL:
    case MYTH_ROLE_NEW: return fixed_call(k, node, e, deep);
    case MYTH_ROLE_BINARY:
        return myth_flow_is_operator(f, node, "+") || myth_flow_is_operator(f, node, "*")
                 ? fixed_children(k, node, e, deep, FIXED_NO)
                 : FIXED_NO;
    case MYTH_ROLE_REFERENCE:
    case MYTH_ROLE_UNARY: return fixed_children(k, node, e, deep, FIXED_NO);
    default: break;
    }
    if (myth_flow_is_one_of(type, many, N_OF(many)))
        return fixed_children(k, node, e, deep, FIXED_ZERO);
    if (strcmp(type, "composite_literal") == 0 || strcmp(type, "array_creation_expression") == 0) {
        for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
            const char *in = ts_node_type(ts_node_named_child(node, i));
            if (strcmp(in, "literal_value") == 0 || strcmp(in, "array_initializer") == 0)
                return fixed_children(k, ts_node_named_child(node, i), e, deep, FIXED_ZERO);
        }
        return FIXED_ZERO;
    }
    if (strcmp(type, "macro_invocation") == 0) { /* vec![0; 12] */
        const uint32_t n = ts_node_named_child_count(node);
        const TSNode name = ts_node_named_child(node, 0);
        return n > 1 && myth_flow_text_is(f, name, "vec") ? fixed(k, ts_node_named_child(node, n - 1), e, deep + 1)
                                                          : FIXED_NO;
    }
    return FIXED_NO;
}

static int fixed_argument(const myth_facts *k, uint32_t e, uint32_t i)
{
    const TSNode a = myth_facts_argument(k, e, i);
    return ts_node_is_null(a) ? FIXED_NO : fixed(k, a, e, 0);
}

int myth_fact_fixed0(myth_facts *k, uint32_t e) { return fixed_argument(k, e, 0); }
int myth_fact_fixed1(myth_facts *k, uint32_t e) { return fixed_argument(k, e, 1); }
int myth_fact_fixed2(myth_facts *k, uint32_t e) { return fixed_argument(k, e, 2); }
int myth_fact_fixed4(myth_facts *k, uint32_t e) { return fixed_argument(k, e, 4); }

/* A cipher is given all that it encrypts behind event e, and that is one block which the other side chose anew: what
 * was encrypted first says nothing about another one. */
int myth_fact_one_block(myth_facts *k, uint32_t e)
{
    static const char *const word[] = {"token", "challenge", "nonce"};
    const myth_flow *f = k->flow;
    uint32_t n = 0;
    for (uint32_t i = e + 1; f->event[e].kind == MYTH_EVENT_CALL && i < f->n_event && i < e + 512; i++) {
        const char *name = f->names + f->event[i].name;
        if (f->event[i].kind != MYTH_EVENT_CALL || strncmp(name, "EVP_", 4) != 0 || !strstr(name, "Update"))
            continue;
        const TSNode from = myth_facts_argument(k, i, 3), size = myth_facts_argument(k, i, 4);
        if (is_null(size) || !(myth_flow_text_is(f, size, "16") || myth_flow_text_is(f, size, "8")) ||
            !has_word(f, ts_node_start_byte(from), ts_node_end_byte(from), word, N_OF(word), true))
            return 0;
        n++;
    }
    return n == 1;
}

/* ---- what stands in for it ---- */

/* a || 'text', a ?? 'text', a or 'text': a text that is not empty. */
int myth_fact_fallback(myth_facts *k, uint32_t e)
{
    const myth_flow *f = k->flow;
    const myth_event *at = myth_facts_event(k, e);
    const TSNode up = ts_node_parent(at->node);
    if (ts_node_is_null(up) || myth_roles_of(f->roles, up) != MYTH_ROLE_BINARY)
        return 0;
    const TSNode right = ts_node_named_child(up, ts_node_named_child_count(up) - 1);
    const bool is_or =
        myth_flow_is_operator(f, up, "||") || myth_flow_is_operator(f, up, "??") || myth_flow_is_operator(f, up, "or");
    return is_or && !ts_node_eq(right, at->node) && myth_roles_of(f->roles, right) == MYTH_ROLE_TEXT &&
           ts_node_end_byte(right) - ts_node_start_byte(right) > 2;
}
