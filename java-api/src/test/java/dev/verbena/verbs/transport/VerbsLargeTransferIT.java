package dev.verbena.verbs.transport;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.Turns;
import dev.verbena.transport.LargeTransferContract;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

/**
 * Offsets beyond 2 GiB over a device; and, with {@code -Dverbena.long=true}, transfers of more than
 * that, and offsets beyond 4 GiB: an emulated processor moves some 40 MB/s.
 */
@Tag("verbs-device")
class VerbsLargeTransferIT extends LargeTransferContract {
    private static final long GIB = 1L << 30;
    private static final long QUICK_BYTES = 64 << 20;

    @Override
    protected String scheme() {
        return VerbsTransportProvider.SCHEME;
    }

    @Override
    protected Transport open(TransportContext context) {
        return VerbsTesting.open(context);
    }

    @Override
    protected long spareBytes() {
        return GIB / 2;
    }

    @Override
    protected boolean isMemoryShared() {
        return false;
    }

    @Override
    protected boolean isPinned() {
        return true;
    }

    /** In turn with {@code VerbsLongDeviceIT}. */
    @BeforeEach
    void assumeTurn() {
        VerbsTesting.requireDevice();
        Turns.assume("offsets", "registration", "offsets");
    }

    /** All of a region is locked in memory; the virtual machine has 5 GiB. */
    @Override
    protected long farOffset() {
        // --long: offsets beyond 4 GiB over a device, instead of 2 GiB
        return Boolean.getBoolean("verbena.long") ? super.farOffset() : 2 * GIB;
    }

    @Override
    protected void assumeTimeFor(long bytes) {
        // --long: transfers of more than 2 GiB over a device
        assumeTrue(
                bytes <= QUICK_BYTES || Boolean.getBoolean("verbena.long"),
                "takes long: -Dverbena.long=true runs it");
    }
}
