package dev.verbena.portals.transport;

import dev.verbena.dart.DartFlatMemoryContract;

/** DART's memory, however many messages pass, over the Portals provider. */
class DartFlatMemoryOverPortalsTest extends DartFlatMemoryContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
