/**
 * The transport {@code portals://}: the contract of {@code dev.verbena.transport} in the words of
 * Portals 3.3.
 *
 * <p>Addresses: {@code portals://job/nid.pid?incarnation=hex}.
 *
 * <p>Table entry 0 holds the receive queue: a list of three match entries with the same match bits,
 * each with a locally managed descriptor that unlinks itself when less than one slot is left
 * ({@link dev.verbena.portals.transport.ReceiveQueue}). A message is one put to it; its 64 header
 * bits name the connection and return credits. Credits of all connections together never exceed
 * what two descriptors hold, so that the three are never all full. Table entry 1 takes the system's
 * messages: connect, accept, disconnect, and zero-byte puts that return credits. The other entries
 * hold registrations: one match entry with unique match bits and a remotely managed descriptor
 * each, and a second one with an event queue for {@code putNotify}.
 *
 * <p>A remote descriptor is the match bits and the table index. Putting or getting with it is one
 * {@code PtlPutRegion} or {@code PtlGetRegion}; completion is the ACK or REPLY_END event here. When
 * nothing at the target takes the operation any more it is dropped there, and no such event comes:
 * {@code STALE_KEY}. The emulation does the target's work within the call, so that this is known at
 * once; on a real SeaStar it would be a timeout.
 *
 * <p>Not offered: atomics. Portals 3.3 has an atomic swap and nothing else.
 */
package dev.verbena.portals.transport;
