/* vk_command.c - streams: filling and submitting frames, transfers, recorded graphs.
 *
 * Frames   a stream has VK_FRAME_N frames, each with a command buffer, a part of the argument block and a part of the
 *          staging block. A frame is used again when its submission is done. The arguments of a dispatch are in the
 *          same frame as the dispatch
 * Order    there is one queue, and a full barrier follows every command. So commands finish in the order in which they
 *          were issued, across submissions too
 * Reads    a small read is copied to staging, and from there to the caller when its frame is done, at the latest at a
 *          sync. A large read goes through the upload ring and is complete when the call returns
 * Idle     where device memory is mapped, a stream that has nothing in flight writes with memcpy
 * Graphs   a graph is a command buffer with its arguments in the reserved block. Each replay submits it again */
#define _GNU_SOURCE
#include "vk.h"

#include "kernels/weight_form.h"

#include <assert.h>
#include <string.h>

/* A submission that takes longer counts as a lost device. */
enum { SECOND_NS = 1000000000, PATIENCE_S = 600 };

static struct vk_stream *stream_of(myth_stream *s) { return (struct vk_stream *)(void *)s; }
static struct vk_graph *graph_of(myth_graph *g) { return (struct vk_graph *)(void *)g; }
static struct vk_block *block_of(myth_view v)
{
    return (struct vk_block *)(uintptr_t)((struct vk_buf *)(void *)v.buf)->block;
}
static uint64_t place_of(myth_view v) { return ((struct vk_buf *)(void *)v.buf)->off + v.off; }

/* True on success. A failure stays in the stream, if it is the first. */
static bool check(myth_stream *s, VkResult r, const char *what)
{
    if (r == VK_SUCCESS)
        return true;
    myth_error err;
    vk_fail(vk_of(s), &err, r, what);
    if (s->err.code == MYTH_OK)
        s->err = err;
    return false;
}

/* ---- waiting and submitting ---- */

static VkResult wait_value(struct vk_device *d, const struct vk_stream *s, uint64_t value)
{
    VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &s->timeline,
        .pValues = &value,
    };
    return VK_CALL(d, vkWaitSemaphores, d->device, &info, (uint64_t)PATIENCE_S * SECOND_NS);
}

static bool wait_stream(struct vk_stream *s, uint64_t value)
{
    if (s->done >= value)
        return true;
    if (!check(&s->base, wait_value(vk_of(&s->base), s, value), "waiting"))
        return false;
    s->done = value;
    return true;
}

void vk_drain(struct vk_device *d)
{
    if (!d->device)
        return;
    pthread_mutex_lock(&d->queue_lock);
    d->fn.vkDeviceWaitIdle(d->device);
    pthread_mutex_unlock(&d->queue_lock);
}

static bool submit(struct vk_stream *s, VkCommandBuffer cmd)
{
    struct vk_device *d = vk_of(&s->base);
    uint64_t value = s->submitted + 1;
    VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timeline,
        .commandBufferCount = 1,
        .pCommandBuffers = &cmd,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &s->timeline,
    };
    pthread_mutex_lock(&d->queue_lock);
    VkResult r = VK_CALL(d, vkQueueSubmit, d->queue, 1, &info, VK_NULL_HANDLE);
    pthread_mutex_unlock(&d->queue_lock);
    if (!check(&s->base, r, "submission"))
        return false;
    s->submitted = value;
    return true;
}

/* ---- frames ---- */

static unsigned char *staging_of(const struct vk_device *d, const struct vk_stream *s, uint32_t frame)
{
    return d->staging.host + ((size_t)s->slot * VK_FRAME_N + frame) * VK_FRAME_STAGING;
}

static void clear_frame(struct vk_frame *f)
{
    f->value = 0;
    f->args_used = f->staging_used = f->n_op = f->n_read = 0;
    f->is_open = false;
}

/* Copies what a frame has read to the callers' memory, after its submission is done, and clears the frame. */
static void finish_frame(struct vk_stream *s, uint32_t i)
{
    struct vk_frame *f = &s->frame[i];
    const unsigned char *staging = staging_of(vk_of(&s->base), s, i);
    for (uint32_t k = 0; k < f->n_read; k++)
        memcpy(f->read[k].dst, staging + f->read[k].off, f->read[k].bytes);
    clear_frame(f);
}

/* Submits the current frame, if it is open, and makes the next one current. */
static bool flush(struct vk_stream *s)
{
    struct vk_device *d = vk_of(&s->base);
    struct vk_frame *f = &s->frame[s->cur];
    if (!f->is_open)
        return true;
    if (!check(&s->base, VK_CALL(d, vkEndCommandBuffer, f->cmd), "end of commands") || !submit(s, f->cmd)) {
        clear_frame(f);
        return false;
    }
    f->is_open = false;
    f->value = s->submitted;
    s->cur = (s->cur + 1) % VK_FRAME_N;
    return true;
}

static struct vk_frame *open_frame(struct vk_stream *s)
{
    struct vk_device *d = vk_of(&s->base);
    struct vk_frame *f = &s->frame[s->cur];
    if (f->is_open)
        return f;
    if (atomic_load(&d->is_lost)) {
        check(&s->base, VK_ERROR_DEVICE_LOST, "commands");
        return NULL;
    }
    if (f->value) {
        if (!wait_stream(s, f->value))
            return NULL;
        finish_frame(s, s->cur);
    }
    VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    if (!check(&s->base, VK_CALL(d, vkBeginCommandBuffer, f->cmd, &info), "begin of commands"))
        return NULL;
    f->is_open = true;
    return f;
}

/* Returns an open frame that has room for these bytes and reads; NULL with the stream's error. */
static struct vk_frame *room(struct vk_stream *s, uint32_t args, uint32_t staging, uint32_t n_read)
{
    struct vk_frame *f = open_frame(s);
    if (f && (f->n_op == VK_FRAME_OPS || args > VK_FRAME_ARGS - f->args_used ||
              staging > VK_FRAME_STAGING - f->staging_used || n_read > VK_FRAME_READS - f->n_read))
        f = flush(s) ? open_frame(s) : NULL;
    return f;
}

static void barrier(struct vk_device *d, VkCommandBuffer cmd)
{
    const VkPipelineStageFlags work = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkAccessFlags writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    VkMemoryBarrier all = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = writes,
        .dstAccessMask = writes | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_HOST_READ_BIT,
    };
    d->fn.vkCmdPipelineBarrier(cmd, work, work | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &all, 0, NULL, 0, NULL);
}

static void copy_region(struct vk_device *d, VkCommandBuffer cmd, VkBuffer dst, uint64_t dst_off, VkBuffer src,
                        uint64_t src_off, uint64_t bytes)
{
    d->fn.vkCmdCopyBuffer(cmd, src, dst, 1, &(VkBufferCopy){.srcOffset = src_off, .dstOffset = dst_off, .size = bytes});
}

/* ---- arguments and dispatches ---- */

/* Room that pushed data leaves after it in its frame, for the arguments of the dispatch that uses the data. */
enum { ARGS_AFTER = 1024 };

static uint64_t push_graph(myth_stream *s, const void *data, size_t bytes)
{
    struct vk_device *d = vk_of(s);
    struct vk_graph *g = graph_of(s->graph);
    uint64_t per_graph = d->graph_args.bytes / s->dev->shape.n_graph,
             at = (uint64_t)(g - d->graph) * per_graph + g->args_used;
    uint64_t cost = (bytes + VK_ARG_ALIGN - 1) / VK_ARG_ALIGN * VK_ARG_ALIGN;
    if (cost > per_graph - g->args_used) {
        myth_fail(&s->err, MYTH_EFULL, "%s: a recorded stream holds at most %u ops", s->dev->caps.name,
                  s->dev->shape.n_record_ops);
        return 0;
    }
    memcpy(d->graph_args.host + at, data, bytes);
    g->args_used += cost;
    return d->graph_args.addr + at;
}

static uint64_t push(myth_stream *s, const void *data, size_t bytes, size_t after)
{
    struct vk_device *d = vk_of(s);
    struct vk_stream *v = stream_of(s);
    if (s->err.code != MYTH_OK)
        return 0;
    if (s->graph)
        return push_graph(s, data, bytes);
    uint32_t cost = (uint32_t)((bytes + VK_ARG_ALIGN - 1) / VK_ARG_ALIGN * VK_ARG_ALIGN);
    assert(cost + after <= VK_FRAME_ARGS);
    struct vk_frame *f = room(v, cost + (uint32_t)after, 0, 0);
    if (!f)
        return 0;
    uint64_t at = ((uint64_t)v->slot * VK_FRAME_N + v->cur) * VK_FRAME_ARGS + f->args_used;
    memcpy(d->args.host + at, data, bytes);
    f->args_used += cost;
    return d->args.addr + at;
}

uint64_t vk_push(myth_stream *s, const void *data, size_t bytes) { return push(s, data, bytes, ARGS_AFTER); }

static void bind_texels(struct vk_device *d, VkCommandBuffer cmd, const struct vk_block *w, const struct vk_block *x)
{
    const VkBufferView *view[VK_TEXEL_BINDINGS] = {&w->words, &w->pairs, &x->words};
    VkWriteDescriptorSet set[VK_TEXEL_BINDINGS];
    for (uint32_t i = 0; i < VK_TEXEL_BINDINGS; i++)
        set[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
            .pTexelBufferView = view[i],
        };
    d->fn.vkCmdPushDescriptorSetKHR(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, d->layout, 0, VK_TEXEL_BINDINGS, set);
}

void vk_dispatch(myth_stream *s, const struct vk_launch *l, const void *args, size_t args_bytes)
{
    struct vk_device *d = vk_of(s);
    VkPipeline pipeline;
    myth_error err;
    assert(args_bytes <= ARGS_AFTER);
    uint64_t addr = push(s, args, args_bytes, 0);
    if (!addr)
        return;
    if (vk_program_get(&pipeline, d, l->shader, l->spec, &err) != MYTH_OK) {
        s->err = err;
        return;
    }
    VkCommandBuffer cmd = s->graph ? graph_of(s->graph)->cmd : stream_of(s)->frame[stream_of(s)->cur].cmd;
    d->fn.vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    const uint64_t base[3] = {addr, l->w_block ? l->w_block->addr : 0, l->w_block ? l->x_block->addr : 0};
    d->fn.vkCmdPushConstants(cmd, d->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, l->w_block ? sizeof(base) : sizeof(addr),
                             base);
    if (l->w_block)
        bind_texels(d, cmd, l->w_block, l->x_block);
    d->fn.vkCmdDispatch(cmd, l->x ? l->x : 1, l->y ? l->y : 1, l->z ? l->z : 1);
    if (!l->is_free)
        barrier(d, cmd);
    if (s->graph) {
        graph_of(s->graph)->n_dispatch++;
    } else {
        stream_of(s)->frame[stream_of(s)->cur].n_op++;
        d->base.counts.n_launch++;
    }
}

void vk_copy_bytes(myth_stream *s, myth_view dst, myth_view src, uint64_t bytes)
{
    struct vk_device *d = vk_of(s);
    struct vk_frame *f = NULL;
    if (!s->graph && !(f = room(stream_of(s), 0, 0, 0)))
        return;
    VkCommandBuffer cmd = f ? f->cmd : graph_of(s->graph)->cmd;
    copy_region(d, cmd, block_of(dst)->buffer, place_of(dst), block_of(src)->buffer, place_of(src), bytes);
    barrier(d, cmd);
    if (f) {
        f->n_op++;
        d->base.counts.n_launch++;
    } else {
        graph_of(s->graph)->n_dispatch++;
    }
}

/* ---- transfers ---- */

/* True when nothing of this stream is in flight or waits to be submitted. */
static bool is_idle(struct vk_stream *s)
{
    struct vk_device *d = vk_of(&s->base);
    if (s->frame[s->cur].is_open)
        return false;
    if (s->done < s->submitted && d->fn.vkGetSemaphoreCounterValue(d->device, s->timeline, &s->done) != VK_SUCCESS)
        s->done = 0;
    return s->done >= s->submitted;
}

static bool write_direct(struct vk_stream *s, const struct vk_block *b)
{
    return b->host && !atomic_load(&vk_of(&s->base)->is_lost) && is_idle(s);
}

/* Waits until this half of the upload ring is free, and returns its memory. The caller holds the ring's lock. */
static unsigned char *upload_half(struct vk_stream *s, uint32_t half, uint64_t *off)
{
    struct vk_device *d = vk_of(&s->base);
    struct vk_upload *u = &d->upload[half];
    *off = (uint64_t)(VK_STREAM_MAX + 1) * VK_FRAME_N * VK_FRAME_STAGING + (uint64_t)half * VK_UPLOAD_HALF;
    if (u->user && !check(&s->base, wait_value(d, u->user, u->value), "waiting"))
        return NULL;
    u->user = NULL;
    return d->staging.host + *off;
}

/* Submits the copies out of a half. The device runs them while the host fills the other half. */
static bool upload_done(struct vk_stream *s, uint32_t half)
{
    if (!flush(s))
        return false;
    vk_of(&s->base)->upload[half] = (struct vk_upload){s, s->submitted};
    return true;
}

static void write_large(struct vk_stream *s, myth_view dst, const unsigned char *src, uint64_t bytes)
{
    struct vk_device *d = vk_of(&s->base);
    uint64_t off;
    pthread_mutex_lock(&d->upload_lock);
    for (uint64_t at = 0; at < bytes; at += VK_UPLOAD_HALF) {
        uint32_t half = d->upload_next++ % 2;
        uint64_t n = bytes - at < VK_UPLOAD_HALF ? bytes - at : VK_UPLOAD_HALF;
        unsigned char *staging = upload_half(s, half, &off);
        struct vk_frame *f = staging ? room(s, 0, 0, 0) : NULL;
        if (!f)
            break;
        memcpy(staging, src + at, (size_t)n);
        copy_region(d, f->cmd, block_of(dst)->buffer, place_of(dst) + at, d->staging.buffer, off, n);
        barrier(d, f->cmd);
        f->n_op++;
        if (!upload_done(s, half))
            break;
    }
    pthread_mutex_unlock(&d->upload_lock);
}

void vk_write(myth_stream *base, myth_view dst, const void *src, uint64_t bytes)
{
    struct vk_device *d = vk_of(base);
    struct vk_stream *s = stream_of(base);
    struct vk_block *b = block_of(dst);
    if (write_direct(s, b)) {
        memcpy(b->host + place_of(dst), src, (size_t)bytes);
        return;
    }
    if (bytes > VK_FRAME_STAGING) {
        write_large(s, dst, src, bytes);
        return;
    }
    struct vk_frame *f = room(s, 0, (uint32_t)bytes, 0);
    if (!f)
        return;
    unsigned char *staging = staging_of(d, s, s->cur) + f->staging_used;
    memcpy(staging, src, (size_t)bytes);
    copy_region(d, f->cmd, b->buffer, place_of(dst), d->staging.buffer, (uint64_t)(staging - d->staging.host), bytes);
    barrier(d, f->cmd);
    f->staging_used += (uint32_t)bytes;
    f->n_op++;
}

/* Writes whole rows through the upload ring. A half holds the quants of some rows, then their scales. */
static void weight_write_staged(struct vk_stream *s, myth_view dst, const unsigned char *src, const myth_planar *p,
                                uint32_t row0, uint32_t n_rows, uint32_t n_in)
{
    struct vk_device *d = vk_of(&s->base);
    uint64_t row_bytes = p->quant_row + p->scale_row, most = VK_UPLOAD_HALF / row_bytes, off;
    pthread_mutex_lock(&d->upload_lock);
    for (uint64_t at = 0; at < n_rows; at += most) {
        uint32_t half = d->upload_next++ % 2;
        uint64_t n = n_rows - at < most ? n_rows - at : most, scales = n * p->quant_row;
        unsigned char *staging = upload_half(s, half, &off);
        struct vk_frame *f = staging ? room(s, 0, 0, 0) : NULL;
        if (!f)
            break;
        myth_planar_write(staging, staging + scales, src + at * row_bytes, dst.dtype, n, n_in);
        copy_region(d, f->cmd, block_of(dst)->buffer, place_of(dst) + (row0 + at) * p->quant_row, d->staging.buffer,
                    off, scales);
        if (p->scale_row)
            copy_region(d, f->cmd, block_of(dst)->buffer, place_of(dst) + p->scale_off + (row0 + at) * p->scale_row,
                        d->staging.buffer, off + scales, n * p->scale_row);
        barrier(d, f->cmd);
        f->n_op++;
        if (!upload_done(s, half))
            break;
    }
    pthread_mutex_unlock(&d->upload_lock);
}

void vk_weight_write(myth_stream *base, myth_view dst, const void *src, uint32_t n_total, uint32_t row0,
                     uint32_t n_rows, uint32_t n_in)
{
    struct vk_stream *s = stream_of(base);
    struct vk_block *b = block_of(dst);
    myth_planar p = myth_planar_get(dst.dtype, n_total, n_in);
    if (p.quant_row + p.scale_row > VK_UPLOAD_HALF) {
        myth_fail(&base->err, MYTH_ELIMIT, "%s: a weight row of %u values", base->dev->caps.name, n_in);
    } else if (write_direct(s, b)) {
        unsigned char *to = b->host + place_of(dst);
        myth_planar_write(to + row0 * p.quant_row, to + p.scale_off + row0 * p.scale_row, src, dst.dtype, n_rows, n_in);
    } else {
        weight_write_staged(s, dst, src, &p, row0, n_rows, n_in);
    }
}

static bool wait_all(struct vk_stream *s)
{
    if (!wait_stream(s, s->submitted))
        return false;
    for (uint32_t i = 1; i <= VK_FRAME_N; i++) /* oldest first, which is the current frame */
        finish_frame(s, (s->cur + i - 1) % VK_FRAME_N);
    return true;
}

/* Reads straight from mapped memory, or through the upload ring piece by piece. It is complete when the call returns.
 */
static void read_large(struct vk_stream *s, unsigned char *dst, myth_view src, uint64_t bytes)
{
    struct vk_device *d = vk_of(&s->base);
    struct vk_block *b = block_of(src);
    uint64_t off;
    if (d->traits.is_device_cached && b->host) {
        if (flush(s) && wait_all(s))
            memcpy(dst, b->host + place_of(src), (size_t)bytes);
        return;
    }
    pthread_mutex_lock(&d->upload_lock);
    for (uint64_t at = 0; at < bytes; at += VK_UPLOAD_HALF) {
        uint32_t half = d->upload_next++ % 2;
        uint64_t n = bytes - at < VK_UPLOAD_HALF ? bytes - at : VK_UPLOAD_HALF;
        unsigned char *staging = upload_half(s, half, &off);
        struct vk_frame *f = staging ? room(s, 0, 0, 0) : NULL;
        if (!f)
            break;
        copy_region(d, f->cmd, d->staging.buffer, off, b->buffer, place_of(src) + at, n);
        barrier(d, f->cmd);
        f->n_op++;
        if (!flush(s) || !wait_all(s))
            break;
        memcpy(dst + at, staging, (size_t)n);
    }
    pthread_mutex_unlock(&d->upload_lock);
}

void vk_read(myth_stream *base, void *dst, myth_view src, uint64_t bytes)
{
    struct vk_device *d = vk_of(base);
    struct vk_stream *s = stream_of(base);
    if (bytes > VK_FRAME_STAGING) {
        read_large(s, dst, src, bytes);
        return;
    }
    struct vk_frame *f = room(s, 0, (uint32_t)bytes, 1);
    if (!f)
        return;
    uint64_t off = (uint64_t)(staging_of(d, s, s->cur) - d->staging.host) + f->staging_used;
    copy_region(d, f->cmd, d->staging.buffer, off, block_of(src)->buffer, place_of(src), bytes);
    barrier(d, f->cmd);
    f->read[f->n_read++] = (struct vk_read){dst, f->staging_used, (uint32_t)bytes};
    f->staging_used += (uint32_t)bytes;
    f->n_op++;
}

myth_status vk_sync(myth_stream *base, myth_error *err)
{
    struct vk_stream *s = stream_of(base);
    struct vk_device *d = vk_of(base);
    if (atomic_load(&d->is_lost))
        return vk_fail(d, err, VK_ERROR_DEVICE_LOST, "sync");
    if (flush(s) && wait_all(s))
        return MYTH_OK;
    for (uint32_t i = 0; i < VK_FRAME_N; i++) /* callers keep the destinations valid only until this sync */
        s->frame[i].n_read = 0;
    *err = base->err; /* flush and wait_all have left their failure in the stream */
    return base->err.code;
}

/* A mark is the timeline value of the stream's last submission. */
uint64_t vk_mark(myth_stream *base)
{
    struct vk_stream *s = stream_of(base);
    return flush(s) ? s->submitted : 0;
}

myth_status vk_wait(myth_stream *base, uint64_t mark, myth_error *err)
{
    struct vk_stream *s = stream_of(base);
    struct vk_device *d = vk_of(base);
    if (atomic_load(&d->is_lost))
        return vk_fail(d, err, VK_ERROR_DEVICE_LOST, "waiting");
    if (!wait_stream(s, mark)) {
        *err = base->err;
        return base->err.code;
    }
    for (uint32_t i = 0; i < VK_FRAME_N; i++) { /* oldest first */
        uint32_t at = (s->cur + i) % VK_FRAME_N;
        if (s->frame[at].value && s->frame[at].value <= mark)
            finish_frame(s, at);
    }
    return MYTH_OK;
}

myth_status vk_block_clear(struct vk_device *d, const struct vk_block *b, myth_error *err)
{
    struct vk_stream *s = &d->stream[VK_STREAM_MAX];
    struct vk_frame *f = room(s, 0, 0, 0);
    if (f) {
        d->fn.vkCmdFillBuffer(f->cmd, b->buffer, 0, VK_WHOLE_SIZE, 0);
        barrier(d, f->cmd);
        f->n_op++;
    }
    return myth_stream_sync(&s->base, err);
}

/* ---- recorded graphs ---- */

void vk_begin_record(myth_stream *base)
{
    struct vk_device *d = vk_of(base);
    struct vk_graph *g = NULL;
    for (uint32_t i = 0; i < d->base.shape.n_graph && d->base.is_reserved && !g; i++)
        if (!d->graph[i].base.dev)
            g = &d->graph[i];
    if (!g) {
        myth_fail(&base->err, MYTH_EFULL, "%s: all %u graphs are in use", base->dev->caps.name, d->base.shape.n_graph);
        return;
    }
    VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
    };
    if (!check(base, VK_CALL(d, vkBeginCommandBuffer, g->cmd, &info), "begin of a recording"))
        return;
    g->base.dev = base->dev;
    g->args_used = 0;
    g->n_dispatch = 0;
    base->graph = &g->base;
}

myth_status vk_end_record(myth_graph **out, myth_stream *base, myth_error *err)
{
    struct vk_device *d = vk_of(base);
    struct vk_graph *g = graph_of(base->graph);
    base->graph = NULL;
    *out = &g->base;
    VkResult r = VK_CALL(d, vkEndCommandBuffer, g->cmd);
    return r == VK_SUCCESS ? MYTH_OK : vk_fail(d, err, r, "end of a recording");
}

void vk_replay(myth_stream *base, const myth_graph *graph)
{
    struct vk_stream *s = stream_of(base);
    const struct vk_graph *g = (const struct vk_graph *)(const void *)graph;
    if (atomic_load(&vk_of(base)->is_lost))
        check(base, VK_ERROR_DEVICE_LOST, "replay");
    else if (flush(s) && submit(s, g->cmd))
        base->dev->counts.n_launch += g->n_dispatch;
}

void vk_graph_close(myth_graph *graph)
{
    struct vk_graph *g = graph_of(graph);
    struct vk_device *d = (struct vk_device *)(void *)graph->dev;
    vk_drain(d);
    d->fn.vkResetCommandPool(d->device, g->pool, 0);
    g->base.dev = NULL;
}

/* ---- streams ---- */

myth_status vk_stream_start(struct vk_device *d, struct vk_stream *s, myth_error *err)
{
    VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = d->family,
    };
    VkCommandBuffer cmd[VK_FRAME_N];
    memset(s, 0, sizeof(*s));
    s->base.dev = &d->base;
    s->slot = (uint32_t)(s - d->stream);
    VkResult r = VK_CALL(d, vkCreateSemaphore, d->device, &semaphore, NULL, &s->timeline);
    if (r == VK_SUCCESS)
        r = VK_CALL(d, vkCreateCommandPool, d->device, &pool, NULL, &s->pool);
    VkCommandBufferAllocateInfo alloc = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = s->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = VK_FRAME_N,
    };
    if (r == VK_SUCCESS)
        r = VK_CALL(d, vkAllocateCommandBuffers, d->device, &alloc, cmd);
    for (uint32_t i = 0; i < VK_FRAME_N && r == VK_SUCCESS; i++)
        s->frame[i].cmd = cmd[i];
    if (r == VK_SUCCESS)
        return MYTH_OK;
    vk_stream_close(&s->base);
    return vk_fail(d, err, r, "stream");
}

myth_status vk_stream_open(myth_stream **out, myth_device *dev, myth_error *err)
{
    struct vk_device *d = (struct vk_device *)(void *)dev;
    myth_status st = MYTH_EFULL;
    pthread_mutex_lock(&d->memory_lock);
    struct vk_stream *s = NULL;
    for (uint32_t i = 0; i < VK_STREAM_MAX && !s; i++)
        if (!d->stream[i].base.dev)
            s = &d->stream[i];
    if (s)
        st = vk_stream_start(d, s, err);
    else
        myth_fail(err, MYTH_EFULL, "%s: all %d streams are in use", dev->caps.name, VK_STREAM_MAX);
    pthread_mutex_unlock(&d->memory_lock);
    if (st == MYTH_OK)
        *out = &s->base;
    return st;
}

void vk_stream_close(myth_stream *base)
{
    struct vk_stream *s = stream_of(base);
    struct vk_device *d = vk_of(base);
    vk_drain(d);
    if (base->graph)
        vk_graph_close(base->graph);
    pthread_mutex_lock(&d->upload_lock);
    for (int i = 0; i < 2; i++)
        if (d->upload[i].user == s)
            d->upload[i].user = NULL;
    pthread_mutex_unlock(&d->upload_lock);
    if (s->pool)
        d->fn.vkDestroyCommandPool(d->device, s->pool, NULL);
    if (s->timeline)
        d->fn.vkDestroySemaphore(d->device, s->timeline, NULL);
    memset(s, 0, sizeof(*s));
}
