/* test_render_forms.c - github, rdjsonl, SARIF, Checkstyle, JUnit and HTML are read with readers written for this
 * test, which must get back what was put in, even when names, code and texts are made of what breaks formats. */
#include "html_reader.h"
#include "tests/frontend/inspect/hostile.h"

#include "engine/base/utf8.h"

#include <ctype.h>
#include <jansson.h>

static bed b;

/* ---- what may be shown ---- */

static bool is_visible(uint32_t c)
{
    if (c == '\n' || c == '\t')
        return true;
    static const uint32_t hidden[][2] = {{0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},     {0x61c, 0x61c},
                                         {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f}, {0xfeff, 0xfeff},
                                         {0xfff9, 0xfffb}, {0xe0000, 0xe007f}, {0xfdd0, 0xfdef}};
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        if (c >= hidden[i][0] && c <= hidden[i][1])
            return false;
    return (c & 0xffff) < 0xfffe;
}

static void assert_visible(const char *text, size_t len, const char *what)
{
    for (size_t i = 0; i < len;) {
        uint32_t c = 0;
        int n = myth_utf8_decode((const unsigned char *)text + i, len - i, &c);
        if (!n || !is_visible(c))
            print_error("%s: byte %zu: U+%04X in %.60s\n", what, i, c, text);
        assert_true(n && is_visible(c));
        i += (size_t)n;
    }
}

/* Returns the text as a report may show it; the caller frees it. */
static char *visible(const void *text, size_t len)
{
    char *out = malloc(3 * len + 1), *at = out;
    const unsigned char *p = text;
    for (size_t i = 0; i < len;) {
        uint32_t c = 0;
        int n = myth_utf8_decode(p + i, len - i, &c);
        bool ok = n && is_visible(c);
        memcpy(at, ok ? (const char *)p + i : "\xef\xbf\xbd", ok ? (size_t)n : 3);
        at += ok ? n : 3;
        i += n ? (size_t)n : 1;
    }
    *at = '\0';
    return out;
}

static void assert_shows(const char *got, const void *text, size_t len, const char *what)
{
    char *want = visible(text, len);
    if (strcmp(got, want) != 0)
        print_error("%s\n  got  %.200s\n  want %.200s\n", what, got, want);
    assert_string_equal(got, want);
    free(want);
}

/* ---- reports made of anything ---- */

static void fill_text(uint64_t *rng, myth_str *out, size_t cap)
{
    static const char *const piece[] = {"%0A",
                                        "::error::x",
                                        "%",
                                        ",",
                                        ":",
                                        "]]>",
                                        "-->",
                                        "</script>",
                                        "<img src=x onerror=alert(1)>",
                                        "&amp;",
                                        "&#39;",
                                        "'",
                                        "\r\n",
                                        "\n::set-output name=a::b\n",
                                        "\x1b]0;x\x07",
                                        "\xe2\x80\xae",
                                        "\xef\xbb\xbf",
                                        "\xf3\xa0\x81\x81",
                                        "\xc2\xad"};
    unsigned char text[512];
    size_t n = hostile_fill(rng, text, cap / 2);
    while (check_below(rng, 4)) {
        const char *p = piece[check_below(rng, sizeof(piece) / sizeof(piece[0]))];
        if (n + strlen(p) >= cap)
            break;
        memcpy(text + n, p, strlen(p));
        n += strlen(p);
    }
    *out = bed_text(&b, text, n);
}

static void open_random(uint64_t *rng)
{
    unsigned char code[2048];
    myth_str name;
    size_t len = hostile_fill(rng, code, sizeof(code) - 40);
    memcpy(code + len, "\nlast_line(of, the, file);\n", 26);
    b.text_used = 0;
    bed_open(&b, "x", code, len + 26);
    fill_text(rng, &name, 200);
    size_t n = 0;
    for (size_t i = 0; i < name.len && n + 1 < sizeof(b.path);
         i++) /* a file name has no NUL, and this one does not begin with a slash */
        if (name.text[i] && (n || name.text[i] != '/'))
            b.path[n++] = name.text[i];
    b.path[n] = '\0';
    if (!n)
        strcpy(b.path, "a.c");
    uint32_t n_finding = 1 + check_below(rng, 6);
    for (uint32_t i = 0; i < n_finding; i++) {
        uint32_t line = 1 + check_below(rng, b.src.n_line);
        while (!b.src.line[line - 1].text_len)
            line = line % b.src.n_line + 1;
        uint32_t first = line > 3 ? line - check_below(rng, 3) : line, last = line + check_below(rng, 3);
        const myth_rule *rule = &myth_rules[check_below(rng, myth_rule_count())];
        myth_finding *f = bed_add(&b, rule->id, first, last < b.src.n_line ? last : b.src.n_line, line);
        f->severity = (myth_severity)check_below(rng, MYTH_SEVERITY_N);
        fill_text(rng, &f->issue, 160);
        fill_text(rng, &f->why, 160);
        fill_text(rng, &f->fix, 160);
        fill_text(rng, &f->missing, 80);
    }
    fill_text(rng, &b.context[0], 100);
    b.report.n_context = 1;
    bed_mark(&b, true, NULL);
}

/* Returns the k-th finding in the order that forms sorted by severity have. */
static uint32_t sorted(uint32_t k)
{
    for (int v = 0; v < MYTH_SEVERITY_N; v++)
        for (uint32_t i = 0; i < b.report.n_finding; i++)
            if (b.finding[i].severity == (myth_severity)v && k-- == 0)
                return i;
    fail();
    return 0;
}

/* Returns the message of a finding: the issue or else the rule's title, why in a new line, then the fix. */
static char *message(const myth_finding *f, const char *before_fix)
{
    myth_str issue = f->issue.len ? f->issue : (myth_str){myth_rules[f->rule].title, strlen(myth_rules[f->rule].title)};
    char *out = malloc(issue.len + f->why.len + f->fix.len + 32), *at = out;
    memcpy(at, issue.text, issue.len);
    at += issue.len;
    if (f->why.len) {
        *at++ = '\n';
        memcpy(at, f->why.text, f->why.len);
        at += f->why.len;
    }
    if (f->fix.len && before_fix) {
        at = stpcpy(at, before_fix);
        memcpy(at, f->fix.text, f->fix.len);
        at += f->fix.len;
    }
    char *shown = visible(out, (size_t)(at - out));
    free(out);
    return shown;
}

/* ---- github ---- */

/* Decodes escapes in place, as a code host does. */
static char *unescape(char *s)
{
    static const struct {
        const char *from;
        char to;
    } row[] = {{"%0D", '\r'}, {"%0A", '\n'}, {"%3A", ':'}, {"%2C", ','}, {"%25", '%'}};
    char *at = s;
    for (char *p = s; *p; at++) {
        size_t k = 0;
        while (k < 5 && strncmp(p, row[k].from, 3) != 0)
            k++;
        *at = k < 5 ? row[k].to : *p;
        p += k < 5 ? 3 : 1;
    }
    *at = '\0';
    return s;
}

static void check_github(void)
{
    static const char *const level[] = {"error", "warning", "notice", "notice"};
    size_t len;
    char *text = bed_render(&b, MYTH_FORM_GITHUB, &len), *line = text;
    assert_visible(text, len, "github");
    for (uint32_t k = 0; k < b.report.n_finding; k++) {
        const uint32_t i = sorted(k);
        char *end = strchr(line, '\n'), *next = end + 1, *props, *data;
        assert_non_null(end);
        *end = '\0';
        assert_memory_equal(line, "::", 2);
        props = strchr(line, ' ');
        assert_non_null(props);
        *props++ = '\0';
        assert_string_equal(line + 2, level[b.finding[i].severity]);
        data = strstr(props, "::");
        assert_non_null(data);
        *data = '\0';
        data += 2;
        char *want = message(&b.finding[i], "\nFix: ");
        assert_string_equal(unescape(data), want);
        free(want);
        uint32_t n_prop = 0;
        for (char *p = strtok(props, ","); p; p = strtok(NULL, ","), n_prop++) {
            char *value = strchr(p, '=');
            assert_non_null(value);
            *value++ = '\0';
            if (!strcmp(p, "file"))
                assert_shows(unescape(value), b.path, strlen(b.path), "github file");
            else if (!strcmp(p, "line"))
                assert_int_equal(strtoul(value, NULL, 10), b.finding[i].first);
            else if (!strcmp(p, "endLine"))
                assert_int_equal(strtoul(value, NULL, 10), b.finding[i].last);
            else
                assert_string_equal(p, "title");
        }
        assert_int_equal(n_prop, 4);
        line = next;
    }
    assert_string_equal(line, "");
    free(text);
}

/* ---- rdjsonl and SARIF ---- */

static json_t *parse(const char *text, size_t len, const char *what)
{
    json_error_t e;
    json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &e);
    if (!j)
        print_error("%s: %s at %d\n%.300s\n", what, e.text, e.position, text);
    assert_non_null(j);
    return j;
}

static json_t *at(json_t *j, const char *path)
{
    char key[64];
    while (*path && j) {
        size_t n = strcspn(path, ".");
        snprintf(key, sizeof(key), "%.*s", (int)n, path);
        j = isdigit((unsigned char)key[0]) ? json_array_get(j, strtoul(key, NULL, 10)) : json_object_get(j, key);
        path += n + (path[n] == '.');
    }
    if (!j)
        print_error("no %s\n", path);
    assert_non_null(j);
    return j;
}

static const char *str_at(json_t *j, const char *path) { return json_string_value(at(j, path)); }

/* Fails when a text anywhere in the document has a character that reports must not show. */
static void assert_all_visible(json_t *j, const char *what)
{
    const char *key;
    json_t *v;
    size_t i;
    if (json_is_string(j))
        assert_visible(json_string_value(j), json_string_length(j), what);
    else if (json_is_object(j))
        json_object_foreach(j, key, v) assert_all_visible(v, what);
    else
        json_array_foreach(j, i, v) assert_all_visible(v, what);
}

static void check_rdjsonl(void)
{
    static const char *const level[] = {"ERROR", "WARNING", "INFO", "INFO"};
    size_t len;
    char *text = bed_render(&b, MYTH_FORM_RDJSONL, &len), *line = text;
    assert_visible(text, len, "rdjsonl");
    for (uint32_t i = 0; i < b.report.n_finding; i++) {
        size_t n = strcspn(line, "\n");
        json_t *j = parse(line, n, "rdjsonl");
        char *want = message(&b.finding[i], "\nFix: ");
        assert_all_visible(j, "rdjsonl");
        assert_string_equal(str_at(j, "message"), want);
        free(want);
        assert_shows(str_at(j, "location.path"), b.path, strlen(b.path), "rdjsonl path");
        assert_int_equal(json_integer_value(at(j, "location.range.start.line")), b.finding[i].first);
        assert_int_equal(json_integer_value(at(j, "location.range.end.line")), b.finding[i].last);
        assert_string_equal(str_at(j, "severity"), level[b.finding[i].severity]);
        assert_string_equal(str_at(j, "code.value"), myth_rules[b.finding[i].rule].id);
        json_decref(j);
        line += n + 1;
    }
    assert_string_equal(line, "");
    free(text);
}

/* The URI, percent-decoded, must be the path. */
static void assert_uri_names(const char *uri, const char *path)
{
    for (; *uri; path++) {
        unsigned char c = (unsigned char)*uri;
        assert_true(c > 0x20 && c < 0x7f && !strchr("<>\"{}|\\^`:?#[]@ ", c));
        if (c == '%') {
            char hex[3] = {uri[1], uri[2], 0};
            c = (unsigned char)strtoul(hex, NULL, 16);
            uri += 2;
        }
        assert_int_equal(c, (unsigned char)*path);
        uri++;
    }
    assert_int_equal(*path, 0);
}

static void check_sarif(void)
{
    size_t len;
    char *text = bed_render(&b, MYTH_FORM_SARIF, &len);
    assert_visible(text, len, "sarif");
    json_t *j = parse(text, len, "sarif"), *results = at(j, "runs.0.results"), *r;
    assert_all_visible(j, "sarif");
    assert_int_equal(json_array_size(results), b.report.n_finding);
    for (uint32_t i = 0; i < b.report.n_finding; i++) {
        const myth_finding *f = &b.finding[i];
        r = json_array_get(results, i);
        char *want = message(f, NULL);
        assert_string_equal(str_at(r, "message.text"), want);
        free(want);
        assert_uri_names(str_at(r, "locations.0.physicalLocation.artifactLocation.uri"), b.path);
        assert_int_equal(json_integer_value(at(r, "locations.0.physicalLocation.region.startLine")), f->first);
        assert_int_equal(json_integer_value(at(r, "locations.0.physicalLocation.region.endLine")), f->last);
        json_t *place = at(r, "locations.0.physicalLocation"), *around = json_object_get(place, "contextRegion");
        const char *shown = str_at(around ? around : json_object_get(place, "region"), "snippet.text");
        if (around)
            assert_shows(str_at(place, "region.snippet.text"), f->evidence.text, f->evidence.len, "sarif region");
        for (uint32_t n = f->first; n <= f->last; n++) {
            char *line = visible(b.code + b.src.line[n - 1].off, b.src.line[n - 1].len);
            assert_memory_equal(shown, line, strlen(line));
            shown += strlen(line) + (n < f->last);
            free(line);
        }
        assert_string_equal(shown, "");
        assert_shows(str_at(r, "properties.evidence"), f->evidence.text, f->evidence.len, "sarif evidence");
    }
    json_decref(j);
    free(text);
}

static void check_json(void)
{
    size_t len;
    char *text = bed_render(&b, MYTH_FORM_JSON, &len);
    json_t *j = parse(text, len, "json"), *list = at(j, "findings");
    assert_int_equal(json_array_size(list), b.report.n_finding);
    for (uint32_t i = 0; i < b.report.n_finding; i++) { /* values are escaped and otherwise kept */
        char lossy[4 * 512 + 1];
        size_t n = myth_spell_lossy(lossy, sizeof(lossy) - 1, b.finding[i].why.text, b.finding[i].why.len);
        json_t *why = at(json_array_get(list, i), "why");
        assert_int_equal(json_string_length(why), n);
        assert_memory_equal(json_string_value(why), lossy, n);
    }
    json_decref(j);
    free(text);
    text = bed_render(&b, MYTH_FORM_JSONL, &len);
    uint32_t n_line = 0;
    for (char *line = text; *line; n_line++) {
        size_t n = strcspn(line, "\n");
        json_decref(parse(line, n, "jsonl"));
        line += n + 1;
    }
    assert_int_equal(n_line, b.report.n_finding + 1);
    free(text);
}

/* ---- Code Quality ---- */

static void check_codequality(void)
{
    static const char *const severity[] = {"critical", "major", "minor", "info"};
    size_t len;
    char *text = bed_render(&b, MYTH_FORM_CODEQUALITY, &len);
    assert_visible(text, len, "codequality");
    json_t *all = parse(text, len, "codequality");
    assert_all_visible(all, "codequality");
    assert_int_equal(json_array_size(all), b.report.n_finding);
    for (uint32_t i = 0; i < b.report.n_finding; i++) {
        const myth_finding *f = &b.finding[i];
        json_t *e = json_array_get(all, i);
        char *want = message(f, "\nFix: ");
        assert_string_equal(str_at(e, "description"), want);
        free(want);
        assert_string_equal(str_at(e, "check_name"), myth_rules[f->rule].id);
        assert_string_equal(str_at(e, "severity"), severity[f->severity]);
        assert_shows(str_at(e, "location.path"), b.path, strlen(b.path), "codequality path");
        assert_int_equal(json_integer_value(at(e, "location.lines.begin")), f->first);
        assert_int_equal(json_integer_value(at(e, "location.lines.end")), f->last);
        assert_int_equal(strlen(str_at(e, "fingerprint")), MYTH_FINGERPRINT_LEN);
        assert_string_equal(str_at(e, "fingerprint"), b.report.mark[i].fingerprint.text);
    }
    json_decref(all);
    free(text);
}

/* ---- Checkstyle ---- */

/* Reads ` name="value"` as an XML reader does, which makes blanks of raw white space; false = there is no attribute. */
static bool read_attribute(const char **p, char name[16], char *value, size_t cap)
{
    static const struct {
        const char *from;
        char to;
    } row[] = {{"&amp;", '&'},  {"&lt;", '<'},   {"&gt;", '>'}, {"&quot;", '"'},
               {"&#39;", '\''}, {"&#10;", '\n'}, {"&#9;", '\t'}};
    const char *equal;
    size_t n = 0;
    if (**p != ' ')
        return false;
    equal = strchr(++*p, '=');
    assert_true(equal && equal - *p < 16 && equal[1] == '"');
    snprintf(name, 16, "%.*s", (int)(equal - *p), *p);
    for (*p = equal + 2; **p != '"';) {
        size_t k = 0;
        while (k < 7 && strncmp(*p, row[k].from, strlen(row[k].from)) != 0)
            k++;
        assert_true(**p && **p != '<' && (**p != '&' || k < 7) && n + 1 < cap);
        value[n++] = k < 7 ? row[k].to : (unsigned char)**p < ' ' ? ' ' : **p;
        *p += k < 7 ? strlen(row[k].from) : 1;
    }
    value[n] = '\0';
    ++*p;
    return true;
}

/* The column where the evidence begins, counted in characters that the report shows; 0 = on another line. */
static size_t column_of(uint32_t i)
{
    const myth_citation *c = &b.citation[i];
    const uint32_t from = b.src.line[c->line - 1].off;
    if (c->line != b.finding[i].first)
        return 0;
    char *before = visible(b.code + from, c->off - from);
    size_t column = 1;
    for (const char *p = before; *p; p++)
        column += ((unsigned char)*p & 0xc0) != 0x80;
    free(before);
    return column;
}

static void check_checkstyle(void)
{
    static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">\n<file";
    static const char *const level[] = {"error", "warning", "info", "info"};
    static char value[4096];
    char name[16], source[64];
    size_t len;
    char *text = bed_render(&b, MYTH_FORM_CHECKSTYLE, &len);
    const char *p = text + sizeof(head) - 1;
    assert_visible(text, len, "checkstyle");
    assert_int_equal(strncmp(text, head, sizeof(head) - 1), 0);
    assert_true(read_attribute(&p, name, value, sizeof(value)));
    assert_string_equal(name, "name");
    assert_shows(value, b.path, strlen(b.path), "checkstyle name");
    assert_memory_equal(p, ">\n", 2);
    p += 2;
    for (uint32_t i = 0; i < b.report.n_finding; i++) {
        const myth_finding *f = &b.finding[i];
        uint32_t n_attribute = 0;
        assert_memory_equal(p, "<error", 6);
        for (p += 6; read_attribute(&p, name, value, sizeof(value)); n_attribute++)
            if (!strcmp(name, "message")) {
                char *want = message(f, "\nFix: ");
                assert_string_equal(value, want);
                free(want);
            } else if (!strcmp(name, "line")) {
                assert_int_equal(strtoul(value, NULL, 10), f->first);
            } else if (!strcmp(name, "column")) {
                assert_int_equal(strtoul(value, NULL, 10), column_of(i));
            } else if (!strcmp(name, "severity")) {
                assert_string_equal(value, level[f->severity]);
            } else {
                assert_string_equal(name, "source");
                snprintf(source, sizeof(source), "mythos.%s", myth_rules[f->rule].id);
                assert_string_equal(value, source);
            }
        assert_int_equal(n_attribute, column_of(i) ? 5 : 4);
        assert_memory_equal(p, "/>\n", 3);
        p += 3;
    }
    assert_string_equal(p, "</file>\n</checkstyle>\n");
    free(text);
}

/* ---- JUnit ---- */

/* Reads text up to the next element, which must be `end`. */
static void read_content(const char **p, const char *end, char *value, size_t cap)
{
    const char *stop = strchr(*p, '<');
    char name[16], raw[8192];
    assert_non_null(stop);
    assert_memory_equal(stop, end, strlen(end));
    assert_null(memchr(*p, '>', (size_t)(stop - *p)));
    /* an attribute has the same references; white space is kept in a text */
    size_t n = (size_t)snprintf(raw, sizeof(raw), " x=\"");
    for (const char *s = *p; s < stop; s++)
        n += (size_t)snprintf(raw + n, sizeof(raw) - n,
                              *s == '\n'   ? "&#10;"
                              : *s == '\t' ? "&#9;"
                              : *s == '"'  ? "&quot;"
                                           : "%c",
                              *s);
    snprintf(raw + n, sizeof(raw) - n, "\"");
    const char *from = raw;
    assert_true(read_attribute(&from, name, value, cap));
    *p = stop + strlen(end);
}

/* Reads the attributes of an element, which must have these names in this order, and its end. */
static void read_element(const char **p, const char *begin, const char *const *want, char value[4][4096],
                         const char *end)
{
    char name[16];
    assert_memory_equal(*p, begin, strlen(begin));
    *p += strlen(begin);
    for (int k = 0; want[k]; k++) {
        assert_true(read_attribute(p, name, value[k], sizeof(value[k])));
        assert_string_equal(name, want[k]);
    }
    assert_memory_equal(*p, end, strlen(end));
    *p += strlen(end);
}

/* Every element with its attributes, as the schemas of Jenkins and GitLab have them; numbers that are true. */
static void check_junit(void)
{
    static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    static const char *const counted[] = {"name", "tests", "failures", "errors", NULL},
                             *const test_case[] = {"classname", "name", "file", "line", NULL},
                             *const failure[] = {"type", "message", NULL},
                             *const passed[] = {"classname", "name", NULL};
    static char value[4][4096], suites[4][4096], text_value[8192];
    char rule[64];
    size_t len;
    char *text = bed_render(&b, MYTH_FORM_JUNIT, &len);
    const char *p = text + sizeof(head) - 1;
    assert_visible(text, len, "junit");
    assert_int_equal(strncmp(text, head, sizeof(head) - 1), 0);
    read_element(&p, "<testsuites", counted, suites, ">\n");
    read_element(&p, "<testsuite", counted, value, ">\n");
    assert_string_equal(suites[0], "mythos");
    assert_shows(value[0], b.path, strlen(b.path), "junit name");
    for (int k = 1; k < 4; k++)
        assert_string_equal(suites[k], value[k]);
    assert_int_equal(strtoul(suites[2], NULL, 10), b.report.n_finding);
    assert_string_equal(suites[3], "0");
    for (uint32_t i = 0; i < b.report.n_finding; i++) {
        const myth_finding *f = &b.finding[i];
        read_element(&p, "<testcase", test_case, value, ">\n");
        snprintf(rule, sizeof(rule), "mythos.%s", myth_rules[f->rule].id);
        assert_string_equal(value[0], rule);
        assert_shows(value[2], b.path, strlen(b.path), "junit file");
        assert_memory_equal(value[1], value[2], strlen(value[2]));
        assert_int_equal(strtoul(value[3], NULL, 10), f->first);
        read_element(&p, "<failure", failure, value, ">");
        assert_string_equal(value[0], myth_rules[f->rule].id);
        char *want = message(f, "\nFix: ");
        assert_memory_equal(want, value[1], strlen(value[1])); /* the issue; the text ends with the rest */
        const char *rest = want + strlen(value[1]);
        read_content(&p, "</failure>", text_value, sizeof(text_value));
        assert_true(strlen(text_value) > strlen(rest));
        assert_string_equal(text_value + strlen(text_value) - strlen(rest), rest);
        free(want);
        assert_memory_equal(p, "\n</testcase>\n", 13);
        p += 13;
    }
    uint32_t n = b.report.n_finding;
    for (; strncmp(p, "<testcase", 9) == 0; n++) {
        read_element(&p, "<testcase", passed, value, "/>\n");
        assert_string_equal(value[0], "mythos.inspected");
    }
    assert_int_equal(strtoul(suites[1], NULL, 10), n);
    assert_true(n > 0); /* a report without findings has a result */
    assert_string_equal(p, "</testsuite>\n</testsuites>\n");
    free(text);
}

/* ---- HTML ---- */

static void check_html(void)
{
    size_t len;
    char *text = bed_render(&b, MYTH_FORM_HTML, &len);
    assert_visible(text, len, "html");
    read_page(text);
    assert_int_equal(pg.n_finding, b.report.n_finding);
    assert_shows(pg.file, b.path, strlen(b.path), "html file");
    uint32_t n_line = 0, n_title = 0;
    bool is_done[BED_FINDINGS] = {false};
    for (uint32_t k = 0; k < b.report.n_finding; k++) { /* the findings whose lines overlap are one place */
        uint32_t low = b.finding[sorted(k)].first, high = b.finding[sorted(k)].last;
        if (is_done[k])
            continue;
        uint32_t member[BED_FINDINGS], n_member = 0;
        for (uint32_t m = k; m < b.report.n_finding; m++) {
            const myth_finding *f = &b.finding[sorted(m)];
            if (is_done[m] || f->first > high || f->last < low)
                continue;
            low = f->first < low ? f->first : low;
            high = f->last > high ? f->last : high;
            is_done[m] = true;
            member[n_member++] = m;
        }
        for (uint32_t m = 0; m < n_member; m++) {
            const myth_finding *f = &b.finding[sorted(member[m])];
            const char *title = myth_rules[f->rule].title;
            assert_shows(pg.title[n_title++], f->issue.len ? f->issue.text : title,
                         f->issue.len ? f->issue.len : strlen(title), "html title");
        }
        uint32_t first = low > 4 ? low - 4 : 1, last = high + 4 < b.src.n_line ? high + 4 : b.src.n_line;
        for (uint32_t n = first; n <= last; n++)
            assert_shows(pg.line_text[n_line++], b.code + b.src.line[n - 1].off, b.src.line[n - 1].len, "html line");
    }
    assert_int_equal(n_title, b.report.n_finding);
    assert_int_equal(pg.n_line, n_line);
    free(text);
}

/* ---- tests ---- */

static void test_any_bytes(void **unused)
{
    (void)unused;
    uint64_t rng = check_seed();
    uint32_t rounds = check_is_full() ? 5000 : 300, n = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        open_random(&rng);
        n += b.report.n_finding;
        check_github();
        check_rdjsonl();
        check_sarif();
        check_json();
        check_codequality();
        check_checkstyle();
        check_junit();
        check_html();
        bed_close(&b);
    }
    printf("%u reports, %u findings\n", rounds, n);
}

/* JSON has the whole line beside the quoted part of it; columns are characters, and a secret is hidden in both. */
static void test_evidence_has_its_line(void **unused)
{
    static const char source[] = "int a;\n\tstrcpy(\xc3\xa9, \xe2\x82\xac);  /* x */\n";
    size_t len;
    (void)unused;
    bed_open(&b, "a.c", source, sizeof(source) - 1);
    bed_add(&b, "missing-bounds-check", 2, 2, 2);
    const char *quote = strstr(b.code, "\xc3\xa9, ");
    b.citation[0].off = (uint32_t)(quote - b.code);
    b.citation[0].len = 7;
    b.finding[0].evidence = (myth_str){quote, 7};
    bed_mark(&b, true, NULL);
    char *text = bed_render(&b, MYTH_FORM_JSON, &len);
    json_t *j = parse(text, len, "json"), *one = json_array_get(at(j, "findings"), 0);
    assert_string_equal(json_string_value(at(one, "evidence")), "\xc3\xa9, \xe2\x82\xac");
    assert_string_equal(json_string_value(at(one, "evidence_source")), "\tstrcpy(\xc3\xa9, \xe2\x82\xac);  /* x */");
    assert_int_equal(json_integer_value(json_array_get(at(one, "evidence_columns"), 0)), 9);
    assert_int_equal(json_integer_value(json_array_get(at(one, "evidence_columns"), 1)), 12);
    json_decref(j);
    free(text);
    bed_close(&b);

    static const char secret[] = "password = \"hunter2-x9-and-more\"; f(x);\n";
    bed_open(&b, "a.py", secret, sizeof(secret) - 1);
    bed_add(&b, "hardcoded-secret", 1, 1, 1);
    bed_mark(&b, true, NULL);
    text = bed_render(&b, MYTH_FORM_JSONL, &len);
    assert_non_null(strstr(text, "\"evidence_source\":\"password = \\\"[REDACTED"));
    assert_null(strstr(text, "hunter2"));
    free(text);
    bed_close(&b);
}

/* Long lines are cut around the evidence, never inside a character. */
static void test_long_lines(void **unused)
{
    static char code[20000];
    size_t len, n = 0;
    (void)unused;
    while (n < 12000)
        n += (size_t)snprintf(code + n, sizeof(code) - n, "\xe2\x82\xac");
    n += (size_t)snprintf(code + n, sizeof(code) - n, "gets(buffer);");
    uint32_t off = (uint32_t)n - 13;
    while (n < 19000)
        n += (size_t)snprintf(code + n, sizeof(code) - n, "\xe2\x82\xac");
    bed_open(&b, "min.js", code, n);
    bed_add(&b, "missing-bounds-check", 1, 1, 1);
    b.citation[0] = (myth_citation){.line = 1, .off = off, .len = 13};
    b.finding[0].evidence = (myth_str){b.code + off, 13};
    bed_mark(&b, true, NULL);
    for (int form = 0; form < MYTH_FORM_N; form++) {
        char *text = bed_render(&b, (myth_form)form, &len);
        assert_visible(text, len, "long");
        assert_true(len < (form == MYTH_FORM_SARIF ? 50000 : 30000)); /* its rules take more than 30,000 */
        assert_true(form == MYTH_FORM_GITHUB || form == MYTH_FORM_RDJSONL || form == MYTH_FORM_CHECKSTYLE ||
                    form == MYTH_FORM_CODEQUALITY || strstr(text, "gets(buffer);"));
        assert_null(strstr(text, "\xef\xbf\xbd"));
        free(text);
    }
    bed_close(&b);
}

/* The most severe findings come first, and the form says when it cannot show all. */
static void test_github_order(void **unused)
{
    size_t len;
    (void)unused;
    bed_open(&b, "a.c", "int x;\n", 7);
    for (int i = 0; i < 12; i++)
        bed_add(&b, "other", 1, 1, 1)->severity = i < 6 ? MYTH_SEVERITY_INFO : MYTH_SEVERITY_LOW;
    bed_add(&b, "double-free", 1, 1, 1);
    bed_mark(&b, true, NULL);
    char *text = bed_render(&b, MYTH_FORM_GITHUB, &len);
    assert_int_equal(strncmp(text, "::error ", 8), 0);
    assert_non_null(strstr(text, "\nmythos: 1 errors, 0 warnings, 12 notices; a step shows 10 of each"));
    free(text);
    b.report.complete = false;
    b.report.finish_reason = "length";
    text = bed_render(&b, MYTH_FORM_GITHUB, &len);
    assert_non_null(strstr(text, "\n::warning title=mythos::The inspection is incomplete: length\n"));
    free(text);
    bed_close(&b);
}

/* A caution is in every form that has a place for it, also in a report without a finding; escaped like other text. */
static void test_caution(void **unused)
{
    static const struct {
        myth_form form;
        const char *want;
    } row[] = {
        {MYTH_FORM_TEXT, "note: not trained on <b>\n"},
        {MYTH_FORM_JSON, "\"caution\":\"not trained on <b>\""},
        {MYTH_FORM_JSONL, "\"caution\":\"not trained on <b>\""},
        {MYTH_FORM_SARIF, "\"text\":\"not trained on <b>\""},
        {MYTH_FORM_GITHUB, "::notice title=mythos::not trained on <b>\n"},
        {MYTH_FORM_HTML, "<div class=\"banner\" role=\"note\">\n<p>not trained on &lt;b&gt;.</p>"},
    };
    size_t len;
    (void)unused;
    bed_open(&b, "a.c", "int x;\n", 7);
    bed_mark(&b, true, NULL);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        b.report.caution = NULL;
        char *text = bed_render(&b, row[i].form, &len);
        assert_null(strstr(text, "not trained on"));
        assert_null(strstr(text, "caution\":"));
        free(text);
        b.report.caution = "not trained on <b>";
        text = bed_render(&b, row[i].form, &len);
        if (!strstr(text, row[i].want))
            fail_msg("no %s in %s", row[i].want, text);
        free(text);
    }
    bed_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_bytes),

        cmocka_unit_test(test_evidence_has_its_line),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_github_order),
        cmocka_unit_test(test_caution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
