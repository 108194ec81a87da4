/**
 * Nessie for programs: a server that runs by itself, and a client that any thread may use. The
 * layers below are {@code rpc} and {@code nnti}, for programs with a loop of their own.
 */
package dev.verbena.nessie;
