package dev.verbena.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.agent.internal.Deadlines;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.NanoClock;

/** The texts of a job at a {@link RendezvousServer}. */
final class TcpRendezvous implements RendezvousStore {
    private static final long RETRY_NS = 50_000_000;

    /** A server answers at once; one that does not is none. */
    private static final int ANSWER_MS = 30_000;

    /** Longest answer, characters: a line for each of very many processes. */
    private static final int ANSWER_MAX = 1 << 26;

    private final String address;
    private final Socket socket;
    private final BufferedReader in;
    private final OutputStream out;

    /**
     * Connects, and tries again until the deadline: a server may be started at the same time.
     *
     * @throws JobGroupException naming the address
     */
    TcpRendezvous(URI uri, String job, NanoClock clock, long deadlineNs) throws IOException {
        this(uri, job, clock, deadlineNs, ANSWER_MS);
    }

    /** With another limit for each answer, for tests. */
    TcpRendezvous(URI uri, String job, NanoClock clock, long deadlineNs, int answerMs)
            throws IOException {
        if (uri.getHost() == null || uri.getPort() < 1) {
            throw new JobGroupException("'" + uri + "' is not tcp://HOST:PORT");
        }
        address = uri.toString();
        socket = connect(uri, clock, deadlineNs);
        try {
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
            out = socket.getOutputStream();
            ask(RendezvousServer.MAGIC, job);
            socket.setSoTimeout(answerMs);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private static Socket connect(URI uri, NanoClock clock, long deadlineNs) throws IOException {
        while (true) {
            Socket socket = new Socket();
            int leftMs = Math.max(1, Deadlines.toMs(deadlineNs - clock.nanoTime()));
            try {
                socket.connect(new InetSocketAddress(uri.getHost(), uri.getPort()), leftMs);
                socket.setTcpNoDelay(true);
                // It may be about to start.
                socket.setSoTimeout(Math.max(ANSWER_MS, leftMs));
                return socket;
            } catch (IOException e) {
                socket.close();
                if (clock.nanoTime() - deadlineNs >= 0) {
                    throw new JobGroupException("no rendezvous server at " + uri + ": " + e, e);
                }
                LockSupport.parkNanos(RETRY_NS);
            }
        }
    }

    /** The lines of the answer. */
    private List<String> ask(String... words) throws IOException {
        StringBuilder line = new StringBuilder(words[0]);
        for (int i = 1; i < words.length; i++) {
            line.append(' ').append(URLEncoder.encode(words[i], UTF_8));
        }
        out.write(line.append('\n').toString().getBytes(UTF_8));
        String answer = line();
        if (answer.startsWith("error ")) {
            throw new JobGroupException(address + ": " + answer.substring("error ".length()));
        }
        List<String> lines = new ArrayList<>();
        try {
            int room = ANSWER_MAX;
            for (int left = Integer.parseInt(answer); left > 0; left--) {
                lines.add(line());
                room -= lines.get(lines.size() - 1).length() + 1;
                requireBounded(room >= 0, ANSWER_MAX);
            }
        } catch (NumberFormatException e) {
            throw malformed(e);
        }
        return lines;
    }

    /** Any program may answer there: what it sends is kept only as long as it can be right. */
    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = next(); c != '\n'; c = next()) {
            if (c < 0) {
                throw new IOException("the rendezvous server at " + address + " has ended");
            }
            requireBounded(line.length() < RendezvousServer.LINE_MAX, RendezvousServer.LINE_MAX);
            line.append((char) c);
        }
        return line.toString();
    }

    /** After one that did not come in time there is none: it would be taken for the next answer. */
    private int next() throws IOException {
        try {
            return in.read();
        } catch (SocketTimeoutException e) {
            int limitMs = socket.getSoTimeout();
            socket.close();
            throw new IOException(
                    "the rendezvous server at %s does not answer within %s ms"
                            .formatted(address, limitMs),
                    e);
        }
    }

    private IOException malformed(Exception why) {
        return new IOException(address + " is no rendezvous server of this version", why);
    }

    private String decoded(String word) throws IOException {
        try {
            return URLDecoder.decode(word, UTF_8);
        } catch (IllegalArgumentException e) {
            throw malformed(e);
        }
    }

    private void requireBounded(boolean isBounded, int max) throws IOException {
        if (!isBounded) {
            throw new IOException(
                    address
                            + " is no rendezvous server: it sends more than "
                            + max
                            + " characters");
        }
    }

    @Override
    public List<String> folders() throws IOException {
        List<String> names = new ArrayList<>();
        for (String line : ask("folders")) {
            names.add(decoded(line));
        }
        return names;
    }

    @Override
    public Map<String, String> read(String folder) throws IOException {
        Map<String, String> texts = new TreeMap<>();
        for (String line : ask("read", folder)) {
            String[] words = line.split(" ", 2);
            if (words.length < 2) {
                throw malformed(null);
            }
            texts.put(decoded(words[0]), decoded(words[1]));
        }
        return texts;
    }

    @Override
    public void put(String folder, String name, String text) throws IOException {
        ask("put", folder, name, text);
    }

    @Override
    public void publish(String folder, String name, String text) throws IOException {
        ask("publish", folder, name, text);
    }

    @Override
    public boolean forgetsTheDead() {
        return true;
    }

    @Override
    public void remove(String folder, String name) throws IOException {
        ask("remove", folder, name);
    }

    @Override
    public String toString() {
        return address;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
