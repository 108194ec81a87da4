/**
 * NNTI, the network layer under Nessie: peers, buffers with rights, work requests, waiting; a thin
 * view of the transport contract. One thread uses a transport and everything made by it.
 *
 * <p>{@code OK} from an operation means that it is under way; its work request tells how it ended.
 * Waiting on a buffer returns its own operations in the order of their issue, then what peers did
 * in it; an event queue may be attached instead. With target events a put or a get also tells its
 * target; without, waiting there answers {@code EINVAL}. A send always tells both ends.
 *
 * <p>A receive queue takes sends without a destination; a slot is used again once it is released,
 * and a full queue holds messages back at their senders.
 */
package dev.verbena.nessie.nnti;
