package dev.verbena.dart;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** DART's stream to the receiver over an RDMA device: few tests, as in {@link DartOverVerbsIT}. */
@Tag("verbs-device")
@Timeout(300)
class DartCarriedOverVerbsIT {
    @BeforeAll
    static void device() {
        VerbsDevice.require();
    }

    @Test
    void shouldDeliverEqualBytes() throws Exception {
        DartContract contract =
                new DartContract() {
                    @Override
                    protected String scheme() {
                        return "shm>" + VerbsDevice.SCHEME;
                    }
                };
        contract.shouldDeliverEqualBytes(1_500_000);
    }

    @Test
    void shouldDeliverExactlyOnceWhenConnectionIsCut() throws Exception {
        DartCarriedStreamContract contract =
                new DartCarriedStreamContract() {
                    @Override
                    protected String scheme() {
                        return VerbsDevice.SCHEME;
                    }
                };
        contract.shouldDeliverExactlyOnceWhenConnectionIsCutAgainAndAgain();
    }
}
