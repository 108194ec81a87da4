package dev.verbena.cli.flesnet;

import dev.verbena.flesnet.MicrosliceFlyweight;
import dev.verbena.flesnet.PatternSource;
import dev.verbena.flesnet.Timeslice;
import dev.verbena.flesnet.TimesliceHandler;
import dev.verbena.flesnet.archive.ArchiveHead;
import dev.verbena.flesnet.archive.ArchiveWriter;
import dev.verbena.flesnet.archive.ArchivedTimeslice;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A consumer: looks at every component, keeps timeslices in an archive if one is wanted, releases
 * them. Used by the engine's thread, asked by others.
 */
final class TimesliceChecker implements TimesliceHandler, AutoCloseable {
    private final int coreMicroslices;
    private final boolean isUnchecked;
    private final MicrosliceFlyweight microslice = new MicrosliceFlyweight();
    private final UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
    private Path path;
    private ArchiveWriter archive;
    private TimesliceStream stream;
    private volatile long count;
    private volatile long damagedCount;
    private volatile IOException failure;

    /** Of timeslices with so many microslices of their own; that number goes to archives. */
    TimesliceChecker(int coreMicroslices, boolean isUnchecked) {
        this.coreMicroslices = coreMicroslices;
        this.isUnchecked = isUnchecked;
    }

    /**
     * Writes all timeslices to this file.
     *
     * @throws IOException naming the file
     */
    void archive(Path file, boolean isCompressed, long nowSeconds) throws IOException {
        path = file;
        archive =
                new ArchiveWriter(
                        new BufferedOutputStream(Files.newOutputStream(file)),
                        new ArchiveHead(
                                ArchiveHead.TIMESLICES,
                                isCompressed ? ArchiveHead.ZSTD : ArchiveHead.PLAIN,
                                nowSeconds,
                                hostName(),
                                System.getProperty("user.name")));
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            // A machine need not know its own name, in a container for instance.
            return "localhost";
        }
    }

    /** Where timeslices go besides; null: nowhere. */
    void stream(TimesliceStream value) {
        stream = value;
    }

    TimesliceStream stream() {
        return stream;
    }

    @Override
    public void onTimeslice(Timeslice timeslice) {
        if (archive == null && stream == null && isUnchecked) {
            count++;
            timeslice.release();
            return;
        }
        List<ArchivedTimeslice.Component> components = new ArrayList<>();
        boolean isDamaged = false;
        for (int i = 0; i < timeslice.componentCount(); i++) {
            byte[] bytes = new byte[timeslice.size(i)];
            if (timeslice.hasComponent(i)) {
                timeslice.copy(i, 0, bytes, 0, bytes.length);
                isDamaged |= !isUnchecked && !isIntact(bytes, timeslice.microsliceCount(i), i);
            }
            components.add(
                    new ArchivedTimeslice.Component(
                            timeslice.index(),
                            0,
                            bytes.length,
                            timeslice.microsliceCount(i),
                            timeslice.flags(i),
                            bytes));
        }
        count++;
        damagedCount += isDamaged ? 1 : 0;
        keep(timeslice, components);
        if (failure == null) {
            timeslice.release();
        }
        // What was not kept is not acknowledged: another compute node builds it anew.
    }

    private void keep(Timeslice timeslice, List<ArchivedTimeslice.Component> components) {
        boolean isStreamed = stream != null && stream.isWanted();
        if (archive == null && !isStreamed || failure != null) {
            return;
        }
        ArchivedTimeslice archived =
                new ArchivedTimeslice(
                        timeslice.index(),
                        0,
                        0,
                        timeslice.flags(),
                        timeslice.descriptor(),
                        coreMicroslices,
                        components);
        try {
            if (archive != null) {
                archive.write(archived);
                // It is released next: nobody builds it anew when this process is killed.
                archive.flush();
            }
            if (isStreamed) {
                stream.publish(archived);
            }
        } catch (IOException e) {
            failure = named(e);
        }
    }

    private boolean isIntact(byte[] bytes, int microslices, int input) {
        buffer.wrap(bytes);
        int at = microslices * MicrosliceFlyweight.LENGTH;
        for (int m = 0; m < microslices; m++) {
            microslice.wrap(buffer, m * MicrosliceFlyweight.LENGTH);
            long size = microslice.size();
            boolean isRamp =
                    size <= bytes.length - at
                            && PatternSource.isRamp(buffer, at, (int) size, input);
            if (!isRamp || microslice.equipment() != input) {
                return false;
            }
            at += (int) size;
        }
        return at == bytes.length;
    }

    long count() {
        return count;
    }

    long damagedCount() {
        return damagedCount;
    }

    /** Why the archive cannot be written, naming it; null if it can. */
    IOException failure() {
        return failure;
    }

    @Override
    public void close() throws IOException {
        try {
            if (archive != null) {
                archive.close();
            }
        } catch (IOException e) {
            throw named(e);
        }
    }

    private IOException named(IOException e) {
        return archive == null ? e : new IOException(path + ": " + e.getMessage(), e);
    }
}
