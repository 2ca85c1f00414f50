/* help.c - the option tables as --help and as the man page. */
#include "help.h"
#include "version.h"

#include <string.h>

enum { FLAG_COLUMN = 34 };

/* "-n, --max-new-tokens N" */
static void spell_flag(char *dst, size_t cap, const myth_option *o)
{
    snprintf(dst, cap, "%s%s--%s%s%s", o->also ? o->also : "", o->also ? ", " : "", o->name, o->value ? " " : "",
             o->value ? o->value : "");
}

static void print_option(FILE *f, const myth_option *o)
{
    char flag[160];
    spell_flag(flag, sizeof(flag), o);
    int n = fprintf(f, "  %s", flag);
    if (n >= FLAG_COLUMN) {
        fputc('\n', f);
        n = 0;
    }
    fprintf(f, "%*s%s", FLAG_COLUMN - n, "", o->help);
    if (o->def)
        fprintf(f, o->def[0] == '(' ? " %s" : " (%s)", o->def);
    fputc('\n', f);
}

static void print_group(FILE *f, const myth_option_group *g)
{
    fprintf(f, "\n%s:\n", g->title);
    for (size_t i = 0; i < g->n_opt; i++)
        print_option(f, &g->opt[i]);
}

void myth_help_overview(FILE *f)
{
    fputs("mythos inspects code with a local Gemma.\n\nusage: mythos COMMAND [flags] [arguments]\n\ncommands:\n", f);
    for (int i = 0; myth_commands[i]; i++)
        fprintf(f, "  %-14s %s\n", myth_commands[i]->name, myth_commands[i]->help);
    fputs("\nmythos COMMAND --help lists the flags of a command; every long flag --some-name may be given as "
          "MYTHOS_SOME_NAME,\n"
          "or as some-name = value in ~/.config/mythos/config.\n",
          f);
}

void myth_help_command(FILE *f, const myth_command *c)
{
    fprintf(f, "usage: mythos %s [flags]%s%s\n\n%s\n", c->name, c->args[0] ? " " : "", c->args, c->help);
    if (c->detail)
        fprintf(f, "\n%s\n", c->detail);
    for (size_t i = 0; i < c->n_group; i++)
        print_group(f, &c->group[i]);
    print_group(f, &myth_group_global);
}

/* ---- man ---- */

/* roff text: backslashes, dashes and a leading dot or quote would be commands. */
static void roff(FILE *f, const char *text)
{
    bool at_line = true;
    for (const char *s = text; *s; s++) {
        if (at_line && (*s == '.' || *s == '\''))
            fputs("\\&", f);
        if (*s == '\\')
            fputs("\\e", f);
        else if (*s == '-')
            fputs("\\-", f);
        else
            fputc(*s, f);
        at_line = *s == '\n';
    }
}

static void man_options(FILE *f, const myth_option_group *g)
{
    for (size_t i = 0; i < g->n_opt; i++) {
        char flag[160], env[80];
        spell_flag(flag, sizeof(flag), &g->opt[i]);
        myth_args_env_name(&g->opt[i], env, sizeof(env));
        fputs(".TP\n.B ", f);
        roff(f, flag);
        fputc('\n', f);
        roff(f, g->opt[i].help);
        if (g->opt[i].def) {
            fputs(g->opt[i].def[0] == '(' ? " " : " (", f);
            roff(f, g->opt[i].def);
            fputs(g->opt[i].def[0] == '(' ? "" : ")", f);
        }
        fprintf(f, ". Environment: %s.\n", env);
    }
}

static void man_command(FILE *f, const myth_command *c)
{
    fputs(".SS mythos ", f);
    roff(f, c->name);
    fputc(' ', f);
    roff(f, c->args);
    fputc('\n', f);
    roff(f, c->help);
    fputs(".\n", f);
    if (c->detail) {
        fputs(".PP\n", f);
        roff(f, c->detail);
        fputc('\n', f);
    }
    for (size_t i = 0; i < c->n_group; i++)
        man_options(f, &c->group[i]);
}

void myth_help_man(FILE *f, const myth_command *c)
{
    fprintf(
        f, ".TH MYTHOS 1 \"\" \"mythos %s\" \"User Commands\"\n.SH NAME\nmythos \\- inspects code with a local Gemma\n",
        MYTHOS_VERSION);
    fputs(".SH SYNOPSIS\n.B mythos\n.I COMMAND\n[flags] [arguments]\n", f);
    fputs(".SH DESCRIPTION\nData goes to standard output; messages and progress to standard error. A flag stands above "
          "its\n"
          "environment variable, that above the configuration file, that above the default. Sizes take units: 512M, "
          "2GiB. A single dash stands for standard input.\n",
          f);
    fputs(".SH COMMANDS\n", f);
    for (int i = 0; myth_commands[i]; i++)
        if (!c || c == myth_commands[i])
            man_command(f, myth_commands[i]);
    fputs(".SH OPTIONS OF EVERY COMMAND\n", f);
    man_options(f, &myth_group_global);
    fputs(".SH FILES\n.TP\n.I $XDG_CONFIG_HOME/mythos/config\n"
          "A line each: name = value, the name that of a long flag, for every command that has it; behind a line "
          "[COMMAND] for that one alone. # begins a\n"
          "remark. The environment and flags stand above it. MYTHOS_CONFIG names another file, empty for none.\n",
          f);
    fputs(".SH EXIT STATUS\n", f);
    size_t n;
    const myth_exit_row *row = myth_exit_table(&n);
    for (size_t i = 0; i < n; i++) {
        fprintf(f, ".TP\n.B %d\n", row[i].code);
        roff(f, row[i].meaning);
        fputs(".\n", f);
    }
}
