package dev.verbena.ugni.transport;

import dev.verbena.dart.DartKillContract;

/** DART over the uGNI provider when processes are killed. */
class DartKillOverGniTest extends DartKillContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
