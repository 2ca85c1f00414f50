/* languages.c - see languages.h. */
#include "languages.h"

#include <string.h>

static const myth_language rows[] = {
#define LANG(id, ...) {.name = #id, __VA_ARGS__},
#include "languages.def"
#undef LANG
};
enum { N_ROW = sizeof(rows) / sizeof(rows[0]) };

static const myth_language unknown = {.name = "", .patterns = "", .grammar = ""};

const myth_language *myth_language_at(uint32_t i) { return i < N_ROW ? &rows[i] : NULL; }

const myth_language *myth_language_get(const char *name)
{
    for (uint32_t i = 0; name && i < N_ROW; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return &unknown;
}

bool myth_language_is_kin(const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return true;
    myth_language_family family = myth_language_get(a)->family;
    return family >= MYTH_FAMILY_C && family <= MYTH_FAMILY_JVM && family == myth_language_get(b)->family;
}

bool myth_language_lists(const char *list, const char *word, size_t n)
{
    while (list && *list) {
        size_t len = strcspn(list, " ");
        if (len == n && strncasecmp(list, word, n) == 0)
            return true;
        list += len + (list[len] == ' ');
    }
    return false;
}
