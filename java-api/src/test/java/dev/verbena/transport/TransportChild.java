package dev.verbena.transport;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A peer in a process of its own, for {@link TransportProcessContract}. It answers each message
 * with the same bytes, after it sent a descriptor of its region to whoever connected; as hammer it
 * connects itself and puts without end. It ends when its standard input ends.
 */
public final class TransportChild implements TransportHandler {
    /** Bytes of the region whose descriptor it sends. */
    static final int REGION_LENGTH = (1 << 20) + 7;

    private final Transport transport;
    private final RegisteredRegion region;
    private final RegisteredRegion letter;
    private final UnsafeBuffer letterBytes;
    private final List<long[]> answers = new ArrayList<>();
    private final List<byte[]> payloads = new ArrayList<>();
    private volatile boolean isEnding;
    private RemoteDescriptor target;
    private boolean isHammer;
    private long targetConnection;
    private long hammered;

    private TransportChild(Transport transport) {
        this.transport = transport;
        this.region = transport.allocate(REGION_LENGTH, RemoteDescriptor.REMOTE_ALL);
        this.letter = transport.allocate(transport.limits().messageLengthMax(), 0);
        this.letterBytes = letter.buffer(0, (int) letter.length());
    }

    /** Arguments: scheme, job, name, peer timeout in nanoseconds, and for a hammer a URI. */
    public static void main(String[] args) throws IOException {
        TransportContext context =
                new TransportContext()
                        .job(args[1])
                        .name(args[2])
                        .receiveSlotCount(256)
                        .outstandingMax(256)
                        .connectionsMax(16)
                        .peerTimeoutNs(Long.parseLong(args[3]));
        Transport transport = Transports.open(args[0], context);
        TransportChild child = new TransportChild(transport);
        Thread input = new Thread(child::waitForEnd, "input");
        input.setDaemon(true);
        input.start();
        child.run(args.length > 4 ? URI.create(args[4]) : null);
    }

    private void waitForEnd() {
        try {
            while (System.in.read() >= 0) {
                // Only the end of the input matters.
            }
        } catch (IOException e) {
            say("input " + e);
        }
        isEnding = true;
        transport.wakeup();
    }

    private static void say(String text) {
        byte[] bytes = (text + "\n").getBytes(StandardCharsets.UTF_8);
        System.out.write(bytes, 0, bytes.length);
        System.out.flush();
    }

    private void run(URI peer) {
        transport.listen();
        say("uri " + transport.uri());
        if (peer != null) {
            isHammer = true;
            transport.connect(peer, new UnsafeBuffer(new byte[0]), 0, 0, 1, 30_000_000_000L);
        }
        while (!isEnding) {
            int work = Math.max(transport.poll(this, 64), 0);
            while (!answers.isEmpty() && answer(answers.get(0)[0], payloads.get(0))) {
                answers.remove(0);
                payloads.remove(0);
                work++;
            }
            if (target != null) {
                work += hammer();
            }
            if (work == 0) {
                transport.await(transport.nanoTime() + 10_000_000);
            }
        }
        while (transport.poll(this, 64) > 0) {
            // So that regions may be closed.
        }
        region.close();
        letter.close();
        transport.close();
        say("closed");
    }

    private boolean answer(long connection, byte[] payload) {
        letterBytes.putBytes(0, payload);
        return transport.send(connection, letter, 0, payload.length, 0, 0)
                != Transport.BACK_PRESSURED;
    }

    private int hammer() {
        int length = 1 + (int) (hammered++ * 7919 % (REGION_LENGTH - 1));
        return transport.put(targetConnection, region, 0, target, 0, length, 0, 0)
                        == Transport.ACCEPTED
                ? 1
                : 0;
    }

    @Override
    public void onConnectRequest(
            long connection, URI peer, DirectBuffer privateData, int offset, int length) {
        transport.accept(connection, connection);
    }

    @Override
    public void onConnected(long connection, long context) {
        say("connected");
        byte[] bytes = new byte[RemoteDescriptor.LENGTH];
        region.describe(0, REGION_LENGTH, RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor())
                .encode(new UnsafeBuffer(bytes), 0);
        answers.add(new long[] {connection});
        payloads.add(bytes);
    }

    @Override
    public void onMessage(
            long connection,
            long context,
            DirectBuffer buffer,
            int offset,
            int length,
            long token) {
        if (isHammer) {
            target = new RemoteDescriptor().decode(buffer, offset);
            targetConnection = connection;
            return;
        }
        byte[] bytes = new byte[length];
        buffer.getBytes(offset, bytes);
        answers.add(new long[] {connection});
        payloads.add(bytes);
    }

    @Override
    public void onPeerLost(long connection, long context, String reason) {
        say("lost " + reason);
    }

    @Override
    public void onDisconnected(long connection, long context) {
        say("disconnected");
    }
}
