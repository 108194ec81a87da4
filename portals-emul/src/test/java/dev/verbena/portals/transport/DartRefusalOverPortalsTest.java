package dev.verbena.portals.transport;

import dev.verbena.dart.DartRefusalContract;

/** Messages that the receiver would refuse, over the portals provider. */
class DartRefusalOverPortalsTest extends DartRefusalContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
