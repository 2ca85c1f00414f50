/* hints.h - the next step after a mistake: what a missing path was probably meant to be, whether an output can be
 * made before the work for it begins and is none of the inputs, and whose flag a flag is.
 *
 * Texts    a hint is the end of a message and begins with "; "
 * Memory   nothing is allocated
 * Threads  one */
#ifndef MYTH_HINTS_H
#define MYTH_HINTS_H

#include "cli.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to say about a path that does not exist: the similar name in its folder, else the folder that lacks it. */
void myth_hint_missing(char *dst, size_t cap, const char *path);
/* MYTH_ENOTFOUND or MYTH_EARG unless dir is a directory; the message names it and the next step. */
myth_status myth_hint_check_dir(const char *dir, myth_error *err);
/* Whether a file can be made at path, asked before the work whose result it is to hold. NULL is well. flag: "-o", for
 * the message. MYTH_ECREATE: its folder does not exist, it is a folder, or the system does not let it be made: that is
 * tried, with a file of another name that is removed again. */
myth_status myth_hint_check_output(const char *flag, const char *path, myth_error *err);
/* The same, for an output that needs a regular file, so that standard output or a device will not do. */
myth_status myth_hint_check_file(const char *flag, const char *path, myth_error *err);
/* Whether both paths name one file, by device and inode, of which the one writer would lose what the other wrote; of
 * files that are not there, by folder and name. A device may be named twice. */
bool myth_hint_is_same_file(const char *a, const char *b);
/* Whether no output of the command (options of MYTH_OPT_OUT, FORM=PATH) is a file that its arguments, its flags or its
 * standard input read, or that of another output: asked for every command before it opens any. MYTH_EARG: the message
 * names both. */
myth_status myth_hint_check_apart(const myth_cli *cli, myth_error *err);
/* The same for one more file that the command reads and its flags do not name: of a model, of a list. path NULL, or of
 * no file, is well. */
myth_status myth_hint_check_input(const myth_cli *cli, const char *path, myth_error *err);
/* The first command that has the flag, "--staged" or "-k"; NULL = none. */
const char *myth_hint_command_of(const char *word, size_t len);
/* The command that the word is probably a misspelling of, or whose name ends with it: "diff"; NULL = none. */
const char *myth_hint_command_like(const char *word);

#ifdef __cplusplus
}
#endif
#endif
