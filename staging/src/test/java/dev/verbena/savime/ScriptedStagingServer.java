package dev.verbena.savime;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.savime.wire.DatasetState;
import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgType;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A server that takes datasets, and breaks the rules of STG/1 in what it says of them and of
 * commands. It runs on the thread that calls {@link #serve}.
 */
final class ScriptedStagingServer implements AutoCloseable {
    private static final int HEADER = StgFlyweight.HEADER_LENGTH;
    private static final int LIMIT_MS = 60_000;
    private static final int DATASET = 7;

    private final ServerSocket listening;
    private final StgFlyweight message = new StgFlyweight();
    private final StgFlyweight reply = new StgFlyweight();
    private final UnsafeBuffer sent = new UnsafeBuffer(new byte[StgFlyweight.LENGTH_MAX]);
    private OutputStream out;

    /** The command "wait" is answered, and what comes behind it is read, when this has a permit. */
    final Semaphore goOn = new Semaphore(0);

    ScriptedStagingServer() throws IOException {
        listening = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        listening.setSoTimeout(LIMIT_MS);
    }

    String address() {
        return "127.0.0.1:" + listening.getLocalPort();
    }

    /** Serves so many connections, one after the other, each until the client ends it. */
    void serve(int connections) throws IOException {
        for (int i = 0; i < connections; i++) {
            try (Socket client = listening.accept()) {
                client.setSoTimeout(LIMIT_MS);
                out = client.getOutputStream();
                serve(new DataInputStream(client.getInputStream()));
            }
        }
    }

    private void serve(DataInputStream in) throws IOException {
        try {
            while (true) {
                byte[] header = new byte[HEADER];
                in.readFully(header);
                int length = message.wrap(new UnsafeBuffer(header), 0).length();
                byte[] whole = Arrays.copyOf(header, length);
                in.readFully(whole, HEADER, length - HEADER);
                message.wrap(new UnsafeBuffer(whole), 0);
                answer();
            }
        } catch (EOFException | SocketException e) {
            // The client has ended the connection, with or without having read all.
        }
    }

    private void answer() throws IOException {
        switch (message.type()) {
            case StgType.HELLO ->
                    send(begin(StgType.HELLO_ACK).maxBlock(1 << 20).heartbeatMs(LIMIT_MS));
            case StgType.DATASET_OPEN ->
                    send(begin(StgType.DATASET_OPENED).opened(DATASET, 1, 0, message.name()));
            case StgType.BLOCK_REQUEST -> send(begin(StgType.BLOCK_GRANT));
            case StgType.DATASET_SYNC -> {
                send(begin(StgType.DATASET_DONE).done(DATASET, message.syncBytes(), 0));
                sendCutEvent();
            }
            case StgType.RUN -> run(message.runText());
            default -> {}
        }
    }

    /** The sink refuses the dataset, with a text that goes on behind the message's end. */
    private void sendCutEvent() throws IOException {
        StgFlyweight event = begin(StgType.DATASET_EVENT).request(0);
        event.state(DATASET, DatasetState.FAILED.code(), 0).eventText("x".repeat(40));
        send(event.length(50 + 7));
    }

    private void run(String command) throws IOException {
        switch (command) {
            case "longer" -> {
                part("12345678", 10, true);
                part("12345678", 10, false);
            }
            case "empty" -> {
                part("12345678", 10, true);
                part("", 10, true);
                part("90", 10, false);
            }
            case "large" -> part("12345678", (1 << 28) + 1, false);
            case "negative" -> part("12345678", -1, false);
            case "wait" -> {
                goOn.acquireUninterruptibly();
                part("12345678", 8, false);
            }
            default -> {
                part("12345678", 10, true);
                part("90", 10, false);
            }
        }
    }

    private void part(String text, int announced, boolean hasMore) throws IOException {
        byte[] bytes = text.getBytes(UTF_8);
        StgFlyweight part = begin(StgType.RUN_RESULT).text(bytes, 0, bytes.length, announced);
        send(part.flags(hasMore ? StgFlags.FLAG_MORE : 0));
    }

    private StgFlyweight begin(int type) {
        return reply.begin(sent, 0, type).session(1).request(message.request());
    }

    private void send(StgFlyweight what) throws IOException {
        out.write(sent.byteArray(), 0, what.length());
    }

    @Override
    public void close() throws IOException {
        listening.close();
    }
}
