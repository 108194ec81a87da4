package dev.verbena.ofi.transport;

import dev.verbena.ofi.bindings.fabric;
import dev.verbena.transport.Operation;
import dev.verbena.transport.core.Turns;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Hands operations to libfabric, one call for each, in {@link Turns}. What they answer: 0 for one
 * that was taken, a negative errno for one that was not. Owned by the transport's thread; allocates
 * nothing.
 */
final class FabricPosts {
    private static final int EMSGSIZE = 90;

    private final OfiResources resources;
    private final FabricCalls calls;
    private final Turns turns;
    private final long endpoint;
    private final UnsafeBuffer message;
    private final int injectMax;
    private final boolean isVirtual;

    FabricPosts(OfiResources resources) {
        this.resources = resources;
        this.calls = resources.calls;
        this.turns = calls.turns;
        this.endpoint = calls.endpoint;
        this.message =
                new UnsafeBuffer(resources.scratch, OfiResources.MESSAGE_AT, OfiResources.PACKET);
        this.injectMax = Math.min(resources.info.injectMax(), OfiResources.PACKET) - Wire.HEADER;
        this.isVirtual = resources.info.usesVirtualAddresses();
    }

    /** The next bytes of a transfer. */
    int piece(Work w, long piece) {
        long remote = w.key.remote(w.remoteAddress(), isVirtual);
        long local = w.localAddress();
        long own = w.regions[w.range].descriptor;
        long peer = w.connection.peer.fabricAddress;
        long key = w.key.providerKey;
        long context = w.fabricContext;
        turns.enter();
        int answer =
                w.operation == Operation.GET
                        ? fabric.vfi_read(endpoint, local, piece, own, peer, remote, key, context)
                        : fabric.vfi_write(endpoint, local, piece, own, peer, remote, key, context);
        turns.exit();
        return answer;
    }

    /** A fetch-add or a compare-swap. */
    int atomic(Work w) {
        long operand = w.packet.addressOffset() + Work.OPERAND;
        long expected = w.packet.addressOffset() + Work.EXPECTED;
        long found = w.packet.addressOffset() + Work.RESULT;
        long own = resources.ownDescriptor();
        long at = w.key.remote(w.base, isVirtual);
        long peer = w.connection.peer.fabricAddress;
        long key = w.key.providerKey;
        long context = w.fabricContext;
        turns.enter();
        int answer =
                w.operation == Operation.FETCH_ADD
                        ? fabric.vfi_fetch_add(
                                endpoint, operand, found, own, peer, at, key, context)
                        : fabric.vfi_compare_swap(
                                endpoint, operand, expected, found, own, peer, at, key, context);
        turns.exit();
        return answer;
    }

    /** A message that the provider copies, and says nothing of again; EMSGSIZE if it is longer. */
    int inject(OfiConnection c, long from, long length) {
        if (length > injectMax) {
            return -EMSGSIZE;
        }
        long packet = begin(message, c, (int) length);
        UnsafeApi.copyMemory(null, from, null, packet + Wire.HEADER, length);
        return calls.inject(packet, Wire.HEADER + (int) length, c.peer.fabricAddress);
    }

    private long begin(UnsafeBuffer packet, OfiConnection c, int length) {
        Wire.header(
                packet,
                0,
                Wire.MESSAGE,
                c.peerHandle,
                c.sentMessages,
                length,
                c.takenCount,
                resources.incarnation);
        return packet.addressOffset();
    }

    /** A message behind its header. */
    int message(Work w, OfiConnection c, long from, int length, long descriptor) {
        long packet = begin(w.packet, c, length);
        long own = resources.ownDescriptor();
        long peer = c.peer.fabricAddress;
        if (length > Engine.SHORT_MAX) {
            return sendBehind(packet, from, length, descriptor, peer, w.fabricContext);
        }
        UnsafeApi.copyMemory(null, from, null, packet + Wire.HEADER, length);
        return calls.send(packet, Wire.HEADER + length, own, peer, w.fabricContext);
    }

    /** A header and the bytes that follow it, as one message. */
    private int sendBehind(
            long header, long from, int length, long descriptor, long peer, long context) {
        long own = resources.ownDescriptor();
        turns.enter();
        int answer =
                fabric.vfi_send2(
                        endpoint,
                        header,
                        Wire.HEADER,
                        own,
                        from,
                        length,
                        descriptor,
                        peer,
                        context);
        turns.exit();
        return answer;
    }
}
