/* said.c - a flag's number to a budget; the ids of one part to text. */
#include "said.h"

#include <stdlib.h>

myth_status myth_said_budget(const char *text, bool *thinks, uint32_t *n_think, myth_error *err)
{
    char *end;
    const long n = strtol(text, &end, 10);
    if (end == text || *end || n < -1 || n > 1 << 20)
        return myth_fail(err, MYTH_EARG,
                         "--reasoning-budget: got %.40s, expected -1, 0 or a number of tokens up to 1048576", text);
    *thinks = n != 0;
    *n_think = n > 0 ? (uint32_t)n : 0;
    return MYTH_OK;
}

myth_status myth_said_check(const myth_model *m, bool thinks, myth_error *err)
{
    return !thinks || myth_chat_has_thoughts(myth_chat_form_of(&m->config, m->tokenizer))
             ? MYTH_OK
             : myth_fail(err, MYTH_EUNSUPPORTED, "--reasoning-budget: %s cannot think first; leave the flag out",
                         myth_family_name(m->config.family));
}

void myth_said_template(const myth_cli *cli, const myth_model *m)
{
    bool is_other = false;
    if (m->tokenizer)
        myth_chat_template_is_other(&is_other, cli->mem, m->weights, myth_chat_form_of(&m->config, m->tokenizer), NULL);
    if (is_other)
        myth_term_note(cli->term,
                       "%s has a chat template of its own, which is not used: prompts are written as Gemma's",
                       myth_model_name(m));
}

void myth_said_print(myth_json_out *j, const char *key, const myth_tokenizer *t, myth_channel c, const int32_t *ids,
                     uint32_t n, char *piece, myth_said part, uint64_t n_byte)
{
    myth_detok d;
    myth_detok_start(&d, t, false);
    myth_jout_key(j, key);
    myth_jout_text_begin(j);
    for (uint32_t i = 0; i <= n; i++) {
        const bool is_part = i < n && myth_channel_push(&c, ids[i]) == part;
        const size_t got = is_part ? myth_detok_push(&d, ids[i], piece) : myth_detok_finish(&d, piece),
                     len = got < n_byte ? got : (size_t)n_byte;
        myth_jout_text_part(j, piece, len);
        n_byte -= len;
    }
    myth_jout_text_end(j);
}
