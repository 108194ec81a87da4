package dev.verbena.cli.stage;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.verbena.cli.terminal.HostPort;
import dev.verbena.staging.sink.StagedArrays;
import dev.verbena.staging.sink.ZarrView;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * What waits in a staging server, over HTTP, read-only: below {@code /TOKEN/} a store of Zarr,
 * version 2, and server-sent events as {@code events}. Chunks are read where they are staged.
 */
final class StageHttp implements AutoCloseable {
    private static final int THREADS_MAX = 64;
    private static final int LISTENERS_MAX = 32;
    private static final int ALIVE_SECONDS = 10;
    private static final String EVENTS = "events";

    private final HttpServer server;
    private final ThreadPoolExecutor threads =
            new ThreadPoolExecutor(
                    THREADS_MAX, THREADS_MAX, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
    private final String host;
    private final String token;
    private final StagedArrays arrays;
    private final StepEvents events;
    private final Semaphore listeners = new Semaphore(LISTENERS_MAX);

    /**
     * Listens from now on.
     *
     * @param at port 0: any
     * @throws IOException for a host that is unknown, or a port that is taken
     */
    StageHttp(HostPort at, String token, StagedArrays arrays, StepEvents events)
            throws IOException {
        this.host = at.host();
        this.token = token;
        this.arrays = arrays;
        this.events = events;
        server = HttpServer.create(at.resolve(), 0);
        threads.allowCoreThreadTimeOut(true);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    /** 32 hexadecimal digits that nobody can guess. */
    static String newToken() {
        byte[] bytes = new byte[16];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    /** Of the store. */
    String address() {
        HostPort at = new HostPort(host, server.getAddress().getPort());
        return "http://" + at + "/" + token + "/";
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            int slash = path.indexOf('/', 1);
            String given = slash < 0 ? "" : path.substring(1, slash);
            boolean isKnown = MessageDigest.isEqual(given.getBytes(UTF_8), token.getBytes(UTF_8));
            String method = exchange.getRequestMethod();
            if (!isKnown) {
                exchange.sendResponseHeaders(403, -1);
            } else if (!method.equals("GET") && !method.equals("HEAD")) {
                exchange.sendResponseHeaders(405, -1);
            } else {
                answer(exchange, path.substring(slash + 1), method.equals("HEAD"));
            }
        }
    }

    private void answer(HttpExchange exchange, String key, boolean isHead) throws IOException {
        ZarrView view = new ZarrView(arrays.list());
        String text = view.text(key);
        String dataset = view.dataset(key);
        if (key.equals(EVENTS) && !isHead) {
            sendEvents(exchange);
        } else if (text != null) {
            byte[] bytes = text.getBytes(UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            begin(exchange, bytes.length, isHead);
            if (!isHead) {
                exchange.getResponseBody().write(bytes);
            }
        } else if (dataset == null || !sendChunk(exchange, dataset, isHead)) {
            exchange.sendResponseHeaders(404, -1);
        }
    }

    private static void begin(HttpExchange exchange, long length, boolean isHead)
            throws IOException {
        if (isHead) {
            exchange.getResponseHeaders().set("Content-Length", Long.toString(length));
        }
        exchange.sendResponseHeaders(200, isHead ? -1 : length);
    }

    private boolean sendChunk(HttpExchange exchange, String name, boolean isHead)
            throws IOException {
        try (StagedArrays.Reader reader = arrays.open(name)) {
            if (reader == null) {
                return false;
            }
            FileChannel data = reader.data();
            long length = data.size();
            exchange.getResponseHeaders().set("Content-Type", "application/octet-stream");
            begin(exchange, length, isHead);
            if (!isHead) {
                WritableByteChannel out = Channels.newChannel(exchange.getResponseBody());
                for (long done = 0; done < length; ) {
                    done += data.transferTo(done, length - done, out);
                }
            }
            return true;
        }
    }

    private void sendEvents(HttpExchange exchange) throws IOException {
        if (!listeners.tryAcquire()) {
            exchange.sendResponseHeaders(503, -1);
            return;
        }
        BlockingQueue<String> queue = events.listen();
        try {
            exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
            exchange.sendResponseHeaders(200, 0);
            OutputStream out = exchange.getResponseBody();
            out.write(": listening\n\n".getBytes(UTF_8));
            out.flush();
            while (!threads.isShutdown()) {
                // A line that is no event shows whether somebody is still there.
                String event = queue.poll(ALIVE_SECONDS, TimeUnit.SECONDS);
                String text = event == null ? ": alive\n\n" : "data: " + event + "\n\n";
                out.write(text.getBytes(UTF_8));
                out.flush();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            events.ignore(queue);
            listeners.release();
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        server.stop(0);
    }
}
