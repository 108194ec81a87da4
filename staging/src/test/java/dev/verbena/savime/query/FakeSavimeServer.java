package dev.verbena.savime.query;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Speaks section 7 of the specification as the real server was seen to: one session at a time, an
 * upload cut short wedges it for good, what is out of order ends the session without a word, header
 * and payload leave separately.
 */
public final class FakeSavimeServer implements AutoCloseable {
    private static final int HEADER = 298;
    private static final Pattern CREATE =
            Pattern.compile("create_dataset\\(\"(\\w+):([^\"]+)\", \"([^\"]+)\"\\);?");
    private static final Pattern LOAD =
            Pattern.compile("load_subtar\\(\"(\\w+)\", \"([^\"]+)\", \"([^\"]+)\"\\);?");

    /** First 38 bytes of every header, C or S before them. */
    public final List<String> dialogue = new CopyOnWriteArrayList<>();

    public final List<String> queries = new CopyOnWriteArrayList<>();
    public final Map<String, byte[]> datasets = new ConcurrentHashMap<>();
    public final List<String> loaded = new CopyOnWriteArrayList<>();

    /** By query: a schema or another text first, then blocks, or a text that ends the result. */
    public final Map<String, List<Object>> answers = new ConcurrentHashMap<>();

    public volatile boolean isWedged;
    public volatile int ackCount;
    public volatile boolean isSilent;

    /** Takes nothing of an upload meanwhile. */
    public volatile boolean isDeaf;

    private final ServerSocket listener;
    private final Thread thread;
    private int nextClient;
    private int nextQuery;
    private volatile Socket current;

    /** A block of a result. */
    public record Block(String name, byte[] bytes) {}

    public FakeSavimeServer() throws IOException {
        this(0);
    }

    public FakeSavimeServer(int port) throws IOException {
        listener = new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
        thread = new Thread(this::serve, "fake-savime");
        thread.setDaemon(true);
        thread.start();
    }

    public int port() {
        return listener.getLocalPort();
    }

    private void serve() {
        while (!listener.isClosed()) {
            try (Socket socket = listener.accept()) {
                current = socket;
                new Session(socket).run();
            } catch (EOFException | InterruptedException e) {
                // The client has gone; within an upload that is the end of this server.
            } catch (IOException e) {
                // Of no interest: the next client is served.
            }
        }
    }

    private final class Session {
        private final DataInputStream in;
        private final OutputStream out;
        private final Map<String, byte[]> parameters = new ConcurrentHashMap<>();
        private final StringBuilder text = new StringBuilder();
        private ByteBuffer header;
        private int client;
        private int query;
        private int expected;
        private String parameter;

        Session(Socket socket) throws IOException {
            socket.setTcpNoDelay(true);
            in = new DataInputStream(socket.getInputStream());
            out = socket.getOutputStream();
        }

        void run() throws IOException, InterruptedException {
            int type;
            while ((type = read()) != 8 && type >= 0) {
                if (isSilent) {
                    continue;
                }
                switch (type) {
                    case 0 -> {
                        client = nextClient++;
                        send(expected, 10, 0);
                    }
                    case 1 -> {
                        query = nextQuery++;
                        text.setLength(0);
                        send(expected, 11, 0);
                    }
                    case 2 -> {
                        byte[] bytes = in.readNBytes((int) payload());
                        if (bytes[bytes.length - 1] != 0) {
                            return;
                        }
                        text.append(new String(bytes, 0, bytes.length - 1, UTF_8));
                        acknowledge();
                    }
                    case 3, 4, 6 -> acknowledge();
                    case 5 -> upload();
                    case 7 -> answer();
                    default -> {
                        return;
                    }
                }
            }
        }

        private int read() throws IOException {
            byte[] bytes = new byte[HEADER];
            in.readFully(bytes);
            header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            dialogue.add("C " + HexFormat.of().formatHex(bytes, 0, 38));
            boolean isRight = bytes[0] == 0x42 && header.getInt(6) == expected;
            boolean isOwn = expected == 0 || header.getInt(10) == client;
            parameter = new String(bytes, 38, 256, UTF_8).trim();
            boolean isZero = true;
            for (int i = 38 + parameter.length(); i < 294; i++) {
                isZero &= bytes[i] == 0;
            }
            expected++;
            return isRight && isOwn && isZero ? header.getInt(18) : -1;
        }

        private long payload() {
            return header.getLong(30);
        }

        private void acknowledge() throws IOException {
            send(expected - 1, 20, 0);
        }

        private void upload() throws IOException, InterruptedException {
            while (isDeaf) {
                LockSupport.parkNanos(1_000_000);
            }
            byte[] bytes = in.readNBytes((int) payload());
            if (bytes.length < payload()) {
                isWedged = true;
                Thread.sleep(Long.MAX_VALUE);
            }
            parameters.put(parameter, bytes);
            acknowledge();
        }

        private void send(int number, int type, long payload) throws IOException {
            send(number, type, payload, "");
        }

        private void send(int number, int type, long payload, String block) throws IOException {
            ByteBuffer bytes = ByteBuffer.allocate(HEADER).order(ByteOrder.LITTLE_ENDIAN);
            bytes.put(0, (byte) 0x42).put(1, (byte) 1);
            bytes.putInt(6, number).putInt(10, client).putInt(14, query).putInt(18, type);
            bytes.putLong(22, HEADER + payload).putLong(30, payload);
            byte[] name = block.getBytes(UTF_8);
            bytes.position(38);
            bytes.put(name);
            dialogue.add("S " + HexFormat.of().formatHex(bytes.array(), 0, 38));
            out.write(bytes.array());
            out.flush();
        }

        private void answer() throws IOException {
            int request = expected - 1;
            send(expected, 13, 0);
            if (!isAcknowledged()) {
                return;
            }
            queries.add(text.toString());
            List<Object> answer = answers.get(text.toString());
            if (answer == null) {
                answer = List.of(execute(text.toString()));
            }
            boolean isFirst = true;
            for (Object each : answer) {
                if (each instanceof Block block) {
                    send(0, isFirst ? 16 : 17, block.bytes().length, block.name());
                    out.write(block.bytes());
                } else {
                    byte[] bytes = (each + "\0").getBytes(UTF_8);
                    send(0, 14, bytes.length);
                    out.write(bytes);
                }
                if (!isAcknowledged()) {
                    return;
                }
                isFirst = isFirst && !(each instanceof Block);
            }
            send(request, 19, 0);
        }

        private boolean isAcknowledged() throws IOException {
            boolean is = read() == 9;
            ackCount += is ? 1 : 0;
            return is;
        }

        private String execute(String query) {
            Matcher create = CREATE.matcher(query);
            if (create.matches()) {
                byte[] bytes = parameters.remove(create.group(3));
                if (datasets.containsKey(create.group(1))) {
                    return error("Dataset " + create.group(1) + " already exists.");
                }
                if (bytes == null) {
                    return error("no upload");
                }
                datasets.put(create.group(1), bytes);
                return SavimeClient.SUCCESS;
            }
            Matcher load = LOAD.matcher(query);
            if (load.matches()) {
                String dataset = load.group(3).split(",")[1].trim();
                if (!datasets.containsKey(dataset)) {
                    return error("There is no dataset " + dataset);
                }
                loaded.add(dataset);
                return SavimeClient.SUCCESS;
            }
            if (query.startsWith("drop_dataset")) {
                datasets.remove(query.replaceAll(".*\"(\\w+)\".*", "$1"));
                return SavimeClient.SUCCESS;
            }
            return query.startsWith("create_tar") ? SavimeClient.SUCCESS : error("Unknown query");
        }

        private String error(String why) {
            return "Error during operation execution: " + why;
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        Socket socket = current;
        if (socket != null) {
            socket.close();
        }
        thread.interrupt();
    }
}
