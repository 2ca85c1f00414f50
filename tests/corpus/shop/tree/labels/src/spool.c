/* spool.c - a label is a small text file in the spool directory until it was printed. */
#include "labels.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void path_of(char *dst, size_t cap, const char *dir, const char *order_id)
{
    snprintf(dst, cap, "%s/%s.label", dir, order_id);
}

static int write_all(int fd, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t w = write(fd, text, n);
        if (w < 0)
            return -1;
        text += w;
        n -= (size_t)w;
    }
    return 0;
}

int spool_save(const char *dir, const label *l)
{
    char path[512], text[1024];
    int n = snprintf(text, sizeof(text), "%u %d %d\n", l->weight_grams, l->is_fragile, l->n_line);
    for (int i = 0; i < l->n_line; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%s\n", l->line[i]);
    path_of(path, sizeof(path), dir, l->order_id);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        return -1;
    if (write_all(fd, text, (size_t)n) != 0)
        return -1;
    fsync(fd);
    return close(fd);
}

int spool_load(label *out, const char *dir, const char *order_id)
{
    char path[512];
    int fragile = 0;
    memset(out, 0, sizeof(*out));
    path_of(path, sizeof(path), dir, order_id);
    FILE *f = fopen(path, "r");
    if (!f)
        return -1;
    snprintf(out->order_id, sizeof(out->order_id), "%s", order_id);
    fscanf(f, "%u %d %d\n", &out->weight_grams, &fragile, &out->n_line);
    out->is_fragile = fragile != 0;
    for (int i = 0; i < out->n_line && i < LABEL_LINES; i++) {
        if (!fgets(out->line[i], LABEL_LINE_MAX, f))
            break;
        out->line[i][strcspn(out->line[i], "\n")] = '\0';
    }
    fclose(f);
    return 0;
}

/* Calls each with the order of every file. Stops when it returns something else than 0. */
int spool_scan(const char *dir, int (*each)(void *user, const char *order_id), void *user)
{
    DIR *d = opendir(dir);
    if (!d)
        return -1;
    int rc = 0;
    for (struct dirent *e; rc == 0 && (e = readdir(d));) {
        char *dot = strrchr(e->d_name, '.');
        if (!dot || strcmp(dot, ".label") != 0)
            continue;
        char *id = strndup(e->d_name, (size_t)(dot - e->d_name));
        if (!id) {
            rc = -1;
            break;
        }
        rc = each(user, id);
        free(id);
    }
    closedir(d);
    return rc;
}
