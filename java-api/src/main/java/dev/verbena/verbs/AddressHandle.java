package dev.verbena.verbs;

/**
 * The way to a peer, for datagrams: {@code struct ibv_ah}. It cannot be closed while a posted
 * request uses it.
 */
public final class AddressHandle extends DomainObject {
    AddressHandle(ProtectionDomain domain, long address) {
        super(
                "address handle of " + domain.device().info().name(),
                address,
                DestroyCall.ADDRESS_HANDLE,
                domain);
    }

    @Override
    void checkMayClose() {
        checkNotUsed();
    }
}
