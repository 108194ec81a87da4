/**
 * Values in XDR (RFC 4506), the encoding of Nessie's control messages: what the classes that {@code
 * verbena nessie xdr FILE.x} generates are made of.
 *
 * <p>A generated struct or union is an {@link dev.verbena.nessie.xdr.XdrObject}: one mutable object
 * with an accessor pair for each field. Arrays, strings, opaque data and optional values are fields
 * of their own classes, which keep their memory: decoding into an object that has decoded a message
 * of that size before allocates nothing.
 *
 * <p>Every length is bounded, by the declaration or by the compiler's maximum, and a count is
 * compared with the bytes that are there before anything is allocated. The depth of recursion is
 * bounded as well, but a list that is linked by the last field of its struct is walked in a loop.
 */
package dev.verbena.nessie.xdr;
