package dev.verbena.ofi.transport;

import dev.verbena.dart.DartContract;
import dev.verbena.dart.SampledByDay;
import org.junit.jupiter.api.extension.ExtendWith;

/** DART's suite over libfabric's provider tcp. Its clients do not poll while servers read them. */
@SampledByDay
@ExtendWith(NeedsLibfabric.class)
class DartOverOfiTest extends DartContract {
    @Override
    protected String scheme() {
        return "ofi";
    }
}
