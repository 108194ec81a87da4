package dev.verbena.jmh;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.rdma.calls.verbscalls;
import dev.verbena.verbs.Access;
import dev.verbena.verbs.CompletionFlyweight;
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
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What Java adds to posting and polling, on a device whose post and poll do nothing; beside each
 * loop the same in C on the same device. Run in the checkout: the device is compiled from the
 * tests' {@code ibverbs_stub.c}.
 *
 * <p>The sends are not signalled and nothing completes, so the queue is made empty every so often;
 * the time for that is part of the figures.
 */
public class VerbsPostBenchmark extends OperationBenchmark {
    static final int ROUNDS = 10_000;
    static final int BATCH = 16;
    private static final String SOURCE = "java-api/src/test/c/ibverbs_stub.c";

    /** What the device is asked for, as in its source. */
    private static final int MILLION = 1_000_000;

    private static final int C_EDIT_POST_POLL = ROUNDS;
    private static final int C_POST = MILLION + ROUNDS;
    private static final int C_FILL_POST = 2 * MILLION + ROUNDS;
    private static final int C_POLL_FULL = 3 * MILLION + ROUNDS;
    private static final int NOTE_IDS = 4 * MILLION;
    private static final int ANSWER_FULL = 5 * MILLION;
    private static final int DO_NOTHING = 6 * MILLION;

    private OffHeapMemory memory;
    private RdmaDevice device;
    private ProtectionDomain domain;
    private MemoryRegion region;
    private CompletionQueue completions;
    private QueuePair queue;
    private SendRequests sends;
    private SendRequestFlyweight request;

    /** A queue whose every poll answers 16 completions. */
    @State(Scope.Thread)
    public static class Full {
        private VerbsPostBenchmark on;

        /** Lets the device answer the ids of 16 requests again and again. */
        @Setup(Level.Trial)
        public void fill(VerbsPostBenchmark on) {
            this.on = on;
            for (int i = 0; i < BATCH; i++) {
                on.sends.at(i).id(i).signalled(true);
            }
            on.device.pkey(1, NOTE_IDS);
            on.queue.post(on.sends, 0, BATCH);
            on.device.pkey(1, ANSWER_FULL);
        }

        /** Lets the device do nothing again. */
        @TearDown(Level.Trial)
        public void empty() {
            on.device.pkey(1, DO_NOTHING);
            on.queue.toReset();
        }
    }

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
        completions = device.createCompletionQueue(BATCH);
        queue =
                domain.createQueuePair(
                        new QueuePairContext().completions(completions).sendCapacity(1 << 14));
        sends = queue.newSends(BATCH);
        for (int i = 0; i < BATCH; i++) {
            sends.at(i).segment(region, 0, 64).write(0, region.remoteKey());
        }
        request = sends.at(0);
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

    private int posted(int taken) {
        if (taken != ROUNDS) {
            throw new IllegalStateException("posted " + taken + " of " + ROUNDS);
        }
        queue.toReset();
        return taken;
    }

    /** Two fields edited, post, poll in Java: a call each. */
    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public int editPostPoll() {
        int taken = 0;
        for (int i = 0; i < ROUNDS; i++) {
            taken += queue.post(request.id(i).remoteAddress(i * 64L));
            taken += completions.poll(BATCH);
        }
        return posted(taken);
    }

    /** The same, posted and polled in one call. */
    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public int editPostAndPoll() {
        int taken = 0;
        for (int i = 0; i < ROUNDS; i++) {
            taken += queue.postAndPoll(request.id(i).remoteAddress(i * 64L), completions, BATCH);
            taken += completions.polled();
        }
        return posted(taken);
    }

    /** The same in C: inside one call, on the same queue pair. */
    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public int editPostPollInC() {
        return device.pkey(1, C_EDIT_POST_POLL);
    }

    /** Two fields of each of 16 edited, 16 posted in one call, one poll: per request. */
    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public int batchOf16() {
        int taken = 0;
        for (int i = 0; i < ROUNDS; i += BATCH) {
            for (int n = 0; n < BATCH; n++) {
                sends.at(n).id(i + n).remoteAddress((i + n) * 64L);
            }
            taken += queue.post(sends, 0, BATCH);
            taken += completions.poll(BATCH);
        }
        return posted(taken);
    }

    /** Post alone, of a prepared request. */
    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public int post() {
        int taken = 0;
        for (int i = 0; i < ROUNDS; i++) {
            taken += queue.post(request);
        }
        return posted(taken);
    }

    /** The same in C. */
    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public int postInC() {
        return device.pkey(1, C_POST);
    }

    /** Every field filled, then posted. */
    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public int fillPost() {
        int taken = 0;
        for (int i = 0; i < ROUNDS; i++) {
            SendRequestFlyweight filled = request.id(i).segment(region, i & 1023, 64);
            taken += queue.post(filled.write(i * 64L, 5).signalled(true));
        }
        return posted(taken);
    }

    /** The same in C. */
    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public int fillPostInC() {
        return device.pkey(1, C_FILL_POST);
    }

    /** A poll that takes 16 completions, of which each is looked at. */
    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public long poll16(Full full) {
        long sum = 0;
        for (int i = 0; i < ROUNDS; i++) {
            int count = completions.poll(BATCH);
            for (int n = 0; n < count; n++) {
                CompletionFlyweight completion = completions.completion(n);
                sum += completion.isSuccess() ? completion.id() + completion.length() : 0;
            }
        }
        return sum;
    }

    /** The same in C. */
    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public int poll16InC(Full full) {
        return device.pkey(1, C_POLL_FULL);
    }

    /** An empty poll. */
    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public int poll() {
        int taken = 0;
        for (int i = 0; i < ROUNDS; i++) {
            taken += completions.poll(BATCH);
        }
        return taken;
    }

    /** A call from Java into native code that does nothing there: what no binding goes below. */
    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public int nativeCall() {
        int sum = 0;
        for (int i = 0; i < ROUNDS; i++) {
            sum += verbscalls.vv_layout_count();
        }
        return sum;
    }
}
