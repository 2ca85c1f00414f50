/* rcfile.h - the user's configuration file: values for flags, which the environment and the command line override.
 *
 * Place    --config FILE, else $MYTHOS_CONFIG ("" = no file is read), else $XDG_CONFIG_HOME/mythos/config, else
 *          ~/.config/mythos/config. Only a file that was named must exist. No file is ever read from an inspected
 *          directory, because its author may not be the user
 * Form     # comment                   one setting on each line; blank lines and blanks around words are ignored
 *          threads = 4                 a long flag without dashes, for every command that has it
 *          model = "/some/model.gguf"  a pair of quotes around the value is removed
 *          [inspect-file]              the lines that follow are for this command only
 *          output = json=a.json        a flag that may be repeated has a line for each value
 * JSON     the same as an object, where the file begins with one: {"threads": 4, "cpu_moe": true, "inspect-file":
 *          {"output": ["json=a.json"]}}. No comments; a key is there once. A flag that takes ID,ID may have a list, too
 * YAML     the same as YAML, where the name of the file ends in .yaml or .yml, or its first line is a name with a colon
 *          or "---": names and values, commands with names below them, lists of values (rcfile_tokens.h)
 * Names    another spelling of a flag is one here (max-cache-tokens), and _ is - in all names
 * Errors   MYTH_EFORMAT, with path, line and name: an unknown flag (and the most similar one), an unknown command, no
 *          value, a bad value. MYTH_ENOTFOUND, MYTH_ELIMIT, MYTH_EIO: the file cannot be read. All are exit code 78
 * Owner    values point into a static buffer, valid until the process ends
 * Threads  one */
#ifndef MYTH_RCFILE_H
#define MYTH_RCFILE_H

#include "cli.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_RCFILE_BYTES = 64 << 10 };

/* Sets the options of p, which has the groups of command c, from the file, where neither the environment nor the
 * command line did. given: --config, NULL = none. Call once, after myth_args_parse. */
myth_status myth_rcfile_read(myth_parsed *p, const myth_command *c, const char *given, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
