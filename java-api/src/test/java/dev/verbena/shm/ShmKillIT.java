package dev.verbena.shm;

import dev.verbena.transport.TransportKillContract;
import java.util.List;

/** Java processes that die at labelled steps, over shared memory. */
class ShmKillIT extends TransportKillContract {
    @Override
    protected String scheme() {
        return "shm";
    }

    @Override
    protected List<String> javaSteps() {
        return List.of(
                "java.send.filled",
                "java.send.published",
                "java.pin.stored",
                "java.put.copied",
                "java.put.unpinned",
                "java.release.returned");
    }

    @Override
    protected int stepsMin() {
        return 20;
    }
}
