/* stem.h - how much of a question the name of a file repeats: "how does the router match a path" names router.ts; and
 * how much of the scope of a report: "router: match a path" names it, too.
 *
 * Name      the file's name up to its first full stop, in words: body_proxy.rb and BodyProxy.java have body and proxy.
 *           A file that stands for its directory (index, mod, __init__) has the directory's name
 * Match     a word of the name is one of the query's terms, compared by stems; or it is several words of
 *           the query in a row, written as one (web socket, websocket)
 * Share     (matched words / words of the name) * sqrt(weight of the matched groups / weight of all groups), 0 to 1: a
 *           long name of which the query has one word says little, and so does a frequent word. The root, since one
 *           word names a file, however long the question is: without the root, at its best weight, NDCG@10 of questions
 *           is 0.812 instead of 0.820
 * Threads   any; nothing is kept, nothing is allocated */
#ifndef MYTH_STEM_H
#define MYTH_STEM_H

#include "query.h"

/* group_weight: of each of the query's groups (match.h). */
double myth_stem_share(const char *path, const myth_query *q, const double *group_weight);
/* How much of the scope of a report's subject the name repeats, 0 to 1: the share of the scope's words that begin a
 * word of the name, all of it for a name that has no others, else down to half. */
double myth_scope_share(const char *path, const myth_query *q);

#endif
