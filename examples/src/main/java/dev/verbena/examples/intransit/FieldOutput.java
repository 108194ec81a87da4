package dev.verbena.examples.intransit;

import dev.verbena.examples.pic.PicParameters;
import dev.verbena.examples.pic.PicSample;
import dev.verbena.examples.pic.PicSimulation;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.ElementType;
import dev.verbena.savime.StagingServer;
import dev.verbena.staging.metadata.PieceMetadata;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.agrona.CloseHelper;

/**
 * Stages what a step leaves: the field, and the energy of the particles. Memory of some steps takes
 * turns; a step waits only if its memory is still being read. One thread.
 */
final class FieldOutput implements AutoCloseable {
    private static final int SLOTS = 8;

    private final StagingServer server;
    private final StagingServer mirror;
    private final FieldQueries queries;
    private final int fieldLength;
    private final OffHeapMemory[] slots = new OffHeapMemory[SLOTS];
    private final List<List<CompletableFuture<?>>> reading = new ArrayList<>();

    /**
     * Writes nothing yet.
     *
     * @param mirror a server before SAVIME, which gets the field too; null: none
     */
    FieldOutput(StagingServer server, StagingServer mirror, PicParameters parameters) {
        this.server = server;
        this.mirror = mirror;
        queries = new FieldQueries(parameters);
        fieldLength = parameters.cellCount() * Double.BYTES;
        for (int i = 0; i < SLOTS; i++) {
            slots[i] = OffHeapMemories.allocate(fieldLength + Double.BYTES);
            reading.add(List.of());
        }
        if (mirror != null) {
            mirror.run(queries.savimeArray());
        }
    }

    /** Computes a step and stages what it began with; energies are of the same time. */
    void step(PicSimulation simulation) {
        long step = simulation.step();
        int slot = (int) (step % SLOTS);
        reading.get(slot).forEach(CompletableFuture::join);
        OffHeapMemory memory = slots[slot];
        simulation.copyField(memory.buffer(0, fieldLength));
        simulation.advance();
        PicSample sample = simulation.samples().get((int) step);
        memory.buffer(fieldLength, Double.BYTES)
                .putDouble(0, sample.kineticEnergy(), ByteOrder.LITTLE_ENDIAN);
        List<CompletableFuture<?>> written = new ArrayList<>();
        written.add(write(FieldQueries.FIELD, step, memory, 0, fieldLength));
        written.add(write(FieldQueries.KINETIC, step, memory, fieldLength, Double.BYTES));
        if (mirror != null) {
            String name = FieldQueries.FIELD + "_" + step;
            written.add(mirror.dataset(name, ElementType.DOUBLE).write(memory, 0, fieldLength));
            mirror.runAsync(queries.savimeLoad(step, name));
        }
        reading.set(slot, written);
    }

    private CompletableFuture<?> write(
            String variable, long step, OffHeapMemory memory, int offset, int length) {
        long[] shape = {length / Double.BYTES};
        return server.dataset(variable + "_" + step, ElementType.DOUBLE)
                .piece(new PieceMetadata(variable, step, 0, shape, new long[1], shape))
                .write(memory, offset, length);
    }

    /** After the servers have everything, or were closed. */
    @Override
    public void close() {
        CloseHelper.closeAll(slots);
    }
}
