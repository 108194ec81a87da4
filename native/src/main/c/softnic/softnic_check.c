/* The invariant checker: what must hold in a segment between any two steps of anybody. */
#define _GNU_SOURCE
#include "shm_private.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct check {
    char *text;
    size_t size;
    size_t used;
    int violations;
    int folder_fd;
    uint64_t pid_namespace;
    const char *file; /* the segment being looked at */
    const struct snic_segment *segment;
};

__attribute__((format(printf, 2, 3))) static void violation(struct check *c, const char *format,
                                                            ...)
{
    char line[SNIC_WHY_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    c->violations++;
    if (c->text && c->used < c->size) {
        int n = snprintf(c->text + c->used, c->size - c->used, "%s: %s\n", c->file, line);
        c->used += n > 0 ? (size_t)n : 0;
    }
}

/* ---- core tables ---- */

static int is_text(const char *name)
{
    return memchr(name, 0, SNIC_NAME_BYTES) && snic_name_is_valid(name, SNIC_NAME_MAX - 1);
}

static void check_pin(struct check *c, const struct snic_segment *s, uint32_t slot, uint64_t pin)
{
    uint64_t registration = (pin >> 32) - 1;
    uint32_t generation = (uint32_t)pin;
    if (registration >= s->registrations_max) {
        violation(c, "initiator %u pins registration %llu of %u", slot,
                  (unsigned long long)registration, s->registrations_max);
        return;
    }
    /* A pin may be stale by any amount: the process that stored it had not yet checked. */
    if (!(generation & 1))
        violation(c, "initiator %u pins generation %u, which was never valid", slot, generation);
}

static void check_initiators(struct check *c, const struct snic_segment *s)
{
    uint32_t high = atomic_load(&s->header->initiators_high);
    if (high > s->initiators_max) {
        violation(c, "initiators_high is %u of %u", high, s->initiators_max);
        high = s->initiators_max;
    }
    for (uint32_t i = 0; i < s->initiators_max; i++) {
        struct snic_initiator *slot = &s->initiators[i];
        uint64_t word = atomic_load(&slot->state);
        uint32_t state = SNIC_SLOT_STATE(word);
        if (state > SNIC_SLOT_IN_USE)
            violation(c, "initiator %u: state %u", i, state);
        if (state == SNIC_SLOT_IN_USE && i >= high)
            violation(c, "initiator %u is in use, above initiators_high %u", i, high);
        if (state != SNIC_SLOT_FREE && (SNIC_SLOT_PID(word) == 0 || SNIC_SLOT_EPOCH(word) == 0))
            violation(c, "initiator %u: no pid or no epoch", i);
        if (state == SNIC_SLOT_IN_USE && (!is_text(slot->name) || slot->incarnation == 0))
            violation(c, "initiator %u: bad name or incarnation", i);
        for (int p = 0; p < SNIC_PINS; p++) {
            uint64_t pin = atomic_load(&slot->pins[p]);
            if (pin != 0 && state == SNIC_SLOT_FREE)
                violation(c, "initiator %u is free and holds a pin", i);
            /* A slot taken over from the dead: its pins are cleared first thing after the claim. */
            if (pin != 0 && state == SNIC_SLOT_IN_USE)
                check_pin(c, s, i, pin);
        }
    }
}

static void check_registrations(struct check *c, const struct snic_segment *s)
{
    for (uint32_t i = 0; i < s->registrations_max; i++) {
        const struct snic_registration *r = &s->registrations[i];
        if (!(atomic_load(&r->generation) & 1))
            continue;
        const snic_location_t *l = &r->location;
        uint32_t number = l->memory & 0xffffu;
        if (r->rights > 7 || r->secret == 0)
            violation(c, "registration %u: rights 0x%x or no secret", i, r->rights);
        if (l->kind == 2) {
            if (l->length > UINT64_MAX - l->offset)
                violation(c, "registration %u: foreign range wraps around", i);
        } else if (l->kind != 1 || number >= s->memories_max) {
            violation(c, "registration %u: kind %u, memory %u", i, l->kind, number);
        } else {
            const struct snic_memory *m = &s->memories[number];
            uint32_t state = atomic_load_explicit(&s->header->state, memory_order_acquire);
            int gone = atomic_load(&m->generation) != l->memory >> 16;
            /* close frees the memories without a look at the registrations */
            if (gone && state == SNIC_STATE_OPEN)
                violation(c, "registration %u: memory %u is gone", i, number);
            else if (!gone && (l->offset > m->length || l->length > m->length - l->offset))
                violation(c, "registration %u: outside memory %u", i, number);
        }
    }
}

/* What is wrong with memory k, or NULL. */
static const char *memory_fault(const struct check *c, const struct snic_memory *m, uint32_t k)
{
    char file[SNIC_FILE_MAX];
    struct stat st;
    snic_memory_file(file, sizeof file, c->file, k);
    int exists = fstatat(c->folder_fd, file, &st, AT_SYMLINK_NOFOLLOW) == 0;
    int valid = atomic_load(&m->generation) & 1;
    if (valid && m->length > m->mapped)
        return "longer than its file";
    if (valid && (!exists || st.st_ino != m->inode || (uint64_t)st.st_size < m->mapped))
        return "its file is gone, too short or another one";
    if (!valid && exists &&
        snic_process_liveness(c->segment->pid, c->segment->start_time) != SNIC_DEAD)
        return "not in use, and has a file";
    return NULL;
}

static void check_memories(struct check *c, const struct snic_segment *s)
{
    for (uint32_t k = 0; k < s->memories_max; k++) {
        const char *fault = memory_fault(c, &s->memories[k], k);
        /* A living owner may be allocating or freeing this moment: a fault is what stays. */
        for (int i = 0; i < 50 && fault; i++) {
            snic_sleep_us(1000);
            fault = memory_fault(c, &s->memories[k], k);
        }
        if (fault)
            violation(c, "memory %u: %s", k, fault);
    }
}

static void check_bounce(struct check *c, const struct snic_segment *s)
{
    for (uint32_t i = 0; s->bounce && i < SNIC_BOUNCE_SLOTS; i++) {
        uint32_t owner = atomic_load(&s->bounce[i].owner);
        if (owner != 0 && SNIC_TOKEN_SLOT(owner) >= s->initiators_max)
            violation(c, "bounce slot %u: owner %x", i, owner);
        if (atomic_load(&s->bounce[i].state) > SNIC_BOUNCE_BUSY)
            violation(c, "bounce slot %u: state", i);
    }
}

/* ---- the shm personality ---- */

static void check_ring(struct check *c, const struct shm_area *a, uint32_t record, uint8_t *ring)
{
    struct shm_credit *credit = (struct shm_credit *)ring;
    uint64_t consumed = atomic_load(&credit->consumed);
    uint32_t published = 0;
    for (uint32_t i = 0; i < a->credits; i++) {
        struct shm_slot *slot =
            (struct shm_slot *)(ring + a->credit_bytes + (uint64_t)i * a->slot_bytes);
        uint32_t flag = atomic_load(&slot->flag);
        if (flag != 0 && credit->returned[i] >= a->credits)
            violation(c, "record %u: returned slot %u of %u", record, credit->returned[i],
                      a->credits);
        if (flag == 0)
            continue;
        /* No message is further ahead than the credits allow. */
        uint32_t ahead = flag - (uint32_t)consumed;
        if (ahead > a->credits && ahead < 0x80000000u)
            violation(c, "record %u: slot %u has message %u, %u ahead", record, i, flag, ahead);
        if (ahead >= 1 && ahead <= a->credits) {
            published++;
            if (slot->kind == SHM_KIND_MESSAGE
                    ? slot->length > a->message_max
                    : slot->kind != SHM_KIND_NOTIFY || slot->length != SHM_NOTIFY_BYTES)
                violation(c, "record %u: slot %u, kind %u, length %u", record, i, slot->kind,
                          slot->length);
        }
    }
    if (published > a->credits)
        violation(c, "record %u: %u messages with %u credits", record, published, a->credits);
}

static void check_shm(struct check *c, const struct snic_segment *s)
{
    const struct shm_area *a = (const struct shm_area *)s->area;
    if (atomic_load(&s->header->state) == SNIC_STATE_CREATING)
        return; /* the personality prepares its area before it publishes */
    if (s->area_bytes < SHM_AREA_BYTES || a->magic != SHM_AREA_MAGIC ||
        a->version != SHM_AREA_VERSION)
        return violation(c, "shm area: magic or version");
    if (a->credits == 0 || a->credits > SHM_CREDITS_LIMIT || a->message_max > SHM_MESSAGE_LIMIT ||
        a->slot_bytes != SHM_SLOT_BYTES(a->message_max) ||
        a->credit_bytes != SHM_CREDIT_BYTES(a->credits) ||
        a->ring_bytes != a->credit_bytes + (uint64_t)a->credits * a->slot_bytes ||
        a->connections_offset > s->area_bytes || a->rings_offset > s->area_bytes ||
        a->connections_max > (s->area_bytes - a->connections_offset) / SHM_CONNECTION_BYTES ||
        a->connections_max > (s->area_bytes - a->rings_offset) / a->ring_bytes)
        return violation(c, "shm area: geometry");
    struct shm_connection *r = (struct shm_connection *)(s->area + a->connections_offset);
    for (uint32_t i = 0; i < a->connections_max; i++) {
        uint64_t control = atomic_load(&r[i].control);
        uint32_t phase = SHM_PHASE(control), token = SHM_TOKEN(control);
        uint32_t done = (uint32_t)control & (SHM_LOCAL_DONE | SHM_REMOTE_DONE);
        if (phase > SHM_WITHDRAWN || (control & 0xff00u))
            violation(c, "record %u: control word %llx", i, (unsigned long long)control);
        if (phase == SHM_FREE
                ? token != 0 || done
                : token != SNIC_LOCK_SELF && SNIC_TOKEN_SLOT(token) >= s->initiators_max)
            violation(c, "record %u: phase %u, token %x", i, phase, token);
        if (phase == SHM_OPEN && token == SNIC_LOCK_SELF)
            violation(c, "record %u is open and has no writer", i);
        if (done == (SHM_LOCAL_DONE | SHM_REMOTE_DONE))
            violation(c, "record %u: both ends are done and it is not free", i);
        if (phase == SHM_REQUESTED && r[i].private_length > SHM_PRIVATE_MAX)
            violation(c, "record %u: %u bytes of private data", i, r[i].private_length);
        if (phase == SHM_OPEN)
            check_ring(c, a, i, s->area + a->rings_offset + i * a->ring_bytes);
    }
}

/* ---- files ---- */

static void check_segment(struct check *c, const char *file)
{
    struct snic_header copy;
    struct snic_segment s;
    struct stat st;
    _Atomic uint32_t damage = 0;
    char why[SNIC_WHY_MAX] = "header";
    c->file = file;
    int fd = openat(c->folder_fd, file, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    ssize_t n = pread(fd, &copy, sizeof copy, 0);
    if (n != (ssize_t)sizeof copy || fstat(fd, &st) != 0) {
        violation(c, "too short for a segment");
    } else if (snic_segment_check(&copy, (uint64_t)st.st_size, c->pid_namespace, &s, why,
                                  sizeof why) != 0) {
        violation(c, "%s", why);
    } else if (snic_map_file(fd, s.bytes, 0, &damage, SNIC_DAMAGE_SEGMENT, &s.base) == 0) {
        snic_segment_point(&s, &copy);
        c->segment = &s;
        if (strncmp(copy.name, file, SNIC_NAME_BYTES) != 0)
            violation(c, "its header says another name");
        if (atomic_load(&s.header->state) > SNIC_STATE_CLOSED)
            violation(c, "state %u", atomic_load(&s.header->state));
        check_initiators(c, &s);
        check_registrations(c, &s);
        check_memories(c, &s);
        check_bounce(c, &s);
        if (copy.personality == SNIC_SHM && s.area_bytes >= 8 &&
            *(uint64_t *)s.area == SHM_AREA_MAGIC)
            check_shm(c, &s);
        if (atomic_load(&damage))
            violation(c, "was cut while it was checked");
        snic_unmap_file(s.base, s.bytes, &damage);
    }
    close(fd);
}

int snic_check(const char *directory, const char *job, char *text, size_t text_size)
{
    char path[SNIC_PATH_MAX];
    uint32_t pid;
    uint64_t start;
    struct check c = {.text = text, .size = text_size};
    if (text && text_size)
        text[0] = 0;
    if (!snic_name_is_valid(job, SNIC_NAME_MAX - 1))
        return -EINVAL;
    if (snic_process_self(&pid, &start, &c.pid_namespace) != 0)
        return -ENOSYS;
    snprintf(path, sizeof path, "%s/verbena-%u/%s", snic_directory(directory), (unsigned)geteuid(),
             job);
    DIR *d = opendir(path);
    if (!d)
        return -errno;
    c.folder_fd = dirfd(d);
    struct dirent *e;
    while ((e = readdir(d)))
        if (e->d_name[0] != '.' && !strchr(e->d_name, '+'))
            check_segment(&c, e->d_name);
    closedir(d);
    return c.violations;
}
