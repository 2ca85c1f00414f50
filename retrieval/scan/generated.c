/* generated.c - whether a tool wrote a file: a name that only tools write, a mark in a comment of the first lines, or a
 * #line that names another file.
 *
 * Mark     stands where tools write it: at the begin of a line or of a clause, and not between quotes, where a file
 *          speaks of the marks of others
 * Source   github-linguist; Go's line "Code generated ... DO NOT EDIT."; heads that protoc, thrift, swig, javah, bison,
 *          flex, gperf, stringer and OpenAPI Generator write */
#define _GNU_SOURCE
#include "detect_text.h"
#include "engine/base/chars.h"
#include "engine/base/text.h"
#include "scan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *generated_name(const char *name)
{
    static const char *const whole[] = {
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "bun.lock",
        "deno.lock",
        "Cargo.lock",
        "poetry.lock",
        "pdm.lock",
        "uv.lock",
        "Pipfile.lock",
        "Gemfile.lock",
        "composer.lock",
        "go.sum",
        "flake.lock",
        "mix.lock",
        "pubspec.lock",
        "Podfile.lock",
        "Cartfile.resolved",
        "Package.resolved",
        "gradle.lockfile",
        "packages.lock.json",
        "Gopkg.lock",
        "glide.lock",
        "cabal.project.freeze",
        "stack.yaml.lock",
        "conan.lock",
        "MODULE.bazel.lock",
        ".terraform.lock.hcl",
        "lex.yy.c",
        "y.tab.c",
        "y.tab.h",
    };
    static const char *const suffix[] = {
        ".pb.go",       ".pb.cc",  ".pb.h",    ".pb.swift", ".pbobjc.h", ".pbobjc.m",     "_pb2.py",      "_pb2.pyi",
        "_pb2_grpc.py", "_pb.js",  "_pb.d.ts", ".pb.ts",    ".g.dart",   ".freezed.dart", ".designer.cs", ".g.cs",
        ".g.i.cs",      ".gen.go", ".tab.c",   ".tab.h",    ".tab.cc",   ".yy.c",
    };
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
        if (strcmp(name, whole[i]) == 0)
            return "a name that tools write";
    for (size_t i = 0; i < sizeof(suffix) / sizeof(suffix[0]); i++)
        if (has_suffix(name, n, suffix[i]))
            return "a suffix that tools write";
    /* "x.generated.ts", "x_generated.go", "zz_generated.deepcopy.go" */
    const char *dot = strrchr(name, '.'), *word = strcasestr(name, "generated");
    if (word && dot && word > name && (word[-1] == '.' || word[-1] == '_') && (word[9] == '.' || word[9] == '_'))
        return "'generated' in its name";
    return NULL;
}

/* Finds the word, which is in lower case, from *at on; not between quotes, where the line speaks of it. */
static bool find_word(const char *s, size_t n, const char *word, size_t *at)
{
    const size_t m = strlen(word);
    bool is_quoted = false;
    for (size_t i = 0; i + m <= n; i++) {
        is_quoted ^= s[i] == '"' || s[i] == '`';
        if (i < *at || is_quoted || (s[i] | 0x20) != word[0] || strncasecmp(s + i, word, m) != 0)
            continue;
        *at = i;
        return true;
    }
    return false;
}

/* Whether a comment line says of something that it is generated; beside a loud warning any word of that kind does. */
static bool says_generated(const char *s, size_t n)
{
    size_t at = 0;
    return find_word(s, n, memmem(s, n, "DO NOT ", 7) ? "generat" : "generated", &at) ||
           find_word(s, n, "regenerat", &at);
}

/* Whether what follows "do not edit" is about another thing than this file: "the generated file", "below this line". */
static bool is_about_other(const char *s, size_t n)
{
    static const char *const other[] = {"generated", "below", "above", "between", "after", "any"},
                             *const this_file[] = {"file", "class", "code", "content", "source"};
    while (n && isspace((unsigned char)*s)) {
        s++;
        n--;
    }
    const bool is_the = n > 4 && strncasecmp(s, "the ", 4) == 0;
    for (size_t i = 0; is_the && i < sizeof(this_file) / sizeof(this_file[0]); i++)
        if (n - 4 >= strlen(this_file[i]) && strncasecmp(s + 4, this_file[i], strlen(this_file[i])) == 0)
            return false;
    for (size_t i = 0; !is_the && i < sizeof(other) / sizeof(other[0]); i++)
        if (n >= strlen(other[i]) && strncasecmp(s, other[i], strlen(other[i])) == 0)
            return true;
    return is_the;
}

/* Whether a comment line tells people to leave the file alone: the words are in capitals, or begin the line or a clause
 * of it. is_within: as of generated_line. */
static bool is_warning(const char *s, size_t n, bool is_within)
{
    static const char *const words[] = {"do not edit", "do not modify"};
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
        for (size_t at = 0; find_word(s, n, words[k], &at); at++) {
            size_t end = at, letter = 0;
            while (end && isspace((unsigned char)s[end - 1]))
                end--;
            if (end >= 6 && strncasecmp(s + end - 6, "please", 6) == 0)
                end -= 6;
            while (end && isspace((unsigned char)s[end - 1]))
                end--;
            while (letter < at && !isalpha((unsigned char)s[letter]))
                letter++;
            const bool is_loud = begins(s + at, n - at, "DO NOT "), is_first = letter == at,
                       is_clause = end == 0 || (!isalnum((unsigned char)s[end - 1]) && s[end - 1] != '"');
            const size_t m = strlen(words[k]);
            if ((is_loud || (is_clause && !(is_first && is_within && islower((unsigned char)s[at])))) &&
                !is_about_other(s + at + m, n - at - m))
                return true;
        }
    return false;
}

/* Passes over what people are called with before a sentence: "WARNING: ", "Note: "; false: there is nothing of that. */
static bool pass_call(const char **s, size_t *n)
{
    static const char *const call[] = {"warning:", "note:", "notice:", "attention:", "caution:", "important:"};
    for (size_t i = 0; i < sizeof(call) / sizeof(call[0]); i++) {
        const size_t m = strlen(call[i]);
        if (*n <= m || strncasecmp(*s, call[i], m) != 0)
            continue;
        for (*s += m, *n -= m; *n && isspace((unsigned char)**s); ++*s)
            --*n;
        return true;
    }
    return false;
}

/* Whether a comment line says that a tool wrote the file, by a known mark or the sentence's beginning. is_within:
 * the line before ended inside a sentence ("not all values are in this / autogenerated file"). */
static const char *generated_line(const char *s, size_t n, bool is_within)
{
    static const char *const beginning[] = {
        "generated by",
        "generated from",
        "autogenerated",
        "auto-generated",
        "auto generated",
        "automatically generated",
        "code generated",
        "machine generated",
        "this file is generated",
        "this file was generated",
        "this file is auto",
        "this file is (mostly) auto",
        "this file was auto",
        "this file has been auto",
        "this file has been generated",
        "this code was generated",
        "this code is generated",
        "this is a generated file",
        "this is an autogenerated",
        "this is an auto-generated",
        "this is an automatically generated",
        "file generated by",
        "file generated with",
        /* Put together of many files, which are what is written by hand. */
        "this file is an amalgamation",
        "this is an amalgamation",
        "this is single source file,",
        "this is a single source file version",
        "this is a single-file version",
        "this file was merged from",
        "this file has been merged from",
    };
    static const char *const mark[] = {"@generated",         "<auto-generated",           "<autogenerated",
                                       "made by GNU Bison",  "scanner generated by flex", "code produced by gperf",
                                       "amalgamated source", "amalgamated header"};
    for (size_t i = 0; i < sizeof(mark) / sizeof(mark[0]); i++) {
        size_t m = strlen(mark[i]);
        for (const char *p = s; (p = memchr(p, mark[i][0], (size_t)(s + n - p))) && (size_t)(s + n - p) >= m; p++)
            if (strncasecmp(p, mark[i], m) == 0 && (p + m == s + n || !isalnum((unsigned char)p[m])) &&
                (p == s || !strchr("\"'`", p[-1])))
                return mark[i];
    }
    while (n && !isalpha((unsigned char)*s) && !strchr("\"'`", *s)) {
        s++;
        n--;
    }
    if (n && is_within && islower((unsigned char)*s))
        return NULL;
    if (pass_call(&s, &n) && n >= 9 && strncasecmp(s, "generated", 9) == 0)
        return "generated";
    for (size_t i = 0; i < sizeof(beginning) / sizeof(beginning[0]); i++)
        if (n && (*s | 0x20) == beginning[i][0] && n >= strlen(beginning[i]) &&
            strncasecmp(s, beginning[i], strlen(beginning[i])) == 0)
            return beginning[i];
    return NULL;
}

/* Whether a line says from which line of which file the next ones were made: #line 12 "lexer.l". */
static bool is_line_directive(const char *s, size_t n)
{
    size_t i = 5;
    if (!begins(s, n, "#line") && !begins(s, n, "# line"))
        return false;
    i += s[1] == ' ';
    const size_t blank = i;
    while (i < n && s[i] == ' ')
        i++;
    const size_t digit = i;
    while (i < n && isdigit((unsigned char)s[i]))
        i++;
    const size_t end = i;
    while (i < n && s[i] == ' ')
        i++;
    return digit > blank && end > digit && i > end && i < n && s[i] == '"';
}

const char *myth_detect_generated(const char *path, const unsigned char *head, uint64_t n_head, char why[64])
{
    static const char *const open[] = {"/*", "\"\"\"", "'''", "<!--", "{-", "(*", "=begin", "--[[", "@@@"},
                             *const close[] = {"*/", "\"\"\"", "'''", "-->", "-}", "*)", "=end", "]]", "@@@"};
    enum { N_COMMENT = sizeof(open) / sizeof(open[0]), MOST_LINES = 30, MOST_BYTES = 4096, NEAR_LINES = 8 };
    const char *said = generated_name(myth_base_name(path));
    if (said || !head)
        return said;
    const char *p = (const char *)head, *end = p + (n_head < MOST_BYTES ? n_head : MOST_BYTES), *line;
    size_t n = (size_t)(end - p);
    if (!memmem(p, n, "enerat", 6) && !memmem(p, n, "ENERAT", 6) && !memmem(p, n, "made by GNU", 11) &&
        !memmem(p, n, "produced by", 11) && !memmem(p, n, "line ", 5) && !memmem(p, n, "malgamat", 8) &&
        !memmem(p, n, "his is ", 7) && !memmem(p, n, "merged from", 11))
        return NULL; /* every mark contains one of these; most files end here */
    int within = -1; /* index of the comment that is open, -1 = none */
    bool is_within = false;
    int said_at = -NEAR_LINES, warned_at = -NEAR_LINES; /* the last line that has the word, and the last warning */
    for (int line_no = 1; line_no <= MOST_LINES && next_line(&p, end, &line, &n); line_no++) {
        while (n && isspace((unsigned char)*line)) {
            line++;
            n--;
        }
        if (within < 0 && is_line_directive(line, n)) {
            snprintf(why, 64, "'#line' in line %d", line_no);
            return why;
        }
        /* Only comments describe the file: "do not edit" in a string of a generator is its output. */
        bool is_comment = within >= 0 || (n && !myth_is_word(*line) && *line != '"' && *line != '\'');
        for (int i = 0; i < N_COMMENT && within < 0; i++)
            if (begins(line, n, open[i])) {
                is_comment = true;
                if (!memmem(line + strlen(open[i]), n - strlen(open[i]), close[i], strlen(close[i])))
                    within = i;
            }
        /* the quotes of a documentation text are none around a word */
        const size_t skip = begins(line, n, "\"\"\"") || begins(line, n, "'''") ? 3 : 0;
        const char *what = is_comment ? generated_line(line + skip, n - skip, is_within) : NULL;
        /* Near the word "generated" a warning is enough. */
        if (is_comment && says_generated(line + skip, n - skip))
            said_at = line_no;
        if (is_comment && is_warning(line + skip, n - skip, is_within))
            warned_at = line_no;
        if (what || (said_at > 0 && warned_at > 0 && abs(said_at - warned_at) < NEAR_LINES)) {
            snprintf(why, 64, "'%s' in line %d", what ? what : "do not edit", what ? line_no : warned_at);
            return why;
        }
        while (n && isspace((unsigned char)line[n - 1]))
            n--;
        is_within = n && (isalnum((unsigned char)line[n - 1]) || line[n - 1] == ',');
        if (within >= 0 && !begins(line, n, open[within]) && memmem(line, n, close[within], strlen(close[within])))
            within = -1;
    }
    return NULL;
}
