#include "a.h"
#define MAX_DEPTH 8
int g_level = 0; /* g_level begins at zero */
static int (*on_done)(int);
struct conf {
    int limit;
    const char *name;
};
/* @no MAX_DEPTH
 * @no g_level and limit */
// @no on_done \
   @no MAX_DEPTH
int work(struct conf *c, int depth)
{
    g_level = depth; // @assigns
    if (depth > MAX_DEPTH) // @compares
        return MAX_DEPTH; // @returns
    c->limit = g_level + 1; // @assigns
    c->limit /= 2; // @assigns
    g_level++; // @assigns
    --g_level; // @assigns
    const char *s = "@no g_level MAX_DEPTH limit \" on_done";
    const char *t = "two lines \
        @no limit g_level";
    const char *u = "%" PRIu64 "@no limit";
    char q = '"', r = g_level; // @word
    switch (depth) {
    case MAX_DEPTH: // @compares
        break;
    }
    struct conf d = {.limit = MAX_DEPTH, .name = s};
    struct conf e = {MAX_DEPTH, t};
    on_done = other; // @assigns
    table[g_level] = 1'000 + MAX_DEPTH; // @word
    if (on_done != NULL) // @compares
        c->name = u;
    int g_level_other = 3, limits = 1;
    for (int i = 0; i < MAX_DEPTH; i++) // @compares
        work(c, g_level);
    other(c->limit);
#ifdef MAX_DEPTH
    sizeof(on_done);
#endif
    return d.limit == e.limit ? on_done(g_level) : MAX_DEPTH; // @compares
}
