/* fuzz_gbnf.c - a grammar (up to the first zero byte), over the tokens of a small vocabulary, and a text: reading
 * either ends in an error with a place or in a program that runs; a state that is settled goes on as before, and what
 * steps can be finished or is too much. */
#include "engine/text/pushdown.h"
#include "engine/text/tokenizer_impl.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { GRAMMAR_MAX = 1 << 14, TEXT_MAX = 400, N_VOCAB = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    const size_t n_grammar = zero ? (size_t)(zero - data) : size;
    myth_mem *mem = NULL;
    myth_gbnf *g = NULL;
    myth_pushdown *p = NULL;
    myth_error err = {0};
    static myth_mem *kept;
    static myth_tokenizer *tok;
    if (!tok && (myth_mem_open(&kept, 0, NULL) != MYTH_OK ||
                 myth_tok_open_bytes(&tok, kept, N_VOCAB, true, "vocabulary", NULL) != MYTH_OK))
        abort();
    if (n_grammar > GRAMMAR_MAX || myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return 0;
    const myth_status st = myth_gbnf_parse(&g, mem, (const char *)data, n_grammar, "fuzz", tok, &err);
    if ((st == MYTH_OK) != (g != NULL) || (st != MYTH_OK && strncmp(err.msg, "fuzz:", 5) != 0))
        abort();
    if (st == MYTH_OK && myth_pushdown_open(&p, mem, NULL) == MYTH_OK) {
        myth_automaton a;
        uint32_t at = 0, k;
        myth_pushdown_use(p, g, &a);
        a.start(a.self, &at);
        for (size_t i = n_grammar + 1; i < size && i < n_grammar + 1 + TEXT_MAX; i++) {
            uint32_t next = at, mask[(N_VOCAB + 31) / 32] = {0};
            const int32_t id = (data[i] * 7 + (int32_t)i) % N_VOCAB;
            const bool steps = a.step(a.self, &next, data[i]), is_id = i % 3 == 0 && a.take;
            if (a.mark)
                a.mark(a.self, &at, N_VOCAB, mask);
            if (a.take && a.take(a.self, &at, id, false, false, NULL) != (mask[id / 32] >> (id % 32) & 1))
                abort();
            if (is_id ? !a.take(a.self, &at, id, false, steps, &next) : !steps)
                continue; /* another is tried in the same state */
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
            for (int32_t to = 0; to < N_VOCAB && !goes_on && a.take; to++)
                goes_on = a.take(a.self, &at, to, false, false, NULL);
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
