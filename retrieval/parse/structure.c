/* structure.c - the names of the kinds, as queries, the store and JSON spell them. */
#include "structure.h"

const char *myth_chunk_kind_name(myth_chunk_kind kind)
{
    static const char *const name[] = {"text", "function", "method", "class",  "route",
                                       "test", "config",   "module", "imports"};
    return kind < MYTH_CHUNK_KIND_N ? name[kind] : "?";
}

const char *myth_symbol_kind_name(myth_symbol_kind kind)
{
    static const char *const name[] = {"function", "method", "class",  "type", "constant",
                                       "variable", "macro",  "module", "test", "route"};
    return kind < MYTH_SYMBOL_KIND_N ? name[kind] : "?";
}

const char *myth_ref_kind_name(myth_ref_kind kind)
{
    static const char *const name[] = {"call", "type", "import", "read"};
    return kind < MYTH_REF_KIND_N ? name[kind] : "?";
}
