/* json_schema.h - a JSON Schema turned into a grammar (gbnf.h) whose texts are values of the schema.
 *
 * Order     properties come in the order of the schema; those that are not required may be left out
 * Spaces    as llama.cpp's converter writes them: nothing, a space, or one or two line breaks with up to 20 blanks,
 *           where JSON allows space
 * Read      type (one or several), enum, const, properties, required, additionalProperties, items, prefixItems,
 *           minItems, maxItems, uniqueItems of items with at most 8 values, minLength, maxLength, pattern, format
 *           (date, time, date-time, uuid), minimum, maximum and the exclusive ones, anyOf, oneOf, allOf,
 *           not, if with then and else, $ref to a place of the schema, true, {}
 * Pattern   json_schema_regex.h says which regular expressions; without ^ or $ any text may stand at that end. Its
 *           characters stand as JSON.stringify writes them. Beside minLength or maxLength it has at most 128 places
 *           for a character, and lengths up to 1,024, unless one repeat makes all of its lengths
 * Not       of type, enum, const, required, properties, bounds, lengths and counts, and of anyOf, allOf and not with
 *           these; "if" likewise. Of values it leaves out strings, integers, true, false and null
 * Exact     where nothing below is narrower: a grammar takes compact JSON of every value that such keywords allow
 * Narrower  than the schema, never wider: beside properties there are no others, whatever additionalProperties says; a
 *           tuple (prefixItems) ends where it ends unless items are given; an integer has at most 16 digits, an
 *           exponent 2; a number between bounds has no exponent, and 15 digits where a bound is near; a schema of no
 *           type but with keywords of one is of that type. oneOf alone can be wider: where "not" of its schemas is
 *           not read it is taken as anyOf, all through the schema, so a value that two of them allow is, too
 * Refused   every other keyword that restricts (contains, patternProperties, multipleOf), and those above beside what
 *           they are not read with, by name and place. Annotations (title, description, default, examples, $id,
 *           $comment) restrict nothing
 * Limits    MYTH_JSON_SCHEMA_BYTES of text; half as many parts as a grammar has rules; 128 choices that allOf, anyOf,
 *           not and if make of one schema; 512 characters of strings and 256 numbers in a not
 * Errors    MYTH_EFORMAT "NAME:LINE:COLUMN: what" of JSON, "NAME: #/a/place: what" of a schema; MYTH_EUNSUPPORTED,
 *           MYTH_ELIMIT, MYTH_ENOMEM
 * Threads   any
 * Source    JSON Schema 2020-12; llama.cpp, common/json-schema-to-grammar.cpp */
#ifndef MYTH_JSON_SCHEMA_H
#define MYTH_JSON_SCHEMA_H

#include "engine/base/mem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_JSON_SCHEMA_BYTES = 1 << 18 };

/* The calls that an answer may have, and the ids of the marks around them and around strings. */
typedef struct {
    int32_t call, call_end, quote;
    bool must;        /* one call or more and nothing else; else any text, with calls in it */
    const char *only; /* one call, of this tool; NULL = of any */
} myth_calls_form;

/* Writes the grammar's text to *out [*n], class STAGING, which the caller frees; name stands in messages. */
myth_status myth_json_schema_to_gbnf(char **out, size_t *n, myth_mem *mem, const char *schema, size_t len,
                                     const char *name, myth_error *err);

/* The same of an answer that calls tools: the JSON list of their declarations, len 0 = none, in which case no call is
 * allowed. Arguments are of a tool's "parameters", in the form that calls.h reads: keys in the order of the schema, no
 * blanks; a value of any type is no list and no object. MYTH_EARG: there is no tool of that name, or none at all. */
myth_status myth_json_schema_calls_to_gbnf(char **out, size_t *n, myth_mem *mem, const char *tools, size_t len,
                                           const myth_calls_form *form, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
