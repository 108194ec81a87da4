package dev.verbena.cli.stage;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.cli.terminal.Json;
import dev.verbena.staging.sink.SealedSteps;
import java.io.IOException;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.agrona.ErrorHandler;

/**
 * Tells those that listen, and webhooks, of steps that the sink has whole, and how the sink is.
 * Webhooks are called by a thread of their own, one after another, and tried once. Who does not
 * keep up loses events; a webhook's loss is reported. Thread-safe.
 */
final class StepEvents implements SealedSteps.Listener, AutoCloseable {
    private static final int WAITING_MAX = 1024;
    private static final int TIMEOUT_MS = 5000;

    private final List<URI> webhooks;
    private final ErrorHandler errors;
    private final List<BlockingQueue<String>> listeners = new CopyOnWriteArrayList<>();
    private final ThreadPoolExecutor caller =
            new ThreadPoolExecutor(
                    1, 1, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(WAITING_MAX));

    StepEvents(List<URI> webhooks, ErrorHandler errors) {
        this.webhooks = webhooks;
        this.errors = errors;
        caller.allowCoreThreadTimeOut(true);
    }

    @Override
    public void sealed(String variable, long step, long elements) {
        String event =
                "{\"event\": \"step sealed\", \"variable\": %s, \"step\": %s, \"elements\": %s}"
                        .formatted(Json.string(variable), step, elements);
        tell(event);
    }

    /** How the sink is. */
    void sink(String event) {
        tell("{\"event\": \"%s\"}".formatted(event));
    }

    private void tell(String event) {
        listeners.forEach(each -> each.offer(event));
        for (URI webhook : webhooks) {
            try {
                caller.execute(() -> post(webhook, event));
            } catch (RejectedExecutionException e) {
                errors.onError(new IOException(webhook + " does not keep up; lost: " + event, e));
            }
        }
    }

    private void post(URI webhook, String event) {
        try {
            HttpURLConnection connection = (HttpURLConnection) webhook.toURL().openConnection();
            connection.setConnectTimeout(TIMEOUT_MS);
            connection.setReadTimeout(TIMEOUT_MS);
            connection.setRequestMethod("POST");
            connection.setRequestProperty("Content-Type", "application/json");
            connection.setDoOutput(true);
            try (OutputStream out = connection.getOutputStream()) {
                out.write(event.getBytes(UTF_8));
            }
            int code = connection.getResponseCode();
            connection.disconnect();
            if (code / 100 != 2) {
                throw new IOException("answered " + code);
            }
        } catch (IOException | RuntimeException e) {
            errors.onError(
                    new IOException(
                            "webhook %s: %s; lost: %s".formatted(webhook, e.getMessage(), event),
                            e));
        }
    }

    /** Events from now on. */
    BlockingQueue<String> listen() {
        BlockingQueue<String> events = new ArrayBlockingQueue<>(WAITING_MAX);
        listeners.add(events);
        return events;
    }

    void ignore(BlockingQueue<String> events) {
        listeners.removeIf(each -> each == events);
    }

    /** What waits for a webhook is sent, or given up after some time. */
    @Override
    public void close() {
        caller.shutdown();
        try {
            if (!caller.awaitTermination(2L * TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
                caller.shutdownNow();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
