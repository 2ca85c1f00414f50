/* calibration.h - turns a judge's score into a probability. A model's logits say which place is more suspicious than
 * another; how often a place of some score is a fault has to be measured, for each model and rule, on places whose
 * answer is known.
 *
 *   myth_calibration_open         what stands in the model's file or beside it
 *   myth_calibration_probability  1 / (1 + exp(-(scale * score + offset)))
 *
 * Place    the key mythos.judge of the model's metadata; else a file beside the model, "MODEL.judge" of a file and
 *          "mythos.judge" in a directory
 * Form     words: "confidence=0.62 *=1.3:-2.4 missing-null-check=1.1:-1.9": for each rule scale and offset, "*" for the
 *          others, and the probability that places have to have to be findings where the caller names none
 * Without  scale 1 and offset 0: probabilities compare places of one model with each other and say no more
 * Errors   MYTH_EFORMAT: the text is not of that form, with its first wrong word; MYTH_EIO: a file that is there cannot
 *          be read
 * Threads  read-only after open: any
 * Source   Platt, Probabilistic outputs for support vector machines, 1999; recipe-judge/calibrate.py makes the text */
#ifndef MYTH_CANDIDATES_CALIBRATION_H
#define MYTH_CANDIDATES_CALIBRATION_H

#include "frontend/cli/cli.h"

enum { MYTH_CALIBRATION_RULES = 64, MYTH_CALIBRATION_NAME = 32 };

typedef struct {
    struct {
        char rule[MYTH_CALIBRATION_NAME]; /* "*" = every other */
        float scale, offset;
    } row[MYTH_CALIBRATION_RULES];
    uint32_t n;       /* 0 = not calibrated */
    float confidence; /* 0 = none named */
} myth_calibration;

/* Writes the path of the file beside a model, whether it is there or not. */
void myth_calibration_file(char *dst, size_t cap, const char *model);
myth_status myth_calibration_open(myth_calibration *out, const myth_model *model, myth_error *err);
/* For tests and tools: reads the form above. */
myth_status myth_calibration_read(myth_calibration *out, myth_str text, myth_error *err);
double myth_calibration_probability(const myth_calibration *c, const char *rule, float score);

#endif
