/* What must hold between any two steps of anybody, also of a process that was killed there. */
#ifndef AREA_CHECK_H
#define AREA_CHECK_H

#include "gni_area.h"

/* One line for each violation goes to text, as far as there is room. */
struct gni_findings {
    char *text;
    size_t size, used;
    int count;
};
void gni_found(struct gni_findings *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Every index, length and state in an area. Reads nothing outside of it, whatever it holds. */
void gni_area_check(const struct gni_view *view, struct gni_findings *f);
/* `bytes`: what is there of the ring, its head included. Best with nothing running. */
void gni_ring_check(struct gni_ring *ring, uint64_t bytes, struct gni_findings *f);

/* Walks what this NIC handle shares and what it knows of itself, and checks what must hold between
 * any two steps of anybody, also of a process that was killed. Answers the number of violations,
 * one line of text for each, or -1: no such handle. Best with nothing running: a change under its
 * eyes may look like a violation. Takes a millisecond or more. */
int nic_check(gni_nic_handle_t nic_hndl, char *text, uint32_t size);

#endif
