package dev.verbena.ofi.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartContract;
import org.junit.jupiter.api.extension.ExtendWith;

/** DART's suite over libfabric's provider tcp. Its clients do not poll while servers read them. */
@SampledByDay
@ExtendWith(NeedsLibfabric.class)
class DartOverOfiTest extends DartContract {
    @Override
    protected String scheme() {
        return "ofi";
    }

    @Override
    protected int inTurnMax() {
        // --long: 128 clients over libfabric, instead of 16
        return Boolean.getBoolean("verbena.long") ? super.inTurnMax() : 16;
    }
}
