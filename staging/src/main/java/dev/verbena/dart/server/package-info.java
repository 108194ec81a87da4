/**
 * How a server takes messages out of processes: changes with what t1 and t2 do, and with how
 * servers share processes.
 *
 * <p>t1 ({@code PullAgent}) owns the transport. {@code ServerRegistry} and {@code MasterAdmission}
 * connect and admit, {@code ServedClients} keeps the processes, {@code HeaderQueue} their headers;
 * {@code PartPuller} pulls part after part into registered buffers. t2 ({@code CompletionAgent})
 * orders what was pulled; t3 ({@code StreamAgent}) hands it to {@code dart.stream}, or to a
 * receiver in the same process, see {@code FileSink}. What returns to processes is put by {@code
 * ReversePuts}.
 *
 * <p>{@code ServerShared} has what the three share: queues with one producer and one consumer,
 * flags and counts with one writer each. {@code ServerEngine} hosts the agents.
 */
package dev.verbena.dart.server;
