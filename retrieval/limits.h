/* limits.h - every budget of the retriever: its unit, and why it has this value. Sizes are in bytes. */
#ifndef MYTH_RETRIEVAL_LIMITS_H
#define MYTH_RETRIEVAL_LIMITS_H

enum {
    /* Size that a chunk aims at, without blanks: 400 to 600 tokens. */
    MYTH_CHUNK_BYTES = 2000,

    /* A file past one of the next five is cut by its text and not by its syntax. */
    MYTH_PARSE_FILE_BYTES = 8 << 20,  /* no source file of this size is within MYTH_PARSE_STEPS, which is found out *
                                       * only after half a second                                                   */
    MYTH_PARSE_LINE_BYTES = 20 << 10, /* longest line: parsers take seconds for data in one line                    */
    MYTH_PARSE_DEPTH = 2000,          /* nesting, estimated by brackets: every walk of the tree recurses as deep    */
    MYTH_PARSE_STEPS = 10000,         /* steps of the parse (one is 100 of tree-sitter's) and its queries. The      *
                                       * largest system header takes 6,888                                          */
    MYTH_PARSE_MS = 3000,             /* CPU time in ms, seven times what that many steps take: the worker hangs    *
                                       * and is killed                                                              */
    MYTH_PARSE_MEM_BYTES = 512 << 20, /* address space of a parser's process                                        */

    MYTH_FILE_BYTES = 64 << 20,       /* a larger file is listed, not indexed                                       */
    MYTH_DIR_NAMES = 1 << 16,         /* a directory with more names holds data: it is listed and not entered,      *
                                       * unless a pattern names it                                                  */
    MYTH_WORDS_LINE_BYTES = 64 << 10, /* only these first bytes of a line go into the full-text index: what follows *
                                       * is data, and literal search still finds it                                 */
    MYTH_SNIFF_BYTES = 8 << 10,       /* the first bytes of a file that are searched for NUL, as git does           */

    MYTH_VECTORS_FLAT_BYTES = 64 << 20, /* vectors are stored as floats up to this size, then as one byte a value   */
    MYTH_VECTORS_SQ8_ROWS = 1000000,    /* more vectors are put in lists: comparing all takes half a second         */
    MYTH_EMBED_TEXT_BYTES = 32 << 10,   /* longest text given to an embedder: more than any model reads             */
};

#endif
