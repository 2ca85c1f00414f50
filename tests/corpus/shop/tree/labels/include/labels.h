/* labels.h - prints shipping labels: orders come as CSV, leave as ZPL or as a bitmap. */
#ifndef LABELS_H
#define LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LABEL_LINES = 5, LABEL_LINE_MAX = 48, LABEL_ID_MAX = 24 };

typedef struct {
    char order_id[LABEL_ID_MAX];
    char line[LABEL_LINES][LABEL_LINE_MAX];
    int n_line;
    unsigned weight_grams;
    bool is_fragile;
} label;

/* config.c */
typedef struct {
    char spool_dir[256], printer[64];
    int dpi;
    bool dry_run;
} label_config;

int config_load(label_config *c, const char *path);

/* csv.c: fields of one record; quotes may hold commas and line ends. */
typedef struct {
    char *text;                 /* owned, NUL after each field */
    char **field;
    size_t n_field;
} csv_record;

int csv_read(csv_record *out, const char **p, const char *end);
void csv_free(csv_record *r);
int label_from_csv(label *out, const csv_record *r);

/* barcode.c: Code 128, set B. Modules are bars and spaces in units of one dot. */
size_t barcode_modules(uint8_t *out, size_t cap, const char *text);
int barcode_checksum(const char *text);

/* bitmap.c */
typedef struct {
    uint32_t width, height;
    size_t stride;
    uint8_t *bits;
} bitmap;

bitmap *bitmap_new(uint32_t width, uint32_t height);
void bitmap_free(bitmap *b);
void bitmap_set(bitmap *b, uint32_t x, uint32_t y);
bitmap *bitmap_scale(const bitmap *b, uint32_t factor);

/* zpl.c */
int zpl_write(char *dst, size_t cap, const label *l, int dpi);

/* queue.c: jobs waiting for the printer, oldest first. */
typedef struct job job;
struct job {
    label label;
    unsigned attempts;
    job *next;
};

typedef struct {
    job *head, *tail;
    size_t n;
} job_queue;

job *queue_push(job_queue *q, const label *l);
job *queue_pop(job_queue *q);
int queue_remove(job_queue *q, const char *order_id);
void queue_clear(job_queue *q);
int queue_run(job_queue *q, int (*print)(void *user, const label *l), void *user, unsigned max_attempts);

/* spool.c: jobs survive a restart as files. */
int spool_save(const char *dir, const label *l);
int spool_load(label *out, const char *dir, const char *order_id);
int spool_scan(const char *dir, int (*each)(void *user, const char *order_id), void *user);

/* log.c */
void log_open(const char *name, bool to_syslog);
void log_line(int level, const char *message);
void log_printf(int level, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

#endif
