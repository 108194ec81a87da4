package dev.verbena.examples.pic;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * State of one process between two steps: everything needed to go on, bit for bit.
 *
 * <p>A file is a series of items, little-endian, without gaps: single integers and doubles, a
 * two-dimensional array, three one-dimensional arrays. {@link #write} hands them over one by one,
 * so that they can be sent in one message or in one message each.
 *
 * <pre>
 * offset  size     item
 *   0      8       magic "VRBNAPIC"
 *   8      4       version (1)
 *  12      4       length of the header (104)
 *  16      4       rank
 *  20      4       process count
 *  24      8       step
 *  32      8       particle count of all processes
 *  40      4       particles in this file, p
 *  44      4       cell count, c
 *  48      4       samples, s
 *  52      4       zero
 *  56     40       doubles: length, time step, beam speed, thermal speed, perturbation
 *  96      8       seed
 * 104     48 s     samples: step, time, field energy, kinetic energy, momentum, amplitude
 *  .       8 c     field
 *  .       8 p     places
 *  .       8 p     speeds, half a step before the places
 *  .       4       CRC-32C of everything before
 * </pre>
 *
 * @param parameters of the run
 * @param rank of the process
 * @param processCount of the run
 * @param step steps done
 * @param samples diagnostics of all steps done
 * @param field at the grid points; redundant, for analysis
 * @param places of the particles
 * @param speeds of the particles
 */
@SuppressWarnings("ArrayRecordComponent")
public record RestartFile(
        PicParameters parameters,
        int rank,
        int processCount,
        long step,
        List<PicSample> samples,
        double[] field,
        double[] places,
        double[] speeds) {

    /** First 8 bytes, as a little-endian number: the letters VRBNAPIC. */
    public static final long MAGIC = 0x434950414E425256L;

    /** Version written and understood. */
    public static final int VERSION = 1;

    /** Bytes before the first array. */
    public static final int HEADER_LENGTH = 104;

    private static final int PROCESS_COUNT_MAX = 1 << 16;
    private static final int SAMPLE_COUNT_MAX = 1 << 24;
    private static final int CELL_COUNT_MAX = 1 << 20;

    /** A copy that does not change when the simulation goes on. */
    RestartFile copy() {
        return new RestartFile(
                parameters,
                rank,
                processCount,
                step,
                List.copyOf(samples),
                field.clone(),
                places.clone(),
                speeds.clone());
    }

    /** Bytes of the file. */
    public long length() {
        return length(samples.size(), parameters.cellCount(), places.length);
    }

    private static long length(long samples, long cells, long particles) {
        return HEADER_LENGTH
                + 8L * PicSample.VALUE_COUNT * samples
                + 8 * cells
                + 16 * particles
                + Integer.BYTES;
    }

    /** Items of a file, see {@link #write}. */
    public static final int ITEM_COUNT = 22;

    /** Hands over all items in order; allocates one direct buffer of the longest item. */
    public void write(RestartItemHandler handler) {
        write(handler, scratch(parameters.particleCount() / processCount + 1, 0));
    }

    /** Memory for {@link #write(RestartItemHandler, ByteBuffer)}. */
    static ByteBuffer scratch(long particles, long samples) {
        long longest = Math.max(8 * particles, 8L * PicSample.VALUE_COUNT * samples);
        return ByteBuffer.allocateDirect(Math.toIntExact(Math.max(64, longest)));
    }

    /**
     * As the other, without allocating it anew each time.
     *
     * @param scratch direct; borrowed until the method returns; if it is too short for an item
     *     another is allocated
     */
    void write(RestartItemHandler handler, ByteBuffer scratch) {
        write(new Writer(handler, scratch, false));
    }

    /**
     * As the other, handing over long arrays in pieces of the scratch memory: quickest if that fits
     * into a processor's cache.
     */
    void writePieces(RestartItemHandler handler, ByteBuffer scratch) {
        write(new Writer(handler, scratch, true));
    }

    private void write(Writer writer) {
        writer.item("magic", MAGIC);
        writer.item("version", VERSION);
        writer.item("headerLength", HEADER_LENGTH);
        writer.item("rank", rank);
        writer.item("processCount", processCount);
        writer.item("step", step);
        writer.item("particleCount", parameters.particleCount());
        writer.item("particles", places.length);
        writer.item("cellCount", parameters.cellCount());
        writer.item("sampleCount", samples.size());
        writer.item("zero", 0);
        writer.item("length", Double.doubleToRawLongBits(parameters.length()));
        writer.item("timeStep", Double.doubleToRawLongBits(parameters.timeStep()));
        writer.item("beamSpeed", Double.doubleToRawLongBits(parameters.beamSpeed()));
        writer.item("thermalSpeed", Double.doubleToRawLongBits(parameters.thermalSpeed()));
        writer.item("perturbation", Double.doubleToRawLongBits(parameters.perturbation()));
        writer.item("seed", parameters.seed());
        double[] rows = new double[PicSample.VALUE_COUNT * samples.size()];
        int at = 0;
        for (PicSample sample : samples) {
            rows[at++] = sample.step();
            rows[at++] = sample.time();
            rows[at++] = sample.fieldEnergy();
            rows[at++] = sample.kineticEnergy();
            rows[at++] = sample.momentum();
            rows[at++] = sample.amplitude();
        }
        writer.item("samples", rows, rows.length);
        writer.item("field", field, parameters.cellCount());
        writer.item("places", places, places.length);
        writer.item("speeds", speeds, speeds.length);
        writer.item("crc", (int) writer.crc.getValue());
    }

    /** Encodes items one at a time into one buffer. */
    private static final class Writer {
        private final RestartItemHandler handler;
        private final CRC32C crc = new CRC32C();
        private final boolean isInPieces;
        private ByteBuffer scratch;

        Writer(RestartItemHandler handler, ByteBuffer scratch, boolean isInPieces) {
            this.handler = handler;
            this.isInPieces = isInPieces;
            this.scratch = scratch.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        }

        void item(String name, long value) {
            scratch.clear().putLong(0, value).limit(Long.BYTES);
            hand(name);
        }

        void item(String name, int value) {
            scratch.clear().putInt(0, value).limit(Integer.BYTES);
            hand(name);
        }

        void item(String name, double[] values, int count) {
            if (8L * count > scratch.capacity() && !isInPieces) {
                scratch = ByteBuffer.allocateDirect(8 * count).order(ByteOrder.LITTLE_ENDIAN);
            }
            for (int done = 0; done < count || done == 0; ) {
                int n = Math.min(count - done, scratch.capacity() / 8);
                scratch.clear();
                scratch.asDoubleBuffer().put(values, done, n);
                scratch.limit(8 * n);
                hand(name);
                done += Math.max(1, n);
            }
        }

        private void hand(String name) {
            crc.update(scratch.duplicate());
            handler.onItem(name, scratch);
        }
    }

    /**
     * Reads a file of the disk.
     *
     * @throws RestartFileException naming the file and what is wrong
     * @throws UncheckedIOException if it cannot be read
     */
    public static RestartFile read(Path path) {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            long size = channel.size();
            if (size > Integer.MAX_VALUE) {
                throw new RestartFileException(path + ": " + size + " bytes is too long");
            }
            ByteBuffer bytes = ByteBuffer.allocate((int) size);
            while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
                continue;
            }
            return decode(path.toString(), bytes.flip());
        } catch (IOException e) {
            throw new UncheckedIOException(path + ": cannot be read: " + e.getMessage(), e);
        }
    }

    /**
     * Reads bytes that may come from anywhere, position to limit.
     *
     * @param name for messages
     * @throws RestartFileException naming the file and what is wrong
     */
    public static RestartFile decode(String name, ByteBuffer source) {
        ByteBuffer bytes = source.slice().order(ByteOrder.LITTLE_ENDIAN);
        if (bytes.remaining() < HEADER_LENGTH + Integer.BYTES) {
            throw new RestartFileException(
                    name + ": " + bytes.remaining() + " bytes are too few for a restart file");
        }
        if (bytes.getLong() != MAGIC) {
            throw new RestartFileException(name + ": this is not a restart file (wrong magic)");
        }
        int version = bytes.getInt();
        if (version != VERSION) {
            throw new RestartFileException(
                    name + ": version " + version + " is unknown; this program reads " + VERSION);
        }
        range(name, "header length", bytes.getInt(), HEADER_LENGTH, HEADER_LENGTH);
        int rank = bytes.getInt();
        int processCount = (int) range(name, "process count", bytes.getInt(), 1, PROCESS_COUNT_MAX);
        range(name, "rank", rank, 0, processCount - 1);
        long step = range(name, "step", bytes.getLong(), 0, Long.MAX_VALUE / 2);
        long particleCount =
                range(name, "particle count", bytes.getLong(), 2, PicParameters.PARTICLE_COUNT_MAX);
        int particles = (int) range(name, "particles", bytes.getInt(), 0, Integer.MAX_VALUE / 16);
        int cells = (int) range(name, "cell count", bytes.getInt(), 2, CELL_COUNT_MAX);
        int sampleCount = (int) range(name, "samples", bytes.getInt(), 0, SAMPLE_COUNT_MAX);
        bytes.getInt();
        long expected = length(sampleCount, cells, particles);
        if (expected != bytes.limit()) {
            throw new RestartFileException(
                    ("%s: %s bytes, the header says %s: the file is truncated or " + "damaged")
                            .formatted(name, bytes.limit(), expected));
        }
        requireChecksum(name, bytes);
        PicParameters parameters =
                new PicParameters(
                        particleCount,
                        cells,
                        bytes.getDouble(),
                        bytes.getDouble(),
                        bytes.getDouble(),
                        bytes.getDouble(),
                        bytes.getDouble(),
                        bytes.getLong());
        requirePhysics(name, parameters);
        List<PicSample> samples = samples(bytes, sampleCount);
        double[] field = doubles(bytes, cells);
        double[] places = doubles(bytes, particles);
        requirePlaces(name, places, parameters.length());
        double[] speeds = doubles(bytes, particles);
        return new RestartFile(
                parameters, rank, processCount, step, samples, field, places, speeds);
    }

    private static void requireChecksum(String name, ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        int end = bytes.limit() - Integer.BYTES;
        crc.update(bytes.slice(0, end));
        int stored = bytes.getInt(end);
        if ((int) crc.getValue() != stored) {
            throw new RestartFileException(
                    String.format(
                            "%s: checksum %08x, stored %08x: the file is damaged",
                            name, (int) crc.getValue(), stored));
        }
    }

    private static void requirePhysics(String name, PicParameters parameters) {
        positive(name, "length", parameters.length());
        positive(name, "time step", parameters.timeStep());
        positive(name, "beam speed", parameters.beamSpeed());
        if (!(parameters.thermalSpeed() >= 0 && parameters.thermalSpeed() < 1e6)) {
            throw new RestartFileException(name + ": thermal speed " + parameters.thermalSpeed());
        }
    }

    private static void requirePlaces(String name, double[] places, double length) {
        for (int i = 0; i < places.length; i++) {
            if (!(places[i] >= 0 && places[i] < length)) {
                throw new RestartFileException(
                        "%s: place %s of particle %s is outside the box"
                                .formatted(name, places[i], i));
            }
        }
    }

    private static void positive(String name, String what, double value) {
        if (!(value > 0 && value < 1e6)) {
            throw new RestartFileException(name + ": " + what + " " + value + " makes no sense");
        }
    }

    private static List<PicSample> samples(ByteBuffer bytes, int count) {
        List<PicSample> samples = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            samples.add(
                    new PicSample(
                            (long) bytes.getDouble(),
                            bytes.getDouble(),
                            bytes.getDouble(),
                            bytes.getDouble(),
                            bytes.getDouble(),
                            bytes.getDouble()));
        }
        return samples;
    }

    private static double[] doubles(ByteBuffer bytes, int count) {
        double[] values = new double[count];
        bytes.asDoubleBuffer().get(values);
        bytes.position(bytes.position() + 8 * count);
        return values;
    }

    private static long range(String name, String what, long value, long min, long max) {
        if (value < min || value > max) {
            throw new RestartFileException(
                    name + ": " + what + " " + value + " is outside " + min + " to " + max);
        }
        return value;
    }

    /**
     * Checks that this file belongs to a run.
     *
     * @throws RestartFileException naming the difference
     */
    void requireRun(PicParameters expected, int expectedRank, int expectedProcessCount) {
        same("rank", rank, expectedRank);
        same("processes", processCount, expectedProcessCount);
        same("particles", parameters.particleCount(), expected.particleCount());
        same("cells", parameters.cellCount(), expected.cellCount());
        same("length", parameters.length(), expected.length());
        same("time.step", parameters.timeStep(), expected.timeStep());
        same("beam.speed", parameters.beamSpeed(), expected.beamSpeed());
        same("beam.thermal.speed", parameters.thermalSpeed(), expected.thermalSpeed());
        same("perturbation", parameters.perturbation(), expected.perturbation());
        same("seed", parameters.seed(), expected.seed());
        long first = expected.firstParticle(rank, processCount);
        same("share", places.length, expected.firstParticle(rank + 1, processCount) - first);
    }

    private void same(String what, Number found, Number expected) {
        if (found.doubleValue() != expected.doubleValue()) {
            throw new RestartFileException(
                    ("restart file of rank %s, step %s: %s is %s, the input deck "
                                    + "says %s: it belongs to another run")
                            .formatted(rank, step, what, found, expected));
        }
    }
}
