/**
 * The transport {@code gni://}: the contract of {@code dev.verbena.transport} in the words of uGNI.
 *
 * <p>Addresses: {@code gni://host:port/name?ptag=n&cookie=n&incarnation=hex}. The port is the
 * instance of the process in the protection domain that tag and cookie name.
 *
 * <p>Each transport is one communication domain with one NIC handle. Transfers of up to 4,096 bytes
 * are FMA posts, longer ones RDMA posts (BTE); gets whose bytes do not come as whole words of 4 go
 * through a buffer. A message is a short message (SMSG) to a mailbox for the connection; {@code
 * putNotify} is a put and, once its global event is there, a short message that names the place.
 * Atomics are AMOs. All that peers write is told in one destination queue whose events carry the
 * connection; when it overruns, all mailboxes are looked at.
 *
 * <p>Connections come about through control mailboxes ({@link
 * dev.verbena.ugni.transport.ControlMailbox}): memory in which anybody of the domain may leave a
 * record. Where a peer's control mailbox is one learns by a datagram, which that peer has posted
 * beforehand.
 *
 * <p>The calls of {@code gni_ext.h} are needed for sleeping, for incarnations, and for knowing
 * whether a peer lives: the library is this project's.
 */
package dev.verbena.ugni.transport;
