package dev.verbena.ugni.transport;

import dev.verbena.dart.DartWholeStepContract;

/** Whole steps over the uGNI provider. */
class DartWholeStepOverGniTest extends DartWholeStepContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
