/* The checker of what is shared; it knows no NIC, so that it can be fuzzed alone, and used on the
 * segment of a dead process. */
#include "area_check.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define REGISTRATIONS (GNI_MDHS + GNI_SEGMENTS)
typedef unsigned long long wide;

void gni_found(struct gni_findings *f, const char *format, ...)
{
    va_list arguments;
    int length;

    f->count++;
    if (f->used >= f->size)
        return;
    va_start(arguments, format);
    length = vsnprintf(f->text + f->used, f->size - f->used, format, arguments);
    va_end(arguments);
    f->used += length > 0 ? (size_t)length : 0;
    if (f->used + 1 < f->size)
        f->text[f->used++] = '\n';
    if (f->used < f->size)
        f->text[f->used] = '\0';
}

/* ---- registrations ---- */

static void check_pieces(const struct gni_view *view, uint32_t index, const struct gni_mdh *mdh,
                         struct gni_findings *f)
{
    int is_reserved = (mdh->flags & GNI_MDH_RESERVED) != 0;
    uint64_t offset = is_reserved ? mdh->address : 0, end = offset + mdh->length;

    if (mdh->segment_count > GNI_SEGMENTS ||
        mdh->segment_first > GNI_SEGMENTS - mdh->segment_count) {
        gni_found(f, "registration %u: segments %u and %u more", index, mdh->segment_first,
                  mdh->segment_count);
        return;
    }
    for (uint32_t i = 0; i < mdh->segment_count; i++) {
        struct gni_segment s = view->segment[mdh->segment_first + i];

        if ((is_reserved ? s.offset < offset : s.offset != offset) || s.length == 0 ||
            s.offset > end || s.length > end - s.offset)
            gni_found(f, "registration %u: segment %u at %llu of %llu bytes", index, i,
                      (wide)s.offset, (wide)s.length);
        if (s.key.slot >= REGISTRATIONS || !(s.key.generation & 1))
            gni_found(f, "registration %u: segment %u has key %u, generation %u", index, i,
                      s.key.slot, s.key.generation);
        offset = s.offset + s.length;
    }
    if (!is_reserved && offset != mdh->length)
        gni_found(f, "registration %u: segments of %llu bytes, not %llu", index, (wide)offset,
                  (wide)mdh->length);
}

static void check_ring_of(uint32_t index, const struct gni_mdh *mdh, struct gni_findings *f)
{
    uint64_t slots = mdh->ring_slots;

    if (mdh->ring.length == 0) {
        if (slots != 0)
            gni_found(f, "registration %u: %llu places in no queue", index, (wide)slots);
        return;
    }
    if (slots < 4 || (slots & (slots - 1)) != 0 || mdh->ring.length < GNI_RING_HEADER ||
        slots > (mdh->ring.length - GNI_RING_HEADER) / 8)
        gni_found(f, "registration %u: %llu places in a queue of %llu bytes", index, (wide)slots,
                  (wide)mdh->ring.length);
}

static void check_registration(const struct gni_view *view, uint32_t index, struct gni_findings *f)
{
    struct gni_mdh mdh;
    uint32_t generation =
        atomic_load_explicit(&view->mdh[index].generation, memory_order_acquire); /* publish */

    if (!(generation & 1))
        return;
    memcpy((void *)&mdh, (const void *)&view->mdh[index], sizeof(mdh));
    if (mdh.flags & ~(uint32_t)(GNI_MDH_READ_ONLY | GNI_MDH_RESERVED))
        gni_found(f, "registration %u: flags %#x", index, mdh.flags);
    if (mdh.length == 0 || mdh.address > UINT64_MAX - mdh.length || mdh.base > mdh.address)
        gni_found(f, "registration %u: %llu bytes at %#llx, of a key at %#llx", index,
                  (wide)mdh.length, (wide)mdh.address, (wide)mdh.base);
    if (mdh.segment_count != 0)
        check_pieces(view, index, &mdh, f);
    else if (mdh.key.slot >= REGISTRATIONS || !(mdh.key.generation & 1))
        gni_found(f, "registration %u: key %u, generation %u", index, mdh.key.slot,
                  mdh.key.generation);
    check_ring_of(index, &mdh, f);
}

/* ---- datagrams ---- */

static void check_datagram(const struct gni_view *view, uint32_t index, uint32_t high,
                           struct gni_findings *f)
{
    const struct gni_datagram *r = &view->datagram[index];
    uint32_t state = atomic_load_explicit(&r->state, memory_order_acquire);

    if (state > GNI_EXCHANGE_TIMEOUT)
        gni_found(f, "datagram %u: state %u", index, state);
    if (state == GNI_EXCHANGE_FREE)
        return;
    if (index >= high)
        gni_found(f, "datagram %u: state %u, of %u that may be in use", index, state, high);
    if (r->has_id > 1 || r->local_length > GNI_DATAGRAM_MAXSIZE ||
        r->remote_length > GNI_DATAGRAM_MAXSIZE)
        gni_found(f, "datagram %u: identified %u, lengths %u and %u", index, r->has_id,
                  r->local_length, r->remote_length);
}

/* A peer has one datagram at a time that waits here, and we one for it. */
static void check_twins(const struct gni_view *view, uint32_t high, struct gni_findings *f)
{
    for (uint32_t i = 0; i < high; i++) {
        const struct gni_datagram *r = &view->datagram[i];
        uint32_t state = atomic_load_explicit(&r->state, memory_order_acquire);

        if (state != GNI_EXCHANGE_REMOTE_WAITING && state != GNI_EXCHANGE_LOCAL_READY)
            continue;
        for (uint32_t k = i + 1; k < high; k++)
            if (atomic_load_explicit(&view->datagram[k].state, memory_order_acquire) == state &&
                view->datagram[k].pe == r->pe && view->datagram[k].inst == r->inst)
                gni_found(f, "datagrams %u and %u: both in state %u with %x.%x", i, k, state, r->pe,
                          r->inst);
    }
}

void gni_area_check(const struct gni_view *view, struct gni_findings *f)
{
    uint32_t high = atomic_load_explicit(&view->area->datagrams_high, memory_order_acquire);

    if (view->area->magic != GNI_AREA_MAGIC || view->area->version != GNI_AREA_VERSION ||
        view->area->bytes != gni_area_bytes())
        gni_found(f, "area: magic %#llx, version %u, %llu bytes", (wide)view->area->magic,
                  view->area->version, (wide)view->area->bytes);
    for (uint32_t i = 0; i < GNI_MDHS; i++)
        check_registration(view, i, f);
    if (high > GNI_DATAGRAMS) {
        gni_found(f, "datagrams: %u may be in use, of %u", high, GNI_DATAGRAMS);
        high = GNI_DATAGRAMS;
    }
    for (uint32_t i = 0; i < GNI_DATAGRAMS; i++)
        check_datagram(view, i, high, f);
    check_twins(view, high, f);
}

/* ---- rings ---- */

static uint64_t word_at(struct gni_ring *ring, uint64_t slots, uint64_t position)
{
    uint8_t *base = (uint8_t *)ring + GNI_RING_HEADER;

    return atomic_load_explicit((_Atomic uint64_t *)(void *)(base + (position & (slots - 1)) * 8),
                                memory_order_acquire);
}

void gni_ring_check(struct gni_ring *ring, uint64_t bytes, struct gni_findings *f)
{
    uint64_t slots = ring->slots, capacity = ring->capacity;
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    uint32_t overrun = atomic_load_explicit(&ring->overrun, memory_order_relaxed);

    if (slots < 4 || (slots & (slots - 1)) != 0 || bytes < GNI_RING_HEADER ||
        slots > (bytes - GNI_RING_HEADER) / 8) {
        gni_found(f, "queue: %llu places in %llu bytes", (wide)slots, (wide)bytes);
        return;
    }
    if (capacity == 0 || capacity > slots || tail - head > capacity || overrun > 1) {
        gni_found(f, "queue: head %llu, tail %llu, overrun %u, of %llu events", (wide)head,
                  (wide)tail, overrun, (wide)capacity);
        return;
    }
    for (uint64_t p = head; p != head + slots; p++) {
        uint64_t word = word_at(ring, slots, p);
        int is_event = gni_ring_is_event(word);
        /* At the tail there may be one whose writer has not moved the tail on; at the head the
         * reader may have put the next round's emptiness back already. */
        int is_right = p < tail    ? is_event || (p == head && word == gni_ring_empty(p + slots))
                       : p == tail ? is_event || word == gni_ring_empty(p)
                                   : word == gni_ring_empty(p);

        if (!is_right)
            gni_found(f, "queue: %#llx at %llu, between head %llu and tail %llu", (wide)word,
                      (wide)p, (wide)head, (wide)tail);
    }
}
