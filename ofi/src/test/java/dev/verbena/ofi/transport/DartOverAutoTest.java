package dev.verbena.ofi.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartContract;
import org.junit.jupiter.api.extension.ExtendWith;

/** DART's suite over {@code auto} with both parts. */
@SampledByDay
@ExtendWith(NeedsLibfabric.class)
class DartOverAutoTest extends DartContract {
    @Override
    protected String scheme() {
        return "auto";
    }

    @Override
    protected int inTurnMax() {
        // --long: 128 clients over libfabric, instead of 16
        return Boolean.getBoolean("verbena.long") ? super.inTurnMax() : 16;
    }
}
