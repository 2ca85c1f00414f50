/* rcfile.h - the configuration file of a user: values for flags, below the environment.
 *
 * Place    $MYTHOS_CONFIG ("" = none is read), else $XDG_CONFIG_HOME/mythos/config, else ~/.config/mythos/config; the
 *          default one may be missing. None is taken from a directory that is inspected: that is somebody else's
 * Form     # remark                    a line each; blank ones and blanks around are nothing
 *          threads = 4                 a long flag without dashes, for every command that has it
 *          model = "/some/model.gguf"  quotes go, when both are there
 *          [inspect-file]              from here on for this command alone
 *          output = json=a.json        what may be given several times has a line for each
 * Errors   MYTH_EFORMAT with path and line: no such flag (and the nearest), no such command, no value, a value that is
 *          none; MYTH_ENOTFOUND, MYTH_ELIMIT, MYTH_EIO: the file. All are exit 78
 * Owner    values point into a text that is kept until the process ends */
#ifndef MYTH_RCFILE_H
#define MYTH_RCFILE_H

#include "cli.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_RCFILE_BYTES = 64 << 10 };

/* Sets what the file says for command c; p has its groups. Once, before myth_args_parse. */
myth_status myth_rcfile_read(myth_parsed *p, const myth_command *c, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
