/**
 * The array service: programs of any decomposition put pieces of versions of named arrays, and get
 * any box of them. Servers pull pieces out of the clients' memory and push answers into it.
 *
 * <p>A version takes pieces that do not overlap until it is sealed. A box may be had as soon as
 * pieces cover it; it is waited for until then. A sealed version is on disk: it is there again
 * after a crash. Pieces beyond the memory that a server may use move to the file of their version,
 * and are read from there.
 *
 * <p>Arrays are spread over servers in equal slabs of one dimension: the first that has at least as
 * many indices as there are servers, else the longest. Server {@code i} of {@code n} has the
 * indices from {@code i * size / n} to {@code (i + 1) * size / n - 1}. One server, the CRC-32 of
 * the name modulo {@code n}, is notified of every version and is sealed last: what is sealed there
 * is sealed everywhere. Where only so many versions are kept, the others keep one more, so that one
 * is whole between the two halves of a seal.
 *
 * <p>{@link dev.verbena.nessie.service.ArrayServer} runs on a thread of its own; {@link
 * dev.verbena.nessie.service.ArrayClient} belongs to one thread. Messages are those of {@code
 * array.x}; over TCP they have a header, see {@code TcpConnection}.
 */
package dev.verbena.nessie.service;
