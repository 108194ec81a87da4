package dev.verbena.ofi.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.ofi.FabricInfo;
import dev.verbena.ofi.OfiLibrary;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.util.List;

/** Libfabric's provider {@code verbs;ofi_rxm}, over an RDMA device. */
final class OfiVerbs {
    private static final String PROVIDER = "verbs";

    /** So much less often than in memory: Soft-RoCE on an emulated processor takes its time. */
    private static final int SLOWER = 20;

    private static final int TIMES_MIN = 20;

    private OfiVerbs() {}

    /** The provider is there, or the test is skipped; where a device is required, it fails. */
    static void require() {
        String cause = OfiLibrary.unavailabilityCause();
        if (cause == null && !isThere()) {
            cause = "libfabric finds no RDMA device";
        }
        if (Boolean.getBoolean("verbena.verbs.required")) {
            assertThat(cause).as("why a required device is unavailable").isNull();
        }
        assumeTrue(cause == null, cause + "; ./verbena rdma-vm has one");
    }

    private static boolean isThere() {
        List<FabricInfo> found = FabricInfo.list(PROVIDER, "", "", FabricInfo.RMA);
        found.forEach(FabricInfo::close);
        return !found.isEmpty();
    }

    static Transport open(TransportContext context) {
        require();
        return Transports.open(
                "ofi", context.option(OfiTransportProvider.PROVIDER_OPTION, PROVIDER));
    }

    static int times(int count) {
        return Math.max(Math.min(count, TIMES_MIN), count / SLOWER);
    }
}
