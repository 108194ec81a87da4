package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.transport.LargeTransferContract;

/** Gigabytes in one transfer over uGNI. */
@SampledByDay(parts = 2)
class GniLargeTransferIT extends LargeTransferContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
