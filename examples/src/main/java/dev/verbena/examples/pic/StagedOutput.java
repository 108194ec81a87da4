package dev.verbena.examples.pic;

import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartTicket;
import dev.verbena.dart.ElementType;
import dev.verbena.dart.TicketState;
import dev.verbena.memory.RegisteredRegion;
import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Hands restart files to DART: whole, packed into memory that the service reads while the
 * simulation goes on, or item by item.
 *
 * <p>Whole files use memories by turns, so that one can be packed while the service still reads the
 * other.
 */
final class StagedOutput implements RestartOutput {
    private static final int ROOM_TO_GROW = 32;

    private final DartClient client;
    private final String variable;
    private final boolean isWhole;
    private final long timeoutNs;
    private final ByteBuffer scratch;
    private final Slot[] slots;
    private final DartMetadata metadata = new DartMetadata();
    private final UnsafeBuffer item = new UnsafeBuffer(0, 0);
    private long fileCount;
    private int position;
    private int itemNumber;

    /** Registered memory that grows with the files, and the message that is read from it. */
    static final class Slot {
        private RegisteredRegion region;
        private UnsafeBuffer buffer;
        private DartTicket ticket;

        /** Free, and long enough. */
        void prepare(DartClient client, long length, long timeoutNs) {
            if (ticket != null) {
                ticket.await(TicketState.TRANSFERRED, timeoutNs);
            }
            if (region == null || region.length() < length) {
                if (region != null) {
                    region.close();
                }
                region = client.allocate(length + length / ROOM_TO_GROW);
                buffer = region.buffer(0, Math.toIntExact(region.length()));
            }
        }
    }

    /**
     * Files whole, or item by item if there are no slots.
     *
     * @param variable in the messages' metadata
     * @param scratch borrowed; see {@link RestartFile#writePieces} and {@link RestartFile#write}
     * @param slots may be shared with other outputs of the same thread
     */
    StagedOutput(
            DartClient client, String variable, long timeoutNs, ByteBuffer scratch, Slot... slots) {
        this.client = client;
        this.variable = variable;
        this.isWhole = slots.length > 0;
        this.timeoutNs = timeoutNs;
        this.scratch = scratch;
        this.slots = slots;
    }

    @Override
    public void write(RestartFile file, String name) {
        metadata.clear().name(name).variable(variable).step(file.step()).rank(file.rank());
        if (isWhole) {
            writeWhole(file);
        } else {
            itemNumber = 0;
            file.write((what, bytes) -> writeItem(name, what, bytes), scratch);
        }
    }

    private void writeWhole(RestartFile file) {
        Slot slot = slots[(int) (fileCount++ % slots.length)];
        slot.prepare(client, file.length(), timeoutNs);
        position = 0;
        file.writePieces(
                (what, bytes) -> {
                    int length = bytes.remaining();
                    slot.buffer.putBytes(position, bytes, bytes.position(), length);
                    position += length;
                },
                scratch);
        metadata.elementType(ElementType.PACKED);
        slot.ticket = client.send(slot.region, 0, position, metadata, 0, timeoutNs);
    }

    private void writeItem(String name, String what, ByteBuffer bytes) {
        metadata.name(name + "." + itemNumber);
        metadata.property("file", name);
        metadata.property("item", Integer.toString(itemNumber++));
        metadata.property("last", Boolean.toString(what.equals("crc")));
        item.wrap(bytes);
        client.sendCopy(item, 0, bytes.remaining(), metadata, itemNumber);
    }

    @Override
    public void drain() {
        client.flush(timeoutNs);
    }
}
