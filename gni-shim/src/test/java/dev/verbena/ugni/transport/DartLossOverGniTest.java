package dev.verbena.ugni.transport;

import dev.verbena.dart.DartLossContract;

/** Lost processes with a service over the uGNI provider. */
class DartLossOverGniTest extends DartLossContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
