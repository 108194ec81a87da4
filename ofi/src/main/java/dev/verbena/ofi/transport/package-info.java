/**
 * The transport {@code ofi://}: the contract of {@code dev.verbena.transport} over reliable
 * datagram endpoints of libfabric.
 *
 * <p>Each transport is one endpoint with one completion queue. Messages and records between
 * transports are sends; {@code put} is a write with {@code FI_DELIVERY_COMPLETE}, {@code get} a
 * read, atomics are fetching atomics. {@code putNotify} is a write and, once it has ended, a record
 * that names the place.
 *
 * <p>Some providers break the network connection when a peer uses a key that is gone. So a
 * descriptor names a registration by a number of the transport's own, and who uses it first asks
 * the owner for the provider's key and the range ({@link dev.verbena.ofi.transport.RemoteKey}). The
 * owner of a region that closes tells those who asked, and keeps memory of its own until they have
 * answered.
 *
 * <p>libfabric does not say that a peer is dead. A thread of each transport sends a short record to
 * every connected peer ({@link dev.verbena.ofi.transport.Heartbeats}); who is silent for the peer
 * timeout is lost. Its operations end with {@code PEER_DEAD}; what the provider still holds of them
 * is not used again before the provider gives it back.
 */
package dev.verbena.ofi.transport;
