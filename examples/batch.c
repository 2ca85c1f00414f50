/* batch.c - how likely several answers to one prompt are, in one forward: the prompt is fed once, and each answer branches
 * off it as an ephemeral run. batch MODEL PROMPT ANSWER... */
#include "example.h"

#include <math.h>

enum { MOST = 8, TOKENS = 256 };

typedef struct {
    int32_t next[MOST * TOKENS];    /* of each token of the batch, the id that follows it in its answer */
    uint32_t answer[MOST * TOKENS]; /* which answer it is of */
    double log_prob[MOST];
} scores;

/* One row of logits says how likely the id is that follows. */
static void add_row(void *user, uint32_t tok, const float *row, uint32_t n_vocab)
{
    scores *s = user;
    double top = row[0], sum = 0.0;
    for (uint32_t i = 1; i < n_vocab; i++)
        top = row[i] > top ? row[i] : top;
    for (uint32_t i = 0; i < n_vocab; i++)
        sum += exp(row[i] - top);
    s->log_prob[s->answer[tok]] += row[s->next[tok]] - top - log(sum);
}

int main(int argc, char **argv)
{
    static scores s;
    static int32_t ids[MOST][TOKENS];
    int32_t prompt[TOKENS];
    myth_batch_run run[MOST];
    uint8_t want[MOST * TOKENS];
    uint32_t n_tok = 0, n_fed;
    myth_seq *seq;
    example x;
    const uint32_t n = argc < 4 || argc - 3 > MOST ? 0 : (uint32_t)argc - 3;
    if (!n)
        return fprintf(stderr, "usage: batch MODEL PROMPT ANSWER... (%d answers at most)\n", MOST), 2;
    open_example(&x, argv[1],
                 &(myth_engine_opts){.n_ctx = 2 * TOKENS, .n_ubatch = MOST * TOKENS, .want_full_logits = true});
    must(&x, myth_seq_open(&seq, x.engine, &x.err));
    const uint32_t n_prompt = encode(&x, argv[2], prompt, TOKENS);
    must(&x, myth_seq_sync(seq, prompt, n_prompt - 1, &n_fed, &x.err));
    for (uint32_t i = 0; i < n; i++) { /* the prompt's last token, then the answer without its own beginning */
        const uint32_t len = encode(&x, argv[3 + i], ids[i], TOKENS);
        ids[i][0] = prompt[n_prompt - 1];
        run[i] = (myth_batch_run){.seq = seq, .token = ids[i], .n = len, .is_ephemeral = true};
        for (uint32_t k = 0; k < len; k++, n_tok++) {
            want[n_tok] = k + 1 < len ? MYTH_WANT_FULL_LOGITS : 0;
            s.next[n_tok] = k + 1 < len ? ids[i][k + 1] : 0;
            s.answer[n_tok] = i;
        }
    }
    const myth_batch batch = {.run = run, .n_run = n, .want = want, .on_full_logits = add_row, .user = &s};
    must(&x, myth_forward(x.engine, &batch, NULL, &x.err));
    for (uint32_t i = 0; i < n; i++)
        printf("%10.4f  %s\n", s.log_prob[i], argv[3 + i]);
    myth_seq_close(seq);
    return close_example(&x);
}
