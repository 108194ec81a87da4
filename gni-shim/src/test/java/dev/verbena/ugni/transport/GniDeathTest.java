package dev.verbena.ugni.transport;

import dev.verbena.transport.TransportDeathContract;

/** A peer that is killed or stopped while it sends and puts, over the uGNI provider. */
class GniDeathTest extends TransportDeathContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
