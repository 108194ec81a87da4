/**
 * Nessie's remote procedure calls over NNTI: requests and results in XDR, long ones fetched by the
 * receiver, bulk data moved by the server. One thread owns an endpoint and what belongs to it.
 *
 * <p>Arguments and results travel inside a message of 1216 bytes if they are shorter than what its
 * header leaves. Otherwise the receiver fetches them; the server keeps a long result until the
 * client has acknowledged it, has disconnected, or the time for that has passed. A result goes to
 * the connection of its request and is matched by id; a late one is discarded. So no buffer of a
 * client can be overwritten after a timeout.
 *
 * <p>Bulk data is the client's memory: the server reads and writes any range of it, any number of
 * times, before it replies. Memory that a call has used must be unregistered before it is used for
 * anything else, if the call has timed out or was cancelled.
 *
 * <p>The timeout of a call is a deadline over sending, handling and fetching. How the call went
 * ({@link dev.verbena.nessie.rpc.RpcResult}) and what the procedure answered, its remote code, are
 * two values; what a server's own machinery answers is a remote code, too.
 *
 * <p>Handlers run in the server's loop, or on so many threads. In the loop a handler may wait for
 * transfers and for calls of others, while everything else progresses; or it starts a transfer and
 * answers later. Requests beyond those that a server holds wait at their senders, by credits.
 */
package dev.verbena.nessie.rpc;
