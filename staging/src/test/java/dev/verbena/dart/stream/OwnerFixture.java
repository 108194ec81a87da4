package dev.verbena.dart.stream;

import dev.verbena.dart.config.ServerSettings;
import java.util.UUID;

/** The server around a stream that is tested without one. */
final class OwnerFixture extends StreamOwner {
    UUID run = new UUID(5, 6);
    int serverId = 3;
    Runnable wakeT1 = () -> {};

    OwnerFixture(ServerSettings settings) {
        super(settings);
    }

    @Override
    public void wakeT1() {
        wakeT1.run();
    }

    @Override
    public void wakeT3() {}

    @Override
    public UUID run() {
        return run;
    }

    @Override
    public int serverId() {
        return serverId;
    }

    @Override
    public int emptyCount() {
        return 0;
    }

    @Override
    public long parkedCount() {
        return 0;
    }
}
