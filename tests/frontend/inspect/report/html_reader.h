/* html_reader.h - reads a page of a report for tests: the small part of HTML that reports use, everything else is
 * refused. */
#ifndef MYTH_TESTS_HTML_READER_H
#define MYTH_TESTS_HTML_READER_H

#include "tests/frontend/inspect/report/report_bed.h"

/* What the checks need of the page that was read. */
typedef struct {
    const char *p;
    char open[64][16];
    uint32_t depth, n_tag, n_script, n_style, n_finding, n_line;
    char line_text[BED_FINDINGS * 32][1024 * 3];
    char title[BED_FINDINGS][2048], file[1024];
} page;

static page pg;

static inline void read_text(char *dst, size_t cap)
{
    static const struct {
        const char *from;
        const char *to;
    } row[] = {
        {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&middot;", "\xc2\xb7"},
    };
    size_t n = dst ? strlen(dst) : 0;
    while (*pg.p && *pg.p != '<' && *pg.p != '"') {
        const char *put = pg.p;
        size_t used = 1, len = 1;
        assert_true(*pg.p != '>');
        if (*pg.p == '&') {
            size_t k = 0;
            while (k < 6 && strncmp(pg.p, row[k].from, strlen(row[k].from)) != 0)
                k++;
            assert_true(k < 6);
            put = row[k].to;
            len = strlen(put);
            used = strlen(row[k].from);
        }
        assert_true(!dst || n + len < cap);
        if (dst) {
            memcpy(dst + n, put, len);
            n += len;
        }
        pg.p += used;
    }
    if (dst)
        dst[n] = '\0';
}

static inline bool is_one_of(const char *word, const char *list)
{
    char padded[80];
    snprintf(padded, sizeof(padded), " %s ", word);
    return strstr(list, padded) != NULL;
}

static inline void read_tag(void)
{
    static const char tags[] = " html head meta link title style body header h1 h2 p section div button b table thead "
                               "tr th tbody td a input output main article select option ul li b "
                               "span details summary pre code mark dl dt dd footer kbd script ";
    static const char names[] = " lang charset name content http-equiv rel href class id aria-label aria-pressed "
                                "aria-live role type data-severity data-rule data-file data-n scope value "
                                "placeholder autocomplete spellcheck for tabindex open hidden ";
    char tag[16], name[32], value[2048], cls[64] = "", data_n[16] = "";
    bool is_end = pg.p[1] == '/';
    pg.p += 1 + is_end;
    size_t n = strspn(pg.p, "abcdefghijklmnopqrstuvwxyz0123456789!");
    assert_true(n > 0 && n < sizeof(tag));
    snprintf(tag, sizeof(tag), "%.*s", (int)n, pg.p);
    pg.p += n;
    if (!strcmp(tag, "!doctype")) {
        pg.p += strcspn(pg.p, ">") + 1;
        return;
    }
    if (!is_one_of(tag, tags))
        print_error("a tag that is not ours: %s\n", tag);
    assert_true(is_one_of(tag, tags));
    pg.n_tag++;
    if (is_end) {
        assert_true(pg.depth > 0);
        assert_string_equal(pg.open[--pg.depth], tag);
        assert_int_equal(*pg.p++, '>');
        return;
    }
    while (*pg.p == ' ') {
        n = strspn(++pg.p, "abcdefghijklmnopqrstuvwxyz-");
        snprintf(name, sizeof(name), "%.*s", (int)n, pg.p);
        assert_true(is_one_of(name, names));
        pg.p += n;
        value[0] = '\0';
        if (*pg.p == '=') {
            assert_int_equal(pg.p[1], '"');
            pg.p += 2;
            if (!strcmp(name, "content")) /* the content security policy, which has quotes of its own */
                pg.p += strcspn(pg.p, "\"");
            else
                read_text(value, sizeof(value));
            assert_int_equal(*pg.p++, '"');
        }
        if (!strcmp(name, "href"))
            assert_true(value[0] == '#' || !strcmp(value, "data:,"));
        if (!strcmp(name, "class"))
            snprintf(cls, sizeof(cls), "%.*s", (int)sizeof(cls) - 1, value);
        if (!strcmp(name, "data-n"))
            snprintf(data_n, sizeof(data_n), "%.*s", (int)sizeof(data_n) - 1, value);
        if (!strcmp(name, "data-file"))
            snprintf(pg.file, sizeof(pg.file), "%.1000s", value);
    }
    assert_int_equal(*pg.p++, '>');
    if (is_one_of(tag, " meta link input "))
        return;
    snprintf(pg.open[pg.depth++], sizeof(pg.open[0]), "%s", tag);
    assert_true(pg.depth < 64);
    pg.n_finding += !strcmp(tag, "article");
    if (!strcmp(tag, "script") || !strcmp(tag, "style")) {
        *(!strcmp(tag, "script") ? &pg.n_script : &pg.n_style) += 1;
        pg.p = strstr(pg.p, "</");
        assert_non_null(pg.p);
    }
    if (!strcmp(tag, "span") && data_n[0])
        read_text(pg.line_text[pg.n_line++], sizeof(pg.line_text[0]));
}

static inline void read_page(const char *text)
{
    memset(&pg, 0, sizeof(pg));
    pg.p = text;
    while (*pg.p) {
        if (*pg.p == '<') {
            bool is_title =
                pg.n_finding && !strncmp(pg.p, "</span>", 7) && pg.depth > 1 && !strcmp(pg.open[pg.depth - 2], "h2");
            read_tag();
            if (is_title)
                read_text(pg.title[pg.n_finding - 1], sizeof(pg.title[0]));
        } else {
            read_text(NULL, 0);
            assert_true(*pg.p != '"');
        }
    }
    assert_int_equal(pg.depth, 0);
    assert_int_equal(pg.n_script, 1);
    assert_int_equal(pg.n_style, 1);
}

#endif
