package dev.verbena.shm;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.RemoteDescriptor;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A process that does everything once that a transport can do, and ends. Run by {@link ShmKillIT},
 * which has it killed on the way.
 */
public final class ShmKillChild extends Pair.Seen {
    private static final int LENGTH = 1 << 20;
    private static final int ROUNDS = 8;

    private final RemoteDescriptor target = new RemoteDescriptor();
    private boolean isTargetKnown;
    private long accepted;

    private ShmKillChild(Transport transport) {
        this.transport = transport;
    }

    /** Arguments: job, address of the parent. */
    public static void main(String[] arguments) {
        TransportContext context =
                new TransportContext()
                        .job(arguments[0])
                        .name("child")
                        .peerTimeoutNs(5_000_000_000L);
        try (Transport transport = Transports.open("shm", context)) {
            new ShmKillChild(transport).work(URI.create(arguments[1]));
        }
        System.out.println("done");
    }

    private void work(URI peer) {
        transport.listen();
        OffHeapMemory own = OffHeapMemories.allocate(LENGTH);
        try (RegisteredRegion region = transport.allocate(LENGTH, RemoteDescriptor.REMOTE_ALL)) {
            UnsafeBuffer descriptor = new UnsafeBuffer(new byte[RemoteDescriptor.LENGTH]);
            region.describe(0, LENGTH, RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor())
                    .encode(descriptor, 0);
            long connection =
                    transport.connect(
                            peer, descriptor, 0, RemoteDescriptor.LENGTH, 0, Pair.TIMEOUT_NS);
            until("the parent's descriptor", () -> isTargetKnown);
            for (int round = 0; round < ROUNDS; round++) {
                transfer(connection, region);
            }
            RegisteredRegion foreign = transport.register(own, RemoteDescriptor.REMOTE_ALL);
            foreign.close();
            int before = messages.size();
            until("messages", () -> messages.size() > before + ROUNDS);
            transport.disconnect(connection);
            transport.poll(this, 16);
        } finally {
            own.close();
        }
    }

    /** Short ones are made in Java, long ones in C. */
    private void transfer(long connection, RegisteredRegion region) {
        post(() -> transport.send(connection, region, 0, 64, 0, 0));
        for (int length : new int[] {8, 200_000}) {
            post(() -> transport.put(connection, region, 0, target, 4096, length, 0, 0));
            post(() -> transport.get(connection, region, 0, target, 4096, length, 0, 0));
            post(() -> transport.putNotify(connection, region, 0, target, 0, length, 7, 0, 0));
        }
        post(() -> transport.fetchAdd(connection, target, 8, 1, 0, 0));
        until("completions", () -> statuses.size() == accepted);
    }

    private interface Operation {
        int post();
    }

    private void post(Operation operation) {
        int[] result = new int[1];
        until(
                "credit",
                () -> {
                    result[0] = operation.post();
                    return result[0] != Transport.BACK_PRESSURED;
                });
        if (result[0] != Transport.ACCEPTED) {
            throw new IllegalStateException("an operation answers " + result[0]);
        }
        accepted++;
    }

    private void until(String what, BooleanSupplier condition) {
        long deadlineNs = transport.nanoTime() + 3 * Pair.TIMEOUT_NS;
        while (!condition.getAsBoolean()) {
            if (transport.poll(this, 16) == 0) {
                transport.await(transport.nanoTime() + 5_000_000L);
            }
            if (deadlineNs - transport.nanoTime() < 0) {
                throw new IllegalStateException("in vain: " + what + "; " + ends);
            }
        }
    }

    @Override
    public void onMessage(
            long connection,
            long context,
            DirectBuffer buffer,
            int offset,
            int length,
            long token) {
        super.onMessage(connection, context, buffer, offset, length, token);
        if (!isTargetKnown) {
            target.decode(buffer, offset);
            isTargetKnown = true;
        }
    }
}
