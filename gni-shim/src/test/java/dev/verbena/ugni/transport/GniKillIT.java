package dev.verbena.ugni.transport;

import dev.verbena.transport.TransportKillContract;
import java.net.URI;
import java.util.List;

/**
 * Java processes that die at labelled steps over the uGNI provider: also between a claim at the
 * survivor's control mailbox and the record, or between a message and its sequence number.
 */
class GniKillIT extends TransportKillContract {
    @Override
    protected String scheme() {
        return "gni";
    }

    @Override
    protected List<String> javaSteps() {
        return List.of("java.gni.sent", "java.gni.claimed", "java.gni.record", "java.gni.credits");
    }

    @Override
    protected int stepsMin() {
        return 12;
    }

    /** Those of a protection domain. */
    @Override
    protected String segments(String job, URI own) {
        GniAddress address = GniAddress.of(own);
        return String.format("gni-%d-%08x", address.ptag(), address.cookie());
    }

    @Override
    protected long thirdTimesUntilNs() {
        return 100_000_000_000L;
    }
}
