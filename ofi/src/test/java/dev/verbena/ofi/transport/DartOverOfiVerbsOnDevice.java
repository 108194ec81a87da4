package dev.verbena.ofi.transport;

import dev.verbena.dart.DartContract;
import dev.verbena.dart.SampledByDay;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/**
 * DART's suite over {@code verbs;ofi_rxm}. Part of no tier yet: {@code ./verbena rdma-vm --write
 * LOGS -- ci/rdma-vm/device-tests LOGS --tag=ofi-verbs}.
 */
@Tag("ofi-verbs")
@SampledByDay
@Timeout(120)
class DartOverOfiVerbsOnDevice extends DartContract {
    private static final String PROPERTY = "verbena." + OfiTransportProvider.PROVIDER_OPTION;

    @BeforeAll
    static void device() {
        OfiVerbs.require();
        System.setProperty(PROPERTY, "verbs");
    }

    @AfterAll
    static void clear() {
        System.clearProperty(PROPERTY);
    }

    @Override
    protected String scheme() {
        return OfiTransportProvider.SCHEME;
    }
}
