package dev.verbena.ugni.transport;

import dev.verbena.dart.DartHostilePeerContract;

/** Hostile processes of the same job, over the uGNI provider. */
class DartHostilePeerOverGniTest extends DartHostilePeerContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
