package dev.verbena.cli.demo;

import dev.verbena.examples.pic.PicDeck;
import java.nio.file.Path;

/**
 * What the demo is to run.
 *
 * @param deck with the command line's changes
 * @param scheme of the transport
 * @param serverCount service processes
 * @param restart folder to continue from, or null
 * @param firstStep step to continue from
 * @param output folder, exists
 * @param timeoutSeconds longest wait of one process for another
 * @param port of the receiver, 0 for any
 * @param isCompared whether ways of output are compared first
 * @param isKilling whether the receiver is killed halfway
 * @param memory how much memory the processes share
 */
record DemoPlan(
        PicDeck deck,
        String scheme,
        int serverCount,
        Path restart,
        long firstStep,
        Path output,
        int timeoutSeconds,
        int port,
        boolean isCompared,
        boolean isKilling,
        SharedMemory memory) {
    /** Bytes: as many as the option takes without a unit. */
    private static final long SPILL_MAX = 999_999_999_999L;

    /** Restart files that the run will write. */
    int fileCount() {
        long last = deck.stepCount() / deck.restartEvery();
        return Math.toIntExact((last - firstStep / deck.restartEvery()) * deck.processCount());
    }

    /**
     * The step after which the receiver is killed: the first in the second half that has files on
     * their way.
     */
    long killStep() {
        int every = deck.restartEvery();
        long half = firstStep + (deck.stepCount() - firstStep) / 2;
        return Math.max(1, (half + every - 1) / every) * every;
    }

    /**
     * Where service processes put what the receiver does not take, each up to {@link #spillMax}.
     */
    Path spillFolder() {
        return output.resolve("spill");
    }

    /** Bytes: all that a server may get in the run, and that once more for what surrounds it. */
    long spillMax() {
        long file = deck.restartLength() + historyLength() + (1 << 16);
        long run = 2 * Math.max(1, fileCount()) * file;
        // The least that a server takes.
        long fourBuffers = 4L * memory.bufferMebibytes() << 20;
        return Math.max(fourBuffers, Math.min(SPILL_MAX, run));
    }

    /** Bytes of a restart file besides its particles, on average. */
    long historyLength() {
        return 24 * deck.stepCount() + (1 << 16);
    }

    /**
     * Shared memory for the run.
     *
     * @param slotCount memories of a compute process, of a restart file each
     * @param bufferCount buffers of a server
     * @param bufferMebibytes size of a buffer
     */
    record SharedMemory(int slotCount, int bufferCount, int bufferMebibytes) {
        /** Outputs that the servers can hold while the receiver is away. */
        private static final int OUTPUTS_HELD = 12;

        /** Of a server, if they are there to be had. */
        private static final int MEBIBYTES_MIN = 64;

        private static final int BUFFERS_MIN = 3;
        private static final int BUFFERS_MAX = 1024;
        private static final int BUFFER_MEBIBYTES_MAX = 4;

        /** Part of what is free that may be taken for comfort. */
        private static final int PART = 3;

        private static final long EACH_COMPUTE = 6L << 20;
        private static final long EACH_SERVER = 20L << 20;
        private static final long ALL = 16L << 20;

        /**
         * As much as is good; less, and at last as little as works, if the usual folder is small.
         */
        static SharedMemory of(PicDeck deck, int serverCount, Path folder) {
            long mebibytes = (deck.restartLength() + (1 << 20) - 1) >> 20;
            int size = (int) Math.min(BUFFER_MEBIBYTES_MAX, mebibytes);
            long perFile = (mebibytes + size - 1) / size;
            int share = (deck.processCount() + serverCount - 1) / serverCount;
            long free = folder.toFile().getUsableSpace();
            for (int held = OUTPUTS_HELD; held > 0; held /= 2) {
                long wanted = Math.min(BUFFERS_MAX, held * share * perFile);
                wanted = Math.max(wanted, MEBIBYTES_MIN / size);
                int count = (int) Math.max(BUFFERS_MIN, wanted);
                SharedMemory good = new SharedMemory(2, count, size);
                if (good.length(deck, serverCount) <= free / PART) {
                    return good;
                }
            }
            return new SharedMemory(1, BUFFERS_MIN, size);
        }

        /** Bytes that all processes together may need; rather too much. */
        long length(PicDeck deck, int serverCount) {
            long file = deck.restartLength() + deck.restartLength() / 32 + (1 << 16);
            long buffers = (long) bufferCount * bufferMebibytes << 20;
            return deck.processCount() * (slotCount * file + EACH_COMPUTE)
                    + serverCount * (buffers + EACH_SERVER)
                    + ALL;
        }
    }
}
