/* help.c - prints the option tables as --help and as man pages. */
#include "help.h"
#include "environment.h"
#include "version.h"

#include <ctype.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const myth_command *myth_command_named(const char *name)
{
    for (int i = 0; myth_commands[i]; i++)
        if (strcmp(myth_commands[i]->name, name) == 0)
            return myth_commands[i];
    return NULL;
}

enum { FLAG_COLUMN = 34, WIDTH = 100, WIDTH_MIN = 60 };

static const myth_option directory_option[] = {
    {"directory", "-C", MYTH_OPT_TEXT, "DIR", 0, NULL, 0, 0, "the directory to work on; the same as the argument DIR"},
};
const myth_option_group myth_group_directory = {"directory", directory_option, 1, 0};

bool myth_help_has_dir(const myth_command *c)
{
    const size_t n = strlen(c->args);
    return (n >= 5 && strcmp(c->args + n - 5, "[DIR]") == 0) || strcmp(c->args, "QUERY [PATH...]") == 0;
}

void myth_help_groups(const myth_option_group *dst[MYTH_HELP_GROUPS], const myth_command *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_group && n + 3 < MYTH_HELP_GROUPS; i++)
        if (c->group[i].title[0])
            dst[n++] = &c->group[i];
    if (myth_help_has_dir(c))
        dst[n++] = &myth_group_directory;
    dst[n++] = &myth_group_global;
    dst[n] = NULL;
}

/* The columns of the terminal, if f is one, else WIDTH: text for a file or a pager must not depend on a window. */
static int width_of(FILE *f)
{
    struct winsize size;
    if (!isatty(fileno(f)) || ioctl(fileno(f), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return WIDTH;
    return size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
}

/* Prints text word by word from column `at`; further lines begin at column `indent`. Newlines of the text are kept. */
static void print_wrapped(FILE *f, const char *text, int at, int indent)
{
    const int width = width_of(f);
    while (*text) {
        const int n = (int)strcspn(text, " \n");
        if (at > indent && at + 1 + n > width) {
            fprintf(f, "\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            fputc(' ', f);
            at++;
        }
        fprintf(f, "%.*s", n, text);
        at += n;
        text += n;
        if (*text == '\n') {
            fprintf(f, "\n%*s", indent, "");
            at = indent;
        }
        text += strspn(text, " \n");
    }
    fputc('\n', f);
}

/* Writes the flag's spellings and its value's name: "-n, --max-new-tokens N". */
static void spell_flag(char *dst, size_t cap, const myth_option *o)
{
    snprintf(dst, cap, "%s%s--%s%s%s%s", o->also ? o->also : "", o->also ? ", " : "", o->name, o->value ? " " : "",
             o->value ? o->value : "", myth_args_is_json(o) ? ", --format json" : "");
}

/* Whether the command uses the short spelling of this general flag for a flag of its own, which then has priority. */
static bool is_taken(const myth_command *c, const myth_option *o)
{
    for (size_t g = 0; o->also && g < c->n_group; g++)
        for (size_t i = 0; i < c->group[g].n_opt; i++)
            if (&c->group[g].opt[i] != o && c->group[g].opt[i].also && strcmp(c->group[g].opt[i].also, o->also) == 0)
                return true;
    return false;
}

static void print_option(FILE *f, const myth_command *c, const myth_option *o)
{
    char flag[160], text[600];
    myth_option shown = *o;
    if (is_taken(c, o))
        shown.also = NULL;
    spell_flag(flag, sizeof(flag), &shown);
    int n = fprintf(f, "  %s", flag);
    if (n >= FLAG_COLUMN) {
        fputc('\n', f);
        n = 0;
    }
    fprintf(f, "%*s", FLAG_COLUMN - n, "");
    const char *open = !o->def ? "" : o->def[0] == '(' ? " " : " (", *close = !o->def || o->def[0] == '(' ? "" : ")";
    snprintf(text, sizeof(text), "%s%s%s%s", o->help, open, o->def ? o->def : "", close);
    print_wrapped(f, text, FLAG_COLUMN, FLAG_COLUMN);
}

static void print_group(FILE *f, const myth_command *c, const myth_option_group *g)
{
    fprintf(f, "\n%s:\n", g->title);
    for (size_t i = 0; i < g->n_opt; i++)
        print_option(f, c, &g->opt[i]);
}

void myth_help_overview(FILE *f)
{
    fputs("mythos inspects code with a local Gemma.\n\nusage: mythos COMMAND [flags] [arguments]\n\ncommands:\n", f);
    for (int i = 0; myth_commands[i]; i++) {
        fprintf(f, "  %-14s ", myth_commands[i]->name);
        print_wrapped(f, myth_commands[i]->help, 17, 17);
    }
    fputc('\n', f);
    print_wrapped(f,
                  "mythos COMMAND --help lists the flags of a command, mythos help " MYTH_HELP_EXITS
                  " the exit codes. Every long flag --some-name may also be given as "
                  "MYTHOS_SOME_NAME, or as some-name = value in ~/.config/mythos/config.",
                  0, 0);
}

void myth_help_command(FILE *f, const myth_command *c)
{
    const myth_option_group *group[MYTH_HELP_GROUPS];
    fprintf(f, "usage: mythos %s [flags]%s%s\n\n", c->name, c->args[0] ? " " : "", c->args);
    print_wrapped(f, c->help, 0, 0);
    if (c->detail) {
        fputc('\n', f);
        print_wrapped(f, c->detail, 0, 0);
    }
    myth_help_groups(group, c);
    for (size_t i = 0; group[i]; i++)
        print_group(f, c, group[i]);
}

void myth_help_exits(FILE *f)
{
    size_t n;
    const myth_exit_row *row = myth_exit_table(&n);
    fputs("exit codes of every command:\n", f);
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "  %3d  ", row[i].code);
        print_wrapped(f, row[i].meaning, 7, 7);
    }
    fputc('\n', f);
    print_wrapped(f, myth_exit_order, 0, 0);
}

/* ---- man ---- */

/* Prints text escaped for roff, where backslashes, dashes and a leading dot or quote are commands. */
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

static void man_options(FILE *f, const myth_option_group *g, const char *command)
{
    for (size_t i = 0; i < g->n_opt; i++) {
        char flag[160], env[80];
        spell_flag(flag, sizeof(flag), &g->opt[i]);
        myth_args_env_name(&g->opt[i], command, env, sizeof(env));
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

static void man_exits(FILE *f)
{
    fputs(".SH EXIT STATUS\n", f);
    size_t n;
    const myth_exit_row *row = myth_exit_table(&n);
    for (size_t i = 0; i < n; i++) {
        fprintf(f, ".TP\n.B %d\n", row[i].code);
        roff(f, row[i].meaning);
        fputs(".\n", f);
    }
    fputs(".P\n", f);
    roff(f, myth_exit_order);
    fputc('\n', f);
}

static void man_environment(FILE *f)
{
    fputs(".SH ENVIRONMENT\nEvery flag has a variable, which the page of its command names. Besides these:\n", f);
    size_t n;
    const myth_env_row *row = myth_env_table(&n);
    for (size_t i = 0; i < n; i++) {
        fputs(".TP\n.B ", f);
        roff(f, row[i].name);
        fputc('=', f);
        roff(f, row[i].value);
        fputc('\n', f);
        roff(f, row[i].help);
        fputs(".\n", f);
    }
}

/* mythos-COMMAND(1) */
static void man_command(FILE *f, const myth_command *c)
{
    char upper[48];
    size_t n = 0;
    for (; c->name[n] && n + 1 < sizeof(upper); n++)
        upper[n] = (char)toupper((unsigned char)c->name[n]);
    upper[n] = '\0';
    fprintf(f, ".TH MYTHOS-%s 1 \"\" \"mythos %s\" \"User Commands\"\n.SH NAME\nmythos-", upper, MYTHOS_VERSION);
    roff(f, c->name);
    fputs(" \\- ", f);
    roff(f, c->help);
    fputs("\n.SH SYNOPSIS\n.B mythos ", f);
    roff(f, c->name);
    fputs("\n[flags] ", f);
    roff(f, c->args);
    fputs("\n.SH DESCRIPTION\n", f);
    roff(f, c->detail ? c->detail : c->help);
    fputs(c->detail ? "\n" : ".\n", f);
    const myth_option_group *group[MYTH_HELP_GROUPS];
    myth_help_groups(group, c);
    fputs(".SH OPTIONS\n", f);
    for (size_t i = 0; group[i] && group[i] != &myth_group_global; i++) {
        fputs(".SS ", f);
        roff(f, group[i]->title);
        fputc('\n', f);
        man_options(f, group[i], c->name);
    }
    fputs(".SH SEE ALSO\n.BR mythos (1)\nhas the options of every command, the files and the exit codes.\n", f);
}

void myth_help_man(FILE *f, const myth_command *c)
{
    if (c) {
        man_command(f, c);
        return;
    }
    fprintf(f,
            ".TH MYTHOS 1 \"\" \"mythos %s\" \"User Commands\"\n"
            ".SH NAME\nmythos \\- inspects code with a local Gemma\n",
            MYTHOS_VERSION);
    fputs(".SH SYNOPSIS\n.B mythos\n.I COMMAND\n[flags] [arguments]\n", f);
    fputs(".SH DESCRIPTION\nData goes to standard output; messages and progress to standard error. A flag overrides "
          "its environment variable, the variable overrides the configuration file, and the file overrides the "
          "default. Sizes take units: 512M, 2GiB. A single dash is standard input. Each command has a page of its own, "
          "mythos\\-COMMAND(1).\n",
          f);
    fputs(".SH COMMANDS\n", f);
    for (int i = 0; myth_commands[i]; i++) {
        fputs(".TP\n.B ", f);
        roff(f, myth_commands[i]->name);
        fputc(' ', f);
        roff(f, myth_commands[i]->args);
        fputc('\n', f);
        roff(f, myth_commands[i]->help);
        fputs(".\n", f);
    }
    fputs(".SH OPTIONS OF EVERY COMMAND\n", f);
    man_options(f, &myth_group_global, NULL);
    fputs(".SH FILES\n.TP\n.I $XDG_CONFIG_HOME/mythos/config\n"
          "One setting on each line, name = value, where name is a long flag without its dashes. A setting holds for "
          "every command that has the flag; after a line [COMMAND], for that command only. # begins a comment. "
          "A file that begins with { is the same as a JSON object, with an object for each command; one that "
          "begins with name: value or \\-\\-\\-, or is named .yaml or .yml, is the same as YAML. "
          "Environment variables and flags override the file. \\-\\-config or MYTHOS_CONFIG name another file; if "
          "MYTHOS_CONFIG is empty, none is read.\n",
          f);
    man_environment(f);
    man_exits(f);
}
