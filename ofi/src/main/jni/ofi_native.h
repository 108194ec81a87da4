/*
 * libfabric calls with flat arguments, for Java. libfabric is opened at run time; what its headers
 * define as inline functions is compiled into these calls, the rest goes through a table of
 * functions.
 *
 * Every function returns a value >= 0, or the negated code of rdma/fi_errno.h. Addresses and
 * objects travel as integers.
 */
#ifndef VERBENA_OFI_NATIVE_H
#define VERBENA_OFI_NATIVE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
/* ---- constants of the headers; ofi_layout.c compares them with the compiler's ---- */

#define VFI_MSG (1LL << 1)
#define VFI_RMA (1LL << 2)
#define VFI_ATOMIC (1LL << 4)
#define VFI_READ (1LL << 8)
#define VFI_WRITE (1LL << 9)
#define VFI_RECV (1LL << 10)
#define VFI_SEND (1LL << 11)
#define VFI_REMOTE_READ (1LL << 12)
#define VFI_REMOTE_WRITE (1LL << 13)

#define VFI_MR_LOCAL (1 << 2)
#define VFI_MR_VIRT_ADDR (1 << 4)
#define VFI_MR_ENDPOINT (1 << 9)

#define VFI_EAGAIN 11
#define VFI_EAVAIL 259
#define VFI_ENODATA 61

#define VFI_SOCKADDR_IN 2
#define VFI_SOCKADDR_IN6 3

/* One entry of a completion queue (struct fi_cq_msg_entry). */
#define VFI_CQ_BYTES 24
#define VFI_CQ_CONTEXT 0
#define VFI_CQ_LENGTH 16

/* What vfi_cq_error writes: context, flags, length, error, the provider's error. */
#define VFI_ERROR_BYTES 40
#define VFI_ERROR_CODE 24
#define VFI_ERROR_PROVIDER 32

/* Bytes that a provider may use of an operation's context (struct fi_context2). */
#define VFI_CONTEXT_BYTES 64

/* Numbers of an info. */
#define VFI_INFO_CAPS 0
#define VFI_INFO_MR_MODE 2
#define VFI_INFO_ADDRESS_FORMAT 3
#define VFI_INFO_MESSAGE_MAX 4
#define VFI_INFO_INJECT_MAX 5
#define VFI_INFO_AUTO_PROGRESS 8
/* Texts of an info. */
#define VFI_TEXT_PROVIDER 0
#define VFI_TEXT_FABRIC 1
#define VFI_TEXT_DOMAIN 2
/* clang-format on */

/* Rows of constants, for a comparison when the library is loaded; NULL behind the last. */
const char *vfi_layout_name(int32_t row);
int64_t vfi_layout_value(int32_t row);

/* ---- the library ---- */

/* Opens libfabric; the value is its version, major * 65536 + minor; else `why` says why not. */
int32_t vfi_open(const char *path, char *why, uint32_t why_size);
/* Text of a code, positive or negated. */
const char *vfi_error_text(int32_t code);

/* ---- what there is: reliable datagram endpoints with these capabilities ---- */

/*
 * The first info; the others follow by vfi_info_next. Empty texts: any. Serial: calls for objects
 * of one domain follow one another, so that the provider needs no locks.
 */
int64_t vfi_info(const char *provider, const char *node, const char *service, uint64_t caps,
                 uint32_t is_serial);
/* Of one more endpoint than the first: 0 behind the last. */
int64_t vfi_info_next(uint64_t info);
/* A copy of this one alone. */
int64_t vfi_info_copy(uint64_t info);
int64_t vfi_info_number(uint64_t info, uint32_t number);
const char *vfi_info_text(uint64_t info, uint32_t text);
/* A list from its first, or a copy. */
void vfi_info_free(uint64_t info);

/* ---- objects ---- */

int64_t vfi_fabric(uint64_t info);
int64_t vfi_domain(uint64_t fabric, uint64_t info);
int64_t vfi_av(uint64_t domain, uint64_t count);
/* With or without a descriptor to sleep at. */
int64_t vfi_cq(uint64_t domain, uint64_t size, uint32_t has_descriptor);
/* The descriptor, or negative. */
int32_t vfi_cq_descriptor(uint64_t cq);
int64_t vfi_counter(uint64_t domain);
int64_t vfi_counter_read(uint64_t counter);
int64_t vfi_endpoint(uint64_t domain, uint64_t info);
int32_t vfi_bind_av(uint64_t endpoint, uint64_t av);
int32_t vfi_bind_cq(uint64_t endpoint, uint64_t cq, uint64_t flags);
int32_t vfi_bind_counter(uint64_t endpoint, uint64_t counter, uint64_t flags);
int32_t vfi_enable(uint64_t endpoint);
/* Writes the endpoint's name; its length. */
int32_t vfi_name(uint64_t endpoint, uint64_t name, uint32_t capacity);
/* The number by which operations name this peer. */
int64_t vfi_av_insert(uint64_t av, uint64_t name);
/* Registers; an endpoint of 0 unless the provider binds memory to one. */
int64_t vfi_mr(uint64_t domain, uint64_t endpoint, uint64_t address, uint64_t length,
               uint64_t access, uint64_t key);
uint64_t vfi_mr_key(uint64_t mr);
uint64_t vfi_mr_descriptor(uint64_t mr);
/* Any object. */
int32_t vfi_close(uint64_t object);

/* ---- data ---- */

int32_t vfi_send(uint64_t endpoint, uint64_t address, uint64_t length, uint64_t descriptor,
                 uint64_t peer, uint64_t context);
/* Two pieces as one message. */
int32_t vfi_send2(uint64_t endpoint, uint64_t address, uint64_t length, uint64_t descriptor,
                  uint64_t address2, uint64_t length2, uint64_t descriptor2, uint64_t peer,
                  uint64_t context);
int32_t vfi_inject(uint64_t endpoint, uint64_t address, uint64_t length, uint64_t peer);
/* From any peer. */
int32_t vfi_recv(uint64_t endpoint, uint64_t address, uint64_t length, uint64_t descriptor,
                 uint64_t context);
/* Completes when the bytes are placed. */
int32_t vfi_write(uint64_t endpoint, uint64_t address, uint64_t length, uint64_t descriptor,
                  uint64_t peer, uint64_t remote, uint64_t key, uint64_t context);
int32_t vfi_read(uint64_t endpoint, uint64_t address, uint64_t length, uint64_t descriptor,
                 uint64_t peer, uint64_t remote, uint64_t key, uint64_t context);
/* 8 bytes; operand, expected and result stay in use until the completion. */
int32_t vfi_fetch_add(uint64_t endpoint, uint64_t operand, uint64_t result, uint64_t descriptor,
                      uint64_t peer, uint64_t remote, uint64_t key, uint64_t context);
int32_t vfi_compare_swap(uint64_t endpoint, uint64_t operand, uint64_t expected, uint64_t result,
                         uint64_t descriptor, uint64_t peer, uint64_t remote, uint64_t key,
                         uint64_t context);
/* Entries read, 0 if there is none, -VFI_EAVAIL if an error is next. */
int32_t vfi_cq_read(uint64_t cq, uint64_t entries, uint32_t count);
/* Takes the error that is next. */
int32_t vfi_cq_error(uint64_t cq, uint64_t entry);
/* Lets the provider work; takes nothing. */
void vfi_progress(uint64_t cq);

/* ---- sleeping ---- */

int32_t vfi_bell(void);
void vfi_bell_ring(int32_t bell);
/* 1: the queue is empty, and what arrives from now on makes its descriptor readable. */
int32_t vfi_may_sleep(uint64_t fabric, uint64_t cq);
/* Sleeps until the queue has an entry, the bell rings or the time is over. 1: it may have one. */
int32_t vfi_sleep(int32_t descriptor, int32_t bell, int64_t ns);

/* ---- sockets: a set of TCP sockets that is readable once something happens at one of them ---- */

#define VFI_SOCKET_NAME_BYTES 32
/* An empty set, or negative. */
int32_t vfi_sockets(void);
/*
 * Adds the sockets of this process at the address of the first name and those connected to one of
 * the others; how many there are, or negative. Each name is a socket address at the beginning of
 * VFI_SOCKET_NAME_BYTES.
 */
int32_t vfi_sockets_find(int32_t set, uint64_t names, uint32_t count);
/* 1: nothing has happened since the last call. */
int32_t vfi_sockets_rest(int32_t set);

/* ---- beacons: TCP sockets at an endpoint's address ---- */

/* The socket, at the address that the endpoint's name is. Peers that connect learn that it is. */
int32_t vfi_beacon(uint64_t name, uint32_t length);
/* Lets those go who have connected. */
void vfi_beacon_drain(int32_t beacon);

/* A bell, a set of sockets or a beacon. */
void vfi_close_descriptor(int32_t descriptor);

#ifdef __cplusplus
}
#endif

#endif
