package dev.verbena.ofi.transport;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * Endpoints of the provider shm in this process. It shows their memory to each other as it is, so
 * an endpoint that closes would leave its neighbours with a bad pointer. They close together, when
 * the last one is closed. Thread-safe.
 */
final class SharedEndpoints {
    private static final List<Runnable> RETIRED = new ArrayList<>();
    private static final Set<String> NAMES = new HashSet<>();
    private static int openCount;

    private SharedEndpoints() {}

    static synchronized void opened() {
        openCount++;
    }

    /** An endpoint is of no use any more; it closes now or later. */
    static synchronized void closed(byte[] name, Runnable close) {
        RETIRED.add(close);
        NAMES.add(HexFormat.of().formatHex(name));
        openCount--;
        if (openCount == 0) {
            RETIRED.forEach(Runnable::run);
            RETIRED.clear();
            NAMES.clear();
        }
    }

    /** Whether nobody looks at what is sent there. */
    static synchronized boolean isRetired(byte[] name) {
        return NAMES.contains(HexFormat.of().formatHex(name));
    }
}
