/**
 * NNTI, the network layer under Nessie: peers, buffers with rights, work requests, waiting; a thin
 * view of the transport contract. One thread uses a transport and everything made by it.
 */
package dev.verbena.nessie.nnti;
