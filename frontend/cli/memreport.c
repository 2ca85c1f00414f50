/* memreport.c - writes the file of --mem-report, and samples resident memory for it. */
#include "memreport.h"
#include "engine/base/map.h"
#include "engine/base/thread.h"
#include "json_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t myth_rss_anon(void)
{
    unsigned long long pages[3] = {0}; /* all, resident, resident and shared */
    char line[128], *at = line;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f)
        return 0;
    line[fread(line, 1, sizeof(line) - 1, f)] = '\0';
    fclose(f);
    for (int i = 0; i < 3; i++)
        pages[i] = strtoull(at, &at, 10);
    return pages[1] >= pages[2] ? (pages[1] - pages[2]) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static void *watch(void *arg)
{
    myth_rss_watch *w = arg;
    const struct timespec pause = {.tv_nsec = 2000000};
    for (bool stop = false; !stop;) {
        uint64_t now = myth_rss_anon();
        pthread_mutex_lock(&w->lock);
        if (now > w->peak_bytes)
            w->peak_bytes = now;
        stop = w->wants_stop;
        pthread_mutex_unlock(&w->lock);
        if (!stop)
            nanosleep(&pause, NULL);
    }
    return NULL;
}

void myth_rss_start(myth_rss_watch *w)
{
    *w = (myth_rss_watch){0};
    pthread_mutex_init(&w->lock, NULL);
    w->is_running = myth_thread_start_small(&w->thread, watch, w);
}

uint64_t myth_rss_stop(myth_rss_watch *w)
{
    if (w->is_running) {
        pthread_mutex_lock(&w->lock);
        w->wants_stop = true;
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
    }
    w->is_running = false;
    pthread_mutex_destroy(&w->lock);
    return w->peak_bytes;
}

/* Prints the classes of the plan's device number idx; its bytes are counted as device `ledger` of the run's ledger. */
static void print_classes(myth_json_out *j, const myth_cli *cli, uint32_t idx, int ledger)
{
    myth_jout_key(j, "classes");
    myth_jout_object(j);
    for (int c = 0; c < MYTH_MEM_CLASS_N; c++) {
        myth_mem_count count = myth_mem_get(cli->mem, ledger, (myth_mem_class)c);
        myth_jout_key(j, myth_mem_class_name((myth_mem_class)c));
        myth_jout_object(j);
        myth_jout_key(j, "planned");
        if (cli->has_plan)
            myth_jout_u64(j, cli->plan.device[idx].bytes[c]);
        else
            myth_jout_null(j);
        myth_jout_key_u64(j, "peak", count.peak);
        myth_jout_key_u64(j, "live", count.live);
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

void myth_memreport_device(myth_json_out *j, const myth_mem *mem, const myth_plan_device *planned, int ledger)
{
    const myth_mem_count total = myth_mem_total(mem, ledger);
    const uint64_t limit = myth_mem_limit(mem, ledger);
    myth_jout_key(j, "limit_bytes");
    if (limit)
        myth_jout_u64(j, limit);
    else
        myth_jout_null(j);
    myth_jout_key(j, "planned_bytes");
    if (planned)
        myth_jout_u64(j, planned->total_bytes);
    else
        myth_jout_null(j);
    myth_jout_key_u64(j, "used_bytes", total.live);
    myth_jout_key_u64(j, "peak_bytes", total.peak);
    myth_jout_key(j, "classes");
    myth_jout_object(j);
    for (int c = 0; c < MYTH_MEM_CLASS_N; c++) {
        const myth_mem_count n = myth_mem_get(mem, ledger, (myth_mem_class)c);
        if (!n.peak && !(planned && planned->bytes[c]))
            continue;
        myth_jout_key(j, myth_mem_class_name((myth_mem_class)c));
        myth_jout_object(j);
        if (planned)
            myth_jout_key_u64(j, "planned", planned->bytes[c]);
        myth_jout_key_u64(j, "used", n.live);
        myth_jout_key_u64(j, "peak", n.peak);
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

static const char *device_name(const myth_plan *p, int ledger)
{
    for (uint32_t i = 0; i < p->n_device; i++)
        if (p->device[i].ledger == ledger)
            return p->device[i].name;
    return "";
}

static void print_layer(myth_json_out *j, const myth_plan *p, const myth_layer_bytes *l)
{
    myth_jout_key_str(j, "device", device_name(p, l->ledger));
    myth_jout_key_u64(j, "weights_bytes", l->weight_bytes);
    myth_jout_key_u64(j, "in_place_bytes", l->in_place_bytes);
    myth_jout_key_u64(j, "kv_bytes", l->kv_bytes);
    myth_jout_end(j);
}

void myth_memreport_layers(myth_json_out *j, const myth_cli *cli)
{
    const myth_layers *l = &cli->layers;
    if (!cli->has_plan || !l->n_layer)
        return;
    myth_jout_key(j, "sequences");
    myth_jout_object(j);
    myth_jout_key_u64(j, "n", cli->plan.n_seq);
    myth_jout_key_u64(j, "n_ctx", cli->plan.n_ctx);
    myth_jout_key_u64(j, "kv_bytes", l->sequence_bytes);
    myth_jout_end(j);
    myth_jout_key(j, "layers");
    myth_jout_array(j);
    for (uint32_t i = 0; i < l->n_layer; i++) {
        myth_jout_object(j);
        myth_jout_key_u64(j, "layer", i);
        print_layer(j, &cli->plan, &l->layer[i]);
    }
    myth_jout_end(j);
    myth_jout_key(j, "rest");
    myth_jout_object(j);
    print_layer(j, &cli->plan, &l->layer[l->n_layer]);
}

myth_status myth_memreport_write(const char *path, const myth_cli *cli, uint64_t rss_peak, myth_error *err)
{
    char *text = NULL;
    size_t len = 0;
    const uint64_t booked = myth_mem_total(cli->mem, MYTH_MEM_HOST).peak;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        return myth_fail(err, MYTH_ENOMEM, "%s: no room for the report", path);
    myth_json_out j;
    myth_jout_start(&j, f);
    myth_jout_object(&j);
    myth_jout_key_u64(&j, "schema", 1);
    myth_jout_key(&j, "limit_bytes");
    if (myth_mem_limit(cli->mem, MYTH_MEM_HOST))
        myth_jout_u64(&j, myth_mem_limit(cli->mem, MYTH_MEM_HOST));
    else
        myth_jout_null(&j);
    if (cli->has_plan)
        myth_jout_key_bool(&j, "fits", cli->plan.fits);
    print_classes(&j, cli, 0, MYTH_MEM_HOST);
    myth_jout_key_u64(&j, "peak_bytes", booked);
    myth_jout_key_u64(&j, "rss_anon_peak_bytes", rss_peak);
    myth_jout_key(&j, "unbooked_bytes");
    if (myth_mem_reserves(cli->mem) && rss_peak)
        myth_jout_u64(&j, rss_peak > booked ? rss_peak - booked : 0);
    else
        myth_jout_null(&j);
    myth_jout_key(&j, "devices");
    myth_jout_array(&j);
    for (uint32_t i = 1; cli->has_plan && i < cli->plan.n_device; i++) {
        const myth_plan_device *d = &cli->plan.device[i];
        myth_jout_object(&j);
        myth_jout_key_str(&j, "device", d->name);
        print_classes(&j, cli, i, d->ledger);
        myth_jout_key_u64(&j, "peak_bytes", myth_mem_total(cli->mem, d->ledger).peak);
        myth_jout_end(&j);
    }
    myth_jout_end(&j);
    myth_memreport_layers(&j, cli);
    myth_jout_end(&j);
    myth_status st = MYTH_OK;
    if (fclose(f) != 0)
        st = myth_fail(err, MYTH_ENOMEM, "%s: no room for the report", path);
    else
        st = myth_file_write(path, text, len, err);
    free(text);
    return st;
}
