package dev.verbena.savime;

import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgType;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import org.agrona.concurrent.UnsafeBuffer;

/** A client by TCP that sends what a test says, also what no real one would. */
final class RawClient implements AutoCloseable {
    final StgFlyweight message = new StgFlyweight();
    private final UnsafeBuffer in = new UnsafeBuffer(new byte[4096]);
    private final UnsafeBuffer out = new UnsafeBuffer(new byte[4096]);
    private final StgFlyweight sent = new StgFlyweight();
    private final Socket socket;
    private final DataInputStream input;
    private final OutputStream output;
    private long session;
    private long request;

    RawClient(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(20_000);
        input = new DataInputStream(socket.getInputStream());
        output = socket.getOutputStream();
    }

    /** Greets; the agreed answer is in {@link #message}. */
    RawClient hello(long clientId, int block, int window, int features) throws IOException {
        return hello(clientId, block, window, features, new byte[16]);
    }

    RawClient hello(long clientId, int block, int window, int features, byte[] token)
            throws IOException {
        begin(StgType.HELLO)
                .maxBlock(block)
                .window(window)
                .clientId(clientId)
                .token(token)
                .features(features | StgFlags.FEATURE_TCP_DATA);
        flush();
        read(StgType.HELLO_ACK);
        session = message.session();
        return this;
    }

    StgFlyweight begin(int type) {
        return sent.begin(out, 0, type).session(session).request(++request);
    }

    /** The header of what was begun. */
    void copy(byte[] header) {
        out.getBytes(0, header);
    }

    void flush() throws IOException {
        output.write(out.byteArray(), 0, sent.length());
        output.flush();
    }

    void send(byte[] bytes) throws IOException {
        output.write(bytes);
        output.flush();
    }

    /** Reads on to a message of this type. */
    StgFlyweight read(int type) throws IOException {
        do {
            input.readFully(in.byteArray(), 0, StgFlyweight.HEADER_LENGTH);
            message.wrap(in, 0);
            input.readFully(in.byteArray(), 32, message.length() - 32);
        } while (message.type() != type);
        return message;
    }

    /** Reads on to the end of the connection. */
    void readToEnd() throws IOException {
        try {
            while (input.read() >= 0) {
                // What was said before it.
            }
        } catch (java.net.SocketException e) {
            // A reset is an end as well.
        }
    }

    /** Opens a dataset; its number, or the negative status. */
    long open(String name, long bytes) throws IOException {
        return open(name, bytes, "char");
    }

    long open(String name, long bytes, String type) throws IOException {
        begin(StgType.DATASET_OPEN).open(bytes, 1, 0, 0).openTexts(name, type, out, 0);
        flush();
        read(StgType.DATASET_OPENED);
        return message.status() == 0 ? message.datasetId() : -message.status();
    }

    /** As {@link #open}, of a dataset that had this number when its connection was lost. */
    long openAgain(String name, long bytes, long before) throws IOException {
        begin(StgType.DATASET_OPEN)
                .flags(StgFlags.FLAG_AGAIN)
                .status((int) before)
                .open(bytes, 1, 0, 0)
                .openTexts(name, "char", out, 0);
        flush();
        read(StgType.DATASET_OPENED);
        return message.status() == 0 ? message.datasetId() : -message.status();
    }

    /** Asks for a block without waiting. */
    void ask(long id, long offset, int length, int number) throws IOException {
        begin(StgType.BLOCK_REQUEST).block(id, offset, length, number);
        flush();
    }

    /** The status of the next grant. */
    int granted() throws IOException {
        return read(StgType.BLOCK_GRANT).status();
    }

    void data(long id, long offset, int number, byte[] bytes) throws IOException {
        begin(StgType.BLOCK_DATA)
                .block(id, offset, bytes.length, number)
                .length(StgFlyweight.DATA_OFFSET + bytes.length);
        output.write(out.byteArray(), 0, StgFlyweight.DATA_OFFSET);
        output.write(bytes);
        output.flush();
    }

    void release(long id, int number, int crc) throws IOException {
        begin(StgType.BLOCK_RELEASE).release(id, number, crc);
        flush();
    }

    /** A whole block. */
    void block(long id, long offset, int number, byte[] bytes) throws IOException {
        ask(id, offset, bytes.length, number);
        granted();
        data(id, offset, number, bytes);
        release(id, number, 0);
    }

    /** The status of the answer. */
    int sync(long id, long bytes) throws IOException {
        begin(StgType.DATASET_SYNC).sync(id, bytes, 0, 0);
        flush();
        return read(StgType.DATASET_DONE).status();
    }

    /** Sends a command without waiting. */
    void run(String text, int flags) throws IOException {
        byte[] bytes = text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        begin(StgType.RUN).flags(flags).text(bytes, 0, bytes.length, 0);
        flush();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
