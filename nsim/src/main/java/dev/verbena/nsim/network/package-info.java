/**
 * The model of the network: messages, the network interfaces of nodes, routers, cables, at the
 * level of packets.
 *
 * <p>A message is a put, a get or the answer to one. The interface of its node reads it from memory
 * packet by packet (a server of a given rate), sends packets while the first router has room for
 * them, and the interface at the other end writes them to memory. When all bytes of a put are there
 * it sends a control packet back. Only sizes travel.
 *
 * <p>Routers have queues at their inputs, one per virtual channel; cut-through is virtual: a packet
 * is given an output only when the whole of it has room behind it, so it never stops half-way, and
 * two numbers, the times of head and tail, say where each flit is. Per router a packet costs two
 * events: its head is ready for an output, and its room is free again.
 *
 * <p>Times are whole picoseconds, durations of transfers are rounded up once per packet. Source:
 * nsim-ace.md, section 2.
 */
package dev.verbena.nsim.network;
