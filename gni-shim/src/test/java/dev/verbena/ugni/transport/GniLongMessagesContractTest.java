package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportContract;

/** The contract's suite where messages may be longer than short messages of uGNI hold. */
@SampledByDay(parts = 3)
class GniLongMessagesContractTest extends TransportContract {
    @Override
    protected String scheme() {
        return "gni";
    }

    @Override
    protected TransportContext context() {
        return super.context().messageLengthMax(100_000).receiveSlotCount(256);
    }

    @Override
    protected int times(int count) {
        return Math.max(1, count / 10);
    }
}
