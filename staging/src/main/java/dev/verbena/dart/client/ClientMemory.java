package dev.verbena.dart.client;

import dev.verbena.dart.config.ClientSettings;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.staging.Checksum;
import dev.verbena.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** The memory that a client sends from: regions of its user, copies, the sums of both. */
final class ClientMemory {
    private final ClientSettings settings;
    private final Transport transport;
    private final CopyBuffers copies;
    private final List<RegisteredRegion> regions = new ArrayList<>();
    private final UnsafeBuffer view = new UnsafeBuffer(new byte[0]);
    private final Checksum crc = new Checksum();

    ClientMemory(ClientSettings settings, Transport transport) {
        this.settings = settings;
        this.transport = transport;
        this.copies = new CopyBuffers(transport, ClientFlight.copiesMax(settings));
    }

    /** A region that is closed with the client at the latest. */
    RegisteredRegion allocate(long length) {
        regions.removeIf(RegisteredRegion::isClosed);
        RegisteredRegion region = transport.allocate(length, RemoteDescriptor.REMOTE_READ);
        regions.add(region);
        return region;
    }

    CopyBuffers.CopyBuffer copy(DirectBuffer buffer, int offset, int length) {
        return copies.copy(buffer, offset, length);
    }

    /** Sum of these bytes; 0 if messages have none. */
    int checksum(RegisteredRegion region, long offset, long length) {
        if (!settings.isChecksummed()) {
            return 0;
        }
        crc.reset();
        if (!settings.environment().carriesPayloads()) {
            return crc.value();
        }
        long done = 0;
        while (done < length) {
            int piece = (int) Math.min(length - done, 1 << 30);
            view.wrap(region.address() + offset + done, piece);
            crc.update(view, 0, piece);
            done += piece;
        }
        return crc.value();
    }

    /** As for a region. */
    int checksum(CopyBuffers.CopyBuffer copy, int length) {
        return settings.isChecksummed() ? crc.of(copy.window, 0, length) : 0;
    }

    static void checkRange(RegisteredRegion region, long offset, long length) {
        if (region.isClosed()) {
            throw new IllegalStateException("region " + region.id() + " is closed");
        }
        if (length < 0 || offset < 0 || length > region.length() - offset) {
            throw outside(offset, length, "region", region.length());
        }
    }

    static void checkRange(DirectBuffer buffer, int offset, int length) {
        if (length < 0 || offset < 0 || length > buffer.capacity() - (long) offset) {
            throw outside(offset, length, "buffer", buffer.capacity());
        }
    }

    private static IllegalArgumentException outside(
            long offset, long length, String what, long capacity) {
        return new IllegalArgumentException(
                "offset %s, length %s are outside the %s of %s bytes"
                        .formatted(offset, length, what, capacity));
    }

    void closeCopies() {
        copies.close();
    }

    void closeRegions() {
        CloseHelper.closeAll(regions);
    }
}
