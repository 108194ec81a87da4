package dev.verbena.nsim.program;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What all ranks do: per rank a row of operations, each a code and its numbers in as many bytes as
 * they need. Immutable once recorded.
 */
public final class Script {
    private static final int CHUNK = 1 << 24;
    private static final int CHUNK_MAX = 1 << 30;

    private final List<byte[]> chunks = new ArrayList<>();
    private final long[] starts;
    private byte[] chunk = new byte[1024];
    private int length;

    private int depthMax;
    private long putCount;
    private long putBytes;
    private long bytesMax;
    private int tagMax;

    /** A bit for each operation that it has. */
    private int operations;

    private boolean hasMessages;
    private final List<Object> objects = new ArrayList<>();

    private Script(int size) {
        starts = new long[size];
    }

    /**
     * Records a program for each of a number of ranks.
     *
     * @param isLoopback whether a rank may put to itself
     * @param shortMax the longest message, in bytes, that is sent without being asked for
     */
    public static Script record(int size, boolean isLoopback, long shortMax, Program program) {
        if (size < 1) {
            throw new IllegalArgumentException(size + " processes; at least 1 is needed");
        }
        Script script = new Script(size);
        Rank rank = new Rank(script, size, isLoopback, shortMax);
        for (int i = 0; i < size; i++) {
            script.begin(i);
            rank.begin(i);
            program.run(rank);
            rank.end();
        }
        script.chunks.add(Arrays.copyOf(script.chunk, script.length));
        script.chunk = null;
        return script;
    }

    private void begin(int rank) {
        if (length > CHUNK) {
            chunks.add(Arrays.copyOf(chunk, length));
            chunk = new byte[CHUNK];
            length = 0;
        }

        starts[rank] = (long) chunks.size() << 32 | length;
    }

    int length() {
        return length;
    }

    /** Forgets what was recorded behind an earlier length; not objects. */
    void cut(int value) {
        length = value;
    }

    /** An operation with its numbers. */
    void operation(int code, long... numbers) {
        ensure(1);
        chunk[length++] = (byte) code;
        operations |= 1 << code;
        for (long number : numbers) {
            number(number);
        }
    }

    /** Seven bits a byte, lowest first. */
    private void number(long value) {
        ensure(10);
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            chunk[length++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        chunk[length++] = (byte) rest;
    }

    private void ensure(int bytes) {
        if (length + bytes > chunk.length) {
            if (length > CHUNK_MAX) {
                throw new IllegalArgumentException(
                        "a rank's script is longer than 1 GiB; use loop(n, ...)");
            }
            chunk = Arrays.copyOf(chunk, Math.max(2 * chunk.length, length + bytes));
        }
    }

    /** An object, or null, that the program gave: an array, a receipt, something to do. */
    void object(Object value) {
        if (value == null) {
            number(0);
            return;
        }
        objects.add(value);
        number(objects.size());
    }

    Object objectAt(long number) {
        return number == 0 ? null : objects.get((int) number - 1);
    }

    void countPut(long times, long bytes) {
        putCount += times;
        putBytes += times * bytes;
        bytesMax = Math.max(bytesMax, bytes);
    }

    void tag(int tag) {
        tagMax = Math.max(tagMax, tag);
    }

    void depth(int depth) {
        depthMax = Math.max(depthMax, depth);
    }

    boolean isTwoSided() {
        return has(Operation.SEND) || has(Operation.RECEIVE) || has(Operation.AWAIT_ALL);
    }

    boolean has(int operation) {
        return (operations & 1 << operation) != 0;
    }

    /** How many ranks there are. */
    public int size() {
        return starts.length;
    }

    /** Puts and gets of all ranks. */
    public long putCount() {
        return putCount;
    }

    /** Bytes of the puts and gets of all ranks. */
    public long putBytes() {
        return putBytes;
    }

    /** The longest put or get. */
    public long bytesMax() {
        return bytesMax;
    }

    /**
     * Does what a rank does somewhere else than in the simulator.
     *
     * @throws UnsupportedOperationException if {@link #checkPerformable} does
     */
    public void perform(int rank, Performer performer) {
        checkPerformable();
        new ScriptPlayer(this, rank, performer).play();
    }

    /**
     * Looks whether all ranks can be performed elsewhere.
     *
     * @throws UnsupportedOperationException if not; says why
     */
    public void checkPerformable() {
        if (hasMessages || has(Operation.AWAIT_ALL) || has(Operation.CALCULATE)) {
            throw new UnsupportedOperationException(
                    "sends, receives and calculations are known to the simulator only; use puts,"
                            + " gets, polls and collectives of sizes");
        }
        if (tagMax >= Performer.TAGS) {
            throw new UnsupportedOperationException(
                    ("tag %s: outside the simulator, tags from 2^29 on are of what synchronises"
                                    + " processes; use a smaller tag")
                            .formatted(tagMax));
        }
    }

    /** A message or calculation of the program was recorded, not of a collective of sizes. */
    void hasMessages() {
        hasMessages = true;
    }

    int depthMax() {
        return depthMax;
    }

    byte[] chunkOf(int rank) {
        return chunks.get((int) (starts[rank] >>> 32));
    }

    int startOf(int rank) {
        return (int) starts[rank];
    }
}
