/**
 * The provider {@code auto}: several transports behind one address, one of them for each peer.
 *
 * <p>A transport of {@code auto://} owns a part of each provider that works here, in the order of
 * {@link dev.verbena.auto.AutoTransportProvider#PREFERRED}. Its address says how each of them is
 * reached. A connection belongs to one part: {@code shm} for a peer in the same shared memory,
 * which {@link dev.verbena.auto.HostMark} decides, else the first that both ends have. The parts'
 * own connections do the rest; a handle is the part's handle with the part's number below it, so
 * that an operation finds its part without a table.
 *
 * <p>Memory is the first part's. It is registered with the others when a peer might need that: when
 * it is described, or used over another part. A descriptor holds what the peers of each part need
 * ({@code SharedKey}); the initiator makes its part's descriptor of it ({@code Translations}).
 *
 * <p>Events are polled from the parts in turn. The owner sleeps in the first part; the others ring,
 * or are looked at every 2 ms.
 */
package dev.verbena.auto;
