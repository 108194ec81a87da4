package dev.verbena.portals;

import dev.verbena.BindingsListContract;
import dev.verbena.portals.bindings.portals;

/** Everything that is bound of libportals3. */
class PortalsBindingsListTest extends BindingsListContract {
    PortalsBindingsListTest() {
        super(portals.class, "PTL_");
    }
}
