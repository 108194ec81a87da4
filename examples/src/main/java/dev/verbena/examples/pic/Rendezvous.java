package dev.verbena.examples.pic;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.locks.LockSupport;

/**
 * Where the processes of a run find each other: a folder into which each writes its address. The
 * launcher gives a fresh folder to every run.
 *
 * @param folder shared by all processes
 * @param rank of this process
 * @param processCount of the run
 */
public record Rendezvous(Path folder, int rank, int processCount) {
    private static final long LOOK_AGAIN_NS = 2_000_000;
    private static final int URI_LENGTH_MAX = 4096;

    /** Checks the numbers. */
    public Rendezvous {
        if (processCount < 1 || rank < 0 || rank >= processCount) {
            throw new IllegalArgumentException(
                    "rank " + rank + " of " + processCount + " processes does not exist");
        }
    }

    private Path file(int peer) {
        return folder.resolve("compute-" + peer + ".uri");
    }

    /** Publishes this process' address. The file is never readable half-written. */
    public void publish(URI uri) {
        Path target = file(rank);
        Path fresh = folder.resolve("compute-" + rank + ".uri.new");
        try {
            Files.writeString(fresh, uri.toString());
            Files.move(
                    fresh,
                    target,
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + target + ": " + e.getMessage(), e);
        }
    }

    /**
     * Address of another process; waits until it is published.
     *
     * @throws IllegalStateException if it has not within {@code timeoutNs}, naming the file
     */
    public URI await(int peer, long timeoutNs) {
        long deadlineNs = System.nanoTime() + timeoutNs;
        Path file = file(peer);
        while (!Files.exists(file)) {
            if (System.nanoTime() - deadlineNs >= 0) {
                throw new IllegalStateException(
                        ("compute process %s: compute process %s did not start "
                                        + "within %s s; there is no file %s")
                                .formatted(rank, peer, timeoutNs / 1_000_000_000L, file));
            }
            LockSupport.parkNanos(LOOK_AGAIN_NS);
            if (Thread.currentThread().isInterrupted()) {
                throw new IllegalStateException("interrupted while waiting for " + file);
            }
        }
        try {
            if (Files.size(file) > URI_LENGTH_MAX) {
                throw new IllegalStateException(file + " holds no address: it is too long");
            }
            return new URI(Files.readString(file).strip());
        } catch (IOException | java.net.URISyntaxException e) {
            throw new IllegalStateException(file + " holds no address: " + e.getMessage(), e);
        }
    }
}
