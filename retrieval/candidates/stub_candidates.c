/* stub_candidates.c - for a build that could not fetch the parsers: no language has candidates. */
#include "candidates.h"

const myth_tree_reader myth_candidates_reader = {0};

uint32_t myth_candidates_rows(myth_mem *mem, const char *grammar, uint32_t *wrong_line,
                              void (*each)(void *user, const char *id, const char *row), void *user)
{
    (void)mem;
    (void)grammar;
    (void)each;
    (void)user;
    *wrong_line = 0;
    return 0;
}

uint32_t myth_candidates_rules(char id[][MYTH_CANDIDATES_NAME], uint32_t most)
{
    (void)id;
    (void)most;
    return 0;
}

bool myth_candidates_has(const char *language)
{
    (void)language;
    return false;
}
