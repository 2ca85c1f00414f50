/* embed.c - how near texts are to a question, by an EmbeddingGemma model: embed MODEL QUESTION TEXT... */
#include "example.h"

#include <engine/run/embed.h>

enum { MOST = 16, TOKENS = 512, DIM_MAX = 1024 };

int main(int argc, char **argv)
{
    static int32_t ids[MOST][TOKENS];
    static float vector[MOST * DIM_MAX];
    myth_embed_text text[MOST];
    myth_embedder *embedder;
    example x;
    const uint32_t n = argc < 4 || argc - 2 > MOST ? 0 : (uint32_t)argc - 2;
    if (!n)
        return fprintf(stderr, "usage: embed MODEL QUESTION TEXT... (%d texts at most)\n", MOST - 1), 2;
    open_example(&x, argv[1], &(myth_engine_opts){.n_ctx = TOKENS, .n_ubatch = TOKENS, .want_hidden = true});
    must(&x, myth_embedder_open(&embedder, x.engine, &x.err));
    for (uint32_t i = 0; i < n; i++) {
        char line[4096];
        const char *prompt = myth_embed_prompt(i ? "document" : "query");
        snprintf(line, sizeof(line), "%s%s", prompt ? prompt : "", argv[2 + i]);
        uint32_t len = encode(&x, line, ids[i], TOKENS - 1);
        if (x.model.tokenizer)
            ids[i][len++] = myth_tokenizer_special(x.model.tokenizer)->eos;
        text[i] = (myth_embed_text){.ids = ids[i], .n = len};
    }
    const uint32_t dim = myth_embedder_dim(embedder) < DIM_MAX ? myth_embedder_dim(embedder) : DIM_MAX;
    must(&x, myth_embed(embedder, text, n, dim, vector, NULL, &x.err));
    for (uint32_t i = 1; i < n; i++) {
        double cosine = 0.0; /* vectors have length 1 */
        for (uint32_t k = 0; k < dim; k++)
            cosine += (double)vector[k] * (double)vector[(size_t)i * dim + k];
        printf("%.4f  %s\n", cosine, argv[2 + i]);
    }
    myth_embedder_close(embedder);
    return close_example(&x);
}
