/* unseen.c - says what an answer does not cover although it is below the root. */
#include "unseen.h"

myth_status myth_unseen_note_unparsed(myth_reply *a, uint64_t *n, myth_index *x, myth_error *err)
{
    char line[160];
    uint64_t n_file;
    const myth_status st = myth_cli_unparsed(line, &n_file, x, err);
    if (line[0])
        myth_reply_note(a, true, "%s", line);
    if (n)
        *n = n_file;
    return st;
}
