package dev.verbena.ofi.transport;

import dev.verbena.dart.DartContract;
import dev.verbena.dart.SampledByDay;
import org.junit.jupiter.api.extension.ExtendWith;

/** DART's suite over {@code auto} with both parts. */
@SampledByDay
@ExtendWith(NeedsLibfabric.class)
class DartOverAutoTest extends DartContract {
    @Override
    protected String scheme() {
        return "auto";
    }
}
