package dev.verbena.transport;

import dev.verbena.SampledByDay;
import java.util.Set;

/** The suite through the tracing decorator, which may change nothing. */
@SampledByDay(parts = 3)
class TracedShmContractTest extends TransportContract {
    @Override
    protected String scheme() {
        return "shm";
    }

    @Override
    protected Transport open(TransportContext context) {
        return new TracingTransport(super.open(context), line -> {});
    }

    @Override
    protected Set<String> replaced() {
        return Set.of("shouldAllocateNothingWhenPostingAndPolling");
    }

    /** Not a test here: every line that is written is allocated. */
    @Override
    void shouldAllocateNothingWhenPostingAndPolling() {}
}
