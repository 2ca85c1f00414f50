/* headline.c - see headline.h. It needs no parser: comments at the head of a file look alike in all related
 * languages. */
#define _GNU_SOURCE /* strcasestr */
#include "headline.h"
#include "retrieval/scan/languages.h"
#include "engine/base/chars.h"
#include "engine/base/text.h"
#include "engine/base/utf8.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { HEAD_BYTES = 8 << 10, BLOCK_CAP = 2048 };

/* ---- plain ---- */

static bool is_hidden(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0xad || cp == 0x061c || cp == 0x180e ||
           (cp >= 0x200b && cp <= 0x200f) || (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2060 && cp <= 0x206f) ||
           (cp >= 0xfe00 && cp <= 0xfe0f) || cp == 0xfeff || (cp >= 0xe0000 && cp <= 0xe0fff);
}

size_t myth_one_line(char *dst, size_t cap, const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + n;
    size_t at = 0, cut = 0; /* cut: last place where "..." still fits */
    bool has_gap = false;
    while (p < end) {
        uint32_t cp = 0;
        int len = myth_utf8_decode(p, (size_t)(end - p), &cp);
        if (myth_is_blank((char)*p) || cp == 0x2028 || cp == 0x2029)
            has_gap = at > 0;
        else if (len && !is_hidden(cp)) {
            if (at + has_gap + (size_t)len >= cap) {
                memcpy(dst + cut, "...", 4);
                return cut + 3;
            }
            if (has_gap)
                dst[at++] = ' ';
            has_gap = false;
            memcpy(dst + at, p, (size_t)len);
            at += (size_t)len;
            if (at + 4 <= cap)
                cut = at;
        }
        p += len ? len : 1;
    }
    dst[at] = '\0';
    return at;
}

/* ---- comments ---- */

typedef enum { LINES, BLOCK } shape;

/* How comments begin and end in languages with a mark. Docstrings begin with quotes, in Python with more kinds of
 * them. */
static const struct {
    uint16_t mark;
    bool is_docstring, is_python;
    shape shape;
    const char *open, *close;
} comments[] = {
    {.mark = MYTH_MARK_SLASH, .shape = BLOCK, .open = "/*", .close = "*/"},
    {.mark = MYTH_MARK_SLASH, .shape = LINES, .open = "//"},
    {.is_docstring = true, .shape = BLOCK, .open = "\"\"\"", .close = "\"\"\""},
    {.is_docstring = true, .is_python = true, .shape = BLOCK, .open = "'''", .close = "'''"},
    {.is_docstring = true, .is_python = true, .shape = BLOCK, .open = "\"", .close = "\""},
    {.mark = MYTH_MARK_HASH, .shape = LINES, .open = "#"},
    {.mark = MYTH_MARK_DASH, .shape = LINES, .open = "--"},
    {.mark = MYTH_MARK_SEMICOLON, .shape = LINES, .open = ";"},
    {.mark = MYTH_MARK_PERCENT, .shape = LINES, .open = "%"},
    {.mark = MYTH_MARK_PAREN, .shape = BLOCK, .open = "(*", .close = "*)"},
    {.mark = MYTH_MARK_ANGLE, .shape = BLOCK, .open = "<!--", .close = "-->"},
};

/* Whether the language has comments of row i. */
static bool has_comment(const myth_language *l, size_t i)
{
    if (!comments[i].is_docstring)
        return (l->marks & comments[i].mark) != 0;
    return l->has_docstrings && (!comments[i].is_python || l->family == MYTH_FAMILY_PYTHON);
}

typedef struct {
    const char *p, *end;
    const myth_language *language;
} head;

static size_t line_bytes(const head *h)
{
    const char *stop = memchr(h->p, '\n', (size_t)(h->end - h->p));
    return (size_t)((stop ? stop : h->end) - h->p);
}

static void next_line(head *h)
{
    h->p += line_bytes(h);
    h->p += h->p < h->end;
}

static bool starts(const head *h, const char *s)
{
    size_t n = strlen(s);
    return (size_t)(h->end - h->p) >= n && memcmp(h->p, s, n) == 0;
}

/* Lines that may come before the first comment and say nothing. */
static bool skip_preamble(head *h)
{
    static const char *const lines[] = {
        "#!",       "<?php",        "<?xml",          "<!DOCTYPE", "#pragma once", "#ifndef ",
        "#define ", "'use strict'", "\"use strict\"", "package ",  "# -*-",        "-*-",
        "# vim",    "---",          "%YAML",          "@charset",  "#import",      "# frozen_string_literal",
        "declare("};
    while (h->p < h->end && myth_is_blank(*h->p))
        h->p++;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (starts(h, lines[i])) {
            next_line(h);
            return true;
        }
    return false;
}

/* Whether a line repeats one character: ~~~~~~~~. */
static bool is_rule(const char *s, size_t n)
{
    while (n > 0 && myth_is_blank(s[n - 1]))
        n--;
    for (size_t i = 1; i < n; i++)
        if (s[i] != s[0])
            return false;
    return n > 2 && strchr("~=-*_^+.\"'`", s[0]);
}

/* Copies the lines of the next comment, without comment marks, into block; false when no comment follows. */
static bool take_comment(head *h, char block[BLOCK_CAP])
{
    size_t n = 0;
    for (size_t i = 0; i < sizeof(comments) / sizeof(comments[0]); i++) {
        const char *open = comments[i].open, *stop = NULL;
        size_t n_open = strlen(open);
        if (!has_comment(h->language, i) || !starts(h, open))
            continue;
        if (comments[i].shape == BLOCK) {
            h->p += n_open;
            stop = memmem(h->p, (size_t)(h->end - h->p), comments[i].close, strlen(comments[i].close));
            stop = stop ? stop : h->end;
        }
        while (h->p < h->end && (!stop || h->p < stop)) {
            if (!stop && !starts(h, open))
                break;
            size_t len = line_bytes(h);
            if (stop && h->p + len > stop)
                len = (size_t)(stop - h->p);
            const char *s = h->p, *e = s + len;
            while (s < e && strchr(" \t\r/*#!;%-=<>", *s))
                s++;
            if (is_rule(s, (size_t)(e - s)))
                s = e;
            for (size_t k = (size_t)(e - s); k > 0 && n + 2 < BLOCK_CAP; k--)
                block[n++] = *s++;
            if (n + 2 < BLOCK_CAP)
                block[n++] = '\n';
            h->p += len;
            if (stop && h->p == stop)
                break;
            h->p += h->p < h->end;
            while (!stop && h->p < h->end && (*h->p == ' ' || *h->p == '\t'))
                h->p++;
        }
        if (stop)
            h->p = stop + (stop < h->end ? strlen(comments[i].close) : 0);
        block[n] = '\0';
        return true;
    }
    return false;
}

/* Whether the last comment is right above the code that it describes. Above an import, a package, or the only class
 * of a file, it describes the file. */
static bool is_of_definition(const head *h)
{
    static const char *const neutral[] = {
        "#",         "import", "package",      "from ",  "use ",    "using",        "require",
        "namespace", "module", "extern crate", "mod ",   "include", "'use strict'", "\"use strict\"",
        "const ",    "var ",   "let ",         "<",      "@",       "set ",         "library",
        "//",        "/*",     "--",           "pragma", "local ",  "export *",     "load",
        "defmodule"};
    const char *p = h->p;
    int n_line = 0;
    for (; p < h->end && myth_is_blank(*p); p++)
        n_line += *p == '\n';
    bool is_docstring = h->language->family == MYTH_FAMILY_PYTHON && (h->p[-1] == '"' || h->p[-1] == '\'');
    bool is_above = n_line < (h->p[-1] == '\n' ? 1 : 2);
    if (is_docstring || !is_above || p >= h->end || h->language->has_class_files)
        return false;
    head at = {p, h->end, h->language};
    for (size_t i = 0; i < sizeof(neutral) / sizeof(neutral[0]); i++)
        if (starts(&at, neutral[i]))
            return false;
    return true;
}

/* ---- what it says ---- */

static bool is_boilerplate(const char *s)
{
    static const char *const words[] = {"copyright",
                                        "license",
                                        "licence",
                                        "spdx-",
                                        "all rights reserved",
                                        "permission is hereby",
                                        "eslint",
                                        "pylint:",
                                        "noqa",
                                        "-*-",
                                        "vim:",
                                        "istanbul ignore",
                                        "do not edit",
                                        "coding:",
                                        "tslint",
                                        "prettier",
                                        "@flow",
                                        "@ts-",
                                        "clang-format",
                                        "nolint",
                                        "flake8",
                                        "type: ignore",
                                        "generated by",
                                        "@generated",
                                        "go:build",
                                        "+build",
                                        "authors:",
                                        "module dependencies",
                                        "(c) "};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasestr(s, words[i]))
            return true;
    return false;
}

/* "queue.c - ", "@file queue.c", "@brief " in front say nothing. */
static const char *skip_name(const char *s, const char *path)
{
    static const char *const tags[] = {"@file",   "\\file",  "@fileoverview", "@brief",
                                       "\\brief", "@module", "@overview",     "Package"};
    const char *name = myth_base_name(path);
    for (int again = 0; again < 4; again++) {
        const char *from = s;
        for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
            size_t n = strlen(tags[i]);
            if (i + 1 < sizeof(tags) / sizeof(tags[0]) && strncmp(s, tags[i], n) == 0 && s[n] == ' ')
                s += n;
        }
        s += strspn(s, " ");
        size_t n = strlen(name);
        if (strncmp(s, name, n) == 0 && (s[n] == '\0' || strchr(" :-,.", s[n]))) {
            s += n;
            s += strspn(s, " ");
            if (*s == ':' || *s == '-' || *s == ',' || *s == '.')
                s += 1 + strspn(s + 1, " -");
            else if (strncmp(s, "\xe2\x80\x94", 3) == 0 || strncmp(s, "\xe2\x80\x93", 3) == 0)
                s += 3 + strspn(s + 3, " ");
        }
        if (s == from)
            break;
    }
    return s;
}

/* Whether a paragraph is drawn and not written: less than half of its characters are letters or digits. */
static bool is_picture(const char *s)
{
    size_t n_letter = 0, n = 0;
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        n += c != ' ';
        n_letter += c >= 0x80 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    }
    return 2 * n_letter < n;
}

/* What follows the marks that version control fills in: $Id$, $OpenBSD: file.c,v 1.2 2024/01/01 name Exp $ */
static const char *skip_keywords(const char *s)
{
    while (*s == '$') {
        const char *end = s + 1;
        while ((*end | 32) >= 'a' && (*end | 32) <= 'z')
            end++;
        if (end == s + 1 || (*end != ':' && *end != '$') || !(end = strchr(end, '$')))
            break;
        s = end + 1 + strspn(end + 1, " ");
    }
    return s;
}

/* *is_licence: it is about the licence or for a tool, and not about the file. */
static size_t take_sentence(char dst[MYTH_HEADLINE_CAP], const char *paragraph, size_t n, const char *path,
                            bool *is_licence)
{
    char line[BLOCK_CAP];
    myth_one_line(line, sizeof(line), paragraph, n);
    *is_licence = false;
    if (is_picture(line))
        return 0;
    *is_licence = is_boilerplate(line);
    if (*is_licence)
        return 0;
    const char *s = skip_name(skip_keywords(line), path), *end = s;
    bool has_space = false;
    for (; *end; end++) {
        has_space |= *end == ' ';
        if ((*end == '.' || *end == '!' || *end == '?') && (end[1] == '\0' || end[1] == ' ') && end - s > 3 &&
            end[-2] != '.')
            break;
    }
    return has_space ? myth_one_line(dst, MYTH_HEADLINE_CAP, s, (size_t)(end - s)) : 0;
}

/* Finds the first paragraph that says something; a licence before it ends the search in this comment. */
static size_t take_block(char dst[MYTH_HEADLINE_CAP], const char *block, const char *path)
{
    const char *p = block;
    while (*p) {
        while (*p == '\n')
            p++;
        const char *end = strstr(p, "\n\n");
        size_t n = end ? (size_t)(end - p) : strlen(p);
        bool is_licence = false;
        size_t got = take_sentence(dst, p, n, path, &is_licence);
        if (got || is_licence)
            return got;
        p += n;
    }
    return 0;
}

/* For prose: the first heading, or else the first line with words. */
static size_t take_prose(char dst[MYTH_HEADLINE_CAP], head *h)
{
    for (; h->p < h->end; next_line(h)) {
        size_t n = line_bytes(h), skip = 0;
        while (skip < n && strchr("# \t=*-~.:<>!|[`+", h->p[skip]))
            skip++;
        if (n - skip > 2 && myth_one_line(dst, MYTH_HEADLINE_CAP, h->p + skip, n - skip) > 2)
            return strlen(dst);
    }
    return 0;
}

size_t myth_headline(char dst[MYTH_HEADLINE_CAP], const char *path, const char *language, const unsigned char *text,
                     uint64_t n)
{
    char block[BLOCK_CAP];
    head h = {(const char *)text, (const char *)text + (n < HEAD_BYTES ? n : HEAD_BYTES), myth_language_get(language)};
    dst[0] = '\0';
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        h.p += 3;
    if (myth_text_lists("markdown rst asciidoc", language))
        return take_prose(dst, &h);
    size_t first = 0; /* what a comment says; a docstring behind it says it better */
    for (int i = 0; i < 64 && h.p < h.end; i++) {
        if (skip_preamble(&h))
            continue;
        const bool is_docstring = h.language->has_docstrings && h.p < h.end && (*h.p == '"' || *h.p == '\'');
        char line[MYTH_HEADLINE_CAP];
        if (h.p >= h.end || !take_comment(&h, block))
            break;
        if (first && !is_docstring)
            continue;
        size_t got = is_of_definition(&h) ? 0 : take_block(line, block, path);
        if (got)
            memcpy(dst, line, got + 1);
        first = got ? got : first;
        if (first && (is_docstring || !h.language->has_docstrings))
            break;
    }
    if (!first)
        dst[0] = '\0';
    return first;
}
