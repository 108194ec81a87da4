package dev.verbena.cli.status;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.verbena.cli.report.Html;
import dev.verbena.cli.terminal.HostPort;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Serves one page, its stream of samples (server-sent events) and the pictures that samples name,
 * below a path that nobody can guess. No part of an address is the name of a file. Only reads;
 * every other path or method is refused. Threads of its own, at most {@link #STREAMS_MAX} for
 * streams.
 */
final class WatchServer implements AutoCloseable {
    /** Pages that are open at the same time. */
    static final int STREAMS_MAX = 16;

    private static final int TOKEN_BYTES = 16;
    private static final String PICTURES = "pictures/";

    private final HttpServer server;
    private final ExecutorService threads = Executors.newFixedThreadPool(STREAMS_MAX + 4);
    private final AtomicInteger streams = new AtomicInteger();
    private final WatchFeed feed;
    private final WatchPictures pictures;
    private final byte[] root;
    private final byte[] page;
    private final String policy;

    /**
     * Begins to serve.
     *
     * @throws IOException if the address cannot be listened on
     */
    WatchServer(InetSocketAddress address, WatchFeed feed, WatchPictures pictures)
            throws IOException {
        this.feed = feed;
        this.pictures = pictures;
        byte[] token = new byte[TOKEN_BYTES];
        new SecureRandom().nextBytes(token);
        root =
                ("/" + Base64.getUrlEncoder().withoutPadding().encodeToString(token) + "/")
                        .getBytes(UTF_8);
        String script = Html.resource(WatchServer.class, "watch.js");
        String style = Html.resource(WatchServer.class, "watch.css");
        page =
                Html.resource(WatchServer.class, "watch.html")
                        .replace("/*style*/", style)
                        .replace("/*script*/", script)
                        .getBytes(UTF_8);
        policy =
                "default-src 'none'; connect-src 'self'; img-src 'self'; base-uri 'none';"
                        + " form-action 'none'; frame-ancestors 'none'; style-src "
                        + hash(style)
                        + "; script-src "
                        + hash(script);
        try {
            server = HttpServer.create(address, 0);
        } catch (IOException e) {
            threads.shutdownNow();
            throw new IOException("cannot listen on " + address + ": " + e.getMessage(), e);
        }
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    /** The page's address, with the token. */
    String address(String host) {
        return "http://"
                + new HostPort(host, server.getAddress().getPort())
                + new String(root, UTF_8);
    }

    /** The page may run what it came with, and nothing else. */
    private static String hash(String text) {
        try {
            byte[] sum = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
            return "'sha256-" + Base64.getEncoder().encodeToString(sum) + "'";
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getRawPath();
            int slash = path.indexOf('/', 1);
            String first = path.substring(0, slash + 1);
            boolean isOurs = MessageDigest.isEqual(first.getBytes(UTF_8), root);
            String rest = path.substring(slash + 1);
            byte[] picture = isOurs ? picture(rest) : null;
            boolean isThere = rest.isEmpty() || rest.equals("events") || picture != null;
            if (!isOurs || !isThere) {
                refuse(
                        exchange,
                        404,
                        "There is nothing here. The address that verbena watch printed ends with /.");
            } else if (!exchange.getRequestMethod().equals("GET")) {
                exchange.getResponseHeaders().set("Allow", "GET");
                refuse(exchange, 405, "This can only be read.");
            } else if (rest.isEmpty()) {
                send(exchange, 200, "text/html; charset=utf-8", page);
            } else if (picture != null) {
                send(exchange, 200, "image/png", picture);
            } else {
                stream(exchange);
            }
        }
    }

    /** Null: the rest of the path is the name of none. */
    private byte[] picture(String rest) {
        return rest.startsWith(PICTURES) ? pictures.get(rest.substring(PICTURES.length())) : null;
    }

    private void refuse(HttpExchange exchange, int code, String why) throws IOException {
        send(exchange, code, "text/plain; charset=utf-8", (why + "\n").getBytes(UTF_8));
    }

    private void send(HttpExchange exchange, int code, String type, byte[] body)
            throws IOException {
        headers(exchange, type);
        exchange.sendResponseHeaders(code, body.length);
        exchange.getResponseBody().write(body);
    }

    private void headers(HttpExchange exchange, String type) {
        Headers headers = exchange.getResponseHeaders();
        headers.set("Content-Type", type);
        headers.set("Content-Security-Policy", policy);
        headers.set("Cache-Control", "no-store");
        headers.set("Referrer-Policy", "no-referrer");
        headers.set("X-Content-Type-Options", "nosniff");
    }

    /** Until the reader goes or the command ends. */
    private void stream(HttpExchange exchange) throws IOException {
        try {
            if (streams.incrementAndGet() > STREAMS_MAX) {
                refuse(exchange, 503, STREAMS_MAX + " pages are open; close one.");
                return;
            }
            headers(exchange, "text/event-stream; charset=utf-8");
            exchange.sendResponseHeaders(200, 0);
            OutputStream out = exchange.getResponseBody();
            WatchFeed.Sample sample = feed.await(0);
            while (sample != null) {
                out.write(("data: " + sample.json() + "\n\n").getBytes(UTF_8));
                out.flush();
                sample = feed.await(sample.number());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            streams.decrementAndGet();
        }
    }

    @Override
    public void close() {
        feed.close();
        server.stop(0);
        threads.shutdownNow();
    }
}
