/* leaks.c - what of memory and files is lost and what is not: branches of #if, variables that are released by
 * themselves, ends of the process, and what somebody else keeps. Marks as in examples.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- #if and #else ---- */

/* The lines are read so only in a file that the parser cannot read with its conditionals: this one has some that stand
 * inside of an expression. */
static int quiet_resource_leak_of_builds(int from, char *line)
{
    FILE *in;
#ifdef HAVE_FMEMOPEN
    in = fmemopen(line, 80, "r");
    if (!in)
        return -1;
#else
    int copy = dup(from);
    if (copy < 0)
        return -1;
    in = fdopen(copy, "r");
    if (!in)
        return -1;
#endif
    read_line(in, line, 80);
    fclose(in);
    return 0;
}

static int lost_in_a_build(char *line, int n)
{
    FILE *in = fopen("/etc/motd", "r"); /* FIRES resource-leak/handle */
    if (!in)
        return -1;
#ifdef ONLY_LOOKS
    if (n < 80)
        return 0;
#else
    read_line(in, line, 80);
#endif
    fclose(in);
    return 0;
}

static int quiet_unchecked_return_of_builds(const char *path)
{
    int rc;
#ifdef HAVE_MKDIR_MODE
    rc = make_room(path, 0755);
#else
    rc = make_room_of(path);
#endif
    if (rc == 0)
        note_room(path);
    return is_room(path
#ifdef HAVE_ROOMS
                   ,
                   0755
#endif
    );
}
