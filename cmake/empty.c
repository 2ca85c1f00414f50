/* empty.c - keeps a library legal while a folder has no sources. */
typedef int myth_empty;
