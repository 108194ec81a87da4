package dev.verbena.ofi;

import dev.verbena.ofi.bindings.fabric;

/** Counts ended operations: {@code struct fid_cntr}. */
public final class Counter extends OfiObject {
    Counter(Domain domain) {
        super("fi_cntr_open", "counter", domain, fabric.vfi_counter(domain.handle()));
    }

    /** Operations that have ended well: {@code fi_cntr_read}. */
    public long value() {
        return fabric.vfi_counter_read(handle());
    }
}
