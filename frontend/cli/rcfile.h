/* rcfile.h - the user's configuration file: values for flags, which the environment and the command line override.
 *
 * Place    $MYTHOS_CONFIG ("" = no file is read), else $XDG_CONFIG_HOME/mythos/config, else ~/.config/mythos/config.
 *          Only the file that MYTHOS_CONFIG names must exist. No file is ever read from an inspected directory, because
 *          its author may not be the user
 * Form     # comment                   one setting on each line; blank lines and blanks around words are ignored
 *          threads = 4                 a long flag without dashes, for every command that has it
 *          model = "/some/model.gguf"  a pair of quotes around the value is removed
 *          [inspect-file]              the lines that follow are for this command only
 *          output = json=a.json        a flag that may be repeated has a line for each value
 * Errors   MYTH_EFORMAT, with path and line: an unknown flag (and the most similar one), an unknown command, no value,
 *          a bad value. MYTH_ENOTFOUND, MYTH_ELIMIT, MYTH_EIO: the file cannot be read. All are exit code 78
 * Owner    values point into a static buffer, valid until the process ends
 * Threads  one */
#ifndef MYTH_RCFILE_H
#define MYTH_RCFILE_H

#include "cli.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_RCFILE_BYTES = 64 << 10 };

/* Sets the options of p, which has the groups of command c, from the file. Call once, before myth_args_parse. */
myth_status myth_rcfile_read(myth_parsed *p, const myth_command *c, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
