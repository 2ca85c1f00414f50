/* schema_case.h - what the tests of json_schema.h share: a schema's grammar, and whether a text is of one. */
#ifndef MYTH_TESTS_SCHEMA_CASE_H
#define MYTH_TESTS_SCHEMA_CASE_H

#include "engine/text/pushdown.h"
#include "frontend/common/json_schema.h"
#include "tests/support/check.h"

static myth_mem *mem;
static myth_pushdown *states;
static myth_error err;

static inline int open_all(void **state)
{
    (void)state;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_pushdown_open(&states, mem, NULL), MYTH_OK);
    return 0;
}

static inline int close_all(void **state)
{
    (void)state;
    myth_pushdown_close(states);
    assert_int_equal(myth_mem_close(mem), 0);
    return 0;
}

/* The grammar of a schema that is read. */
static inline myth_gbnf *open_schema(const char *schema)
{
    char *text;
    size_t n;
    myth_gbnf *g = NULL;
    if (myth_json_schema_to_gbnf(&text, &n, mem, schema, strlen(schema), "s", &err) != MYTH_OK)
        fail_msg("%s\n%s", schema, err.msg);
    if (myth_gbnf_parse(&g, mem, text, n, "g", NULL, &err) != MYTH_OK)
        fail_msg("%s\n%.*s\n%s", schema, (int)n, text, err.msg);
    myth_free(mem, text);
    return g;
}

static inline bool is_of(const myth_gbnf *g, const char *text)
{
    myth_automaton a;
    uint32_t at;
    myth_pushdown_use(states, g, &a);
    a.start(a.self, &at);
    for (; *text; text++)
        if (!a.step(a.self, &at, (uint8_t)*text))
            return false;
    return a.may_end(a.self, &at);
}

#endif
