package dev.verbena.verbs;

import dev.verbena.rdma.calls.verbscalls;
import java.util.List;

/**
 * What extended reliable connections (XRC) have in common: {@code struct ibv_xrcd}. Receiving queue
 * pairs and shared receive queues of one such domain reach each other, so that one connection per
 * process serves all shared receive queues of its node.
 */
public final class XrcDomain extends VerbsObject {
    private final RdmaDevice device;

    XrcDomain(RdmaDevice device, long address) {
        super("XRC domain of " + device.info().name(), address, List.of(device));
        this.device = device;
    }

    RdmaDevice device() {
        return device;
    }

    @Override
    Object lock() {
        return device.lock();
    }

    @Override
    String destroyCall() {
        return "ibv_close_xrcd";
    }

    @Override
    int destroy(long address) {
        return verbscalls.vv_close_xrcd(address);
    }
}
