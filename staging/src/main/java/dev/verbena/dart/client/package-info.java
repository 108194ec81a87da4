/**
 * How a compute process is served by the service: changes with what a process does between a send
 * and its confirmation.
 *
 * <p>{@code DartClient} drives a {@code ClientEngine}, which checks arguments, waits and keeps
 * times. Behind it {@code ClientProtocol} is the state machine: registered, connected, moving to
 * another server, closed; {@code ServerEvents} hands the transport's events on. {@code
 * ClientFlight} has the messages that are not confirmed, each with its header in {@code
 * HeaderSlots}, its {@code Ticket} and its credit; {@code ClientInbox} the slots for what returns
 * from the receiver; {@code ClientCommands} the one command under way.
 *
 * <p>One thread, the user's. Nothing is done unless the user calls; user handlers run when no step
 * of the protocol is half done, see {@code TicketNotifications}.
 */
package dev.verbena.dart.client;
