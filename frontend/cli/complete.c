/* complete.c - prints the option tables as completion scripts for three shells.
 *
 * bash   plain words: commands, flags, the words of a choice
 * zsh    _arguments with the help of each flag; an on/off flag is also offered as --no-NAME
 * fish   one line for each flag of each command
 * Quotes all three use single quotes, and write a quote inside them as '\'' */
#include "help.h"

#include <string.h>

/* A command with --json also takes --format text|json (args.h). */
static const myth_option format_option = {"format", NULL, MYTH_OPT_CHOICE, "text|json", 0, NULL, 0, 0, "output format"};

/* ---- bash ---- */

static void complete_options(FILE *f, const myth_option_group *g)
{
    for (size_t i = 0; i < g->n_opt; i++)
        fprintf(f, "--%s %s", g->opt[i].name, myth_args_is_json(&g->opt[i]) ? "--format " : "");
}

static void complete_choices(FILE *f, const myth_option_group *g)
{
    for (size_t i = 0; i < g->n_opt; i++) {
        const myth_option *o = &g->opt[i];
        if (o->kind != MYTH_OPT_CHOICE)
            continue;
        fprintf(f, "        --%s) words=\"", o->name);
        for (const char *s = o->value; *s; s++)
            fputc(*s == '|' ? ' ' : *s, f);
        fputs("\" ;;\n", f);
    }
}

void myth_help_completion_bash(FILE *f)
{
    fputs("# bash completion of mythos; load with: source <(mythos completion bash)\n_mythos()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\"\"\n    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words=\"",
          f);
    for (int i = 0; myth_commands[i]; i++)
        fprintf(f, "%s ", myth_commands[i]->name);
    fputs("\"\n        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n        return\n    fi\n    case "
          "${COMP_WORDS[1]}$prev in\n",
          f);
    for (int i = 0; myth_commands[i]; i++) {
        const myth_command *c = myth_commands[i];
        for (size_t g = 0; g < c->n_group; g++)
            for (size_t k = 0; k < c->group[g].n_opt; k++) {
                const myth_option *o = myth_args_is_json(&c->group[g].opt[k]) ? &format_option : &c->group[g].opt[k];
                if (o->kind != MYTH_OPT_CHOICE)
                    continue;
                fprintf(f, "    %s--%s) words=\"", c->name, o->name);
                for (const char *s = o->value; *s; s++)
                    fputc(*s == '|' ? ' ' : *s, f);
                fputs("\" ;;\n", f);
            }
    }
    fputs("    esac\n    if [ -z \"$words\" ]; then\n        case $prev in\n", f);
    complete_choices(f, &myth_group_global);
    fputs("        esac\n    fi\n    if [ -n \"$words\" ]; then\n        COMPREPLY=($(compgen -W \"$words\" -- "
          "\"$cur\"))\n        return\n    fi\n"
          "    case $cur in\n    -*)\n        case ${COMP_WORDS[1]} in\n",
          f);
    for (int i = 0; myth_commands[i]; i++) {
        fprintf(f, "        %s) words=\"", myth_commands[i]->name);
        const myth_option_group *group[MYTH_HELP_GROUPS];
        myth_help_groups(group, myth_commands[i]);
        for (size_t g = 0; group[g] != &myth_group_global; g++)
            complete_options(f, group[g]);
        fputs("\" ;;\n", f);
    }
    fputs("        esac\n        words=\"$words ", f);
    complete_options(f, &myth_group_global);
    fputs("--help\"\n        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n        ;;\n    esac\n}\ncomplete -o "
          "default -F _mythos mythos\n",
          f);
}

/* ---- zsh ---- */

/* Prints text for single quotes; characters that end a help text or a field of _arguments get a backslash. */
static void zsh_text(FILE *f, const char *text)
{
    for (const char *s = text; *s; s++) {
        if (*s == '\'')
            fputs("'\\''", f);
        else if (*s == '\n')
            fputc(' ', f);
        else
            fprintf(f, strchr("[]:\\", *s) ? "\\%c" : "%c", *s);
    }
}

/* Whether the value is a path, to be completed with file names. */
static bool is_path(const myth_option *o)
{
    static const char *const word[] = {"FILE", "PATH", "DIR", "MODEL", "FORM=PATH", "DIR|FILE"};
    for (size_t i = 0; o->value && i < sizeof(word) / sizeof(word[0]); i++)
        if (!strcmp(o->value, word[i]))
            return true;
    return false;
}

static void zsh_value(FILE *f, const myth_option *o)
{
    if (o->kind == MYTH_OPT_FLAG)
        return;
    fputc(':', f);
    if (o->kind == MYTH_OPT_CHOICE) {
        fprintf(f, "%s:(", o->name);
        for (const char *s = o->value; *s; s++)
            fputc(*s == '|' ? ' ' : *s, f);
        fputc(')', f);
        return;
    }
    zsh_text(f, o->value ? o->value : "value");
    fputs(is_path(o) ? ":_files" : ":", f);
}

static void zsh_spelling(FILE *f, const myth_option *o, const char *spelling, size_t n)
{
    bool is_long = n > 2 && spelling[1] == '-';
    fprintf(f, " '%s%.*s%s[", o->kind == MYTH_OPT_LIST ? "*" : "", (int)n, spelling,
            o->kind != MYTH_OPT_FLAG && is_long ? "=" : "");
    zsh_text(f, o->help);
    fputc(']', f);
    zsh_value(f, o);
    fputc('\'', f);
}

/* The next spelling in a list such as "-ub, --prefill-chunk", and its length; NULL at the end. */
static const char *next_spelling(const char *also, size_t *n)
{
    if (!also)
        return NULL;
    also += strspn(also, ", ");
    *n = strcspn(also, ", ");
    return *n ? also : NULL;
}

static void zsh_group(FILE *f, const myth_option_group *g)
{
    char name[96];
    size_t n = 0;
    for (size_t i = 0; i < g->n_opt; i++) {
        const myth_option *o = &g->opt[i];
        zsh_spelling(f, o, name, (size_t)snprintf(name, sizeof(name), "--%s", o->name));
        for (const char *s = o->also; (s = next_spelling(s, &n)) != NULL; s += n)
            zsh_spelling(f, o, s, n);
        if (o->kind == MYTH_OPT_FLAG)
            zsh_spelling(f, o, name, (size_t)snprintf(name, sizeof(name), "--no-%s", o->name));
        if (myth_args_is_json(o))
            zsh_spelling(f, &format_option, "--format", 8);
        fputs(" \\\n           ", f);
    }
}

void myth_help_completion_zsh(FILE *f)
{
    fputs("#compdef mythos\n# zsh completion of mythos; put it as _mythos into a folder of $fpath, or load it with: "
          "source <(mythos completion zsh)\n"
          "_mythos()\n{\n    local -a commands\n    local command=${words[2]}\n    if (( CURRENT == 2 )); then\n       "
          " commands=(\n",
          f);
    for (int i = 0; myth_commands[i]; i++) {
        fprintf(f, "            '%s:", myth_commands[i]->name);
        zsh_text(f, myth_commands[i]->help);
        fputs("'\n", f);
    }
    fputs("        )\n        _describe -t commands command commands\n        return\n    fi\n    shift words\n    (( "
          "CURRENT-- ))\n    case $command in\n",
          f);
    for (int i = 0; myth_commands[i]; i++) {
        const myth_command *c = myth_commands[i];
        fprintf(f, "    %s)\n        _arguments -S :", c->name);
        const myth_option_group *group[MYTH_HELP_GROUPS];
        myth_help_groups(group, c);
        for (size_t g = 0; group[g]; g++)
            zsh_group(f, group[g]);
        fputs(" '--help[show the help]' '*:argument:_files'\n        ;;\n", f);
    }
    fputs("    esac\n}\nif [ \"${funcstack[1]}\" = _mythos ]; then\n    _mythos \"$@\"\nelse\n    compdef _mythos "
          "mythos\nfi\n",
          f);
}

/* ---- fish ---- */

static void fish_text(FILE *f, const char *text)
{
    for (const char *s = text; *s; s++) {
        if (*s == '\'')
            fputs("'\\''", f);
        else if (*s == '\\')
            fputs("\\\\", f);
        else
            fputc(*s == '\n' ? ' ' : *s, f);
    }
}

static void fish_group(FILE *f, const char *command, const myth_option_group *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_opt; i++) {
        const myth_option *o = &g->opt[i];
        fputs("complete -c mythos ", f);
        if (command)
            fprintf(f, "-n '__fish_seen_subcommand_from %s' ", command);
        fprintf(f, "-l %s", o->name);
        for (const char *s = o->also; (s = next_spelling(s, &n)) != NULL; s += n)
            fprintf(f, " %s %.*s",
                    s[1] == '-' ? "-l"
                    : n == 2    ? "-s"
                                : "-o",
                    (int)(n - (s[1] == '-' ? 2 : 1)), s + (s[1] == '-' ? 2 : 1));
        if (o->kind == MYTH_OPT_CHOICE) {
            fputs(" -x -a '", f);
            for (const char *s = o->value; *s; s++)
                fputc(*s == '|' ? ' ' : *s, f);
            fputc('\'', f);
        } else if (o->kind != MYTH_OPT_FLAG) {
            fputs(is_path(o) ? " -r -F" : " -x", f);
        }
        fputs(" -d '", f);
        fish_text(f, o->help);
        fputs("'\n", f);
        if (myth_args_is_json(o))
            fprintf(f, "complete -c mythos -n '__fish_seen_subcommand_from %s' -l format -x -a 'text json' -d '%s'\n",
                    command, format_option.help);
    }
}

void myth_help_completion_fish(FILE *f)
{
    fputs("# fish completion of mythos; load with: mythos completion fish | source\n", f);
    for (int i = 0; myth_commands[i]; i++) {
        fprintf(f, "complete -c mythos -n __fish_use_subcommand -f -a %s -d '", myth_commands[i]->name);
        fish_text(f, myth_commands[i]->help);
        fputs("'\n", f);
    }
    for (int i = 0; myth_commands[i]; i++) {
        const myth_option_group *group[MYTH_HELP_GROUPS];
        myth_help_groups(group, myth_commands[i]);
        for (size_t g = 0; group[g] != &myth_group_global; g++)
            fish_group(f, myth_commands[i]->name, group[g]);
    }
    fish_group(f, NULL, &myth_group_global);
    fputs("complete -c mythos -l help -s h -d 'show the help'\n", f);
}
