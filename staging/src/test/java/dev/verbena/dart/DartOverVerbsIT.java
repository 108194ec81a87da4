package dev.verbena.dart;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** DART over an RDMA device. */
@Tag("verbs-device")
@Timeout(120)
class DartOverVerbsIT extends DartDeviceContract {
    @BeforeAll
    static void device() {
        VerbsDevice.require();
    }

    @Override
    protected String scheme() {
        return VerbsDevice.SCHEME;
    }
}
