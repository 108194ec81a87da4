package dev.verbena.portals.transport;

import dev.verbena.nessie.nnti.NntiContract;

/** NNTI over the Portals provider. */
class NntiOverPortalsTest extends NntiContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
