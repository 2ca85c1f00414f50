/* calibration.h - turns a judge's score into a probability. A model's logits say which place is more suspicious than
 * another; how often a place of some score is a fault has to be measured, for each model and rule, on places whose
 * answer is known.
 *
 *   myth_calibration_open         reads the calibration in the model's file or beside it
 *   myth_calibration_probability  1 / (1 + exp(-(scale * score + offset)))
 *
 * Place    the key mythos.judge of the model's metadata; else a file beside the model, "MODEL.judge" of a file and
 *          "mythos.judge" in a directory
 * Form     words: "confidence=0.62 tests=-1.4 *=1.3:-2.4 missing-null-check=1.1:-1.9 sql-injection/quoted=1.1:0.8".
 *          RULE/ROW=SCALE:OFFSET is for one row of a rule (pack.h), RULE= for the other rows of that rule, *= for all
 *          other rules. confidence= is the probability from which on a place is a finding, if the caller names none.
 *          tests= is added to the offset of places in tests that nobody asked for, because fewer of them are worth a
 *          change (0 without that word). Numbers are decimal, and no name stands there twice
 * Without  a calibration, scale is 1 and offset 0: such probabilities only compare places of one model with each other
 * Errors   MYTH_EFORMAT: the text is not of that form, with its first wrong word; MYTH_EIO: a file that is there cannot
 *          be read
 * Threads  read-only after open: any
 * Source   Platt, Probabilistic outputs for support vector machines, 1999; recipe-judge/calibrate.py makes the text */
#ifndef MYTH_CANDIDATES_CALIBRATION_H
#define MYTH_CANDIDATES_CALIBRATION_H

#include "frontend/cli/cli.h"

enum { MYTH_CALIBRATION_ROWS = 512, MYTH_CALIBRATION_NAME = 80, MYTH_CALIBRATION_LANGUAGES = 255 };

typedef struct {
    struct {
        char name[MYTH_CALIBRATION_NAME]; /* RULE/ROW, RULE, or "*" = every other */
        float scale, offset;
    } row[MYTH_CALIBRATION_ROWS];
    uint32_t n;       /* 0 = not calibrated */
    float confidence; /* 0 = none named */
    float tests;      /* logarithm of the factor of the odds */
} myth_calibration;

/* Writes the path of the file beside a model, whether it is there or not. */
void myth_calibration_file(char *dst, size_t cap, const char *model);
myth_status myth_calibration_open(myth_calibration *out, const myth_model *model, myth_error *err);
/* For tests and tools: reads the form above. */
myth_status myth_calibration_read(myth_calibration *out, myth_str text, myth_error *err);
/* The tokens of the longest prompt of the model's training (mythos.trained_tokens), 0 = it does not say. MYTH_EFORMAT
 * where what it says of its training cannot be: more tokens than its context has, or a list of languages that is too
 * long or has a zero byte. */
myth_status myth_calibration_trained(uint32_t *n_tok, const myth_model *model, myth_error *err);
/* Of a place of a row of rules (candidates.h). is_test: it is in a test that nobody asked for. */
double myth_calibration_probability(const myth_calibration *c, const char *rule, const char *row, float score,
                                    bool is_test);

#endif
