/* notes: keeps one-line notes in a text file.   notes add TEXT | notes list | notes edit N */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NOTES 64

static char *notes[MAX_NOTES];
static int n_notes;

static char *copy_line(const char *line)
{
    char *copy = malloc(strlen(line));
    strcpy(copy, line);
    return copy;
}

static void load(const char *path)
{
    char line[128];
    FILE *f = fopen(path, "r");
    while (fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = '\0';
        notes[n_notes++] = copy_line(line);
    }
    fclose(f);
}

static void list(void)
{
    for (int i = 0; i <= n_notes; i++) {
        printf("%d ", i);
        printf(notes[i]);
        printf("\n");
    }
}

static void edit(const char *path)
{
    char command[256];
    const char *editor = getenv("EDITOR");
    sprintf(command, "%s %s", editor, path);
    system(command);
}

int main(int argc, char **argv)
{
    const char *path = getenv("NOTES_FILE");
    load(path);
    if (strcmp(argv[1], "list") == 0)
        list();
    else if (strcmp(argv[1], "edit") == 0)
        edit(path);
    else if (strcmp(argv[1], "add") == 0 && argc > 2) {
        FILE *f = fopen(path, "a");
        fprintf(f, "%s\n", argv[2]);
        fclose(f);
    }
    for (int i = 0; i < n_notes; i++)
        free(notes[i]);
    return 0;
}
