package dev.verbena.dart;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.Fuzz;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.staging.Checksum;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A process of the same job that sends garbage and changed control records to a server, until its
 * input ends. Arguments: scheme, job of the transport, URI of the server, job, id of a client of
 * that server.
 */
public final class HostilePeer implements TransportHandler {
    private static final long CONNECT_NS = 10_000_000_000L;

    private final Transport transport;
    private final RegisteredRegion letter;
    private final UnsafeBuffer letterBytes;
    private final Checksum crc = new Checksum();
    private final URI server;
    private long connection;
    private boolean isConnected;
    private boolean isConnecting;
    private volatile boolean isEnding;

    private HostilePeer(Transport transport, URI server) {
        this.transport = transport;
        this.server = server;
        this.letter = transport.allocate(transport.limits().messageLengthMax(), 0);
        this.letterBytes = letter.buffer(0, (int) letter.length());
    }

    /** See the class. */
    public static void main(String[] arguments) throws Exception {
        TransportContext context =
                new TransportContext().job(arguments[1]).name("hostile" + arguments[4]);
        try (RealEnvironment environment = RealEnvironment.builder().job(arguments[1]).build();
                Transport transport = environment.openTransport(arguments[0], context)) {
            transport.listen();
            HostilePeer peer = new HostilePeer(transport, URI.create(arguments[2]));
            Thread input = new Thread(peer::waitForEnd, "input");
            input.setDaemon(true);
            input.start();
            UUID job = UUID.fromString(arguments[3]);
            peer.run(
                    DartDecodersFuzzTest.controlRecords(
                            job, Integer.parseInt(arguments[4]), transport.uri()));
            peer.letter.close();
        }
        System.out.println("ended");
    }

    private void waitForEnd() {
        try {
            while (System.in.read() >= 0) {
                // Only the end of the input matters.
            }
        } catch (IOException e) {
            System.out.println("input " + e);
        }
        isEnding = true;
    }

    private void run(List<byte[]> corpus) throws InterruptedException {
        Fuzz fuzz = new Fuzz("control records", corpus, 0);
        long sent = 0;
        for (long round = 0; !isEnding; round++) {
            if (!isConnected && !isConnecting) {
                isConnecting = true;
                transport.connect(server, new UnsafeBuffer(new byte[0]), 0, 0, 1, CONNECT_NS);
            }
            transport.poll(this, 64);
            if (isConnected && send(fuzz.input(round))) {
                sent++;
                if (sent % 100 == 0) {
                    System.out.println("sent " + sent);
                }
            }
            Thread.sleep(1);
        }
        for (int i = 0; i < 100 && transport.poll(this, 64) >= 0; i++) {
            // What is under way may come to its end, so that the letter can be closed.
            Thread.sleep(1);
        }
    }

    private boolean send(byte[] input) {
        int length = (int) Math.min(input.length, letter.length());
        letterBytes.putBytes(0, input, 0, length);
        boolean isMended = DartDecodersFuzzTest.isMended(input);
        if (isMended && length >= ControlFlyweight.LENGTH) {
            letterBytes.putInt(124, crc.of(letterBytes, 0, 124), LITTLE_ENDIAN);
        }
        return transport.send(connection, letter, 0, length, 0, 0) == Transport.ACCEPTED;
    }

    @Override
    public void onConnectRequest(
            long handle, URI peer, DirectBuffer privateData, int offset, int length) {
        transport.accept(handle, 0);
    }

    @Override
    public void onConnected(long handle, long context) {
        if (context == 1) {
            connection = handle;
            isConnected = true;
            isConnecting = false;
        }
    }

    @Override
    public void onConnectFailed(long handle, long context, int status, String reason) {
        isConnecting = false;
    }

    @Override
    public void onDisconnected(long handle, long context) {
        isConnected &= handle != connection;
    }

    @Override
    public void onPeerLost(long handle, long context, String reason) {
        isConnected &= handle != connection;
    }
}
