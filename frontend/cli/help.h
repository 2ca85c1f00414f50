/* help.h - everything that is said about the commands, made from their tables: --help, the man page, completion of
 * three shells. */
#ifndef MYTH_HELP_H
#define MYTH_HELP_H

#include "cli.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const myth_option_group myth_group_global;
/* Of commands whose last argument is [DIR]: -C. Its struct is a const char *. */
extern const myth_option_group myth_group_directory;
bool myth_help_has_dir(const myth_command *c);
/* The groups of a command that are shown: its own with a title, the directory's, every command's. NULL at the end. */
enum { MYTH_HELP_GROUPS = 12 };
void myth_help_groups(const myth_option_group *dst[MYTH_HELP_GROUPS], const myth_command *c);

void myth_help_overview(FILE *f);
void myth_help_command(FILE *f, const myth_command *c);
/* roff (man macros). c NULL = mythos(1): the commands, the flags of all of them, files and exit codes; else
 * mythos-COMMAND(1): how it is used, its flags and their variables. */
void myth_help_man(FILE *f, const myth_command *c);
/* complete.c */
void myth_help_completion_bash(FILE *f);
void myth_help_completion_zsh(FILE *f);
void myth_help_completion_fish(FILE *f);

#ifdef __cplusplus
}
#endif
#endif
