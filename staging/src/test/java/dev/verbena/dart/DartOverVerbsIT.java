package dev.verbena.dart;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * DART over an RDMA device: some tests of its suite, because an emulated processor would take an
 * hour for all.
 */
@Tag("verbs-device")
@Timeout(120)
class DartOverVerbsIT {
    private final DartContract contract =
            new DartContract() {
                @Override
                protected String scheme() {
                    return VerbsDevice.SCHEME;
                }
            };

    @BeforeAll
    static void device() {
        VerbsDevice.require();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4096, 4194305})
    void shouldDeliverEqualBytes(int length) throws Exception {
        contract.shouldDeliverEqualBytes(length);
    }

    @Test
    void shouldServeClientsOfTwoServersInTurn() throws Exception {
        contract.shouldServeClientsInTurn(1, 2);
    }

    @Test
    void shouldBootFromLegacyFileAndFromEnvironment() throws Exception {
        contract.shouldBootFromLegacyFileAndFromEnvironment();
    }

    @Test
    void shouldPackManyItemsIntoOneMessage() throws Exception {
        contract.shouldPackManyItemsIntoOneMessage();
    }
}
