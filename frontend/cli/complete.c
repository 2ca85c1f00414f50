/* complete.c - prints the option tables as completion scripts for three shells.
 *
 * bash   plain words: commands, flags, the words of a choice, of a list with commas, of a value that begins with one
 * zsh    _arguments with the help of each flag; an on/off flag is also offered as --no-NAME
 * fish   one line for each flag of each command
 * Quotes all three use single quotes, and write a quote inside them as '\'' */
#include "help.h"

#include <string.h>

/* A command with --json also takes --format text|json (args.h). */
static const myth_option format_option = {"format", NULL, MYTH_OPT_CHOICE, "text|json", 0, NULL, 0, 0, "output format"};

/* ---- words ---- */

/* What the value of a flag may be, with "|" in between; NULL = no list of words. */
static const char *words_of(const myth_option *o, const myth_value_words *values)
{
    if (o->kind == MYTH_OPT_CHOICE)
        return o->value;
    for (; o->value && values->value; values++)
        if (strcmp(o->value, values->value) == 0)
            return values->words;
    return NULL;
}

static void put_words(FILE *f, const char *words)
{
    for (const char *s = words; *s; s++)
        fputc(*s == '|' ? ' ' : *s, f);
}

/* The words that a command's first argument is one of, as its usage spells it: "list|show [RUN]", "[list|prune] [DIR]".
 * false: it is no word. */
static bool first_words(char dst[128], const myth_command *c)
{
    const char *from = c->args + (c->args[0] == '[');
    const size_t n = strcspn(from, " ]"), plain = strspn(from, "abcdefghijklmnopqrstuvwxyz|");
    snprintf(dst, 128, "%.*s", (int)n, from);
    return n > 0 && plain == n;
}

/* ---- bash ---- */

static void complete_options(FILE *f, const myth_option_group *g)
{
    for (size_t i = 0; i < g->n_opt; i++)
        fprintf(f, "--%s %s", g->opt[i].name, myth_args_is_json(&g->opt[i]) ? "--format " : "");
}

/* command: "" for the flags of every command. */
static void complete_values(FILE *f, const char *command, const myth_option_group *g, const myth_value_words *values)
{
    for (size_t i = 0; i < g->n_opt; i++) {
        const myth_option *o = myth_args_is_json(&g->opt[i]) ? &format_option : &g->opt[i];
        const char *words = words_of(o, values);
        if (!words)
            continue;
        fprintf(f, "    %s--%s) words=\"", command, o->name);
        put_words(f, words);
        fputs("\" ;;\n", f);
    }
}

void myth_help_completion_bash(FILE *f, const myth_value_words *values)
{
    char first[128];
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
            complete_values(f, c->name, &c->group[g], values);
        if (first_words(first, c)) {
            fprintf(f, "    %s%s) [ \"$COMP_CWORD\" -eq 2 ] && words=\"", c->name, c->name);
            put_words(f, first);
            fputs("\" ;;\n", f);
        }
    }
    fputs("    esac\n    if [ -z \"$words\" ]; then\n    case $prev in\n", f);
    complete_values(f, "", &myth_group_global, values);
    /* of a list with commas the last item is completed; what a path follows gets no blank */
    fputs("    esac\n    fi\n    case $cur in -*) [ \"$COMP_CWORD\" -eq 2 ] && words=\"\" ;; esac\n"
          "    if [ -n \"$words\" ]; then\n"
          "        COMPREPLY=($(compgen -P \"${cur%\"${cur##*,}\"}\" -W \"$words\" -- \"${cur##*,}\"))\n"
          "        case $words in *=*) compopt -o nospace 2>/dev/null ;; esac\n        return\n    fi\n"
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

static void zsh_value(FILE *f, const myth_option *o, const myth_value_words *values)
{
    const char *words = words_of(o, values);
    if (o->kind == MYTH_OPT_FLAG)
        return;
    fputc(':', f);
    if (o->kind == MYTH_OPT_CHOICE) {
        fprintf(f, "%s:(", o->name);
        put_words(f, words);
        fputc(')', f);
        return;
    }
    zsh_text(f, o->value ? o->value : "value");
    if (!words) {
        fputs(is_path(o) ? ":_files" : ":", f);
        return;
    }
    fputs(is_path(o) ? ":{ if compset -P 1 \"*=\"; then _files; else compadd -S \"\" - " : ":_sequence compadd - ", f);
    put_words(f, words);
    fputs(is_path(o) ? "; fi }" : "", f);
}

static void zsh_spelling(FILE *f, const myth_option *o, const char *spelling, size_t n, const myth_value_words *values)
{
    bool is_long = n > 2 && spelling[1] == '-';
    fprintf(f, " '%s%.*s%s[", o->kind == MYTH_OPT_LIST ? "*" : "", (int)n, spelling,
            o->kind != MYTH_OPT_FLAG && is_long ? "=" : "");
    zsh_text(f, o->help);
    fputc(']', f);
    zsh_value(f, o, values);
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

static void zsh_group(FILE *f, const myth_option_group *g, const myth_value_words *values)
{
    char name[96];
    size_t n = 0;
    for (size_t i = 0; i < g->n_opt; i++) {
        const myth_option *o = &g->opt[i];
        zsh_spelling(f, o, name, (size_t)snprintf(name, sizeof(name), "--%s", o->name), values);
        for (const char *s = o->also; (s = next_spelling(s, &n)) != NULL; s += n)
            zsh_spelling(f, o, s, n, values);
        if (o->kind == MYTH_OPT_FLAG)
            zsh_spelling(f, o, name, (size_t)snprintf(name, sizeof(name), "--no-%s", o->name), values);
        if (myth_args_is_json(o))
            zsh_spelling(f, &format_option, "--format", 8, values);
        fputs(" \\\n           ", f);
    }
}

void myth_help_completion_zsh(FILE *f, const myth_value_words *values)
{
    char first[128];
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
            zsh_group(f, group[g], values);
        fputs(" '--help[show the help]'", f);
        if (first_words(first, c)) {
            fputs(" '1:argument:(", f);
            put_words(f, first);
            fputs(")'", f);
        }
        fputs(" '*:argument:_files'\n        ;;\n", f);
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

static void fish_group(FILE *f, const char *command, const myth_option_group *g, const myth_value_words *values)
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
        const char *words = words_of(o, values);
        if (o->kind != MYTH_OPT_FLAG)
            fputs(is_path(o) ? " -r -F" : " -x", f);
        if (words) {
            const bool has_commas = o->kind != MYTH_OPT_CHOICE && !is_path(o);
            fputs(has_commas ? " -a '(__fish_append , " : " -a '", f);
            put_words(f, words);
            fputs(has_commas ? ")'" : "'", f);
        }
        fputs(" -d '", f);
        fish_text(f, o->help);
        fputs("'\n", f);
        if (myth_args_is_json(o))
            fprintf(f, "complete -c mythos -n '__fish_seen_subcommand_from %s' -l format -x -a 'text json' -d '%s'\n",
                    command, format_option.help);
    }
}

void myth_help_completion_fish(FILE *f, const myth_value_words *values)
{
    char first[128];
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
            fish_group(f, myth_commands[i]->name, group[g], values);
        if (!first_words(first, myth_commands[i]))
            continue;
        fprintf(f, "complete -c mythos -n '__fish_seen_subcommand_from %s; and not __fish_seen_subcommand_from ",
                myth_commands[i]->name);
        put_words(f, first);
        fputs("' -a '", f);
        put_words(f, first);
        fputs("'\n", f);
    }
    fish_group(f, NULL, &myth_group_global, values);
    fputs("complete -c mythos -l help -s h -d 'show the help'\n", f);
}
