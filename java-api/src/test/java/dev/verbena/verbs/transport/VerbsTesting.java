package dev.verbena.verbs.transport;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;

/** What the tests of the transport share. */
final class VerbsTesting {
    /** So much less often than in memory: Soft-RoCE on an emulated processor takes its time. */
    private static final int SLOWER = 20;

    private static final int TIMES_MIN = 20;

    private VerbsTesting() {}

    /** A device is there, or the test is skipped; where one is required, it fails. */
    static void requireDevice() {
        String cause = new VerbsTransportProvider().unavailabilityCause();
        if (cause != null && Boolean.getBoolean("verbena.verbs.required")) {
            throw new AssertionError("a device is required: " + cause);
        }
        assumeTrue(
                cause == null,
                "no RDMA device here; ./verbena test --tier vm runs this in a virtual machine");
    }

    static Transport open(TransportContext context) {
        requireDevice();
        return Transports.open(VerbsTransportProvider.SCHEME, context);
    }

    static int times(int count) {
        return Math.max(Math.min(count, TIMES_MIN), count / SLOWER);
    }
}
