/* grammars.c - see grammars.h. The parsers and their queries come from the build: generated/grammars.inc and
 * grammars.def. */
#include "grammars.h"

#include <stddef.h>
#include <string.h>

typedef struct TSLanguage TSLanguage;
#include "grammars.inc"

#define GRAMMAR(id) {.name = #id, .language = tree_sitter_##id, .query = query_##id, .n_query = sizeof(query_##id)},
static const myth_grammar compiled[] = {
#include "grammars.def"
};
#undef GRAMMAR

const int myth_n_grammar = (int)(sizeof(compiled) / sizeof(*compiled));

int myth_grammar_find(const char *language)
{
    const char *grammar = myth_language_get(language)->grammar;
    for (int i = 0; i < myth_n_grammar; i++)
        if (strcmp(compiled[i].name, grammar) == 0)
            return i;
    return -1;
}

myth_grammar myth_grammar_get(int i)
{
    myth_grammar g = compiled[i];
    uint32_t l = 0;
    while ((g.is = myth_language_at(l)) && strcmp(g.is->grammar, g.name) != 0)
        l++;
    if (!g.is)
        g.is = myth_language_get(NULL);
    return g;
}
