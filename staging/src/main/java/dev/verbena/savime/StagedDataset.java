package dev.verbena.savime;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.client.Upload;
import dev.verbena.savime.wire.DatasetNames;
import dev.verbena.staging.metadata.PieceMetadata;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/** A dataset to be written: name and type, and what is to be done with it. Immutable. */
public final class StagedDataset {
    private final StagingServer server;
    private final String name;
    private final ElementType type;
    private final IfTaken ifTaken;
    private final Place place;
    private final PieceMetadata piece;

    /** What happens if the name is taken; known are names of datasets that the server has. */
    public enum IfTaken {
        /** The write fails with DUPLICATE. */
        REJECT,
        /**
         * The older one is dropped once this one has a place, unless it is on its way to the sink.
         */
        REPLACE,
        /** It gets another name, which the receipt has. */
        SUFFIX
    }

    /** Where the server puts it. */
    public enum Place {
        MEMORY_THEN_DISK,
        MEMORY,
        DISK
    }

    StagedDataset(
            StagingServer server,
            String name,
            ElementType type,
            IfTaken ifTaken,
            Place place,
            PieceMetadata piece) {
        this.server = server;
        this.name = DatasetNames.require(name);
        this.type = type;
        this.ifTaken = ifTaken;
        this.place = place;
        this.piece = piece;
    }

    /** The same with another answer to a taken name; default REJECT. */
    public StagedDataset ifTaken(IfTaken next) {
        return new StagedDataset(server, name, type, next, place, piece);
    }

    /** The same elsewhere; default MEMORY_THEN_DISK. */
    public StagedDataset place(Place next) {
        return new StagedDataset(server, name, type, ifTaken, next, piece);
    }

    /** The same as a piece of an array, which sinks that have arrays need. */
    public StagedDataset piece(PieceMetadata next) {
        return new StagedDataset(server, name, type, ifTaken, place, next);
    }

    /** As asked for; the receipt has the name that was given. */
    public String name() {
        return name;
    }

    /** Of its elements. */
    public ElementType type() {
        return type;
    }

    /**
     * Queues a write and returns at once; nothing is copied. Until the future completes the memory
     * must not be changed, and closing it throws.
     *
     * @return completes when the server has it, with a {@link StagingException} if it never will
     * @throws IllegalArgumentException for a length that is not a multiple of the element's, or a
     *     range outside the memory
     * @throws StagingException if the queue is full, see {@link OnFull}
     */
    public CompletableFuture<Receipt> write(OffHeapMemory memory, long offset, long length) {
        if (length < 1 || length % type.size() != 0) {
            throw new IllegalArgumentException(
                    "%s bytes are not one or more elements of %s bytes"
                            .formatted(length, type.size()));
        }
        if (offset < 0 || offset > memory.length() - length) {
            throw new IllegalArgumentException(
                    "%s bytes at %s are not within %s".formatted(length, offset, memory.length()));
        }
        return server.write(
                new Upload.Dataset(
                        name,
                        type.toString(),
                        type.size(),
                        ifTaken.ordinal(),
                        place.ordinal(),
                        piece),
                memory,
                offset,
                length);
    }

    /** As above, of all of it. */
    public CompletableFuture<Receipt> write(OffHeapMemory memory) {
        return write(memory, 0, memory.length());
    }

    /**
     * As above of the bytes between position and limit, which stay as they are.
     *
     * @param buffer direct and writable
     */
    public CompletableFuture<Receipt> write(ByteBuffer buffer) {
        int position = buffer.position();
        int length = buffer.remaining();
        OffHeapMemory memory = OffHeapMemories.wrap(buffer);
        CompletableFuture<Receipt> result;
        try {
            result = write(memory, position, length);
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
        result.whenComplete((receipt, failure) -> memory.close());
        return result;
    }
}
