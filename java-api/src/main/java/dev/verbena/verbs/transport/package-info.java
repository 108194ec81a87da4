/**
 * The transport {@code verbs://}: the contract of {@code dev.verbena.transport} over an RDMA NIC or
 * Soft-RoCE.
 *
 * <p>Addresses: {@code verbs://host:port/job/name?incarnation=hex}. Host and port are of a TCP
 * socket that is used to meet and to notice that a peer is gone; data moves through queue pairs.
 *
 * <p>A connection has two reliable queue pairs, one for each direction of requests, so that a
 * request which the NIC of the peer refuses ends only what was asked for in that direction. It is
 * made anew then, and whatever was behind the refused one is posted again: it was never carried
 * out.
 *
 * <table>
 * <caption>Words of the contract in verbs</caption>
 * <tr><td>send</td><td>send; the peer's shared receive queue has the slots</td></tr>
 * <tr><td>credits</td><td>a send without bytes, its immediate data is how many</td></tr>
 * <tr><td>put, get, atomics</td><td>write, read, atomics</td></tr>
 * <tr><td>putNotify</td><td>writes, then a send with the tag as immediate data, which carries
 * address, length and key</td></tr>
 * <tr><td>FENCE</td><td>the fence flag, and the order of a reliable connection</td></tr>
 * <tr><td>revoke</td><td>deregistration; addresses are never given out twice</td></tr>
 * </table>
 */
package dev.verbena.verbs.transport;
