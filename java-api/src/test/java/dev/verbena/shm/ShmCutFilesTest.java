package dev.verbena.shm;

import dev.verbena.transport.CutFilesContract;

/** Files of {@code shm://} that somebody cuts. */
class ShmCutFilesTest extends CutFilesContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
