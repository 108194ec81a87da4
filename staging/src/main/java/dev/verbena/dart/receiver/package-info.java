/**
 * How messages arrive and are handed over: changes with what a receiver does with frames, and with
 * what it bounds.
 *
 * <p>{@code InboundConnections} accepts, {@code InboundSession} reads the frames of one server,
 * {@code MessageTaker} puts them to messages, {@code MessageDelivery} has each stored, handed over
 * and settled. {@code StreamTable} knows the streams of servers that come back, {@code
 * PartialMessages} bounds the memory of what is half received, {@code RankWatch} reports lost
 * processes, {@code ReverseOutlet} sends to processes.
 *
 * <p>One agent, {@code ReceiverEngine}, owns all of it. State that outlives a connection or the
 * receiver is in {@code dart.store}, steps are put together in {@code dart.step}.
 */
package dev.verbena.dart.receiver;
