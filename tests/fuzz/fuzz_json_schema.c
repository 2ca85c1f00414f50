/* fuzz_json_schema.c - a schema, by itself and as the parameters of a tool: turning it into a grammar ends in an error
 * with a place, or in a grammar that is read, unless a part of the schema is itself. */
#include "engine/text/gbnf.h"
#include "engine/text/tokenizer_impl.h"
#include "frontend/common/json_schema.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SCHEMA_MAX = 1 << 13, N_VOCAB = 300 };

/* Takes the grammar that was written, or the error of it. */
static void check(myth_mem *mem, myth_status st, char *text, size_t n, const char *name, myth_error *err)
{
    static myth_mem *kept;
    static myth_tokenizer *tok;
    myth_gbnf *g = NULL;
    if (!tok && (myth_mem_open(&kept, 0, NULL) != MYTH_OK ||
                 myth_tok_open_bytes(&tok, kept, N_VOCAB, true, "vocabulary", NULL) != MYTH_OK))
        abort();
    if (st != MYTH_OK && (text || strncmp(err->msg, name, strlen(name)) != 0))
        abort();
    if (st == MYTH_OK && myth_gbnf_parse(&g, mem, text, n, name, tok, err) == MYTH_EFORMAT &&
        !strstr(err->msg, "can begin with itself") && !strstr(err->msg, "never ends"))
        abort(); /* what is written is a grammar */
    myth_gbnf_close(g);
    myth_free(mem, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char before[] = "[{\"function\":{\"name\":\"f\",\"parameters\":", behind[] = "}}]";
    static const myth_calls_form form = {.call = 271, .call_end = 270, .quote = 267, .must = true};
    static char tools[SCHEMA_MAX + sizeof(before) + sizeof(behind)];
    myth_mem *mem = NULL;
    myth_error err = {0};
    char *text = NULL;
    size_t n = 0, n_tools = 0;
    if (size > SCHEMA_MAX || myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return 0;
    myth_status st = myth_json_schema_to_gbnf(&text, &n, mem, (const char *)data, size, "fuzz", &err);
    check(mem, st, text, n, "fuzz:", &err);
    memcpy(tools, before, sizeof(before) - 1);
    n_tools = sizeof(before) - 1;
    if (size)
        memcpy(tools + n_tools, data, size);
    n_tools += size;
    memcpy(tools + n_tools, behind, sizeof(behind) - 1);
    n_tools += sizeof(behind) - 1;
    st = myth_json_schema_calls_to_gbnf(&text, &n, mem, tools, n_tools, &form, &err);
    check(mem, st, text, n, "tools:", &err);
    if (myth_mem_close(mem) != 0)
        abort();
    return 0;
}
