package dev.verbena.portals.model;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;

/** An interface of libportals3 in a process of its own, which does what it is told over pipes. */
final class RemoteNic implements NicCalls {
    private final Process process;
    private final DataOutputStream out;
    private final DataInputStream in;
    private final long[] event = new long[ModelEvent.WORDS];

    RemoteNic(String job) {
        try {
            process =
                    new ProcessBuilder(
                                    List.of(
                                            Path.of(System.getProperty("java.home"), "bin", "java")
                                                    .toString(),
                                            "-Xmx128m",
                                            "-XX:TieredStopAtLevel=1",
                                            "-XX:+UseSerialGC",
                                            "-cp",
                                            System.getProperty("java.class.path"),
                                            RemoteNic.class.getName(),
                                            job))
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        out = new DataOutputStream(new BufferedOutputStream(process.getOutputStream()));
        in = new DataInputStream(new java.io.BufferedInputStream(process.getInputStream()));
    }

    @Override
    public long[] event() {
        return event;
    }

    @Override
    public long call(int what, long... arguments) {
        try {
            out.writeByte(what);
            out.writeByte(arguments.length);
            for (long argument : arguments) {
                out.writeLong(argument);
            }
            out.flush();
            long result = in.readLong();
            if (result == Long.MIN_VALUE) {
                throw new AssertionError(in.readUTF());
            }
            if (what == TAKE && result >= 0) {
                for (int i = 0; i < event.length; i++) {
                    event[i] = in.readLong();
                }
            }
            return result;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Its input ends, so it closes and ends; after a while it is ended. */
    @Override
    public void close() {
        try {
            out.close();
            if (!process.waitFor(20, java.util.concurrent.TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (IOException e) {
            process.destroyForcibly();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    /** The other process. Argument: the job. */
    public static void main(String[] arguments) throws IOException {
        DataInputStream in = new DataInputStream(new java.io.BufferedInputStream(System.in));
        DataOutputStream out =
                new DataOutputStream(
                        new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)));
        try (LocalNic nic = new LocalNic(arguments[0])) {
            while (true) {
                serve(nic, in, out);
            }
        } catch (EOFException e) {
            return; // the test has ended
        }
    }

    private static void serve(LocalNic nic, DataInputStream in, DataOutputStream out)
            throws IOException {
        int what = in.readByte();
        long[] given = new long[in.readByte()];
        for (int i = 0; i < given.length; i++) {
            given[i] = in.readLong();
        }
        try {
            long result = nic.call(what, given);
            out.writeLong(result);
            if (what == TAKE && result >= 0) {
                for (long word : nic.event()) {
                    out.writeLong(word);
                }
            }
        } catch (RuntimeException | AssertionError e) {
            out.writeLong(Long.MIN_VALUE);
            out.writeUTF(String.valueOf(e.getMessage()));
        }
        out.flush();
    }
}
