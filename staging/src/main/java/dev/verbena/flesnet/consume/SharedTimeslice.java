package dev.verbena.flesnet.consume;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.flesnet.FlesnetException;
import dev.verbena.flesnet.Timeslice;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** A timeslice in a segment. Its components lie whole, one behind the other. */
final class SharedTimeslice implements Timeslice {
    private final ConsumerSegment segment;
    private final Runnable whenReleased;
    private final UnsafeBuffer buffer;
    private int at;
    private boolean isHeld;

    SharedTimeslice(ConsumerSegment segment, Runnable whenReleased) {
        this.segment = segment;
        this.whenReleased = whenReleased;
        buffer = segment.buffer();
    }

    SharedTimeslice hold(int item) {
        if (item < 0 || item >= segment.items()) {
            throw new FlesnetException("timeslice in place " + item + " of " + segment.items());
        }
        at = segment.itemAt(item);
        isHeld = true;
        return this;
    }

    boolean isHeld() {
        return isHeld;
    }

    private int entry(int input) {
        if (input < 0 || input >= segment.components()) {
            throw new IndexOutOfBoundsException("input " + input);
        }
        return at + ConsumerSegment.TABLE + input * ConsumerSegment.ENTRY;
    }

    @Override
    public long index() {
        return buffer.getLong(at, LITTLE_ENDIAN);
    }

    @Override
    public long descriptor() {
        return buffer.getLong(at + 8, LITTLE_ENDIAN);
    }

    @Override
    public int flags() {
        return buffer.getInt(at + 16, LITTLE_ENDIAN);
    }

    @Override
    public int flags(int input) {
        return buffer.getInt(entry(input) + 12, LITTLE_ENDIAN);
    }

    @Override
    public int componentCount() {
        return segment.components();
    }

    @Override
    public boolean hasComponent(int input) {
        return buffer.getInt(entry(input) + 20, LITTLE_ENDIAN) != 0;
    }

    @Override
    public int size(int input) {
        return buffer.getInt(entry(input) + 8, LITTLE_ENDIAN);
    }

    @Override
    public int microsliceCount(int input) {
        return buffer.getInt(entry(input) + 16, LITTLE_ENDIAN);
    }

    @Override
    public long arrivalSpreadNs() {
        return buffer.getLong(at + 24, LITTLE_ENDIAN);
    }

    @Override
    public DirectBuffer ring(int input) {
        return buffer;
    }

    @Override
    public int offset(int input, int byteAt) {
        return at + (int) buffer.getLong(entry(input), LITTLE_ENDIAN) + byteAt;
    }

    @Override
    public void copy(int input, int byteAt, byte[] target, int targetOffset, int length) {
        if (!hasComponent(input) || byteAt < 0 || length < 0 || length > size(input) - byteAt) {
            throw new IndexOutOfBoundsException(
                    "%s bytes from %s of a component of %s".formatted(length, byteAt, size(input)));
        }
        buffer.getBytes(offset(input, byteAt), target, targetOffset, length);
    }

    @Override
    public void release() {
        if (!isHeld) {
            throw new IllegalStateException("no timeslice is held");
        }
        isHeld = false;
        whenReleased.run();
    }
}
