/**
 * Small complete programs, each with one idea, to be copied. They run on every provider: the scheme
 * is their argument.
 *
 * <ul>
 *   <li>{@link dev.verbena.examples.PutGet}: write and read another process' memory, with calls
 *       that wait
 *   <li>{@link dev.verbena.examples.SendReceive}: messages
 *   <li>{@link dev.verbena.examples.DartHello}: stage a message through a server to a receiver
 * </ul>
 *
 * <p>Packages below hold real applications: a service of remote procedures, a particle-in-cell
 * simulation, and two simulations that are coupled.
 */
package dev.verbena.examples;
