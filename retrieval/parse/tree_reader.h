/* tree_reader.h - what else is read from the tree of a file: a function that the parsers' process calls, and that
 * writes its answer as bytes. The process is given one when it starts (chunk.h), so this room need not know what it
 * does.
 *
 * Owner    the answer's bytes are taken from the ledger that it names; the worker frees them
 * Errors   false: no memory, or `stop` said so
 * Threads  one call at a time */
#ifndef MYTH_TREE_READER_H
#define MYTH_TREE_READER_H

#include "engine/base/mem.h"

struct TSNode;
struct TSLanguage;

typedef struct {
    myth_mem *mem;
    unsigned char *bytes;
    uint32_t n, cap;
} myth_tree_answer;

/* A file and its tree. The text is the one that was parsed or differs from it in blanked words only. before: the same
 * file before a change, of which the answer is to be; NULL = it is to be of the file as it is. */
typedef struct myth_tree {
    const char *grammar;
    const struct TSLanguage *language;
    const struct TSNode *root;
    const unsigned char *text;
    uint32_t n;
    bool (*stop)(void *arg); /* asked now and then */
    void *stop_arg;
    const struct myth_tree *before;
} myth_tree;

typedef struct {
    bool (*read)(const myth_tree *tree, myth_tree_answer *out);
    void (*close)(void); /* before the process ends; its memory is checked */
} myth_tree_reader;

#endif
