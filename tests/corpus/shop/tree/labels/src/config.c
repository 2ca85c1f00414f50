/* config.c - settings of the label printer: a file of key=value, and over it the environment. */
#include "labels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_text(char *dst, size_t cap, const char *value)
{
    snprintf(dst, cap, "%s", value);
}

static int set(label_config *c, const char *key, const char *value)
{
    if (strcmp(key, "spool_dir") == 0)
        set_text(c->spool_dir, sizeof(c->spool_dir), value);
    else if (strcmp(key, "printer") == 0)
        set_text(c->printer, sizeof(c->printer), value);
    else if (strcmp(key, "dpi") == 0)
        c->dpi = atoi(value);
    else if (strcmp(key, "dry_run") == 0)
        c->dry_run = strcmp(value, "yes") == 0;
    else
        return -1;
    return 0;
}

static char *trim(char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    size_t n = strlen(s);
    while (n > 0 && (s[n - 1] == '\n' || s[n - 1] == '\r' || s[n - 1] == ' '))
        s[--n] = '\0';
    return s;
}

static int read_file(label_config *c, const char *path)
{
    char line[512];
    FILE *f = fopen(path, "r");
    if (!f)
        return errno == ENOENT ? 0 : -1;
    for (int n = 1; fgets(line, sizeof(line), f); n++) {
        char *key = trim(line);
        if (*key == '\0' || *key == '#')
            continue;
        char *value = strchr(key, '=');
        *value++ = '\0';
        if (set(c, trim(key), trim(value)) != 0) {
            log_printf(3, "%s:%d: unknown key \"%s\"", path, n, key);
            return -1;
        }
    }
    fclose(f);
    return 0;
}

int config_load(label_config *c, const char *path)
{
    memset(c, 0, sizeof(*c));
    set_text(c->spool_dir, sizeof(c->spool_dir), "/var/spool/labels");
    set_text(c->printer, sizeof(c->printer), "zebra-1");
    c->dpi = 203;
    if (read_file(c, path) != 0)
        return -1;
    const char *spool = getenv("LABELS_SPOOL_DIR"), *printer = getenv("LABELS_PRINTER"), *dpi = getenv("LABELS_DPI");
    if (spool)
        set_text(c->spool_dir, sizeof(c->spool_dir), spool);
    if (printer)
        set_text(c->printer, sizeof(c->printer), printer);
    if (dpi)
        c->dpi = atoi(dpi);
    if (c->dpi != 203 && c->dpi != 300 && c->dpi != 600) {
        log_printf(3, "dpi %d: the printers have 203, 300 or 600", c->dpi);
        return -1;
    }
    return 0;
}
