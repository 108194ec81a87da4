package dev.verbena.ofi;

import dev.verbena.BindingsListContract;
import dev.verbena.ofi.bindings.fabric;

/** Everything that is bound of libfabric. */
class OfiBindingsListTest extends BindingsListContract {
    OfiBindingsListTest() {
        super(fabric.class, "");
    }
}
