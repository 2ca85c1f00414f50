/* bad_model.h - a model of which one token's logits are infinite or NaN, as values too large for their type make them:
 * a golden model whose embedding of BAD_ID is infinite once it is scaled. As a row of the head it is finite: its own
 * logit is far above or far below all others, and an answer that comes to it ends there. */
#ifndef MYTH_TESTS_BAD_MODEL_H
#define MYTH_TESTS_BAD_MODEL_H

#include "cli_run.h"

#include <stdio.h>
#include <string.h>

#define BAD_MODEL "-m $D/bad "
enum { BAD_ID = 77 };

/* Makes $D/bad. */
static inline void make_bad_model(void)
{
    static const char embedding[] = "model.embed_tokens.weight";
    cli_result done;
    char path[128], head[1 << 16];
    uint64_t n_head = 0;
    uint16_t row[4096]; /* bf16 */
    cli_shell(&done, "cp -r tests/golden/models/gemma3-mqa $D/bad && chmod -R u+w $D/bad");
    assert_int_equal(done.code, 0);
    snprintf(path, sizeof(path), "%s/bad/model.safetensors", cli_dir);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fread(&n_head, sizeof(n_head), 1, f), 1);
    assert_true(n_head < sizeof(head));
    assert_int_equal(fread(head, 1, n_head, f), n_head);
    json_t *j = json_loadb(head, n_head, 0, NULL);
    const json_t *t = json_object_get(j, embedding);
    assert_non_null(t);
    const long long from = json_integer_value(json_array_get(json_object_get(t, "data_offsets"), 0)),
                    dim = json_integer_value(json_array_get(json_object_get(t, "shape"), 1));
    assert_string_equal(json_string_value(json_object_get(t, "dtype")), "BF16");
    assert_in_range(dim, 1, 4096);
    for (int i = 0; i < dim; i++)
        row[i] = i == 22 ? 0x7e53 : 0; /* 7.0e37 */
    assert_int_equal(fseek(f, (long)(8 + (long long)n_head + from + BAD_ID * dim * 2), SEEK_SET), 0);
    assert_int_equal(fwrite(row, sizeof(*row), (size_t)dim, f), dim);
    fclose(f);
    json_decref(j);
}

#endif
