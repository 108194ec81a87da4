/**
 * Streams of bytes over a transport, for protocols that know TCP's: the writer puts into a ring of
 * memory at the reader, which tells how much it has read.
 */
package dev.verbena.staging.carrier;
