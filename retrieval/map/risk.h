/* risk.h - finds what a file does that needs care: ten tags, each with the line that shows it.
 *
 * Rules     risk.def: calls, imports, definitions, names and strings, by language; comments do not count
 * Evidence  the first line with the strongest kind of reason: a use, else a definition, else an import, else the
 *           first of two weak reasons
 * Limits    not an analysis: whether a risk is handled well is for an inspection to find out
 * Units     offsets in bytes; lines from 1
 * Owner     a myth_risks can be used for any number of files, one after another
 * Threads   one per myth_risks
 * Errors    MYTH_ENOMEM from open */
#ifndef MYTH_RISK_H
#define MYTH_RISK_H

#include "engine/base/mem.h"
#include "retrieval/parse/structure.h"

typedef enum {
    MYTH_RISK_AUTH,
    MYTH_RISK_CRYPTO,
    MYTH_RISK_SQL,
    MYTH_RISK_FILESYSTEM,
    MYTH_RISK_NETWORK,
    MYTH_RISK_SUBPROCESS,
    MYTH_RISK_DESERIALIZATION,
    MYTH_RISK_USER_INPUT,
    MYTH_RISK_SECRETS,
    MYTH_RISK_PERMISSIONS,
    MYTH_RISK_N
} myth_risk;

typedef struct {
    myth_risk tag;
    uint32_t line;
    uint64_t off, bytes; /* place of the line, without its end */
} myth_risk_found;

typedef struct myth_risks myth_risks;

myth_status myth_risks_open(myth_risks **out, myth_mem *mem, myth_error *err);
void myth_risks_close(myth_risks *r);      /* takes NULL */
const char *myth_risk_name(myth_risk tag); /* "user-input" */

/* The version of the rules: a number that changes when they do. */
uint64_t myth_risks_version(void);

/* Begins a file. False: there are no rules for its language. */
bool myth_risks_begin(myth_risks *r, const char *language);
/* Adds what a parser found in the file, in any order. */
void myth_risks_import(myth_risks *r, const char *module, uint32_t line);
void myth_risks_define(myth_risks *r, const char *name, myth_symbol_kind kind, uint32_t line);
/* Reads the file's text and ends the file. Returns the number of tags found, in the order of myth_risk. */
uint32_t myth_risks_find(myth_risks *r, myth_risk_found found[MYTH_RISK_N], const unsigned char *text, uint64_t n);

#endif
