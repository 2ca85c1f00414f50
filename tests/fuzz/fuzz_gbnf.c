/* fuzz_gbnf.c - a grammar (up to the first zero byte) and a text: reading either ends in an error with a place or in a
 * program that runs; a state that is settled goes on as before, and what steps can be finished or is too much. */
#include "engine/text/pushdown.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { GRAMMAR_MAX = 1 << 14, TEXT_MAX = 400 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    const size_t n_grammar = zero ? (size_t)(zero - data) : size;
    myth_mem *mem = NULL;
    myth_gbnf *g = NULL;
    myth_pushdown *p = NULL;
    myth_error err = {0};
    if (n_grammar > GRAMMAR_MAX || myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return 0;
    const myth_status st = myth_gbnf_parse(&g, mem, (const char *)data, n_grammar, "fuzz", &err);
    if ((st == MYTH_OK) != (g != NULL) || (st != MYTH_OK && strncmp(err.msg, "fuzz:", 5) != 0))
        abort();
    if (st == MYTH_OK && myth_pushdown_open(&p, mem, NULL) == MYTH_OK) {
        myth_automaton a;
        uint32_t at = 0, k;
        myth_pushdown_use(p, g, &a);
        a.start(a.self, &at);
        for (size_t i = n_grammar + 1; i < size && i < n_grammar + 1 + TEXT_MAX; i++) {
            uint32_t next = at;
            if (!a.step(a.self, &next, data[i]))
                continue; /* another byte is tried in the same state */
            if (i % 5 == 0)
                a.key(a.self, &next, 16, &k);
            if (i % 7 == 0)
                a.settle(a.self, &next);
            at = next;
            bool goes_on = a.may_end(a.self, &at);
            for (int b = 0; b < 256 && !goes_on; b++) {
                uint32_t to = at;
                goes_on = a.step(a.self, &to, (uint8_t)b);
            }
            if (!goes_on && !myth_pushdown_is_full(p))
                abort(); /* no state without a way on */
        }
    }
    myth_pushdown_close(p);
    myth_gbnf_close(g);
    if (myth_mem_close(mem) != 0)
        abort();
    return 0;
}
