/**
 * Portals 3.3 for Java: match lists, memory descriptors and event queues.
 *
 * <p>Portals is the network interface of the Cray XT machines. Its idea: the <em>target</em>
 * decides where bytes land, before they come, and its processor does nothing when they come.
 *
 * <pre>
 *   a put or get names:   process   portal index   match bits   (offset)
 *                            |           |              |
 *   the target's interface   v           |              |
 *   +-----------------------------------------------------------------------------+
 *   | portal table           |  match list of index 4: the first that accepts wins |
 *   |   0                    v                                                    |
 *   |   1       4 ---&gt; [entry: from 7.*, bits 0xBEEF] ---&gt; [entry: anybody, any bits] |
 *   |   ...                  |                                 |                  |
 *   |   63          descriptor: 4 KiB, puts,          descriptor: 1 MiB, puts,    |
 *   |               once, then unlink                 one behind the other        |
 *   |                        |                                 |                  |
 *   |                      memory                            memory               |
 *   |                        +----------&gt; event queue &lt;--------+                  |
 *   +-----------------------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li>{@link dev.verbena.portals.MatchEntry}, <em>who and what</em>: which senders (node and
 *       process, or any) and which 64 match bits it takes. Bits that are set in {@code ignoreBits}
 *       are not compared. An entry without a descriptor takes nothing.
 *   <li>{@link dev.verbena.portals.MemoryDescriptor}, <em>where and how</em>: a region, which of
 *       put and get it accepts, how often ({@code threshold}), whether the sender names the offset
 *       or messages follow one another ({@code remoteOffset}), whether what is too long is cut
 *       ({@code truncate}), when it is full ({@code spaceMin}), whether it goes by itself when it
 *       is used up ({@code UNLINK}). A message that a descriptor refuses goes on to the next entry.
 *   <li>{@link dev.verbena.portals.EventQueue}, <em>what happened</em>: START and END of each put
 *       and get at the target; SEND, ACK and REPLY at the initiator; UNLINK as a descriptor's last
 *       event. A full queue loses its oldest events and says so.
 *   <li>A message that no entry takes is dropped and counted ({@link
 *       dev.verbena.portals.PortalsRegister#DROP_COUNT}); nobody is notified. A put may ask for an
 *       acknowledgement: its absence is how a sender learns of a drop.
 *   <li>{@link dev.verbena.portals.PortalsInterface#access} says who may send at all: every request
 *       names an entry of the access control table.
 * </ul>
 *
 * <p>A typical server posts a few large descriptors with equal bits, locally managed, that unlink
 * themselves: requests of all clients fill one after the other, and each that is full is posted
 * again at the end of the list. A typical receiver of one announced message posts an entry with
 * unique bits and threshold 1 at the head. A typical exposed array is an entry with a remote offset
 * and no limit, and needs no events at all.
 *
 * <p>Start with {@link dev.verbena.portals.PortalsInterface#open}. Everything else is made by the
 * interface and owned by its maker:
 *
 * <pre>{@code
 * try (PortalsInterface ni = PortalsInterface.open(new PortalsInterfaceContext().job("demo"));
 *         EventQueue queue = ni.eventQueue(64);
 *         PortalsMemory memory = ni.allocate(4096);
 *         MatchEntry entry = ni.attach(4, new MatchEntryContext().matchBits(0xBEEF).descriptor(
 *                 new MemoryDescriptorContext().memory(memory).queue(queue).acceptPut(true)))) {
 *     PortalsEventFlyweight event = new PortalsEventFlyweight();
 *     while (queue.await(event, 1_000_000_000L) != EventQueue.EMPTY) {
 *         System.out.println(event);
 *     }
 * }
 * }</pre>
 *
 * <p>{@code PortalsMailbox} in the module of examples is a whole program.
 *
 * <p>The NIC is emulated: the initiator's call does the target's work, so that when a put has
 * returned, its bytes and events are at the target. Calls therefore answer what became of the
 * message ({@link dev.verbena.portals.PortalsOutcome}); a real NIC could not, and a portable
 * program waits for the events instead.
 *
 * <p>Threads: an interface and everything made by it belong to one thread. Control calls throw
 * {@link dev.verbena.portals.PortalsException}; what moves data answers codes and allocates
 * nothing. Closing is in reverse order of making; an interface that still has objects refuses to be
 * closed, and {@link dev.verbena.portals.PortalsInterface#closeAll} takes them along.
 */
package dev.verbena.portals;
