/* given.h - a finding that the model did not write: rules found the place, and the model said how probable it is that
 * it is a fault (frontend/candidates/judged.h). An inspection takes such findings beside those of its answers.
 *
 * Lines     of the file, from 1; a finding is about as many of them as one block shows
 * Known     what says the same of the same call is one finding, whichever of its places is shown: its fingerprint is
 *           made of the rule and line of the first of them, so that it stays when another one is shown
 * Evidence  the first line of the place that is not blank, without the blanks around it, as verify.h has it
 * Owner     whoever makes them keeps everything until the inspection is closed
 * Threads   constant data */
#ifndef MYTH_INSPECT_GIVEN_H
#define MYTH_INSPECT_GIVEN_H

#include "findings.h"

typedef struct {
    const myth_source *src;
    uint32_t first, last;
    int rule; /* of rules.def */
    myth_severity severity;
    /* What the fingerprint is made of; known_line 0 = its own rule and line. */
    int known_rule;
    uint32_t known_line;
    const char *candidate; /* the id of the rule that found the place */
    const char *facts;     /* "name=value" with blanks between */
    myth_str evidence, why;
    double probability; /* NAN: the place was not judged */
    bool passes;        /* it is a finding: probable enough, and no other one says the same */
    bool is_refused;    /* it is none because --confidence asks for more than the judge's own confidence */
    uint32_t said_line; /* the line of the finding that says the same of the same call; 0 = none */
    bool is_brought;    /* the change that is inspected made it one, wherever its line is */
} myth_given;

#endif
