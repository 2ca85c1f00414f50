/* inspect_base.h - what decides the answers of an inspection besides its prompts, as text that goes into every key of
 * kept answers and reports: program, device and its settings, sampling, model. Two runs with the same text get the same
 * answer to the same prompt.
 *
 * Model    by the name, size, time and inode of its files, those of a tokenizer beside them too: cheap, and another
 *          file under the name differs. Of an opened one also by what its tokenizer is
 * Owner    the caller's buffer; what does not fit is left out, which only makes keys that no run shares
 * Threads  one */
#ifndef MYTH_INSPECT_BASE_H
#define MYTH_INSPECT_BASE_H

#include "frontend/cli/cli.h"
#include "frontend/inspect/kept/kept.h"
#include "frontend/inspect/prompt/prompt.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_BASE_BYTES = 32 << 10 };

typedef struct {
    char text[MYTH_BASE_BYTES];
    size_t n;
} myth_inspect_base;

void myth_base_add(myth_inspect_base *b, const char *name, const char *value);
/* Adds program, device and sampling. Chooses the device that "auto" is; MYTH_EARG: the engine's flags are wrong. */
myth_status myth_base_settings(myth_inspect_base *b, myth_cli *cli, const myth_engine_flags *f,
                               const myth_sample_params *p, myth_error *err);
/* Makes the keys of kept answers those of an opened model. False: the flags are wrong, or there is no memory. */
bool myth_base_answers(myth_kept *kept, myth_cli *cli, const myth_engine_flags *f, const myth_sample_params *sample,
                       myth_prompt_style style, const myth_model *m);
/* The same for what an opened model says of places, which samples nothing. */
bool myth_base_scores(myth_kept *kept, myth_cli *cli, const myth_engine_flags *f, const myth_model *m);
/* Adds to a key what stat says of a file, its times of change of bytes and of anything included, and raises *newest_ns
 * to the latter. MYTH_EIO: it says nothing. */
myth_status myth_base_stat(myth_kept *key, const char *path, int64_t *newest_ns, myth_error *err);
/* Adds the files at the path that a model was found at. */
void myth_base_model(myth_inspect_base *b, const char *path);
/* Adds the files of an open model that has several, wherever links led. */
void myth_base_files(myth_inspect_base *b, const myth_weights *w);

#ifdef __cplusplus
}
#endif
#endif
