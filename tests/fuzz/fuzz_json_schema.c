/* fuzz_json_schema.c - a schema: turning it into a grammar ends in an error with a place, or in a grammar that is read,
 * unless a part of the schema is itself. */
#include "engine/text/gbnf.h"
#include "frontend/common/json_schema.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SCHEMA_MAX = 1 << 13 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    myth_mem *mem = NULL;
    myth_gbnf *g = NULL;
    myth_error err = {0};
    char *text = NULL;
    size_t n = 0;
    if (size > SCHEMA_MAX || myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return 0;
    const myth_status st = myth_json_schema_to_gbnf(&text, &n, mem, (const char *)data, size, "fuzz", &err);
    if (st != MYTH_OK && (text || strncmp(err.msg, "fuzz:", 5) != 0))
        abort();
    if (st == MYTH_OK && myth_gbnf_parse(&g, mem, text, n, "fuzz", NULL, &err) == MYTH_EFORMAT &&
        !strstr(err.msg, "can begin with itself") && !strstr(err.msg, "never ends"))
        abort(); /* what is written is a grammar */
    myth_gbnf_close(g);
    myth_free(mem, text);
    if (myth_mem_close(mem) != 0)
        abort();
    return 0;
}
