/**
 * Agents and everything they touch.
 *
 * <p>A protocol engine is a set of {@link dev.verbena.agent.ProtocolAgent}s. An agent does what can
 * be done now and returns; it never waits and never asks the system for anything directly. Clocks,
 * randomness, transports, streams, files, counters and the error handler come from one {@link
 * dev.verbena.agent.Environment}, so that the same engine runs on a real machine ({@link
 * dev.verbena.agent.RealEnvironment}) and in a simulator.
 *
 * <p>Threads belong to the caller: {@link dev.verbena.agent.AgentThread} runs agents on a thread
 * and sleeps when they have nothing to do, {@link dev.verbena.agent.AgentStepper} steps them by
 * hand, with a {@link dev.verbena.agent.VirtualClock} that jumps from deadline to deadline.
 *
 * <p>What sleeps is woken: streams and stores call a registered wake-up from their own threads when
 * something that was refused or asked for may have changed. A wake-up that comes too early or twice
 * is harmless; none is lost, because it leaves a permit behind.
 *
 * <p>Live counters lie in a file in shared memory, next to the segments of the job, and are read by
 * other processes with {@link dev.verbena.agent.CountersFile}.
 */
package dev.verbena.agent;
