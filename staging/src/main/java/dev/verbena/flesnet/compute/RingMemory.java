package dev.verbena.flesnet.compute;

import dev.verbena.flesnet.ComponentFlyweight;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import org.agrona.CloseHelper;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The memory of the rings of all inputs. Rings share registered regions of up to a gibibyte: a
 * region costs objects here and entries at the interface, and a ring of descriptors alone would
 * take a page. Each input learns its own ring only. One thread.
 */
final class RingMemory implements AutoCloseable {
    private static final long REGION_MAX = 1L << 30;

    private final RegisteredRegion[] data;
    private final RegisteredRegion[] descriptors;
    private final int dataLength;
    private final int descriptorLength;

    RingMemory(FlesnetContext context, Transport transport) {
        dataLength = 1 << context.dataExponent();
        descriptorLength = (1 << context.descriptorExponent()) * ComponentFlyweight.LENGTH;
        data = new RegisteredRegion[regionCount(context.inputs(), dataLength)];
        descriptors = new RegisteredRegion[regionCount(context.inputs(), descriptorLength)];
        try {
            allocate(transport, data, context.inputs(), dataLength);
            allocate(transport, descriptors, context.inputs(), descriptorLength);
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Rings of a length that a region holds. */
    private static int perRegion(int length) {
        return (int) Math.max(1, REGION_MAX / length);
    }

    private static int regionCount(int rings, int length) {
        return (rings + perRegion(length) - 1) / perRegion(length);
    }

    private static void allocate(
            Transport transport, RegisteredRegion[] regions, int rings, int length) {
        int most = perRegion(length);
        for (int i = 0; i < regions.length; i++) {
            long count = Math.min(most, rings - i * most);
            regions[i] = transport.allocate(count * length, RemoteDescriptor.REMOTE_WRITE);
        }
    }

    private static long offset(int input, int length) {
        return (long) (input % perRegion(length)) * length;
    }

    UnsafeBuffer data(int input) {
        return data[input / perRegion(dataLength)].buffer(offset(input, dataLength), dataLength);
    }

    UnsafeBuffer descriptors(int input) {
        return descriptors[input / perRegion(descriptorLength)].buffer(
                offset(input, descriptorLength), descriptorLength);
    }

    /** Where an input writes to. */
    void describe(int input, RemoteDescriptor ofData, RemoteDescriptor ofDescriptors) {
        data[input / perRegion(dataLength)].describe(
                offset(input, dataLength), dataLength, RemoteDescriptor.REMOTE_WRITE, ofData);
        descriptors[input / perRegion(descriptorLength)].describe(
                offset(input, descriptorLength),
                descriptorLength,
                RemoteDescriptor.REMOTE_WRITE,
                ofDescriptors);
    }

    @Override
    public void close() {
        CloseHelper.closeAll(data);
        CloseHelper.closeAll(descriptors);
    }
}
