package dev.verbena.ugni.transport;

import dev.verbena.dart.DartPackerContract;

/** DART's suite over the uGNI provider. */
class DartPackerOverGniTest extends DartPackerContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
