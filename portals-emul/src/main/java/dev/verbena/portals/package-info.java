/**
 * Portals 3.3 for Java: match lists, memory descriptors and event queues.
 *
 * <p>Portals is the network interface of the Cray XT machines. Its idea: the <em>target</em>
 * decides where bytes land. A process posts <em>match entries</em> ({@link
 * dev.verbena.portals.MatchEntry}) on lists that hang on a table; an entry says which senders and
 * which 64 match bits it takes, and holds a <em>memory descriptor</em> ({@link
 * dev.verbena.portals.MemoryDescriptor}) that says where the bytes go, how many operations it takes
 * and what happens afterwards. A put or get names a process, a table index and match bits; the
 * first entry that accepts it wins, and without one the message is dropped and counted, nothing
 * else. What happened is logged in <em>event queues</em> ({@link dev.verbena.portals.EventQueue}).
 *
 * <p>Start with {@link dev.verbena.portals.PortalsInterface#open}. Everything else is made by the
 * interface:
 *
 * <pre>{@code
 * try (PortalsInterface ni = PortalsInterface.open(new PortalsInterfaceContext().job("demo"));
 *         EventQueue queue = ni.eventQueue(64);
 *         PortalsMemory memory = ni.allocate(4096)) {
 *     MatchEntry entry = ni.attach(4, PortalsInterface.ANY, PortalsInterface.ANY, 0xBEEF, 0,
 *             MatchEntry.RETAIN, MatchEntry.AFTER);
 *     MemoryDescriptor descriptor = entry.attach(
 *             new MemoryDescriptorContext().memory(memory).queue(queue).acceptPut(true),
 *             MemoryDescriptor.RETAIN);
 * }
 * }</pre>
 *
 * <p>The card is emulated: the initiator's call does the target's work, so that when a put has
 * returned, its bytes and events are at the target. Calls therefore answer what became of the
 * message ({@link dev.verbena.portals.PortalsOutcome}); a real card could not, and a portable
 * program waits for the events instead.
 *
 * <p>Threads: an interface and everything made by it belong to one thread. Control calls throw
 * {@link dev.verbena.portals.PortalsException}; what moves data answers codes and allocates
 * nothing.
 */
package dev.verbena.portals;
