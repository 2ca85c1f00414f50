/* help.h - prints what the option tables know: --help, man pages, and completion for three shells. */
#ifndef MYTH_HELP_H
#define MYTH_HELP_H

#include "cli.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const myth_option_group myth_group_global;
/* The flag -C, for commands whose last argument is [DIR], and for search. The group's struct is one const char *. */
extern const myth_option_group myth_group_directory;
bool myth_help_has_dir(const myth_command *c);
/* The groups that help shows for a command: its own groups with a title, -C, the flags of every command. dst ends with
 * NULL. */
enum { MYTH_HELP_GROUPS = 12 };
void myth_help_groups(const myth_option_group *dst[MYTH_HELP_GROUPS], const myth_command *c);

void myth_help_overview(FILE *f);
void myth_help_command(FILE *f, const myth_command *c);
/* Prints a man page in roff. c NULL: mythos(1), with all commands, the flags of every command, files and exit codes.
 * Else mythos-COMMAND(1), with its usage, its flags and their environment variables. */
void myth_help_man(FILE *f, const myth_command *c);
/* The exit codes, as a topic of help. */
#define MYTH_HELP_EXITS "exit-codes"
void myth_help_exits(FILE *f);
/* complete.c. values: what may stand for a value of that name, with "|" in between, where a choice does not say it:
 * "ID,ID" a list of them, "FORM=PATH" what a path follows. The last row's value is NULL. */
typedef struct {
    const char *value, *words;
} myth_value_words;
void myth_help_completion_bash(FILE *f, const myth_value_words *values);
void myth_help_completion_zsh(FILE *f, const myth_value_words *values);
void myth_help_completion_fish(FILE *f, const myth_value_words *values);

#ifdef __cplusplus
}
#endif
#endif
