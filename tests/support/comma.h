/* comma.h - puts a test under a locale whose decimal point is a comma, as a host program may be. */
#ifndef MYTH_TESTS_COMMA_H
#define MYTH_TESTS_COMMA_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* True: numbers have a comma until setlocale(LC_NUMERIC, "C"). Where no such locale is installed, one is made. */
static inline bool comma_begin(void)
{
    static const char *const name[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "xx_XX"};
    char dir[] = "/tmp/mythos-comma-XXXXXX", line[512];
    for (int i = 0; i < 2; i++)
        if (setlocale(LC_NUMERIC, name[i]))
            return true;
    if (!mkdtemp(dir))
        return false;
    snprintf(
        line, sizeof(line),
        "cd %s && printf 'comment_char %%%%\\nescape_char /\\nLC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\n"
        "grouping -1\\nEND LC_NUMERIC\\n' >xx; localedef -c -i ./xx ./xx_XX >log 2>&1; [ -d xx_XX ]",
        dir);
    setenv("LOCPATH", dir, 1);
    const bool is_set = system(line) == 0 && setlocale(LC_NUMERIC, name[2]) != NULL; /* localedef warns, too, by 1 */
    unsetenv("LOCPATH");
    snprintf(line, sizeof(line), "rm -rf %s", dir);
    return system(line) == 0 && is_set;
}

#endif
