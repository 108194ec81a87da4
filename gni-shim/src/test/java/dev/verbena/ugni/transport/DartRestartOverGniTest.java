package dev.verbena.ugni.transport;

import dev.verbena.dart.DartRestartContract;

/** DART when its receiver is killed, over the uGNI provider. */
class DartRestartOverGniTest extends DartRestartContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
