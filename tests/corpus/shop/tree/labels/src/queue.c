/* queue.c - jobs that wait for the printer: a list with a tail, oldest first. */
#include "labels.h"

#include <stdlib.h>
#include <string.h>

job *queue_push(job_queue *q, const label *l)
{
    job *j = calloc(1, sizeof(*j));
    if (!j)
        return NULL;
    j->label = *l;
    if (q->tail)
        q->tail->next = j;
    else
        q->head = j;
    q->tail = j;
    q->n++;
    return j;
}

/* The oldest job, which the caller frees. */
job *queue_pop(job_queue *q)
{
    job *j = q->head;
    if (!j)
        return NULL;
    q->head = j->next;
    if (!q->head)
        q->tail = NULL;
    q->n--;
    j->next = NULL;
    return j;
}

/* Takes every job of an order out: it was cancelled. Returns how many there were. */
int queue_remove(job_queue *q, const char *order_id)
{
    int n = 0;
    job *last = NULL;
    for (job *j = q->head; j; j = j->next) {
        if (strcmp(j->label.order_id, order_id) != 0) {
            last = j;
            continue;
        }
        if (last)
            last->next = j->next;
        else
            q->head = j->next;
        if (q->tail == j)
            q->tail = last;
        q->n--;
        n++;
        free(j);
    }
    return n;
}

void queue_clear(job_queue *q)
{
    job *j;
    while ((j = queue_pop(q)))
        free(j);
}

/* Prints until the queue is empty. A job that fails goes to the end, and away after max_attempts. Returns how many were given up. */
int queue_run(job_queue *q, int (*print)(void *user, const label *l), void *user, unsigned max_attempts)
{
    int lost = 0;
    job *j;
    while ((j = queue_pop(q))) {
        if (print(user, &j->label) == 0) {
            free(j);
            continue;
        }
        if (j->attempts + 1 >= max_attempts) {
            log_printf(3, "order %s: given up after %u attempts", j->label.order_id, j->attempts + 1);
            free(j);
            lost++;
        } else {
            job *again = queue_push(q, &j->label);
            if (again)
                again->attempts = j->attempts + 1;
        }
        free(j);
    }
    return lost;
}
