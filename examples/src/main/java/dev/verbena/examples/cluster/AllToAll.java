package dev.verbena.examples.cluster;

import dev.verbena.agent.JobGroup;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.BlockingCalls;
import dev.verbena.transport.TransportContext;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A job in which every process puts a number, or a block that begins with one, into the memory of
 * every other one, over {@code auto://}: through shared memory on its own host, over the network
 * between hosts. Each prints how it reached the others.
 *
 * <p>Run, with {@code VERBENA_RENDEZVOUS} naming a folder that all processes see:
 *
 * <pre>
 * mpirun -n 8 java -cp 'cli/target/dist/lib/*' dev.verbena.examples.cluster.AllToAll [SCHEME [BYTES]]
 * </pre>
 */
public final class AllToAll {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int GREETING = Long.BYTES + RemoteDescriptor.LENGTH;

    private AllToAll() {}

    /** Runs it; the arguments are the scheme of the transport, and the length of a block. */
    public static void main(String[] arguments) {
        String scheme = arguments.length == 0 ? "auto" : arguments[0];
        int block = arguments.length < 2 ? Long.BYTES : Integer.parseInt(arguments[1]);
        try (BlockingCalls calls = BlockingCalls.open(scheme, new TransportContext())) {
            calls.timeoutNs(TIMEOUT_NS);
            calls.transport().listen();
            try (JobGroup job = JobGroup.discover(calls.transport().uri().toString(), TIMEOUT_NS)) {
                exchange(calls, job, block);
                job.barrier(TIMEOUT_NS); // nobody leaves before all have put
            }
        }
    }

    private static void exchange(BlockingCalls calls, JobGroup job, int block) {
        int rank = job.rank();
        int size = job.size();
        try (RegisteredRegion numbers =
                        calls.transport()
                                .allocate((long) size * block, RemoteDescriptor.REMOTE_WRITE);
                RegisteredRegion own = calls.transport().allocate(Math.max(GREETING, block), 0)) {
            List<Long> connections = new ArrayList<>();
            for (int other = rank + 1; other < size; other++) {
                connections.add(calls.connect(URI.create(job.world().get(other).uri())));
            }
            while (connections.size() < size - 1) {
                connections.add(calls.accept());
            }
            UnsafeBuffer greeting = own.buffer(0, GREETING);
            greeting.putLong(0, rank + 1L);
            numbers.describe(
                            0,
                            numbers.length(),
                            RemoteDescriptor.REMOTE_WRITE,
                            new RemoteDescriptor())
                    .encode(greeting, Long.BYTES);
            connections.forEach(connection -> calls.send(connection, own, 0, GREETING));
            connections.forEach(connection -> put(calls, connection, own, rank, block));
            connections.forEach(calls::awaitNotification);
            check(numbers.buffer(0, size * block), rank, size, block);
            System.out.println("rank " + rank + ": " + calls.transport().explain());
        }
    }

    /** The peer says where its numbers are; the own one goes to the own place there. */
    private static void put(
            BlockingCalls calls, long connection, RegisteredRegion own, int rank, int block) {
        DirectBuffer greeting = calls.receive(connection);
        RemoteDescriptor target = new RemoteDescriptor().decode(greeting, Long.BYTES);
        long place = (long) rank * block;
        calls.complete(
                "putNotify",
                context ->
                        calls.transport()
                                .putNotify(
                                        connection,
                                        own,
                                        0,
                                        target,
                                        place,
                                        block,
                                        rank,
                                        context,
                                        0));
    }

    private static void check(UnsafeBuffer numbers, int rank, int size, int block) {
        for (int other = 0; other < size; other++) {
            long expected = other == rank ? 0 : other + 1;
            if (numbers.getLong(other * block) != expected) {
                throw new IllegalStateException(
                        "rank " + rank + ": no number of rank " + other + " has arrived");
            }
        }
    }
}
