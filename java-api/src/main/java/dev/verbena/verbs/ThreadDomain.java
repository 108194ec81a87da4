package dev.verbena.verbs;

import dev.verbena.rdma.calls.verbscalls;
import java.util.List;

/**
 * A promise that what is made with it is used by one thread, so that the driver need not lock:
 * {@code struct ibv_td}. Put into a {@linkplain ProtectionDomain#allocateParentDomain parent
 * domain}. Every queue of the toolkit is used by one thread at a time; with a thread domain all
 * queues of it must be used by the same one, which is the caller's business.
 */
public final class ThreadDomain extends VerbsObject {
    private final RdmaDevice device;

    ThreadDomain(RdmaDevice device, long address) {
        super("thread domain of " + device.info().name(), address, List.of(device));
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
        return "ibv_dealloc_td";
    }

    @Override
    int destroy(long address) {
        return verbscalls.vv_dealloc_td(address);
    }
}
