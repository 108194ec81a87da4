package dev.verbena.transport;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.net.URI;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A process that does everything once that its transport can do, and ends. Run by {@link
 * TransportKillContract}, which has it killed on the way.
 */
public final class TransportKillChild implements TransportHandler {
    private static final int LENGTH = 1 << 20;
    private static final int LONG = 200_000;
    private static final int ROUNDS = 8;
    private static final long TIMEOUT_NS = 60_000_000_000L;

    private final Transport transport;
    private final RemoteDescriptor target = new RemoteDescriptor();
    private final TransferSum sum = new TransferSum();
    private boolean isTargetKnown;
    private long accepted;
    private long completed;
    private long messages;
    private String end = "";

    private TransportKillChild(Transport transport) {
        this.transport = transport;
    }

    /** Arguments: scheme, job, address of the parent. */
    public static void main(String[] arguments) {
        TransportContext context =
                new TransportContext().job(arguments[1]).peerTimeoutNs(5_000_000_000L);
        try (Transport transport = Transports.open(arguments[0], context)) {
            new TransportKillChild(transport).work(URI.create(arguments[2]));
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
                            peer, descriptor, 0, RemoteDescriptor.LENGTH, 0, TIMEOUT_NS / 3);
            until("the parent's descriptor", () -> isTargetKnown);
            for (int round = 0; round < ROUNDS; round++) {
                transfer(connection, region);
            }
            if (has(Capability.FOREIGN_MEMORY)) {
                transport.register(own, RemoteDescriptor.REMOTE_ALL).close();
            }
            long before = messages;
            until("messages", () -> messages > before + ROUNDS);
            transport.disconnect(connection);
            transport.poll(this, 16);
        } finally {
            own.close();
        }
    }

    private boolean has(long capability) {
        return (transport.capabilities() & capability) != 0;
    }

    private void transfer(long connection, RegisteredRegion region) {
        post(() -> transport.send(connection, region, 0, 64, 0, 0));
        post(() -> transport.put(connection, region, 0, target, 4096, 8, 0, 0));
        post(() -> transport.get(connection, region, 0, target, 4096, 8, 0, 0));
        post(() -> transport.putSummed(connection, region, 0, target, 4096, LONG, sum, 0, 0));
        post(() -> transport.getSummed(connection, region, 0, target, 4096, LONG, sum, 0, 0));
        for (int length : new int[] {8, LONG}) {
            post(() -> transport.putNotify(connection, region, 0, target, 0, length, 7, 0, 0));
        }
        if (has(Capability.ATOMICS)) {
            post(() -> transport.fetchAdd(connection, target, 8, 1, 0, 0));
        }
        until("completions", () -> completed == accepted);
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
            throw new IllegalStateException("an operation answers " + result[0] + "; " + end);
        }
        accepted++;
    }

    private void until(String what, BooleanSupplier condition) {
        long deadlineNs = transport.nanoTime() + TIMEOUT_NS;
        while (!condition.getAsBoolean()) {
            if (transport.poll(this, 16) == 0) {
                transport.await(transport.nanoTime() + 5_000_000L);
            }
            if (deadlineNs - transport.nanoTime() < 0) {
                throw new IllegalStateException("in vain: " + what + "; " + end);
            }
        }
    }

    @Override
    public void onCompletion(long connection, int operation, long context, int status, long value) {
        completed++;
    }

    @Override
    public void onMessage(
            long connection,
            long context,
            DirectBuffer buffer,
            int offset,
            int length,
            long token) {
        messages++;
        if (!isTargetKnown) {
            target.decode(buffer, offset);
            isTargetKnown = true;
        }
    }

    @Override
    public void onConnectFailed(long connection, long context, int status, String reason) {
        end = reason;
    }

    @Override
    public void onPeerLost(long connection, long context, String reason) {
        end = reason;
    }
}
