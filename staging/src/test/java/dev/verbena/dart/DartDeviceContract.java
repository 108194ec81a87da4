package dev.verbena.dart;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Some tests of {@link DartContract}, for RDMA devices: an emulated processor would take an hour
 * for all.
 */
public abstract class DartDeviceContract {
    private final DartContract contract =
            new DartContract() {
                @Override
                protected String scheme() {
                    return DartDeviceContract.this.scheme();
                }
            };

    /** For subclasses in other modules. */
    protected DartDeviceContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4096, 4194305})
    final void shouldDeliverEqualBytes(int length) throws Exception {
        contract.shouldDeliverEqualBytes(length);
    }

    @Test
    final void shouldServeClientsOfTwoServersInTurn() throws Exception {
        contract.shouldServeClientsInTurn(1, 2);
    }

    @Test
    final void shouldBootFromLegacyFileAndFromEnvironment() throws Exception {
        contract.shouldBootFromLegacyFileAndFromEnvironment();
    }

    @Test
    final void shouldPackManyItemsIntoOneMessage() throws Exception {
        contract.shouldPackManyItemsIntoOneMessage();
    }
}
