package dev.verbena.cli;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartTicket;
import dev.verbena.dart.TicketState;
import dev.verbena.memory.RegisteredRegion;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code dart send}: ordinary files and folders, two buffers, one read while the other is sent. */
@Command(
        name = "send",
        description = {
            "Send files, and folders with everything in them, through the servers to the receiver.",
            "Every file is checksummed; the command ends when the receiver has confirmed all of them."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class DartSend implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            required = true,
            description = "Configuration file written by the master.")
    private Path configuration;

    @Mixin private TransportOption transport;

    @Option(
            names = "--rank",
            paramLabel = "N",
            defaultValue = "0",
            description = "Number of this sender among those of the job. Default: 0.")
    private int rank;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "30",
            description = "Longest wait for servers and receiver, 1 to 3600. Default: 30.")
    private int timeout;

    @Parameters(paramLabel = "PATH", arity = "1..*", description = "Files and folders.")
    private List<Path> paths;

    private final List<String> faults = new ArrayList<>();
    private final DartMetadata metadata = new DartMetadata();
    private DartClient client;
    private RegisteredRegion[] regions;
    private ByteBuffer[] windows;
    private DartTicket[] tickets;
    private int turn;
    private long fileCount;
    private long byteCount;

    /** A file or folder to be sent, under the name that it gets at the receiver. */
    private record Item(Path path, String name, boolean isFolder) {}

    @Override
    public Integer call() throws Exception {
        if (timeout < 1 || timeout > 3600 || rank < 0) {
            throw new ParameterException(
                    spec.commandLine(), "--timeout from 1 to 3600, --rank from 0");
        }
        PrintWriter out = spec.commandLine().getOut();
        List<Item> items = collect();
        if (!Files.exists(configuration) && items.isEmpty()) {
            throw new Messages.Failure("nothing to send");
        }
        String scheme = transport.require(spec);
        long timeoutNs = TimeUnit.SECONDS.toNanos(timeout);
        long begin = System.nanoTime();
        try (RealEnvironment environment =
                        RealEnvironment.builder().application("dart send").build();
                DartClient connected =
                        DartClient.connect(
                                new DartClient.Context()
                                        .environment(environment)
                                        .configurationFile(
                                                configuration.toAbsolutePath().toString())
                                        .transport(scheme)
                                        .rank(rank)
                                        .maxInFlight(2)
                                        .bootTimeoutNs(timeoutNs)
                                        .closeTimeoutNs(timeoutNs)
                                        .checksum(true))) {
            client = connected;
            prepare(items);
            ProgressLine line = new ProgressLine(out);
            for (Item item : items) {
                line.progress(fileCount, items.size(), item.name());
                send(item);
            }
            client.flush(timeoutNs);
            line.end();
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        out.printf(
                "%d files and folders, %.1f MB, confirmed by the receiver in %.2f s (%.0f MB/s)%n",
                fileCount, byteCount / 1e6, seconds, byteCount / 1e6 / seconds);
        out.flush();
        for (String fault : faults) {
            spec.commandLine().getErr().println("verbena send: " + fault);
        }
        return faults.isEmpty() ? 0 : 1;
    }

    private List<Item> collect() throws IOException {
        List<Item> items = new ArrayList<>();
        for (Path path : paths) {
            if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
                throw new Messages.Failure(path + ": there is no such file or folder");
            }
            Path whole = path.toAbsolutePath().normalize();
            Path base = whole.getParent() == null ? whole : whole.getParent();
            Files.walkFileTree(whole, new Visitor(base, items));
        }
        return items;
    }

    private final class Visitor extends SimpleFileVisitor<Path> {
        private final Path base;
        private final List<Item> items;

        Visitor(Path base, List<Item> items) {
            this.base = base;
            this.items = items;
        }

        private String name(Path path) {
            return base.relativize(path).toString();
        }

        @Override
        public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            items.add(new Item(folder, name(folder), true));
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (attributes.isRegularFile()) {
                items.add(new Item(file, name(file), false));
            } else {
                faults.add(file + ": not an ordinary file (a link, device or pipe); left out");
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException error) {
            faults.add(Messages.of(error) + "; left out");
            return FileVisitResult.CONTINUE;
        }
    }

    private void prepare(List<Item> items) {
        long longest = 1;
        for (Item item : items) {
            longest = Math.max(longest, item.isFolder() ? 1 : item.path().toFile().length());
        }
        int length = (int) Math.min(longest, SentFile.PART_LENGTH);
        regions = new RegisteredRegion[] {client.allocate(length), client.allocate(length)};
        windows = new ByteBuffer[regions.length];
        tickets = new DartTicket[regions.length];
        for (int i = 0; i < regions.length; i++) {
            windows[i] = ByteBuffer.allocateDirect(length);
        }
    }

    /** Waits until a region may be filled again. */
    private int nextRegion() {
        turn = 1 - turn;
        if (tickets[turn] != null) {
            tickets[turn].await(TicketState.TRANSFERRED, TimeUnit.SECONDS.toNanos(timeout));
        }
        return turn;
    }

    private void send(Item item) {
        if (item.isFolder()) {
            int slot = nextRegion();
            SentFile.describe(metadata, item.name(), 0, 0, true);
            tickets[slot] = client.send(regions[slot], 0, 0, metadata.rank(rank), 0);
            fileCount++;
            return;
        }
        try (FileChannel in = FileChannel.open(item.path(), StandardOpenOption.READ)) {
            long total = in.size();
            CRC32C crc = new CRC32C();
            long offset = 0;
            do {
                int slot = nextRegion();
                int length = fill(in, windows[slot], total - offset, item);
                crc.update(windows[slot].duplicate());
                UnsafeBuffer target = regions[slot].buffer(0, (int) regions[slot].length());
                target.putBytes(0, windows[slot], 0, length);
                SentFile.describe(metadata, item.name(), offset, total, false);
                offset += length;
                if (offset == total) {
                    metadata.property("crc", String.format("%08x", (int) crc.getValue()));
                }
                tickets[slot] = client.send(regions[slot], 0, length, metadata.rank(rank), 0);
            } while (offset < total);
            fileCount++;
            byteCount += total;
        } catch (IOException e) {
            faults.add(Messages.of(e) + "; left out");
        } catch (IllegalArgumentException e) {
            faults.add(item.path() + ": " + Messages.of(e) + "; left out");
        }
    }

    private static int fill(FileChannel in, ByteBuffer window, long rest, Item item)
            throws IOException {
        window.clear().limit((int) Math.min(rest, window.capacity()));
        while (window.hasRemaining()) {
            if (in.read(window) < 0) {
                throw new IOException(item.path() + ": it became shorter while it was sent");
            }
        }
        return window.flip().limit();
    }
}
