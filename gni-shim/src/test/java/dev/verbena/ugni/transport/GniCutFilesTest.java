package dev.verbena.ugni.transport;

import dev.verbena.transport.CutFilesContract;

/** Files of {@code gni://} that somebody cuts. */
class GniCutFilesTest extends CutFilesContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
