/* help.h - everything that is said about the commands, made from their tables: --help, the man page, completion of
 * three shells. */
#ifndef MYTH_HELP_H
#define MYTH_HELP_H

#include "cli.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const myth_option_group myth_group_global;

void myth_help_overview(FILE *f);
void myth_help_command(FILE *f, const myth_command *c);
/* roff (man macros): every command, flag, environment variable and exit code; c NULL = the whole page. */
void myth_help_man(FILE *f, const myth_command *c);
/* complete.c */
void myth_help_completion_bash(FILE *f);
void myth_help_completion_zsh(FILE *f);
void myth_help_completion_fish(FILE *f);

#ifdef __cplusplus
}
#endif
#endif
