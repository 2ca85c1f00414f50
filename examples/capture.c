/* capture.c - the direction between two kinds of prompts in the residual after a layer: the difference of the means of
 * their last tokens. capture MODEL LAYER PROMPT_A PROMPT_B */
#include "example.h"

#include <math.h>

int main(int argc, char **argv)
{
    enum { TOKENS = 256 };
    example x;
    int32_t ids[2][TOKENS], label[2 * TOKENS];
    const int32_t run_label[2] = {0, 1};
    myth_seq *seq[2];
    myth_batch_run run[2];
    if (argc != 5)
        return fprintf(stderr, "usage: capture MODEL LAYER PROMPT_A PROMPT_B\n"), 2;
    const uint32_t layer = (uint32_t)strtoul(argv[2], NULL, 10);
    open_example(&x, argv[1],
                 &(myth_engine_opts){
                     .n_ctx = TOKENS,
                     .n_seq = 2,
                     .capture_layer = &layer,
                     .n_capture_layer = 1,
                     .n_capture_label = 2,
                 });
    for (int i = 0; i < 2; i++) {
        must(&x, myth_seq_open(&seq[i], x.engine, &x.err));
        run[i] = (myth_batch_run){.seq = seq[i], .token = ids[i], .n = encode(&x, argv[3 + i], ids[i], TOKENS)};
    }
    myth_batch batch = {.run = run, .n_run = 2, .capture_label = label};
    myth_capture_at(label, &batch, -1, run_label); /* the last token of each run, under the run's label */
    must(&x, myth_forward(x.engine, &batch, NULL, &x.err));

    const uint32_t d = x.model.config.d_model;
    double *mean = malloc(2 * d * sizeof(*mean)), square = 0.0;
    uint64_t n;
    if (!mean)
        return fprintf(stderr, "no memory for means of %u values\n", d), 1;
    for (uint32_t i = 0; i < 2; i++)
        must(&x, myth_capture_read(x.engine, i, layer, mean + (size_t)i * d, &n, &x.err));
    for (uint32_t i = 0; i < d; i++)
        square += (mean[d + i] - mean[i]) * (mean[d + i] - mean[i]);
    printf("layer %u: the direction has length %.6g\n", layer, sqrt(square));
    free(mean);
    myth_seq_close(seq[0]);
    myth_seq_close(seq[1]);
    return close_example(&x);
}
