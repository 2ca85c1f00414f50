/* rcfile_tokens.h - a configuration file in JSON or YAML as the same tokens: keys, values, objects and lists.
 *
 * YAML     read by libyaml. A mapping is an object, a sequence a list, a scalar a text whatever its style. Plain null,
 *          ~ and nothing are no value, plain True and TRUE are true. One document, or none. Refused: anchors, aliases,
 *          tags, a key that is a list or an object
 * Errors   MYTH_EFORMAT "path:line: what"; MYTH_ENOMEM, MYTH_ELIMIT of YAML only
 * Owner    texts lie in a static buffer, valid until the process ends
 * Threads  one reader at a time, which is closed after failures too */
#ifndef MYTH_RCFILE_TOKENS_H
#define MYTH_RCFILE_TOKENS_H

#include "engine/base/json.h"

#include <yaml.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    MYTH_RCFILE_KEY,
    MYTH_RCFILE_VALUE,
    MYTH_RCFILE_NOTHING, /* null */
    MYTH_RCFILE_OBJECT,
    MYTH_RCFILE_OBJECT_END,
    MYTH_RCFILE_LIST,
    MYTH_RCFILE_LIST_END,
    MYTH_RCFILE_END
} myth_rcfile_kind;

typedef struct {
    myth_rcfile_kind kind;
    uint32_t line; /* from 1 */
    char *text;    /* of a KEY or VALUE, the reader's, to be changed in place; NULL: it has a zero byte */
} myth_rcfile_token;

typedef struct {
    const char *path, *text;
    bool is_yaml;
    size_t n_pool;
    myth_json json;
    yaml_parser_t yaml;
    bool is_key;                 /* YAML: a scalar would be a key */
    uint64_t is_list;            /* YAML: a bit for each object or list that is open */
    uint32_t n_open, n_document; /* YAML */
} myth_rcfile_tokens;

/* text and path are lent until close; size is at most MYTH_RCFILE_BYTES. */
myth_status myth_rcfile_tokens_open(myth_rcfile_tokens *t, const char *text, size_t size, const char *path,
                                    bool is_yaml, myth_error *err);
myth_status myth_rcfile_tokens_next(myth_rcfile_tokens *t, myth_rcfile_token *out, myth_error *err);
void myth_rcfile_tokens_close(myth_rcfile_tokens *t);

#ifdef __cplusplus
}
#endif
#endif
