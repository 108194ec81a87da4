package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** What the kernel has of every kind of object of all devices: {@code rdma resource show}. */
public final class KernelObjects {
    private static final long PATIENCE_NS = 30_000_000_000L;

    private KernelObjects() {}

    /** Whether the program that tells is here. */
    public static boolean canBeCounted() {
        try {
            return new ProcessBuilder("rdma", "-V").start().waitFor() == 0;
        } catch (IOException | InterruptedException e) {
            return false;
        }
    }

    /** A line for each device. */
    public static String count() throws IOException, InterruptedException {
        Process rdma = new ProcessBuilder("rdma", "resource", "show").start();
        String said = new String(rdma.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(rdma.waitFor(50, TimeUnit.SECONDS)).isTrue();
        assertThat(rdma.exitValue()).isZero();
        return said;
    }

    /** It is as it was; the kernel may take its time. */
    public static void awaitCount(String before) throws IOException, InterruptedException {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        String after = count();
        while (!after.equals(before) && System.nanoTime() - deadlineNs < 0) {
            TimeUnit.MILLISECONDS.sleep(200);
            after = count();
        }
        assertThat(after).isEqualTo(before);
    }
}
