/* fuzz_conversation.c - any bytes as a conversation, in every form of template: what is accepted fits its bound, and
 * holds no control ids but those of the template. */
#include "engine/text/tokenizer_impl.h"
#include "frontend/common/conversation.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Marks of a prompt come in pairs. Calls that nobody answered leave their turn open. */
static bool is_nested(const myth_tokenizer *t, const int32_t *ids, size_t n)
{
    const myth_special_ids *s = myth_tokenizer_special(t);
    int turn = 0, inner = 0, quote = 0;
    for (size_t i = 0; i < n; i++) {
        const int32_t id = ids[i];
        if (i && id == s->start_of_turn && ids[i - 1] == s->tool_response)
            turn = 0;
        turn += (id == s->start_of_turn) - (id == s->end_of_turn);
        inner += (id == s->tool) - (id == s->tool_end) + (id == s->tool_call) - (id == s->tool_call_end) +
                 (id == s->channel_open) - (id == s->channel_close);
        quote ^= id == s->tool_quote;
        if ((id == s->bos) != (i == 0) || turn < 0 || turn > 1 || inner < 0 || inner > 1 ||
            (id == s->end_of_turn && (inner || quote)))
            return false;
    }
    return !quote && turn <= 1;
}

static void encode(myth_mem *mem, const myth_tokenizer *t, myth_chat_form form, const myth_conversation *c, bool on)
{
    const myth_chat_opts o = {
        .thinks = on && myth_chat_has_thoughts(form),
        .keeps_thoughts = on && myth_chat_has_thoughts(form),
        .tools = c->tools,
        .more = c->more,
    };
    const size_t cap = myth_chat_bound_with(c->msg, c->n, &o);
    size_t n = 0;
    myth_error err = {0};
    int32_t *ids = malloc(cap * sizeof(*ids));
    if (!ids)
        abort();
    const myth_status st = myth_chat_encode_with(t, mem, form, c->msg, c->n, &o, ids, cap, &n, &err);
    if (st != MYTH_OK && st != MYTH_EARG && st != MYTH_ENOMEM)
        abort();
    if (st == MYTH_OK && !is_nested(t, ids, n))
        abort();
    free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    myth_mem *mem;
    myth_tokenizer *t = NULL;
    myth_conversation c;
    myth_error err = {0};
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK || myth_tok_open_bytes(&t, mem, 600, true, "bytes", NULL) != MYTH_OK)
        abort();
    const myth_status st = myth_conversation_read(&c, mem, (const char *)data, size, "fuzz", &err);
    if (st == MYTH_OK)
        for (int form = MYTH_CHAT_FOLDED; form <= MYTH_CHAT_CALLS; form++)
            for (int on = 0; on < 2; on++)
                encode(mem, t, (myth_chat_form)form, &c, on);
    else if (!err.msg[0] || (st != MYTH_EFORMAT && st != MYTH_EARG))
        abort();
    myth_conversation_close(&c);
    myth_tokenizer_close(t);
    if (myth_mem_close(mem) != 0)
        abort();
    return 0;
}
