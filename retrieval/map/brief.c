/* brief.c - see brief.h. It knows brackets and where a parameter's name ends, and no language's grammar. */
#include "brief.h"

#include "engine/base/chars.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The bracket that closes the one at s, NULL when there is none. "->" and "=>" close nothing. */
static char *closing(char *s)
{
    int depth = 0;
    for (char *p = s; *p; p++) {
        if (strchr("([{<", *p))
            depth++;
        else if (strchr(")]}", *p) || (*p == '>' && p > s && p[-1] != '-' && p[-1] != '='))
            depth--;
        if (depth == 0)
            return p;
    }
    return NULL;
}

static void cut_out(char *from, const char *to) { memmove(from, to, strlen(to) + 1); }

/* Leaves of each parameter between the brackets what comes before its ':' or '='. */
static void drop_types(char *open)
{
    char *p = open + 1, *end = closing(open);
    while (end && p < end) {
        char *stop = NULL; /* where its type begins */
        for (; p < end && *p != ','; p++) {
            if (strchr("([{<", *p) && closing(p) && closing(p) < end)
                p = closing(p);
            else if (!stop && *p == ':' && p[1] != ':' && p[-1] != ':')
                stop = p;
            else if (!stop && *p == '=' && p[1] != '=' && p[1] != '>')
                stop = p[-1] == ' ' ? p - 1 : p;
        }
        if (stop) {
            cut_out(stop, p);
            end -= p - stop;
            p = stop;
        }
        p += p < end;
    }
}

/* Where the parameters begin: behind the name as a whole word, NULL when nothing follows it there. */
static char *behind_name(char *s, const char *name)
{
    const size_t n = strlen(name);
    for (char *p = s; n && (p = strstr(p, name)) != NULL; p++) {
        const bool is_whole = p == s || !myth_is_word(p[-1]);
        if (is_whole && (p[n] == '(' || p[n] == '<'))
            return p + n;
    }
    return NULL;
}

void myth_brief(char *s, const char *name)
{
    while (strlen(s) > MYTH_BRIEF && *s == '@') {
        char *p = s + 1 + strcspn(s + 1, " (");
        if (*p == '(')
            p = closing(p) ? closing(p) + 1 : p;
        if (*p != ' ')
            break;
        cut_out(s, p + 1);
    }
    char *open = behind_name(s, name), *close;
    if (strlen(s) <= MYTH_BRIEF || !open)
        return;
    char *generic = *open == '<' ? open : NULL;
    if (generic)
        open = closing(generic) ? closing(generic) + 1 : generic;
    if (*open != '(')
        return;
    drop_types(open);
    close = closing(open);
    if (strlen(s) > MYTH_BRIEF && close)
        close[1] = '\0';
    if (strlen(s) > MYTH_BRIEF && generic)
        cut_out(generic, open);
}

void myth_drop_receiver(char *s)
{
    char *close = strncmp(s, "func (", 6) == 0 ? closing(s + 5) : NULL;
    if (close && close[1] == ' ')
        cut_out(s, close + 2);
}
