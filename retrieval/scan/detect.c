/* detect.c - what a file is, by its name and then by its first bytes: its language, whether it is text,
 * hand-written, a test.
 *
 * Language   decided by the first of these that is known: the whole name; the longest suffix in languages.def; the
 *            name before a template's suffix (.in, .example); the name before its first dot (Dockerfile.dev); a
 *            "#!" line; an editor's mode line; a telling beginning of the text
 * Binary     a NUL in the first bytes, as in git; but a byte order mark of UTF-16 or UTF-32 means text
 * Minified   only JavaScript and CSS: lines longer than a person writes, with hardly any blanks and many operators.
 *            Long lines of data in other languages are left to the cutter
 * Source     github-linguist for names and interpreters */
#define _GNU_SOURCE
#include "detect_text.h"
#include "engine/base/chars.h"
#include "engine/base/text.h"
#include "languages.h"
#include "scan.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>

/* ---- the table of languages.def, by hash ---- */

enum { N_SLOT = 2048, LONGEST_NAME = 48 };

/* A suffix (stored without its star) or a whole name. */
static struct {
    const char *text;
    uint16_t n;
    uint8_t lang;
    bool is_suffix;
} slot[N_SLOT];
static pthread_once_t slot_once = PTHREAD_ONCE_INIT;

static uint32_t hash_of(const char *s, size_t n, bool is_suffix)
{
    uint32_t h = is_suffix ? 0x811c9dc5u : 0x9dc5811cu;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h ^ h >> 15;
}

static int find_slot(const char *s, size_t n, bool is_suffix)
{
    uint32_t i = hash_of(s, n, is_suffix) % N_SLOT;
    while (slot[i].text && !(slot[i].n == n && slot[i].is_suffix == is_suffix && memcmp(slot[i].text, s, n) == 0))
        i = (i + 1) % N_SLOT;
    return (int)i;
}

static void fill_slots(void)
{
    const myth_language *row;
    for (uint32_t l = 0; (row = myth_language_at(l)); l++)
        for (const char *p = row->patterns; *p;) {
            size_t n = strcspn(p, " ");
            bool is_suffix = *p == '*';
            int i = find_slot(p + is_suffix, n - is_suffix, is_suffix);
            if (!slot[i].text) { /* the first of two rows that claim it */
                slot[i].text = p + is_suffix;
                slot[i].n = (uint16_t)(n - is_suffix);
                slot[i].lang = (uint8_t)l;
                slot[i].is_suffix = is_suffix;
            }
            p += n + (p[n] == ' ');
        }
}

static const char *lookup(const char *s, size_t n, bool is_suffix)
{
    char lower[LONGEST_NAME];
    int i = find_slot(s, n, is_suffix);
    if (slot[i].text)
        return myth_language_at(slot[i].lang)->name;
    if (n > sizeof(lower))
        return NULL;
    for (size_t k = 0; k < n; k++)
        lower[k] = (char)tolower((unsigned char)s[k]);
    i = find_slot(lower, n, is_suffix);
    return slot[i].text ? myth_language_at(slot[i].lang)->name : NULL;
}

static const char *by_suffix(const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (name[i] == '.') {
            const char *l = lookup(name + i, n - i, true);
            if (l)
                return l;
        }
    return NULL;
}

/* *is_sure: the name itself decided, and not a shortened form of it. */
static const char *by_name(const char *name, bool *is_sure)
{
    static const char *const template[] = {".in",     ".tmpl", ".tpl",  ".template", ".example",
                                           ".sample", ".dist", ".orig", ".bak"};
    size_t n = strlen(name);
    const char *l = lookup(name, n, false);
    *is_sure = true;
    for (size_t i = 0; !l && i < sizeof(template) / sizeof(template[0]); i++)
        if (has_suffix(name, n, template[i]))
            l = by_suffix(name, n - strlen(template[i]));
    if (!l)
        l = by_suffix(name, n);
    if (!l) {
        size_t m = strcspn(name, ".");
        l = m && m < n ? lookup(name, m, false) : NULL;
        *is_sure = false;
    }
    return l;
}

/* ---- content ---- */

/* The language of a program in a "#!" line, or of an editor's mode. */
static const char *by_program(const char *s, size_t n)
{
    const myth_language *row;
    for (uint32_t l = 0; (row = myth_language_at(l)); l++)
        if (myth_language_lists(row->programs, s, n))
            return row->name;
    return NULL;
}

static const char *by_mode(const char *s, size_t n)
{
    const myth_language *row;
    for (uint32_t l = 0; (row = myth_language_at(l)); l++)
        if (myth_language_lists(row->modes, s, n))
            return row->name;
    return NULL;
}

/* "#!/usr/bin/env -S python3.11 -u": the program's name without version. */
static const char *by_shebang(const char *s, size_t n)
{
    if (n < 3 || s[0] != '#' || s[1] != '!')
        return NULL;
    const char *end = memchr(s, '\n', n), *p = s + 2;
    if (!end)
        end = s + n;
    while (p < end) {
        while (p < end && isspace((unsigned char)*p))
            p++;
        const char *w = p;
        while (p < end && !isspace((unsigned char)*p))
            p++;
        const char *slash = memrchr(w, '/', (size_t)(p - w));
        const char *base = slash ? slash + 1 : w;
        size_t m = (size_t)(p - base);
        if (m == 0)
            return NULL;
        /* env, its options and its assignments come before the program */
        if ((m == 3 && memcmp(base, "env", 3) == 0) || *w == '-' || memchr(w, '=', (size_t)(p - w)))
            continue;
        const char *l = by_program(base, m);
        while (!l && m && (isdigit((unsigned char)base[m - 1]) || base[m - 1] == '.' || base[m - 1] == '-'))
            l = by_program(base, --m);
        return l;
    }
    return NULL;
}

/* "-*- mode: python -*-", "-*- C++ -*-", "vim: set ft=sh :". */
static const char *by_mode_line(const char *s, size_t n)
{
    if (n > 512)
        n = 512;
    const char *p = memmem(s, n, "-*-", 3);
    if (p) {
        p += 3;
        const char *end = memmem(p, n - (size_t)(p - s), "-*-", 3);
        if (!end)
            return NULL;
        const char *mode = memmem(p, (size_t)(end - p), "mode:", 5);
        if (mode)
            p = mode + 5;
        else if (memchr(p, ':', (size_t)(end - p)))
            return NULL;
        while (p < end && *p == ' ')
            p++;
        size_t m = 0;
        while (p + m < end && p[m] != ' ' && p[m] != ';')
            m++;
        return by_mode(p, m);
    }
    static const char *const key[] = {
        "vim: ft=", "vim:ft=", "vim: filetype=", "vim: set ft=", "vim:set ft=", "vim: set filetype=", "vim: syntax=",
    };
    for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++)
        if ((p = memmem(s, n, key[i], strlen(key[i])))) {
            p += strlen(key[i]);
            size_t m = 0;
            while (p + m < s + n && (isalnum((unsigned char)p[m]) || p[m] == '+' || p[m] == '-'))
                m++;
            return by_mode(p, m);
        }
    return NULL;
}

static const char *by_beginning(const char *s, size_t n)
{
    static const struct {
        const char *word, *lang;
    } table[] = {
        {"<?php", "php"},     {"<?xml", "xml"},        {"<!doctype html", "html"}, {"<html", "html"},
        {"<!doctype", "xml"}, {"diff --git ", "diff"}, {"#compdef", "bash"},       {"syntax = \"proto", "protobuf"},
        {"#include ", "c"},   {"#include<", "c"},      {"%!ps", "text"},
    };
    while (n && (isspace((unsigned char)*s) || (unsigned char)*s == 0xef || (unsigned char)*s == 0xbb ||
                 (unsigned char)*s == 0xbf)) {
        s++;
        n--;
    }
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        size_t m = strlen(table[i].word);
        if (n >= m && strncasecmp(s, table[i].word, m) == 0)
            return table[i].lang;
    }
    return NULL;
}

/* Whether a header is C++: some line outside of "#ifdef __cplusplus" begins as no line of C does. */
static bool is_cpp(const char *s, size_t n)
{
    static const char *const word[] = {"namespace ", "template<",         "template <",       "public:",
                                       "private:",   "protected:",        "using namespace ", "using std",
                                       "class ",     "constexpr ",        "virtual ",         "explicit ",
                                       "friend ",    "inline namespace ", "enum class "};
    const char *p = s, *line;
    size_t m;
    int guard = 0; /* depth of conditions inside one on __cplusplus; 0 = outside */
    while (next_line(&p, s + n, &line, &m)) {
        while (m && (*line == ' ' || *line == '\t')) {
            line++;
            m--;
        }
        if (m && *line == '#') {
            const char *d = line + 1;
            size_t k = m - 1;
            while (k && (*d == ' ' || *d == '\t')) {
                d++;
                k--;
            }
            if (begins(d, k, "if"))
                guard += guard > 0 || memmem(d, k, "__cplusplus", 11) != NULL;
            else if (begins(d, k, "endif"))
                guard -= guard > 0;
            else if (guard == 0 && begins(d, k, "include <") && memchr(d, '>', k) &&
                     !memchr(d + 9, '.', (size_t)((char *)memchr(d, '>', k) - d) - 9) && !memchr(d, '/', k))
                return true;
            continue;
        }
        for (size_t i = 0; guard == 0 && m && i < sizeof(word) / sizeof(word[0]); i++)
            if (*line == word[i][0] && begins(line, m, word[i]))
                return true;
    }
    return false;
}

/* A man page begins with a request of troff; a log that was rotated to ".1" does not. */
static bool is_roff(const char *s, size_t n)
{
    return n >= 2 &&
           ((s[0] == '.' && (isalpha((unsigned char)s[1]) || s[1] == '\\')) || (s[0] == '\'' && s[1] == '\\'));
}

/* Decides suffixes that two languages share, by looking into the file. */
static const char *doubted(const char *l, const char *s, size_t n)
{
    if (strcmp(l, "roff") == 0)
        return is_roff(s, n) ? l : "text";
    if (strcmp(l, "objc") == 0)
        return n && (*s == '%' || begins(s, n, "function")) ? "matlab" : l;
    if (strcmp(l, "typescript") == 0)
        return begins(s, n, "<?xml") ? "xml" : l; /* translations of Qt */
    return l;
}

const char *myth_detect_language(const char *path, const unsigned char *head, uint64_t n_head)
{
    const char *name = myth_base_name(path), *s = (const char *)head;
    bool is_sure;
    pthread_once(&slot_once, fill_slots);
    const char *l = by_name(name, &is_sure);
    if (!s || n_head == 0)
        return l ? l : "text";
    size_t n = (size_t)n_head, n_name = strlen(name);
    if (l && is_sure) {
        if ((has_suffix(name, n_name, ".h") || has_suffix(name, n_name, ".h.in")) && is_cpp(s, n))
            return "cpp";
        return doubted(l, s, n);
    }
    const char *said = by_shebang(s, n);
    if (!said)
        said = by_mode_line(s, n);
    if (!said)
        said = by_beginning(s, n);
    return said ? said : l ? l : "text";
}

const char *myth_detect_language_name(uint32_t i)
{
    const myth_language *l = myth_language_at(i);
    return l ? l->name : NULL;
}

bool myth_detect_is_language(const char *name) { return myth_language_get(name)->name[0] != '\0'; }

bool myth_detect_binary(const unsigned char *head, uint64_t n)
{
    if (n >= 2 && ((head[0] == 0xff && head[1] == 0xfe) || (head[0] == 0xfe && head[1] == 0xff)))
        return false; /* UTF-16 of either byte order, or UTF-32 little-endian */
    if (n >= 4 && memcmp(head, "\0\0\xfe\xff", 4) == 0)
        return false;
    return n && memchr(head, 0, n) != NULL;
}

bool myth_detect_pointer(const unsigned char *bytes, uint64_t n)
{
    enum { POINTER_BYTES = 1024 }; /* Git LFS takes no longer file for a pointer */
    static const char *const head[] = {"version https://git-lfs.github.com/spec/",
                                       "version https://hawser.github.com/spec/"};
    for (size_t i = 0; i < sizeof(head) / sizeof(head[0]) && n < POINTER_BYTES; i++)
        if (n > strlen(head[i]) && !memcmp(bytes, head[i], strlen(head[i])) && memmem(bytes, n, "\noid ", 5))
            return true;
    return false;
}

const char *myth_detect_media(const unsigned char *head, uint64_t n)
{
    static const struct {
        const char *what;
        uint8_t at, n;
        const char *bytes;
    } table[] = {
        {"PNG image", 0, 4, "\x89PNG"},
        {"JPEG image", 0, 3, "\xff\xd8\xff"},
        {"GIF image", 0, 5, "GIF87"},
        {"GIF image", 0, 5, "GIF89"},
        {"TIFF image", 0, 4, "II*\0"},
        {"TIFF image", 0, 4, "MM\0*"},
        {"WebP image", 8, 4, "WEBP"},
        {"WAVE sound", 8, 4, "WAVE"},
        {"AVI video", 8, 4, "AVI "},
        {"MP4 media", 4, 4, "ftyp"},
        {"Ogg media", 0, 4, "OggS"},
        {"FLAC sound", 0, 4, "fLaC"},
        {"MP3 sound", 0, 3, "ID3"},
        {"Matroska media", 0, 4, "\x1a\x45\xdf\xa3"},
        {"Flash video", 0, 4, "FLV\1"},
        {"PDF document", 0, 5, "%PDF-"},
        {"zip archive", 0, 4, "PK\3\4"},
        {"zip archive", 0, 4, "PK\5\6"},
        {"gzip data", 0, 3, "\x1f\x8b\x08"},
        {"xz data", 0, 5,
         "\xfd"
         "7zXZ"},
        {"bzip2 data", 0, 10, "BZh91AY&SY"},
        {"zstd data", 0, 4, "\x28\xb5\x2f\xfd"},
        {"7-zip archive", 0, 4, "7z\xbc\xaf"},
        {"rar archive", 0, 6, "Rar!\x1a\x07"},
        {"tar archive", 0xff, 5, "ustar"},
        {"ELF object", 0, 4,
         "\x7f"
         "ELF"},
        {"WebAssembly", 0, 4, "\0asm"},
        {"Java class", 0, 4, "\xca\xfe\xba\xbe"},
        {"Mach-O object", 0, 4, "\xcf\xfa\xed\xfe"},
        {"LLVM bitcode", 0, 4, "BC\xc0\xde"},
        {"static library", 0, 8, "!<arch>\n"},
        {"WOFF font", 0, 4, "wOFF"},
        {"WOFF font", 0, 4, "wOF2"},
        {"OpenType font", 0, 4, "OTTO"},
        {"TrueType font", 0, 5, "\0\1\0\0\0"},
        {"SQLite database", 0, 15, "SQLite format 3"},
        {"git pack", 0, 5, "PACK\0"},
        {"HDF5 data", 0, 4, "\x89HDF"},
        {"NumPy array", 0, 6, "\x93NUMPY"},
        {"GGUF weights", 0, 4, "GGUF"},
        {"Photoshop image", 0, 4, "8BPS"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        uint64_t at = table[i].at == 0xff ? 257 : table[i].at;
        if (n >= at + table[i].n && memcmp(head + at, table[i].bytes, table[i].n) == 0 &&
            (table[i].at != 8 || memcmp(head, "RIFF", 4) == 0))
            return table[i].what;
    }
    return NULL;
}

/* ---- minified ---- */

const char *myth_detect_minified(const char *path, const char *lang, const unsigned char *head, uint64_t n_head)
{
    const char *name = myth_base_name(path);
    size_t n = strlen(name);
    if (has_suffix(name, n, ".map"))
        return "a source map by its name";
    if (!lang) {
        bool is_sure;
        pthread_once(&slot_once, fill_slots);
        lang = by_name(name, &is_sure);
        if (!lang || !is_sure || strcmp(lang, "typescript") == 0)
            lang = myth_detect_language(path, head, n_head);
    }
    myth_minified minified = myth_language_get(lang)->minified;
    bool is_script = minified == MYTH_MINIFIED_SCRIPT, is_css = minified == MYTH_MINIFIED_STYLE;
    if (!is_script && !is_css)
        return NULL;
    const char *dot = memrchr(name, '.', n);
    if (dot && dot - name >= 4 && strncasecmp(dot - 3, "min", 3) == 0 && (dot[-4] == '.' || dot[-4] == '-'))
        return "minified by its name";
    uint64_t n_line = 1, n_blank = 0, n_operator = 0;
    for (uint64_t i = 0; i < n_head; i++) {
        n_line += head[i] == '\n';
        n_blank += head[i] == ' ' || head[i] == '\t';
        n_operator += head[i] && strchr("(){}[];:,.=", head[i]) != NULL;
    }
    if (n_head >= 1024 && n_head / n_line > 200 && n_blank * 100 < n_head * 12 && n_operator * 100 > n_head * 8)
        return "minified: long lines of dense code";
    return NULL;
}

/* ---- tests ---- */

static bool is_one_of(const char *s, size_t n, const char *const *list, size_t n_list)
{
    for (size_t i = 0; i < n_list; i++)
        if (strlen(list[i]) == n && strncasecmp(s, list[i], n) == 0)
            return true;
    return false;
}

/* Words of a name are separated by anything but letters and digits, and where a capital follows a small letter. */
static bool next_word(const char **p, const char *end, const char **word, size_t *n)
{
    while (*p < end && !isalnum((unsigned char)**p))
        ++*p;
    *word = *p;
    while (*p < end && isalnum((unsigned char)**p) &&
           !(*p > *word && isupper((unsigned char)**p) && !isupper((unsigned char)(*p)[-1])))
        ++*p;
    *n = (size_t)(*p - *word);
    return *n > 0;
}

bool myth_detect_test(const char *path)
{
    static const char *const dirs[] = {"test",
                                       "tests",
                                       "__tests__",
                                       "__test__",
                                       "spec",
                                       "specs",
                                       "testdata",
                                       "test_data",
                                       "testcases",
                                       "testsuite",
                                       "testsuites",
                                       "e2e",
                                       "__mocks__",
                                       "__snapshots__",
                                       "unittest",
                                       "unittests",
                                       "androidtest",
                                       "systemtest",
                                       "systemtests",
                                       "smoketest",
                                       "smoketests",
                                       "inttest",
                                       "inttests",
                                       "functionaltest",
                                       "functionaltests",
                                       "integrationtest",
                                       "integrationtests"};
    static const char *const words[] = {"test", "tests", "spec", "specs", "unittest", "unittests"};
    const char *p = path, *slash, *word;
    size_t n;
    for (; (slash = strchr(p, '/')); p = slash + 1) {
        const char *end = slash, *last = NULL;
        size_t n_last = 0;
        if (is_one_of(p, (size_t)(slash - p), dirs, sizeof(dirs) / sizeof(dirs[0])))
            return true;
        for (const char *q = p; next_word(&q, end, &word, &n);) {
            last = word;
            n_last = n;
        }
        if (last && is_one_of(last, n_last, words, 2)) /* MyApp.Tests, integration-test */
            return true;
    }
    /* The first or last word of a file's name without its suffix: test_parse.c, parser_test.go, ParserTest.java,
     * a.spec.ts. */
    const char *dot = strrchr(p, '.'), *end = dot && dot > p ? dot : p + strlen(p), *first = NULL, *last = NULL;
    size_t n_first = 0, n_last = 0;
    if (strcmp(p, "conftest.py") == 0)
        return true;
    for (const char *q = p; next_word(&q, end, &word, &n);) {
        if (!first) {
            first = word;
            n_first = n;
        }
        last = word;
        n_last = n;
    }
    if (!first)
        return false;
    if (has_suffix(p, strlen(p), ".t") || has_suffix(p, strlen(p), ".bats") ||
        is_one_of(last, n_last, words, sizeof(words) / sizeof(words[0])))
        return true;
    return is_one_of(first, n_first, words, 2);
}

/* ---- products ---- */

/* Names of directories whose content tools made or downloaded. */
static const char *const product_dirs[] = {
    ".cache",        ".dart_tool",   ".eggs",
    ".git",          ".gradle",      ".hg",
    ".mypy_cache",   ".next",        ".nox",
    ".nuxt",         ".nyc_output",  ".parcel-cache",
    ".pytest_cache", ".ruff_cache",  ".svelte-kit",
    ".svn",          ".terraform",   ".tox",
    ".turbo",        ".venv",        ".vs",
    ".yarn",         ".zig-cache",   "CMakeFiles",
    "DerivedData",   "__pycache__",  "bower_components",
    "build",         "coverage",     "dist",
    "htmlcov",       "node_modules", "site-packages",
    "target",        "vendor",       "venv",
    "zig-cache",
};

bool myth_detect_products(const char *name)
{
    for (size_t i = 0; i < sizeof(product_dirs) / sizeof(product_dirs[0]); i++)
        if (strcmp(name, product_dirs[i]) == 0)
            return true;
    return false;
}

/* ---- code ---- */

bool myth_detect_code(const char *name)
{
    const myth_language *l = myth_language_get(myth_detect_language(name, NULL, 0));
    return l->grammar[0] && !l->is_data;
}

bool myth_detect_no_code(const char *language) { return myth_language_get(language)->has_no_code; }
