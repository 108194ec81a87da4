package dev.verbena.cli.chaos;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The receiver's disk: a small one of its own, in a mount namespace, which can be filled; where the
 * kernel forbids that, an ordinary folder.
 */
public final class ChaosDisk implements AutoCloseable {
    private final Path inside;
    private final Path outside;
    private final List<String> prefix;
    private final Process holder;
    private final String cause;

    private ChaosDisk(
            Path inside, Path outside, List<String> prefix, Process holder, String cause) {
        this.inside = inside;
        this.outside = outside;
        this.prefix = prefix;
        this.holder = holder;
        this.cause = cause;
    }

    /** A disk of so many MiB at this folder, seen only by processes begun with the prefix. */
    public static ChaosDisk open(Path folder, int mebibytes) throws IOException {
        Files.createDirectories(folder);
        String last = "";
        for (String flags : List.of("-m", "-rm")) {
            List<String> command = new ArrayList<>(List.of("unshare", flags, "sh", "-c"));
            String size = "size=" + mebibytes + "m";
            command.add("mount -t tmpfs -o " + size + " verbena \"$0\" && echo yes && exec cat");
            command.add(folder.toString());
            try {
                Process holder = new ProcessBuilder(command).redirectErrorStream(true).start();
                last =
                        new BufferedReader(new InputStreamReader(holder.getInputStream()))
                                .readLine();
                if ("yes".equals(last)) {
                    return new ChaosDisk(folder, prefixOf(holder, flags), holder);
                }
                holder.destroyForcibly();
            } catch (IOException e) {
                last = e.getMessage();
            }
        }
        return new ChaosDisk(folder, folder, List.of(), null, "no mount namespace: " + last);
    }

    private ChaosDisk(Path folder, List<String> prefix, Process holder) {
        this(
                folder,
                Path.of("/proc/" + holder.pid() + "/root" + folder.toAbsolutePath()),
                prefix,
                holder,
                "");
    }

    private static List<String> prefixOf(Process holder, String flags) {
        List<String> prefix = new ArrayList<>(List.of("nsenter", "-t", "" + holder.pid(), "-m"));
        if (flags.contains("r")) {
            prefix.addAll(List.of("-U", "--preserve-credentials"));
        }
        return prefix;
    }

    /** Whether it can be filled; else {@link #cause()} says why not. */
    public boolean isLimited() {
        return holder != null;
    }

    /** Why it is an ordinary folder. */
    public String cause() {
        return cause;
    }

    /** The folder as processes begun with the prefix see it. */
    public Path inside() {
        return inside;
    }

    /** The folder as this process sees it. */
    public Path outside() {
        return outside;
    }

    /** Begins the command line of a process that is to see the disk. */
    public List<String> prefix() {
        return prefix;
    }

    /** Leaves no byte free. */
    public void fill() throws IOException {
        if (!isLimited()) {
            return;
        }
        try (FileChannel out =
                FileChannel.open(
                        outside.resolve(".filler"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.APPEND)) {
            for (int length = 1 << 20; length > 0; length /= 16) {
                try {
                    while (true) {
                        out.write(ByteBuffer.allocate(length));
                    }
                } catch (IOException e) {
                    // Full, for pieces of this length.
                }
            }
        }
    }

    /** Makes it larger. */
    public void grow(int mebibytes) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(List.of("mount", "-o", "remount,size=" + mebibytes + "m", inside + ""));
        int code = new ProcessBuilder(command).inheritIO().start().waitFor();
        if (code != 0) {
            throw new IOException(command + " ended with " + code);
        }
    }

    /** Gives so many bytes of what {@link #fill} wrote back. */
    public void free(long bytes) throws IOException {
        try (FileChannel filler =
                FileChannel.open(outside.resolve(".filler"), StandardOpenOption.WRITE)) {
            filler.truncate(Math.max(0, filler.size() - bytes));
        }
    }

    /** Takes away what {@link #fill} wrote. */
    public void free() throws IOException {
        Files.deleteIfExists(outside.resolve(".filler"));
    }

    @Override
    public void close() throws InterruptedException {
        if (holder != null) {
            holder.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        }
    }
}
