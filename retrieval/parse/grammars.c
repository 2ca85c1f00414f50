/* grammars.c - see grammars.h. The parsers and their queries come from the build: generated/grammars.inc and
 * grammars.def. */
#include "grammars.h"

#include <stddef.h>
#include <string.h>

typedef struct TSLanguage TSLanguage;
#include "grammars.inc"

/* A grammar without a row exports what stands at the top. */
static const struct {
    const char *name;
    myth_export_rule exports;
    bool is_data, has_directives, has_docstrings, any_test_name;
} traits[] = {
    {.name = "c", .exports = MYTH_EXPORT_NO_STATIC, .has_directives = true},
    {.name = "cpp", .exports = MYTH_EXPORT_NO_STATIC, .has_directives = true},
    {.name = "python", .exports = MYTH_EXPORT_NO_UNDERSCORE, .has_docstrings = true, .any_test_name = true},
    {.name = "javascript", .exports = MYTH_EXPORT_EXPORT},
    {.name = "typescript", .exports = MYTH_EXPORT_EXPORT},
    {.name = "tsx", .exports = MYTH_EXPORT_EXPORT},
    {.name = "go", .exports = MYTH_EXPORT_UPPER},
    {.name = "rust", .exports = MYTH_EXPORT_PUB},
    {.name = "java", .exports = MYTH_EXPORT_PUBLIC},
    {.name = "c_sharp", .exports = MYTH_EXPORT_PUBLIC},
    {.name = "kotlin", .exports = MYTH_EXPORT_NO_PRIVATE},
    {.name = "scala", .exports = MYTH_EXPORT_NO_PRIVATE},
    {.name = "php", .exports = MYTH_EXPORT_NO_PRIVATE},
    {.name = "lua", .exports = MYTH_EXPORT_NO_PRIVATE},
    {.name = "ruby", .exports = MYTH_EXPORT_NO_UNDERSCORE},
    {.name = "bash", .exports = MYTH_EXPORT_NO_UNDERSCORE},
    {.name = "json", .is_data = true},
    {.name = "yaml", .is_data = true},
    {.name = "toml", .is_data = true},
};

#define GRAMMAR(id) {.name = #id, .language = tree_sitter_##id, .query = query_##id, .n_query = sizeof(query_##id)},
static const myth_grammar compiled[] = {
#include "grammars.def"
};
#undef GRAMMAR

static const struct {
    const char *id, *grammar;
} languages[] = {
#define LANG(id, suffixes, grammar) {#id, grammar},
#include "retrieval/scan/languages.def"
#undef LANG
};

const int myth_n_grammar = (int)(sizeof(compiled) / sizeof(*compiled));

int myth_grammar_find(const char *language)
{
    const char *grammar = "";
    for (size_t i = 0; language && i < sizeof(languages) / sizeof(*languages); i++)
        if (strcmp(languages[i].id, language) == 0)
            grammar = languages[i].grammar;
    for (int i = 0; i < myth_n_grammar; i++)
        if (strcmp(compiled[i].name, grammar) == 0)
            return i;
    return -1;
}

myth_grammar myth_grammar_get(int i)
{
    myth_grammar g = compiled[i];
    for (size_t k = 0; k < sizeof(traits) / sizeof(*traits); k++)
        if (strcmp(traits[k].name, g.name) == 0) {
            g.exports = traits[k].exports;
            g.is_data = traits[k].is_data;
            g.has_directives = traits[k].has_directives;
            g.has_docstrings = traits[k].has_docstrings;
            g.any_test_name = traits[k].any_test_name;
        }
    return g;
}
