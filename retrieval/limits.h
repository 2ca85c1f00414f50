/* limits.h - every budget of the retriever, with its unit and its reason. */
#ifndef MYTH_RETRIEVAL_LIMITS_H
#define MYTH_RETRIEVAL_LIMITS_H

enum {
    MYTH_CHUNK_BYTES = 2000, /* non-blank bytes of a chunk aimed at: 400 to 600 tokens                               */
    MYTH_PARSE_FILE_BYTES =
        1 << 20, /* a larger file is cut by its text: parsers take seconds for data in one line          */
    MYTH_PARSE_LINE_BYTES =
        20 << 10, /* and one with a longer line                                                           */
    MYTH_PARSE_DEPTH =
        2000, /* and one that nests deeper, estimated by brackets: every walk of its tree is as deep       */
    MYTH_PARSE_STEPS =
        10000,            /* of a parse (100 of the parser's own) and its queries; past it the file is cut by its text.
                * Of the system's headers the largest takes 6,888 */
    MYTH_PARSE_MS = 3000, /* of processor time: seven times what a file of that many steps takes. Past it the worker
                           * hangs and is ended */
    MYTH_PARSE_MEM_BYTES =
        512 << 20, /* address space of a worker                                                            */
    MYTH_FILE_BYTES =
        64 << 20,             /* a larger file is listed, not indexed                                                 */
    MYTH_DIR_NAMES = 1 << 16, /* a directory with more is data: listed, not entered, unless a pattern names it        */
    MYTH_WORDS_LINE_BYTES =
        64 << 10, /* of a line whose words are indexed: past it stands data, and literal search finds it  */
    MYTH_VECTORS_FLAT_BYTES =
        64 << 20, /* of vectors as floats; more are stored as a byte a value                             */
    MYTH_VECTORS_SQ8_ROWS =
        1000000, /* more are put in lists: looking through all takes half a second                       */
    MYTH_EMBED_TEXT_BYTES =
        32 << 10, /* of a text given to an embedder: more than models read                               */
    MYTH_SNIFF_BYTES =
        8 << 10, /* of a file looked at for NUL bytes, as git does                                       */
};

#endif
