/**
 * uGNI: what programs for Cray's Gemini and Aries networks see of the NIC.
 *
 * <p>A {@link dev.verbena.ugni.CommunicationDomain} is membership in a job, named by a protection
 * tag and a cookie; a {@link dev.verbena.ugni.Nic} is the NIC as that job sees it. An {@link
 * dev.verbena.ugni.Endpoint} leads to one peer. A {@link dev.verbena.ugni.MemoryRegistration} lets
 * the NIC reach memory, and its handle of 16 bytes lets a peer. Everything that happens is reported
 * by a {@link dev.verbena.ugni.CompletionQueue}.
 *
 * <ul>
 *   <li>Posts, {@link dev.verbena.ugni.PostDescriptorFlyweight}: FMA for short transfers and atomic
 *       commands, RDMA by the block transfer engine for long ones.
 *   <li>Short messages, {@link dev.verbena.ugni.ShortMessageMailbox}: into the peer's mailbox, held
 *       back by credits.
 *   <li>Datagrams, {@link dev.verbena.ugni.Endpoint#postData}: 128 bytes each way, to get to know
 *       each other.
 * </ul>
 *
 * <p>The NIC is emulated unless Cray's library is there ({@link
 * dev.verbena.ugni.CommunicationDomain#LIBRARY_PROPERTY}): the process that posts does the NIC's
 * work within its call. Programs that must run on both wait for the events all the same.
 *
 * <p>Threads: a domain and everything made from it belong to one thread. Control calls throw {@link
 * dev.verbena.ugni.UgniException}; what moves data answers codes and allocates nothing. Closing is
 * in reverse order of making; whatever is still used refuses to be closed, and {@link
 * dev.verbena.ugni.CommunicationDomain#closeAll} takes everything along.
 */
package dev.verbena.ugni;
