/* kinds.c - see kinds.h. */
#include "kinds.h"

#include <stddef.h>
#include <string.h>

/* Equal without regard to case; a '_' is a '-'. */
static bool is_one_of(const char *s, size_t n, const char *const *list)
{
    for (; *list; list++) {
        size_t i = 0;
        for (; i < n && (*list)[i]; i++) {
            char c = s[i] == '_' ? '-' : s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] + 'a' - 'A') : s[i];
            if (c != (*list)[i])
                break;
        }
        if (i == n && (*list)[i] == '\0')
            return true;
    }
    return false;
}

static const char *const example_dirs[] = {"example",    "examples",  "sample",    "samples",   "demo",
                                           "demos",      "tutorial",  "tutorials", "bench",     "benchmark",
                                           "benchmarks", "asv-bench", "gallery",   "galleries", NULL};
static const char *const copied_dirs[] = {"vendor",      "vendors",    "vendored", "-vendor",   "-vendored",
                                          "third-party", "thirdparty", "3rdparty", "3rd-party", NULL};
static const char *const vendored_dirs[] = {"external", "externals", "extern",       "deps",           "compat",
                                            "-compat",  "bundled",   "amalgamation", "single-include", NULL};
static const char *const legacy_words[] = {"legacy",    "deprecated", "obsolete", "attic",
                                           "graveyard", "retired",    "old",      NULL}; /* names of directories */
static const char *const document_dirs[] = {"doc", "docs", "documentation", "docs-src", NULL};
static const char *const document_names[] = {"changelog",   "changes",      "news",    "history", "readme",
                                             "authors",     "contributors", "license", "copying", "todo",
                                             "maintainers", "releases",     NULL}; /* file names without a suffix */
static const char *const document_suffixes[] = {"md",  "rst",  "txt",  "adoc", "markdown", "tex", "org",
                                                "pod", "texi", "html", "htm",  "ipynb",    NULL};
static const char *const data_suffixes[] = {"json",  "yaml",    "yml", "toml", "ini",  "cfg",        "xml",  "csv",
                                            "tsv",   "svg",     "po",  "pot",  "lock", "properties", "conf", "sum",
                                            "jsonl", "geojson", "dat", "log",  "snap", NULL};

/* Whether a word of the name is in the list: legacy, legacy_api, accounts-old. */
static bool has_word_of(const char *s, size_t n, const char *const *list)
{
    for (size_t i = 0; i < n;) {
        size_t m = 0;
        while (i + m < n && s[i + m] != '-' && s[i + m] != '_')
            m++;
        if (is_one_of(s + i, m, list))
            return true;
        i += m + 1;
    }
    return false;
}

uint32_t myth_file_kinds(const char *path, bool is_test, bool is_generated)
{
    static const char *const compat[] = {"compat", NULL};
    uint32_t kinds = 0;
    const char *p = path, *slash;
    for (; (slash = strchr(p, '/')); p = slash + 1) {
        size_t n = (size_t)(slash - p);
        kinds |= is_one_of(p, n, example_dirs) ? 1u << MYTH_KIND_EXAMPLE : 0;
        kinds |= is_one_of(p, n, copied_dirs) || is_one_of(p, n, vendored_dirs) ? 1u << MYTH_KIND_VENDORED : 0;
        kinds |= has_word_of(p, n, legacy_words) ? 1u << MYTH_KIND_LEGACY : 0;
        kinds |= is_one_of(p, n, document_dirs) ? 1u << MYTH_KIND_DOCUMENT : 0;
    }
    const char *dot = strrchr(p, '.');
    bool has_suffix = dot && dot > p;
    size_t n_stem = has_suffix ? (size_t)(dot - p) : strlen(p), n_suffix = has_suffix ? strlen(dot + 1) : 0;
    if (is_one_of(p, n_stem, compat) || strstr(p, "amalgamation"))
        kinds |= 1u << MYTH_KIND_VENDORED;
    if (has_suffix ? is_one_of(dot + 1, n_suffix, document_suffixes) : is_one_of(p, n_stem, document_names))
        kinds |= 1u << MYTH_KIND_DOCUMENT;
    if (has_suffix && is_one_of(dot + 1, n_suffix, data_suffixes))
        kinds |= 1u << MYTH_KIND_DATA;
    kinds |= is_test ? 1u << MYTH_KIND_TEST : 0;
    kinds |= is_generated ? 1u << MYTH_KIND_GENERATED : 0;
    return kinds ? kinds : 1u << MYTH_KIND_SOURCE;
}

bool myth_path_is_copied(const char *path)
{
    static const char *const whole[] = {"sqlite3.c", "sqlite3.h", NULL}; /* of many files, put together by a script */
    const char *p = path, *slash, *dir = path;
    for (; (slash = strchr(p, '/')); p = slash + 1) {
        dir = p;
        if (is_one_of(p, (size_t)(slash - p), copied_dirs))
            return true;
    }
    const bool is_shell = strcmp(p, "shell.c") == 0 && p > path && strncmp(dir, "sqlite", 6) == 0; /* comes with it */
    return is_shell || is_one_of(p, strlen(p), whole);
}

/* The number of a version's directory at s, and its length; 0: there is none. */
static size_t version_at(const char *s, unsigned *number)
{
    enum { DIGITS = 4 };
    size_t n = 1;
    if (s[0] != 'v' && s[0] != 'V')
        return 0;
    for (*number = 0; s[n] >= '0' && s[n] <= '9' && n <= DIGITS; n++)
        *number = *number * 10 + (unsigned)(s[n] - '0');
    return n > 1 && s[n] == '/' ? n : 0;
}

const char *myth_path_version(const char *path, size_t *n)
{
    unsigned number;
    for (const char *p = path, *slash; (slash = strchr(p, '/')); p = slash + 1)
        if ((*n = version_at(p, &number)))
            return p;
    return NULL;
}

bool myth_path_is_older(const char *path, const char *other)
{
    size_t n, n_other;
    unsigned own = 0, its = 0;
    const char *version = myth_path_version(path, &n);
    if (!version || strncmp(path, other, (size_t)(version - path)) != 0)
        return false;
    other += version - path;
    version_at(version, &own);
    n_other = version_at(other, &its);
    return (!n_other || its > own) && strcmp(version + n + 1, n_other ? other + n_other + 1 : other) == 0;
}

const char *myth_file_kind_name(myth_file_kind kind)
{
    static const char *const name[] = {"source",    "test",     "example", "vendored",
                                       "generated", "document", "data",    "legacy"};
    return name[kind];
}
