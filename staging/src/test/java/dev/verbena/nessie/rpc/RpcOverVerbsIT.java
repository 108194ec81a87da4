package dev.verbena.nessie.rpc;

import dev.verbena.SampledByDay;
import dev.verbena.dart.VerbsDevice;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** Remote procedures, and the bulk data that their servers move, by an RDMA device. */
@Tag("verbs-device")
@Timeout(300)
@SampledByDay(
        daily = {
            "shouldCarryShortAndLongArgumentsAndResults",
            "shouldMoveBulkDataAsTheServerDirects",
            "shouldAskTheClientToPut",
        })
class RpcOverVerbsIT extends RpcContract {
    @BeforeAll
    static void device() {
        VerbsDevice.require();
    }

    @Override
    protected String scheme() {
        return VerbsDevice.SCHEME;
    }
}
