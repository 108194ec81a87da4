package dev.verbena.ugni.transport;

import dev.verbena.nessie.nnti.NntiContract;

/** NNTI over the uGNI provider. */
class NntiOverGniTest extends NntiContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
