/* risk.h - what a file deals with that asks for care: ten tags, each with the line that says so.
 *
 * Rules     risk.def: calls, imports, definitions, names and strings, by languages; comments say nothing
 * Evidence  the first line where the strongest kind of reason stands: a use, else a definition, else an import, else
 *           the first of two weak ones
 * Not       an analysis: whether the risk is handled is what an inspection finds out
 * Owner     a myth_risks is reused from file to file; one thread each */
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
    uint64_t off, bytes; /* of the line, without its end */
} myth_risk_found;

typedef struct myth_risks myth_risks;

myth_status myth_risks_open(myth_risks **out, myth_mem *mem, myth_error *err);
void myth_risks_close(myth_risks *r);      /* takes NULL */
const char *myth_risk_name(myth_risk tag); /* "user-input" */

/* Of the rules: another number when they say something else. */
uint64_t myth_risks_version(void);

/* A file begins; false: in its language nothing is looked for. */
bool myth_risks_begin(myth_risks *r, const char *language);
/* What a parser found in it, in any order. */
void myth_risks_import(myth_risks *r, const char *module, uint32_t line);
void myth_risks_define(myth_risks *r, const char *name, myth_symbol_kind kind, uint32_t line);
/* Its text; the end of the file. Returns how many tags, in their order. */
uint32_t myth_risks_find(myth_risks *r, myth_risk_found found[MYTH_RISK_N], const unsigned char *text, uint64_t n);

#endif
