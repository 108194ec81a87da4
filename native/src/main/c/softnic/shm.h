/*
 * shm: the plain personality of softnic. Connections with private data, messages with credits, put
 * with notification. Put, get and atomics are those of softnic.h on shm_peer().
 *
 * One thread per shm_t. Nothing blocks except the copying itself. Functions return >= 0 or -errno.
 *
 * Two ways to use it. A C program calls shm_poll, which delivers everything. An implementation that
 * reads the rings itself (Java) calls shm_control for connection events, shm_view for the
 * addresses, and does the rest by the protocol written in shm_layout.h; it must then not call
 * shm_send, shm_put_notify, shm_poll or shm_release on that shm_t.
 */
#ifndef SOFTNIC_SHM_H
#define SOFTNIC_SHM_H

#include "softnic.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shm shm_t;

typedef struct shm_options {
    const char *directory;      /* as in snic_options_t */
    const char *job;            /* as in snic_options_t */
    const char *name;           /* as in snic_options_t */
    uint32_t message_max;       /* longest message; 0: 4096 */
    uint32_t credits;           /* messages in flight per connection, a power of two; 0: 16 */
    uint32_t connections_max;   /* 0: 256 */
    uint32_t receive_slots;     /* 0: 4096; caps connections_max at receive_slots / credits */
    uint32_t foreign;           /* enum snic_foreign */
    uint64_t peer_timeout_ns;   /* a peer stopped for this long is lost; 0: 5 s */
    uint32_t initiators_max;    /* as in snic_options_t */
    uint32_t registrations_max; /* as in snic_options_t */
} shm_options_t;

enum shm_event_type {
    SHM_EVENT_MESSAGE = 1, /* data, length, token: valid until shm_release(token) */
    SHM_EVENT_NOTIFY = 2,  /* tag, key_slot, key_generation, offset, bytes */
    SHM_EVENT_CONNECT_REQUEST =
        3, /* data, length: private data; peer: name; valid until the next call */
    SHM_EVENT_CONNECTED = 4,
    SHM_EVENT_CONNECT_FAILED =
        5, /* status: -ECONNREFUSED, -ETIMEDOUT, -ESRCH; the handle is gone */
    SHM_EVENT_DISCONNECTED =
        6, /* the peer ended it; everything it sent was delivered; the handle is gone */
    SHM_EVENT_PEER_LOST =
        7, /* status: -ESRCH died, -EHOSTDOWN stopped too long; the handle is gone */
    SHM_EVENT_PEER_DONE = 8 /* shm_control only: drain the ring, then call shm_finish */
};

typedef struct shm_event {
    uint32_t type;
    int32_t status;
    int64_t connection;
    uint64_t context;
    const void *data;
    uint64_t length;
    uint64_t token;
    uint32_t tag;
    uint32_t key_slot;
    uint32_t key_generation;
    uint32_t pad;
    uint64_t offset;
    uint64_t bytes;
    uint64_t incarnation;     /* CONNECT_REQUEST: the peer's */
    char peer[SNIC_NAME_MAX]; /* CONNECT_REQUEST: the peer's name */
} shm_event_t;

/* Not "shm_open": that is a function of POSIX. */
int shm_create(const shm_options_t *options, shm_t **shm, char *why, size_t why_size);
/* Disconnects everything in order, then closes the NIC. */
int shm_close(shm_t *shm);
snic_t *shm_nic(shm_t *shm);
uint32_t shm_connections_max(const shm_t *shm);

/* ---- connections ---- */
int shm_listen(shm_t *shm);
/* Ends with CONNECTED or CONNECT_FAILED. Answers a handle > 0, or at once -ENOENT, -ESTALE,
 * -ECONNREFUSED (does not listen), -EAGAIN (no record free here or there), -EMSGSIZE (private data
 * too long) and the codes of snic_attach. */
int64_t shm_connect(shm_t *shm, const char *name, uint64_t incarnation, const void *private_data,
                    uint32_t private_length, uint64_t context, int64_t timeout_ns, char *why,
                    size_t why_size);
/* Answer to a CONNECT_REQUEST. accept gives 0 and the connection is open (no event follows), or
 * -ENOTCONN: the peer gave up or died; the handle is gone then. */
int shm_accept(shm_t *shm, int64_t connection, uint64_t context);
int shm_reject(shm_t *shm, int64_t connection);
/* Orderly end; the handle is gone at once, unread messages are dropped. Also withdraws a connect.
 */
int shm_disconnect(shm_t *shm, int64_t connection);
/* The peer at the other end, for snic_write, snic_map and the like; NULL if the handle is unknown.
 */
snic_peer_t *shm_peer(shm_t *shm, int64_t connection);

/* ---- operations; done when they return ---- */
/* 0, -EAGAIN no credit, -ENOTCONN, -EMSGSIZE. */
int shm_send(shm_t *shm, int64_t connection, const void *data, uint32_t length);
/* -EAGAIN (nothing was written) when there is no credit for the notification. */
int shm_put_notify(shm_t *shm, int64_t connection, const snic_key_t *key, uint64_t offset,
                   const void *from, uint64_t length, uint32_t tag);

/* ---- events ---- */
/* Up to `limit` events. Never waits. */
int shm_poll(shm_t *shm, shm_event_t *events, int limit);
/* Gives a message's slot back, in any order. -EINVAL: no such message is out. */
int shm_release(shm_t *shm, uint64_t token);

/* ---- for implementations that read the rings themselves ---- */
/* Connection events only; after PEER_DONE and PEER_LOST the ring is to be drained and shm_finish
 * called. To sleep use snic_doorbell and snic_wait on shm_nic, at most 50 ms at a time. Cheap when
 * the bell did not change and no periodic look is due: call it when *control_bell changed and at
 * least every 10 ms or before sleeping. */
int shm_control(shm_t *shm, shm_event_t *events, int limit);
/* After PEER_DONE or PEER_LOST from shm_control, and draining. The handle is gone. */
int shm_finish(shm_t *shm, int64_t connection);

typedef struct shm_view {
    void *own_ring;  /* struct shm_credit of the ring we read */
    void *peer_ring; /* struct shm_credit of the ring we write, in the peer's segment */
    uint32_t own_credits;
    uint32_t own_slot_bytes;
    uint32_t own_credit_bytes;
    uint32_t own_message_max;
    uint32_t peer_credits;
    uint32_t peer_slot_bytes;
    uint32_t peer_credit_bytes;
    uint32_t peer_message_max;
    void *own_control;  /* uint64_t control word of our record */
    void *peer_control; /* and of the peer's */
    void *control_bell; /* uint32_t of our area */
    snic_view_t peer;   /* the peer's segment */
} shm_view_t;
/* Addresses of an open connection; valid until its handle is gone. */
int shm_view(shm_t *shm, int64_t connection, shm_view_t *view);

#ifdef __cplusplus
}
#endif
#endif
