package dev.verbena.ofi.transport;

import dev.verbena.dart.DartDeviceContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** DART over libfabric's provider {@code verbs;ofi_rxm}. */
@Tag("verbs-device")
@Timeout(240)
@ChosenTests("shouldServeClientsOfTwoServersInTurn")
class DartOverOfiVerbsIT extends DartDeviceContract {
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
