/* main.c - labeld: reads orders as CSV from standard input, queues them, sends them to the printer. */
#include "labels.h"

#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PRINTER_PORT = 9100, INPUT_CHUNK = 65536, MAX_ATTEMPTS = 3 };

static volatile sig_atomic_t stopping;

static void on_signal(int sig)
{
    (void)sig;
    stopping = 1;
}

/* All of a stream in one buffer with a NUL behind it. */
static char *read_all(FILE *f, size_t *n)
{
    size_t cap = INPUT_CHUNK;
    char *text = malloc(cap + 1);
    *n = 0;
    while (text) {
        size_t got = fread(text + *n, 1, cap - *n, f);
        *n += got;
        if (got == 0)
            break;
        if (*n == cap) {
            char *more = realloc(text, 2 * cap + 1);
            if (!more) {
                free(text);
                return NULL;
            }
            text = more;
            cap *= 2;
        }
    }
    if (text)
        text[*n] = '\0';
    return text;
}

static int connect_printer(const char *host)
{
    char port[8];
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
    snprintf(port, sizeof(port), "%d", PRINTER_PORT);
    if (getaddrinfo(host, port, &hints, &list) != 0)
        return -1;
    int fd = -1;
    for (struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    return fd;
}

typedef struct {
    const label_config *config;
    unsigned printed;
} printing;

static int print_label(void *user, const label *l)
{
    printing *p = user;
    char zpl[4096];
    int n = zpl_write(zpl, sizeof(zpl), l, p->config->dpi);
    if (n < 0 || (size_t)n >= sizeof(zpl))
        return -1;
    if (p->config->dry_run) {
        fwrite(zpl, 1, (size_t)n, stdout);
        p->printed++;
        return 0;
    }
    int fd = connect_printer(p->config->printer);
    if (fd < 0) {
        log_printf(4, "printer %s: %s", p->config->printer, strerror(errno));
        return -1;
    }
    ssize_t sent = write(fd, zpl, (size_t)n);
    close(fd);
    p->printed += sent == n;
    return sent == n ? 0 : -1;
}

static int queue_input(job_queue *q, const label_config *c, const char *text, size_t n)
{
    const char *p = text, *end = text + n;
    csv_record r;
    int bad = 0;
    while (!stopping && csv_read(&r, &p, end) == 1) {
        label l;
        if (label_from_csv(&l, &r) != 0) {
            log_printf(4, "a record of %zu fields was skipped", r.n_field);
            bad++;
        } else if (spool_save(c->spool_dir, &l) != 0 || !queue_push(q, &l)) {
            log_printf(3, "order %s: %s", l.order_id, strerror(errno));
            bad++;
        }
        csv_free(&r);
    }
    return bad;
}

int main(int argc, char **argv)
{
    label_config config;
    job_queue queue = { 0 };
    size_t n;
    log_open("labeld", !isatty(2));
    if (config_load(&config, argc > 1 ? argv[1] : "/etc/labeld.conf") != 0)
        return 78;
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    char *text = read_all(stdin, &n);
    if (!text)
        return 71;
    int bad = queue_input(&queue, &config, text, n);
    free(text);
    printing p = { &config, 0 };
    int lost = queue_run(&queue, print_label, &p, MAX_ATTEMPTS);
    log_printf(6, "%u printed, %d skipped, %d given up", p.printed, bad, lost);
    queue_clear(&queue);
    return bad || lost ? 1 : 0;
}
