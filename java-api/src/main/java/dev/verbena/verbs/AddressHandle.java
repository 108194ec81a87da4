package dev.verbena.verbs;

import dev.verbena.rdma.calls.verbscalls;
import java.util.List;

/**
 * The way to a peer, for datagrams: {@code struct ibv_ah}. It cannot be closed while a posted
 * request uses it.
 */
public final class AddressHandle extends VerbsObject {
    private final ProtectionDomain domain;

    AddressHandle(ProtectionDomain domain, long address) {
        super("address handle of " + domain.device().info().name(), address, List.of(domain));
        this.domain = domain;
    }

    ProtectionDomain domain() {
        return domain;
    }

    @Override
    void checkMayClose() {
        VerbsObject queue = domain.userOf(this);
        if (queue != null) {
            throw new IllegalStateException(
                    this
                            + " is in use by requests of "
                            + queue
                            + "; poll their completions, or close that first");
        }
    }

    @Override
    Object lock() {
        return domain.lock();
    }

    @Override
    String destroyCall() {
        return "ibv_destroy_ah";
    }

    @Override
    int destroy(long address) {
        return verbscalls.vv_destroy_ah(address);
    }
}
