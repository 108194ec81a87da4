package dev.verbena.verbs;

import dev.verbena.rdma.calls.verbscalls;
import java.util.List;

/** The way to a peer, for datagrams: {@code struct ibv_ah}. */
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
