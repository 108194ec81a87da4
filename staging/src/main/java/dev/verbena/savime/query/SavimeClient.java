package dev.verbena.savime.query;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.agent.internal.ByteViews;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A session with SAVIME (specification, section 7). The server serves one session at a time: open
 * late, close soon. Not thread-safe; calls wait.
 *
 * <pre>
 * IDLE -- execute --> QUERY --> PARAMETER (each) --> WAIT --> RESULT -- end --> IDLE
 * any, but within an upload -- what the protocol does not allow --> closed
 * </pre>
 *
 * An upload that was begun is always completed, with zeros if its file cannot be read any more: one
 * that is cut short stops the server for good.
 */
public final class SavimeClient implements AutoCloseable {
    /** The text by which SAVIME says that a command has worked. */
    public static final String SUCCESS = "Query executed successfully";

    private static final int TEXT_MAX = 64 << 20;
    private static final int ZEROS = 64 * 1024;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SavimeSocket socket;
    private final Limits limits;
    private final SavimeHeader header = new SavimeHeader();
    private final ByteViews views = new ByteViews();
    private int clientId;
    private int queryId;
    private int nextNumber;
    private int lastRequest;
    private boolean isUsable = true;
    private SavimeResult open;
    private boolean isFailedUpload;

    /**
     * How long is waited for what.
     *
     * @param connect for TCP
     * @param accept for a server that serves another session
     * @param answer to a command
     * @param stall of an upload, after which {@code stalled} is called, again and again
     */
    public record Limits(
            Duration connect, Duration accept, Duration answer, Duration stall, Runnable stalled) {
        /** 10 s, 60 s, 10 min, 60 s, nothing. */
        public static final Limits DEFAULT =
                new Limits(
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(60),
                        Duration.ofMinutes(10),
                        Duration.ofSeconds(60),
                        () -> {});
    }

    private SavimeClient(SavimeSocket socket, Limits limits) {
        this.socket = socket;
        this.limits = limits;
    }

    /**
     * Opens a session.
     *
     * @throws IOException if it cannot be opened within the limits
     */
    public static SavimeClient connect(String host, int port, Limits limits) throws IOException {
        SavimeSocket socket = SavimeSocket.connect(host, port, limits.connect().toMillis());
        SavimeClient client = new SavimeClient(socket, limits);
        try {
            client.send(SavimeHeader.CONNECTION_REQUEST);
            client.receive(SavimeHeader.CONNECTION_ACCEPT, limits.accept());
            client.clientId = client.header.client();
            return client;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** The number that the server has given this session. */
    int clientId() {
        return clientId;
    }

    /**
     * Runs a query.
     *
     * @param query without a newline
     * @param parameters all that the query names, in any order
     * @return to be read to its end, or closed
     * @throws SavimeQueryException with SAVIME's text if it is an error: no success, schema or list
     * @throws SavimeProtocolException if the session is of no use any more
     * @throws IOException if a parameter's file could not be read: the dataset was not made
     */
    public SavimeResult execute(String query, SavimeParameter... parameters) throws IOException {
        if (query.indexOf('\n') >= 0 || query.indexOf(0) >= 0) {
            throw new IllegalArgumentException("a query has neither newline nor NUL");
        }
        if (!isUsable) {
            throw new SavimeProtocolException("the session is closed");
        }
        if (open != null) {
            throw new IllegalStateException("a result has not been read to its end");
        }
        isFailedUpload = false;
        try {
            begin(query);
            for (SavimeParameter each : parameters) {
                upload(each);
            }
            return result(query);
        } catch (SavimeQueryException e) {
            throw e;
        } catch (IOException e) {
            isUsable = false;
            socket.close();
            throw e;
        }
    }

    /**
     * Runs a command: anything but the success text is an error.
     *
     * @throws SavimeQueryException with SAVIME's text
     */
    public String command(String query, SavimeParameter... parameters) throws IOException {
        try (SavimeResult result = execute(query, parameters)) {
            boolean isList = query.stripLeading().toLowerCase().startsWith("show");
            if (!result.text().equals(SUCCESS) && !isList && result.schema() == null) {
                throw new SavimeQueryException(result.text());
            }
            return result.text();
        }
    }

    private void begin(String query) throws IOException {
        send(SavimeHeader.CREATE_QUERY);
        receive(SavimeHeader.QUERY_ACCEPT, limits.answer());
        queryId = header.query();
        byte[] text = (query + '\0').getBytes(UTF_8);
        send(SavimeHeader.QUERY_TEXT, ByteBuffer.wrap(text));
        acknowledged();
        send(SavimeHeader.QUERY_DONE);
        acknowledged();
    }

    private void acknowledged() throws IOException {
        receive(SavimeHeader.SERVER_ACK, limits.answer());
    }

    private void upload(SavimeParameter parameter) throws IOException {
        // Looked at before the header leaves: afterwards all bytes must follow.
        if (parameter.file() != null && parameter.file().size() < parameter.length()) {
            throw new IOException("the file of " + parameter.name() + " is too short");
        }
        send(SavimeHeader.PARAMETER_REQUEST);
        acknowledged();
        header.set(nextNumber++, clientId, queryId, SavimeHeader.PARAMETER_DATA, parameter.length())
                .block(parameter.name(), 1);
        if (parameter.file() == null) {
            ByteBuffer bytes = parameter.bytes().duplicate();
            socket.write(header.bytes(), bytes, Long.MAX_VALUE);
        } else {
            uploadFile(parameter);
        }
        acknowledged();
        send(SavimeHeader.PARAMETER_DONE);
        acknowledged();
    }

    private void uploadFile(SavimeParameter parameter) throws IOException {
        long stallMs = limits.stall().toMillis();
        socket.write(header.bytes(), stallMs, limits.stalled());
        long done = 0;
        while (done < parameter.length()) {
            long left = parameter.length() - done;
            long n = 0;
            try {
                n = socket.transfer(parameter.file(), done, left, stallMs, limits.stalled());
            } catch (IOException e) {
                if (!parameter.file().isOpen() || isReadError(e)) {
                    n = 0;
                } else {
                    throw e;
                }
            }
            if (n <= 0) {
                writeZeros(left, stallMs);
                isFailedUpload = true;
                return;
            }
            done += n;
        }
    }

    /** A socket's error ends the upload anyway; a file's does not. */
    private static boolean isReadError(IOException e) {
        return "Input/output error".equals(e.getMessage());
    }

    private void writeZeros(long count, long stallMs) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocateDirect(ZEROS);
        for (long left = count; left > 0; ) {
            zeros.clear().limit((int) Math.min(ZEROS, left));
            left -= zeros.remaining();
            socket.write(zeros, stallMs, limits.stalled());
        }
    }

    private SavimeResult result(String query) throws IOException {
        lastRequest = nextNumber;
        send(SavimeHeader.RESULT_REQUEST);
        receive(SavimeHeader.RESPONSE_START, limits.answer());
        acknowledge();
        receive(SavimeHeader.TEXT, limits.answer());
        String text = readText();
        acknowledge();
        boolean isSchema = text.startsWith("#");
        SavimeSchema schema = isSchema ? SavimeSchema.parse(text) : null;
        SavimeResult result = new SavimeResult(this, text, schema);
        if (isSchema) {
            open = result;
        } else {
            readEnd();
            boolean isError = text.startsWith("Error");
            if (isFailedUpload) {
                dropAfterFailedUpload(query, isError);
            }
            if (isError) {
                throw new SavimeQueryException(text);
            }
        }
        return result;
    }

    /** What was uploaded in part is zeros in part: it must not stay. */
    private void dropAfterFailedUpload(String query, boolean isError) throws IOException {
        isFailedUpload = false;
        int from = query.indexOf('"') + 1;
        int to = query.indexOf(':', from);
        if (!isError && query.startsWith("create_dataset") && from > 0 && to > from) {
            command(SavimeQueries.dropDataset(query.substring(from, to)));
        }
        throw new IOException("a parameter could not be read to its end");
    }

    private void readEnd() throws IOException {
        receive(SavimeHeader.RESPONSE_END, limits.answer());
    }

    /** Reads a block into the result's memory; false: there is none. */
    boolean nextBlock(SavimeResult result) throws IOException {
        try {
            read();
            int type = header.type();
            if (type == SavimeHeader.RESPONSE_END) {
                open = null;
                return false;
            }
            if (type == SavimeHeader.TEXT) {
                String text = readText();
                acknowledge();
                readEnd();
                open = null;
                result.ended();
                throw new SavimeQueryException(text);
            }
            if (type < SavimeHeader.FIRST_BLOCK || type > SavimeHeader.FINAL_BLOCK) {
                throw new SavimeProtocolException("message type " + type + " within a result");
            }
            UnsafeBuffer target = result.block(header.blockName(), header.payload());
            socket.read(views.view(target, 0, target.capacity()), limits.answer().toMillis());
            acknowledge();
            return true;
        } catch (SavimeQueryException e) {
            throw e;
        } catch (IOException e) {
            result.ended();
            throw broken(e.getMessage());
        }
    }

    /** The session is closed; to be thrown. */
    SavimeProtocolException broken(String why) throws IOException {
        isUsable = false;
        open = null;
        socket.close();
        return new SavimeProtocolException(why);
    }

    private String readText() throws IOException {
        long length = header.payload();
        if (length < 0 || length > TEXT_MAX) {
            throw new SavimeProtocolException("a text of " + length + " bytes");
        }
        ByteBuffer bytes = ByteBuffer.allocate((int) length);
        socket.read(bytes, limits.answer().toMillis());
        int end = (int) length;
        while (end > 0 && bytes.get(end - 1) == 0) {
            end--;
        }
        return new String(bytes.array(), 0, end, UTF_8);
    }

    private void acknowledge() throws IOException {
        send(SavimeHeader.CLIENT_ACK);
    }

    private void send(int type) throws IOException {
        send(type, NOTHING.duplicate());
    }

    private void send(int type, ByteBuffer payload) throws IOException {
        header.set(nextNumber++, clientId, queryId, type, payload.remaining());
        socket.write(header.bytes(), payload, limits.answer().toMillis());
    }

    private void receive(int type, Duration limit) throws IOException {
        read(limit);
        if (header.type() != type) {
            throw new SavimeProtocolException(
                    "message type " + header.type() + " instead of " + type);
        }
        boolean isText = type == SavimeHeader.TEXT;
        if (!isText && header.payload() != 0) {
            throw new SavimeProtocolException("an unexpected payload");
        }
        int expected =
                switch (type) {
                    case SavimeHeader.RESPONSE_END -> lastRequest;
                    case SavimeHeader.TEXT -> 0;
                    case SavimeHeader.SERVER_ACK -> nextNumber - 1;
                    default -> nextNumber;
                };
        if (header.number() != expected) {
            throw new SavimeProtocolException(
                    "message number " + header.number() + " instead of " + expected);
        }
    }

    private void read() throws IOException {
        read(limits.answer());
    }

    private void read(Duration limit) throws IOException {
        socket.read(header.bytes(), limit.toMillis());
        header.check();
    }

    /** Ends the session in order. Idempotent. */
    @Override
    public void close() throws IOException {
        if (!isUsable) {
            return;
        }
        isUsable = false;
        try {
            send(SavimeHeader.CLOSE);
        } finally {
            socket.close();
        }
    }
}
