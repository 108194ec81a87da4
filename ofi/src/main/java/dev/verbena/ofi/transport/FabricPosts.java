package dev.verbena.ofi.transport;

import dev.verbena.ofi.bindings.fabric;
import dev.verbena.transport.Operation;
import org.agrona.UnsafeApi;

/**
 * Hands operations to libfabric, one call for each. What they answer: 0 for one that was taken, a
 * negative errno for one that was not. Owned by the transport's thread; allocates nothing.
 */
final class FabricPosts {
    /** A message was taken, and there will be no completion. */
    static final int INJECTED = 1;

    private final OfiResources resources;
    private final long endpoint;
    private final int injectMax;
    private final boolean isVirtual;

    FabricPosts(OfiResources resources) {
        this.resources = resources;
        this.endpoint = resources.endpoint();
        this.injectMax = resources.info.injectMax();
        this.isVirtual = resources.info.usesVirtualAddresses();
    }

    /** The next bytes of a transfer. */
    int piece(Work w, long piece) {
        long remote = w.key.remote(w.remoteAddress(), isVirtual);
        long local = w.localAddress();
        long descriptor = w.regions[w.range].descriptor;
        long peer = w.connection.peer.fabricAddress;
        return w.operation == Operation.GET
                ? fabric.vfi_read(
                        endpoint,
                        local,
                        piece,
                        descriptor,
                        peer,
                        remote,
                        w.key.providerKey,
                        w.fabricContext)
                : fabric.vfi_write(
                        endpoint,
                        local,
                        piece,
                        descriptor,
                        peer,
                        remote,
                        w.key.providerKey,
                        w.fabricContext);
    }

    /** A fetch-add or a compare-swap. */
    int atomic(Work w) {
        long packet = w.packet.addressOffset();
        long remote = w.key.remote(w.base, isVirtual);
        long peer = w.connection.peer.fabricAddress;
        return w.operation == Operation.FETCH_ADD
                ? fabric.vfi_fetch_add(
                        endpoint,
                        packet + Work.OPERAND,
                        packet + Work.RESULT,
                        resources.ownDescriptor(),
                        peer,
                        remote,
                        w.key.providerKey,
                        w.fabricContext)
                : fabric.vfi_compare_swap(
                        endpoint,
                        packet + Work.OPERAND,
                        packet + Work.EXPECTED,
                        packet + Work.RESULT,
                        resources.ownDescriptor(),
                        peer,
                        remote,
                        w.key.providerKey,
                        w.fabricContext);
    }

    /** A message behind its header: {@link #INJECTED} if it was copied. */
    int message(Work w, OfiConnection c, long from, int length, long descriptor) {
        Wire.header(
                w.packet,
                0,
                Wire.MESSAGE,
                c.peerHandle,
                c.sentMessages,
                length,
                c.takenCount,
                resources.incarnation);
        long packet = w.packet.addressOffset();
        long peer = c.peer.fabricAddress;
        if (length > Engine.SHORT_MAX) {
            return fabric.vfi_send2(
                    endpoint,
                    packet,
                    Wire.HEADER,
                    resources.ownDescriptor(),
                    from,
                    length,
                    descriptor,
                    peer,
                    w.fabricContext);
        }
        UnsafeApi.copyMemory(null, from, null, packet + Wire.HEADER, length);
        int total = Wire.HEADER + length;
        if (total <= injectMax) {
            int answer = fabric.vfi_inject(endpoint, packet, total, peer);
            return answer == 0 ? INJECTED : answer;
        }
        return fabric.vfi_send(
                endpoint, packet, total, resources.ownDescriptor(), peer, w.fabricContext);
    }
}
