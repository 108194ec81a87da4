/**
 * DART: decoupled and asynchronous remote transfers. A compute process hands a message to the
 * library, which sends a small header to a service server and returns; the server pulls the data
 * out of the process' memory by one-sided get and streams them on to a receiver.
 *
 * <p>Roles: {@link dev.verbena.dart.DartClient} in every compute process, {@link
 * dev.verbena.dart.DartServer} (one master, any number of slaves) on service nodes, {@link
 * dev.verbena.dart.DartReceiver} where the data are wanted.
 *
 * <p>A server is three agents joined by three queues of preallocated, registered buffers:
 *
 * <pre>
 *   ebq (empty) --t1--> pbq (being pulled) --t2--> fbq (full) --t3--> ebq
 * </pre>
 *
 * t1 owns the transport: it takes headers, starts gets, sees their completions, answers clients. t2
 * gets the completions through a queue and moves buffers from pbq to fbq in completion order. t3
 * streams full buffers over TCP and holds each until the receiver acknowledged it. The three may
 * run on three threads or on one; every queue has one producer and one consumer.
 *
 * <p>Everything an engine touches comes from {@link dev.verbena.agent.Environment}; nothing here
 * starts a thread, opens a socket or a file, or reads a clock by itself.
 *
 * <p>Source: C. Docan, M. Parashar, S. Klasky, the DART report for the Cray XT3 and "Enabling
 * high-speed asynchronous data extraction and transfer using DART"; where the papers are silent
 * (records, streaming, failure behaviour) this is our design, documented with each type.
 */
package dev.verbena.dart;
