/* show.c - passes on each text of a report with its secrets hidden, and decides which characters are shown. */
#include "show.h"

#include "engine/base/utf8.h"

#include <string.h>

void myth_show_text(const myth_report *r, myth_str text, myth_put put, void *user)
{
    myth_redact_text(r->redactor, text.text, text.len, put, user);
}
void myth_show_cstr(const myth_report *r, const char *text, myth_put put, void *user)
{
    myth_redact_text(r->redactor, text, strlen(text), put, user);
}
void myth_show_file(const char *path, myth_put put, void *user) { put(user, path, strlen(path), false); }

void myth_show_title(const myth_report *r, myth_put put, void *user)
{
    for (uint32_t i = 0; i < r->n_file; i++)
        if (!strcmp(r->file[i].src->path, r->path)) {
            myth_show_file(r->path, put, user);
            return;
        }
    myth_show_cstr(r, r->path, put, user);
}

void myth_show_in_json(void *user, const char *text, size_t len, bool is_placeholder)
{
    const char *shown;
    size_t n;
    (void)is_placeholder;
    for (size_t i = 0; i < len;) {
        i += myth_show_one(&shown, &n, text + i, len - i);
        myth_jout_text_part(user, shown, n);
    }
}

void myth_show_patch(const myth_report *r, uint32_t i, myth_put put, void *user)
{
    const myth_patch *p = &r->patch[i];
    size_t head = 0; /* up to the first hunk */
    while (head < p->n_diff && strncmp(p->diff + head, "@@", 2) != 0) {
        const char *end = memchr(p->diff + head, '\n', p->n_diff - head);
        head = end ? (size_t)(end + 1 - p->diff) : p->n_diff;
    }
    put(user, p->diff, head, false);
    myth_show_text(r, (myth_str){p->diff + head, p->n_diff - head}, put, user);
}

const char *myth_show_path(const myth_report *r, uint32_t i) { return r->block[r->finding[i].block].src->path; }

void myth_show_issue(const myth_report *r, uint32_t i, myth_put put, void *user)
{
    const myth_finding *f = &r->finding[i];
    if (f->issue.len)
        myth_show_text(r, f->issue, put, user);
    else
        myth_show_cstr(r, myth_rules[f->rule].title, put, user);
}

/* Reads the evidence from the file, because a piece of a secret, taken alone, does not look like a secret. */
void myth_show_evidence(const myth_report *r, uint32_t i, myth_put put, void *user)
{
    const myth_citation *c = &r->citation[i];
    if (c->len)
        myth_redact_bytes(r->redactor, r->block[r->finding[i].block].src, c->off, c->len, put, user);
    else
        myth_show_text(r, r->finding[i].evidence, put, user);
}

/* The nearest place at or before `at` that does not lie inside a character. */
static uint32_t char_border(const myth_source *src, uint32_t at, uint32_t from)
{
    for (int i = 0; i < 3 && at > from && at < src->len && (src->bytes[at] & 0xc0) == 0x80; i++)
        at--;
    return at;
}

void myth_show_line(const myth_report *r, const myth_source *src, uint32_t n, uint32_t keep, myth_put put, void *user)
{
    enum { BEFORE = 200 };
    uint32_t off = src->line[n - 1].off, end = off + src->line[n - 1].len, from = off, to = end;
    if (to - from > MYTH_SHOW_LINE) {
        bool is_inside = keep > off + BEFORE && keep < end;
        from = is_inside ? char_border(src, keep - BEFORE, off) : off;
        to = end - from > MYTH_SHOW_LINE ? char_border(src, from + MYTH_SHOW_LINE, from) : end;
    }
    if (from > off)
        put(user, "\xe2\x80\xa6", 3, false);
    myth_redact_bytes(r->redactor, src, from, to - from, put, user);
    if (to < end)
        put(user, "\xe2\x80\xa6", 3, false);
}

size_t myth_show_one(const char **shown, size_t *shown_len, const char *p, size_t n)
{
    uint32_t cp = 0;
    int used = myth_utf8_decode((const unsigned char *)p, n, &cp);
    bool ok = used && (!myth_utf8_is_unseen(cp) || cp == '\n' || cp == '\t');
    *shown = ok ? p : "\xef\xbf\xbd";
    *shown_len = ok ? (size_t)used : 3;
    return used ? (size_t)used : 1;
}

void myth_show_markup(FILE *f, const char *text, size_t len, bool is_attribute)
{
    static const char special[] = "&<>\"'\n\t";
    static const char *const reference[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&#10;", "&#9;"};
    const size_t n_special = is_attribute ? 7 : 5;
    const char *shown, *at;
    size_t n;
    for (size_t i = 0; i < len;) {
        i += myth_show_one(&shown, &n, text + i, len - i);
        at = n == 1 ? memchr(special, *shown, n_special) : NULL;
        if (at)
            fputs(reference[at - special], f);
        else
            fwrite(shown, 1, n, f);
    }
}

void myth_show_attribute(void *file, const char *text, size_t len, bool is_placeholder)
{
    (void)is_placeholder;
    myth_show_markup(file, text, len, true);
}

uint32_t myth_show_column(const myth_source *src, uint32_t line, uint32_t n)
{
    const unsigned char *p = src->bytes + src->line[line - 1].off;
    uint32_t column = 1, cp;
    for (uint32_t at = 0; at < n; column++) {
        const int step = myth_utf8_decode(p + at, n - at, &cp);
        at += step ? (uint32_t)step : 1;
    }
    return column;
}

size_t myth_show_without_end(const char *text, size_t n)
{
    if (n && text[n - 1] == '\n')
        n--;
    return n && text[n - 1] == '\r' ? n - 1 : n;
}

bool myth_show_columns(const myth_report *r, uint32_t i, uint32_t *first, uint32_t *behind)
{
    const myth_citation *c = &r->citation[i];
    const myth_source *src = r->block[r->finding[i].block].src;
    if (!c->line || c->line > src->n_line || !c->len)
        return false;
    const uint32_t begin = src->line[c->line - 1].off, len = src->line[c->line - 1].len;
    if (c->off < begin || c->off - begin + c->len > len)
        return false;
    *first = myth_show_column(src, c->line, c->off - begin);
    *behind = myth_show_column(src, c->line, c->off - begin + c->len);
    return true;
}
