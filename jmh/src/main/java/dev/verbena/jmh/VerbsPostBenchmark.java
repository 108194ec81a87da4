package dev.verbena.jmh;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.verbs.Access;
import dev.verbena.verbs.CompletionQueue;
import dev.verbena.verbs.MemoryRegion;
import dev.verbena.verbs.ProtectionDomain;
import dev.verbena.verbs.QueuePair;
import dev.verbena.verbs.QueuePairContext;
import dev.verbena.verbs.RdmaDevice;
import dev.verbena.verbs.RdmaDevices;
import dev.verbena.verbs.SendRequestFlyweight;
import dev.verbena.verbs.SendRequests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What Java adds to a post and an empty poll: two fields of a prepared request are edited, it is
 * posted, and the completion queue is polled, on a device whose post and poll do nothing; beside it
 * the same loop in C on the same device. Run in the checkout: the device is compiled from the
 * tests' {@code ibverbs_stub.c}.
 *
 * <p>The sends are not signalled and nothing completes, so the queue is made empty every so often;
 * the time for that is part of the figure.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(3)
public class VerbsPostBenchmark {
    private static final int ROUNDS = 10_000;
    private static final String SOURCE = "java-api/src/test/c/ibverbs_stub.c";

    private OffHeapMemory memory;
    private RdmaDevice device;
    private ProtectionDomain domain;
    private MemoryRegion region;
    private CompletionQueue completions;
    private QueuePair queue;
    private SendRequests sends;
    private SendRequestFlyweight request;

    /** Compiles the device that does nothing, and makes a queue pair of it. */
    @Setup(Level.Trial)
    public void open() throws IOException, InterruptedException {
        Path library = Files.createTempFile("verbena", ".so");
        Process compiler =
                new ProcessBuilder(
                                "cc",
                                "-std=gnu11",
                                "-O2",
                                "-fPIC",
                                "-shared",
                                "-fvisibility=hidden",
                                "-o",
                                library.toString(),
                                SOURCE)
                        .inheritIO()
                        .start();
        if (compiler.waitFor() != 0) {
            throw new IOException("cc failed on " + SOURCE + "; run it in the checkout");
        }
        System.setProperty("verbena.ibverbs", library.toString());
        memory = OffHeapMemories.allocate(4096);
        device = RdmaDevices.open("nothing0");
        Files.delete(library);
        domain = device.allocateProtectionDomain();
        region = domain.register(memory, Access.REMOTE_ALL);
        completions = device.createCompletionQueue(16);
        queue =
                domain.createQueuePair(
                        new QueuePairContext().completions(completions).sendCapacity(1 << 14));
        sends = queue.newSends(1);
        request = sends.at(0).segment(region, 0, 64).write(0, region.remoteKey());
    }

    /** Closes. */
    @TearDown(Level.Trial)
    public void close() {
        sends.close();
        queue.close();
        completions.close();
        region.close();
        domain.close();
        device.close();
        memory.close();
    }

    /** Edit, post, poll in Java. */
    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public int java() {
        int taken = 0;
        for (int i = 0; i < ROUNDS; i++) {
            taken += queue.post(request.id(i).remoteAddress(i * 64L));
            taken += completions.poll(16);
        }
        if (taken != ROUNDS) {
            throw new IllegalStateException("posted " + taken + " of " + ROUNDS);
        }
        queue.toReset();
        return taken;
    }

    /** Edit, post, poll in C: inside one call, on the same queue pair. */
    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public int c() {
        return device.pkey(1, ROUNDS);
    }
}
