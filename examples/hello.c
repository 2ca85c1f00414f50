/* hello.c - goes on with a text: hello MODEL TEXT. MODEL is a .gguf, a folder, or random:gemma3-270m:q8_0. */
#include "example.h"

int main(int argc, char **argv)
{
    enum { N_PROMPT = 256, N_NEW = 32 };
    example x;
    int32_t ids[N_PROMPT], answer[N_NEW];
    uint32_t n_new = 0;
    myth_finish why;
    if (argc != 3)
        return fprintf(stderr, "usage: hello MODEL TEXT\n"), 2;
    /* greedy; with a temp and a seed each seed has another answer, and the engine then needs more best ids */
    const myth_sample_params sample = {0};
    myth_engine_opts needs = {.n_ctx = N_PROMPT + N_NEW};
    myth_generate_needs(&needs, &sample, false);
    open_example(&x, argv[1], &needs);
    const uint32_t n = encode(&x, argv[2], ids, N_PROMPT);

    myth_seq *seq;
    const myth_generate_opts opts = {.prompt = ids, .n_prompt = n, .n_max = N_NEW, .sample = sample};
    must(&x, myth_seq_open(&seq, x.engine, &x.err));
    must(&x, myth_generate(x.engine, seq, &opts, answer, &n_new, &why, &x.err));
    printf("%s", argv[2]);
    print_ids(&x, answer, n_new);
    printf("\n(%s)\n", myth_finish_name(why));
    myth_seq_close(seq);
    return close_example(&x);
}
