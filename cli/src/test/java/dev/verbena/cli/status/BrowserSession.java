package dev.verbena.cli.status;

import dev.verbena.HeadlessBrowser;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Chromium without a window, with one page that stays open, driven by its DevTools protocol. */
final class BrowserSession implements AutoCloseable {
    private static final int TIMEOUT_S = 60;
    private static final Pattern SOCKET =
            Pattern.compile(
                    "\"type\": \"page\".*?\"webSocketDebuggerUrl\": \"([^\"]+)\"", Pattern.DOTALL);
    private static final Pattern ID = Pattern.compile("^\\{\"id\":(\\d+)");
    private static final Pattern VALUE = Pattern.compile("\"value\":\"((?:[^\"\\\\]|\\\\.)*)\"");

    private final Process process;
    private final WebSocket socket;
    private final Map<Integer, CompletableFuture<String>> answers = new ConcurrentHashMap<>();
    private int serial;

    /** Starts it, with its files in {@code folder}. */
    BrowserSession(Path browser, Path folder) throws Exception {
        Path profile = folder.resolve("profile");
        process = HeadlessBrowser.start(browser, profile);
        try {
            Path port = profile.resolve("DevToolsActivePort");
            await(() -> Files.exists(port) && Files.readString(port).contains("\n"));
            socket = connect("http://127.0.0.1:" + Files.readAllLines(port).get(0) + "/json/list");
        } catch (Throwable e) {
            end();
            throw e;
        }
    }

    private WebSocket connect(String list) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        String[] found = new String[1];
        await(
                () -> {
                    Matcher socket =
                            SOCKET.matcher(
                                    client.send(
                                                    HttpRequest.newBuilder(URI.create(list))
                                                            .build(),
                                                    HttpResponse.BodyHandlers.ofString())
                                            .body());
                    return socket.find() && (found[0] = socket.group(1)) != null;
                });
        return client.newWebSocketBuilder()
                .buildAsync(URI.create(found[0]), new Answers())
                .get(TIMEOUT_S, TimeUnit.SECONDS);
    }

    /** A condition that may throw. */
    interface Condition {
        boolean holds() throws Exception;
    }

    /** Waits for it. */
    static void await(Condition condition) throws Exception {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S);
        while (!condition.holds()) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new AssertionError("not within " + TIMEOUT_S + " s");
            }
            Thread.sleep(20);
        }
    }

    /** Opens a page. */
    void open(String address) throws Exception {
        call("Page.navigate", "{\"url\": \"" + address + "\"}");
    }

    /** The text that an expression of JavaScript has in the page. */
    String evaluate(String expression) throws Exception {
        String escaped = expression.replace("\\", "\\\\").replace("\"", "\\\"");
        String answer =
                call(
                        "Runtime.evaluate",
                        "{\"expression\": \"String(" + escaped + ")\", \"returnByValue\": true}");
        Matcher value = VALUE.matcher(answer);
        if (!value.find()) {
            throw new AssertionError(expression + ": " + answer);
        }
        return value.group(1);
    }

    /** Waits until an expression is true. */
    void awaitTrue(String expression) throws Exception {
        try {
            await(() -> evaluate(expression).equals("true"));
        } catch (AssertionError e) {
            throw new AssertionError(
                    expression + " " + e.getMessage() + ": " + evaluate("document.body.innerText"),
                    e);
        }
    }

    /** Presses a key, as a person does. */
    void press(String key, int code) throws Exception {
        String which =
                ", \"key\": \""
                        + key
                        + "\", \"code\": \""
                        + key
                        + "\", \"windowsVirtualKeyCode\": "
                        + code;
        String typed = key.equals("Enter") ? ", \"text\": \"\\r\"" : "";
        call("Input.dispatchKeyEvent", "{\"type\": \"keyDown\"" + which + typed + "}");
        call("Input.dispatchKeyEvent", "{\"type\": \"keyUp\"" + which + "}");
    }

    /** What a screen reader is given. */
    String accessibilityTree() throws Exception {
        return call("Accessibility.getFullAXTree", "{}");
    }

    /** Calls a method of the protocol; its answer. */
    String call(String method, String parameters) throws Exception {
        int id = ++serial;
        CompletableFuture<String> answer = new CompletableFuture<>();
        answers.put(id, answer);
        socket.sendText(
                        "{\"id\": "
                                + id
                                + ", \"method\": \""
                                + method
                                + "\", \"params\": "
                                + parameters
                                + "}",
                        true)
                .get(TIMEOUT_S, TimeUnit.SECONDS);
        return answer.get(TIMEOUT_S, TimeUnit.SECONDS);
    }

    private void end() throws InterruptedException {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() throws Exception {
        socket.abort();
        end();
    }

    /** What the browser says: answers, and events, which are dropped. */
    private final class Answers implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean isLast) {
            text.append(part);
            if (isLast) {
                Matcher id = ID.matcher(text);
                CompletableFuture<String> answer =
                        id.find() ? answers.remove(Integer.parseInt(id.group(1))) : null;
                if (answer != null) {
                    answer.complete(text.toString());
                }
                text.setLength(0);
            }
            from.request(1);
            return null;
        }
    }
}
