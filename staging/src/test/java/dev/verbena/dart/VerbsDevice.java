package dev.verbena.dart;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.transport.Transports;

/** Whether the suites of the protocols can run over {@code verbs://} here. */
public final class VerbsDevice {
    /** Of the transport. */
    public static final String SCHEME = "verbs";

    private VerbsDevice() {}

    /** A device is there, or the test is skipped; where one is required, it fails. */
    public static void require() {
        String cause = Transports.provider(SCHEME).unavailabilityCause();
        if (cause != null && Boolean.getBoolean("verbena.verbs.required")) {
            throw new AssertionError("a device is required: " + cause);
        }
        assumeTrue(
                cause == null,
                "no RDMA device here; ./verbena test --tier vm runs this in a virtual machine");
    }
}
