package dev.verbena.portals.transport;

import dev.verbena.transport.CutFilesContract;

/** Files of {@code portals://} that somebody cuts. */
class PortalsCutFilesTest extends CutFilesContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
