/*
 * Completion channels: a descriptor for poll() that becomes readable when an armed queue gets an
 * event. Events come from other processes, which cannot write to a descriptor of ours; so a thread
 * of the channel sleeps on the doorbell while a queue is armed, and without limit while none is.
 */
#define _GNU_SOURCE
#include "gni_library.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct gni_comp_chan {
    struct gni_comp_chan *next;
    void *handle;
    struct gni_nic *nic;
    int fd;          /* counts the queues in `fired` */
    uint32_t cqs;    /* attached */
    uint32_t armed;  /* of them */
    uint32_t ending; /* 1: the thread is to end */
    pthread_cond_t changed;
    pthread_t thread;
    struct gni_cq *fired, **fired_end; /* linked by next_fired */
};

/* The NIC's lock is held. */
static void fire(struct gni_comp_chan *chan, struct gni_cq *cq)
{
    uint64_t one = 1;

    cq->armed = 0;
    chan->armed--;
    if (cq->is_fired) /* armed again before it was fetched */
        return;
    cq->is_fired = 1;
    cq->next_fired = NULL;
    *chan->fired_end = cq;
    chan->fired_end = &cq->next_fired;
    while (write(chan->fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

static void fire_ready(struct gni_comp_chan *chan)
{
    for (struct gni_cq *cq = chan->nic->cqs; cq != NULL; cq = cq->next)
        if (cq->chan == chan && cq->armed && gni_cq_waits(cq))
            fire(chan, cq);
}

static void *watch(void *argument)
{
    struct gni_comp_chan *chan = argument;
    struct gni_nic *nic = chan->nic;

    gni_enter_slowly(&nic->lock);
    while (!chan->ending) {
        uint32_t bell = snic_doorbell(nic->snic);

        fire_ready(chan);
        if (chan->armed == 0) {
            gni_lock_wait(&nic->lock, &chan->changed);
            continue;
        }
        gni_leave_slowly(&nic->lock);
        snic_wait(nic->snic, bell, GNI_SLICE_NS);
        gni_enter_slowly(&nic->lock);
    }
    gni_leave_slowly(&nic->lock);
    return NULL;
}

gni_return_t GNI_CompChanCreate(gni_nic_handle_t nic_hndl, gni_comp_chan_handle_t *chan_hndl)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    struct gni_comp_chan *chan;

    if (nic == NULL || chan_hndl == NULL)
        return GNI_RC_INVALID_PARAM;
    chan = calloc(1, sizeof(*chan));
    if (chan == NULL)
        return GNI_RC_ERROR_NOMEM;
    chan->nic = nic;
    chan->fired_end = &chan->fired;
    chan->fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    chan->handle = chan->fd >= 0 ? gni_handle_give(GNI_KIND_CHAN, chan) : NULL;
    pthread_cond_init(&chan->changed, NULL);
    if (chan->handle == NULL || pthread_create(&chan->thread, NULL, watch, chan) != 0) {
        if (chan->handle != NULL)
            gni_handle_take(chan->handle);
        if (chan->fd >= 0)
            close(chan->fd);
        free(chan);
        return GNI_RC_ERROR_RESOURCE;
    }
    gni_enter(&nic->lock);
    chan->next = nic->chans;
    nic->chans = chan;
    gni_leave(&nic->lock);
    *chan_hndl = (gni_comp_chan_handle_t)chan->handle;
    return GNI_RC_SUCCESS;
}

/* The NIC's lock is not held; the channel is in no list any more. */
static void end(struct gni_comp_chan *chan)
{
    struct gni_nic *nic = chan->nic;

    gni_enter(&nic->lock);
    chan->ending = 1;
    pthread_cond_signal(&chan->changed);
    gni_leave(&nic->lock);
    snic_ring_self(nic->snic);
    pthread_join(chan->thread, NULL);
    gni_handle_take(chan->handle);
    pthread_cond_destroy(&chan->changed);
    close(chan->fd);
    free(chan);
}

void gni_channels_close(struct gni_nic *nic)
{
    while (nic->chans != NULL) {
        struct gni_comp_chan *chan = nic->chans;

        nic->chans = chan->next;
        end(chan);
    }
}

gni_return_t GNI_CompChanDestroy(gni_comp_chan_handle_t chan_hndl)
{
    struct gni_comp_chan *chan = gni_handle_find(chan_hndl, GNI_KIND_CHAN);
    struct gni_nic *nic;

    if (chan == NULL)
        return GNI_RC_INVALID_PARAM;
    nic = chan->nic;
    gni_enter(&nic->lock);
    if (chan->cqs != 0) {
        gni_leave(&nic->lock);
        return GNI_RC_ERROR_RESOURCE;
    }
    GNI_UNLINK(nic->chans, chan, next);
    gni_leave(&nic->lock);
    end(chan);
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_CompChanFd(gni_comp_chan_handle_t chan_hndl, int *comp_chan_fd)
{
    struct gni_comp_chan *chan = gni_handle_find(chan_hndl, GNI_KIND_CHAN);

    if (chan == NULL || comp_chan_fd == NULL)
        return GNI_RC_INVALID_PARAM;
    *comp_chan_fd = chan->fd;
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_CompChanGetEvent(gni_comp_chan_handle_t chan_hndl, gni_cq_handle_t *cq_hndl)
{
    struct gni_comp_chan *chan = gni_handle_find(chan_hndl, GNI_KIND_CHAN);
    struct gni_cq *cq;
    uint64_t one;

    if (chan == NULL || cq_hndl == NULL)
        return GNI_RC_INVALID_PARAM;
    if (read(chan->fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
        return GNI_RC_NOT_DONE;
    gni_enter(&chan->nic->lock);
    cq = chan->fired;
    if (cq != NULL) {
        cq->is_fired = 0;
        chan->fired = cq->next_fired;
        if (chan->fired == NULL)
            chan->fired_end = &chan->fired;
        *cq_hndl = (gni_cq_handle_t)cq->handle;
    }
    gni_leave(&chan->nic->lock);
    return cq != NULL ? GNI_RC_SUCCESS : GNI_RC_NOT_DONE;
}

gni_return_t GNI_CqAttachCompChan(gni_cq_handle_t cq_hndl, gni_comp_chan_handle_t chan_hndl)
{
    struct gni_cq *cq = gni_handle_find(cq_hndl, GNI_KIND_CQ);
    struct gni_comp_chan *chan = gni_handle_find(chan_hndl, GNI_KIND_CHAN);
    gni_return_t code = GNI_RC_SUCCESS;

    if (cq == NULL || chan == NULL || cq->nic != chan->nic || !(cq->mode & GNI_CQ_BLOCKING))
        return GNI_RC_INVALID_PARAM;
    gni_enter(&cq->nic->lock);
    if (cq->chan != NULL) {
        code = GNI_RC_INVALID_STATE;
    } else {
        cq->chan = chan;
        chan->cqs++;
    }
    gni_leave(&cq->nic->lock);
    return code;
}

gni_return_t GNI_CqArmCompChan(gni_cq_handle_t *cq_hndls, uint32_t num_cqs)
{
    if (cq_hndls == NULL || num_cqs == 0)
        return GNI_RC_INVALID_PARAM;
    for (uint32_t i = 0; i < num_cqs; i++) {
        struct gni_cq *cq = gni_handle_find(cq_hndls[i], GNI_KIND_CQ);

        if (cq == NULL || cq->chan == NULL)
            return GNI_RC_INVALID_PARAM;
    }
    for (uint32_t i = 0; i < num_cqs; i++) {
        struct gni_cq *cq = gni_handle_find(cq_hndls[i], GNI_KIND_CQ);
        struct gni_comp_chan *chan = cq->chan;

        gni_enter(&chan->nic->lock);
        if (!cq->armed) {
            cq->armed = 1;
            chan->armed++;
            /* What lies there already would ring no bell. */
            if (gni_cq_waits(cq))
                fire(chan, cq);
            pthread_cond_signal(&chan->changed);
        }
        gni_leave(&chan->nic->lock);
    }
    return GNI_RC_SUCCESS;
}

void gni_channel_forget(struct gni_cq *cq)
{
    struct gni_comp_chan *chan = cq->chan;

    if (chan == NULL)
        return;
    chan->cqs--;
    chan->armed -= cq->armed;
    GNI_UNLINK(chan->fired, cq, next_fired);
    chan->fired_end = &chan->fired;
    while (*chan->fired_end != NULL)
        chan->fired_end = &(*chan->fired_end)->next_fired;
    cq->is_fired = 0;
    cq->chan = NULL;
}
