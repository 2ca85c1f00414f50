/* caution.h - what limits the trust in a report: languages that the model was not trained on.
 *
 * Source   a model's metadata may list the languages of its training by their names in retrieval/scan/languages.def,
 *          separated by blanks: mythos.languages = "c python". A model without the key is taken to know all,
 *          and not asked about here
 * Text     one sentence without a stop; "" when there is nothing to say. Names of languages come in the order of the
 *          files, each once; at most MYTH_CAUTION_NAMES of them, and "..." for others
 * Threads  any */
#ifndef MYTH_INSPECT_CAUTION_H
#define MYTH_INSPECT_CAUTION_H

#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_CAUTION_CAP = 512, MYTH_CAUTION_NAMES = 4 };

/* Writes the sentence about the files of r that are subjects; r->model names the model, known lists its languages. */
void myth_caution(char out[MYTH_CAUTION_CAP], const myth_report *r, myth_str known);

#ifdef __cplusplus
}
#endif
#endif
