package dev.verbena.savime.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.savime.wire.DatasetState;
import dev.verbena.savime.wire.MessageCheck;
import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgStatus;
import dev.verbena.savime.wire.StgType;
import dev.verbena.transport.Transport;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.function.Function;
import java.util.function.Supplier;
import org.agrona.DirectBuffer;
import org.agrona.collections.Long2ObjectHashMap;

/** Takes tasks one after the other and carries them out at one server. One thread. */
public final class ClientEngine implements ProtocolAgent, ServerLink.Events {
    private static final int ATTEMPTS_MAX = 5;

    private final ClientSettings settings;
    private final String server;
    private final TaskQueue queue;
    private final Function<ServerLink.Events, ServerLink> opening;
    private final StgFlyweight message = new StgFlyweight();
    private final ArrayDeque<RegisteredRegion> toClose = new ArrayDeque<>();
    private ServerLink link;
    private Upload task;
    private UploadRun upload;
    private int uploadCount;
    private final Long2ObjectHashMap<RunAnswer> running = new Long2ObjectHashMap<>();
    private long session;
    private boolean isGreeted;
    private boolean isDown;
    private String refusal = "";
    private long request;
    private long progressNs;
    private long lostNs;

    ClientEngine(
            ClientSettings settings,
            String server,
            TaskQueue queue,
            Function<ServerLink.Events, ServerLink> opening) {
        this.settings = settings;
        this.server = server;
        this.queue = queue;
        this.opening = opening;
    }

    /** Of a server that listens on TCP. */
    public static ClientEngine tcp(
            ClientSettings settings, String host, int port, TaskQueue queue) {
        return new ClientEngine(
                settings,
                host + ":" + port,
                queue,
                events ->
                        new TcpLink(
                                settings.environment(),
                                host,
                                port,
                                settings.heartbeatNs(),
                                events));
    }

    /** Of a server that has published its transport's address in a file. */
    public static ClientEngine transport(
            ClientSettings settings, Supplier<Transport> transport, String path, TaskQueue queue) {
        return new ClientEngine(
                settings,
                path,
                queue,
                events -> new TransportLink(settings, transport, path, events));
    }

    @Override
    public void onStart() {
        link = opening.apply(this);
        lostNs = now();
    }

    private long now() {
        return settings.environment().nanoClock().nanoTime();
    }

    @Override
    public int doWork() {
        int work = link.doWork();
        if (!link.isConnected() || !isGreeted) {
            work += whileAway();
            return work;
        }
        work += askForOwed();
        if (task == null && !link.out().isFull()) {
            work += begin(queue.take(server));
        }
        if (upload != null) {
            work += upload.step();
            endUpload();
        }
        if (task != null && now() - progressNs - settings.requestTimeoutNs() >= 0) {
            fail(StgStatus.TIMEOUT, "no progress at " + server);
            link.reset("it does not get on");
        }
        closeRegions();
        // What was just said travels at once.
        return work + (link.out().isEmpty() ? 0 : link.doWork());
    }

    private int whileAway() {
        if (isGreeted) {
            isGreeted = false;
            lostNs = now();
        }
        int work = 0;
        if (task != null) {
            work++;
            lostTask();
        }
        failCommands(StgStatus.SERVER_LOST, link.whyNot());
        closeRegions();
        if (!isDown && now() - lostNs - settings.connectTimeoutNs() >= 0) {
            isDown = true;
            queue.down(server, why());
        }
        if (isDown) {
            queue.failIfAllDown(why());
        }
        return work;
    }

    private String why() {
        return refusal.isEmpty() ? link.whyNot() : server + " refuses this client: " + refusal;
    }

    private void lostTask() {
        boolean mayTry = settings.reconnects() && task.tried() < ATTEMPTS_MAX;
        if (mayTry) {
            Upload again = task;
            forget();
            queue.putBack(again);
        } else {
            fail(StgStatus.SERVER_LOST, link.whyNot());
        }
    }

    private void forget() {
        if (upload != null && upload.source != null) {
            toClose.add(upload.source);
        }
        upload = null;
        task = null;
    }

    private void fail(int status, String text) {
        Upload failed = task;
        failed.answeredBy(server);
        forget();
        // Nobody may change the memory before peers cannot read it any more.
        closeRegions();
        queue.ended(failed, status, text);
    }

    /** Regions whose operations have ended. */
    private void closeRegions() {
        while (!toClose.isEmpty()) {
            try {
                toClose.peek().close();
                toClose.remove();
            } catch (IllegalStateException e) {
                return; // A put is outstanding; it ends with the connection at the latest.
            }
        }
    }

    // ---- greeting

    @Override
    public void onConnected() {
        if (isGreeted) {
            lostNs = now(); // The loss was not seen.
        }
        isGreeted = false;
        session = 0;
        int features = settings.hasCrc() ? StgFlags.FEATURE_CRC : 0;
        features |= settings.reconnects() ? StgFlags.FEATURE_RESUME : 0;
        say(StgType.HELLO)
                .maxBlock(settings.blockSize())
                .window(settings.window())
                .ioThreads(settings.ioThreads())
                .clientId(settings.clientId())
                .token(settings.token())
                .features(features | StgFlags.FEATURE_TCP_DATA);
    }

    StgFlyweight say(int type) {
        return link.out().add(type).session(session).request(++request);
    }

    ServerLink link() {
        return link;
    }

    long session() {
        return session;
    }

    /** Something has come on. */
    void progress() {
        progressNs = now();
    }

    private void onHello() {
        if (message.status() != StgStatus.OK) {
            refusal = StgStatus.name(message.status());
            lostNs = now() - settings.connectTimeoutNs();
            return;
        }
        refusal = "";
        session = message.session();
        isGreeted = true;
        granted = new Granted(message.maxBlock(), message.window(), message.agreed());
        if (isDown) {
            isDown = false;
            queue.up(server);
        }
        toAsk.clear();
        addOwed();
    }

    private void addOwed() {
        toAbort.addAll(queue.takeUnsent(server));
        for (long id : queue.owedBy(server)) {
            toAsk.add(id);
        }
    }

    /** How datasets are that this server had when this or another connection was lost. */
    private int askForOwed() {
        if (queue.takeToAsk(server)) {
            addOwed();
        }
        int work = 0;
        while (!toAsk.isEmpty() && !link.out().isFull()) {
            say(StgType.STATUS).datasetId(toAsk.remove());
            work++;
        }
        while (!toAbort.isEmpty() && !link.out().isFull()) {
            say(StgType.DATASET_ABORT).datasetId(toAbort.remove());
            work++;
        }
        return work;
    }

    private final ArrayDeque<Long> toAsk = new ArrayDeque<>();
    private final ArrayDeque<Long> toAbort = new ArrayDeque<>();
    private Granted granted;

    /** What the server agreed to. */
    record Granted(int blockMax, int window, int features) {}

    @Override
    public boolean askIfAlive() {
        if (session == 0 || link.out().isFull()) {
            return false;
        }
        say(StgType.HEARTBEAT);
        return true;
    }

    // ---- tasks

    private int begin(Task next) {
        if (next instanceof RunCommand run) {
            begin(run);
        } else if (next instanceof Upload what) {
            task = what;
            progress();
            beginUpload(what);
        }
        return next == null ? 0 : 1;
    }

    /** Its answer may take long: other tasks go on meanwhile. */
    private void begin(RunCommand run) {
        byte[] text = run.command().getBytes(UTF_8);
        String failed = run.isImmediate() ? "" : queue.takeFailed(run);
        int flags = run.flags() | (failed.isEmpty() ? 0 : StgFlags.FLAG_BEHIND_FAILED);
        flags |= queue.hasManyServers() ? StgFlags.FLAG_FAILURES_KNOWN : 0;
        if (run.textDataset() != null) {
            say(StgType.RUN)
                    .flags(flags | StgFlags.FLAG_TEXT_IS_DATASET)
                    .textDatasetId(run.textDataset().id());
        } else {
            say(StgType.RUN).flags(flags).text(text, 0, text.length, 0);
        }
        running.put(request, new RunAnswer(run, failed));
    }

    private void failCommands(int status, String why) {
        for (RunAnswer each : new ArrayList<>(running.values())) {
            queue.ended(each.command, status, why);
        }
        running.clear();
    }

    private void beginUpload(Upload what) {
        try {
            upload = new UploadRun(this, what, granted, ++uploadCount);
            upload.open(request + 1);
        } catch (RuntimeException e) {
            // Memory that cannot be registered, mostly.
            fail(StgStatus.IO_ERROR, e.getMessage());
        }
    }

    private void endUpload() {
        if (upload == null || upload.status < 0) {
            return;
        }
        Upload done = task;
        int status = upload.status;
        done.answeredBy(server);
        if (status == StgStatus.OK && !done.isText()) {
            queue.owe(server, done);
        }
        String text = status == StgStatus.OK ? "" : StgStatus.name(status) + " at " + server;
        forget();
        closeRegions();
        queue.ended(done, status, text);
    }

    @Override
    public void onMessage(DirectBuffer buffer, int offset, int length) {
        MessageCheck.check(buffer, offset, length);
        message.wrap(buffer, offset);
        if (message.length() > length) {
            throw new IllegalArgumentException("a message of " + length + " bytes is cut");
        }
        switch (message.type()) {
            case StgType.HELLO_ACK -> onHello();
            case StgType.RUN_RESULT -> onRunResult();
            case StgType.STATUS_REPLY -> onStatus();
            case StgType.DATASET_EVENT -> onEvent();
            default -> {
                if (upload != null) {
                    upload.onMessage(message, buffer);
                    // Before the event that the sink has it, which may be next.
                    endUpload();
                }
            }
        }
    }

    private void onRunResult() {
        RunAnswer answer = running.get(message.request());
        if (answer == null) {
            return;
        }
        answer.add(message);
        if (answer.isComplete) {
            running.remove(message.request());
            boolean isBehindFailed = message.status() == StgStatus.PREDECESSOR_FAILED;
            String text = isBehindFailed ? answer.failedBefore() : answer.text();
            queue.ended(answer.command, message.status(), text);
        }
    }

    private void onStatus() {
        long id = message.datasetId();
        if (message.status() != StgStatus.OK) {
            queue.paid(server, id, "the server does not know it any more");
        } else if (id != 0) {
            state(id, DatasetState.of(message.state()), "");
        }
    }

    private void onEvent() {
        state(message.datasetId(), DatasetState.of(message.state()), message.eventText());
    }

    private void state(long id, DatasetState state, String text) {
        if (state == DatasetState.FORWARDED) {
            queue.paid(server, id, "");
        } else if (state == DatasetState.FAILED) {
            queue.paid(server, id, why(state, text));
        } else if (state == DatasetState.ABORTED) {
            queue.replaced(server, id, why(state, text));
        }
    }

    private static String why(DatasetState state, String text) {
        return state + (text.isEmpty() ? "" : ": " + text);
    }

    @Override
    public void onWritten(int tag, boolean isThere) {
        if (upload != null) {
            upload.onWritten(tag, isThere);
        }
    }

    /** The transport in which the thread may sleep; null: none. */
    public Transport transport() {
        return link == null ? null : link.transport();
    }

    @Override
    public long nextDeadlineNs() {
        if (link == null) {
            return NO_DEADLINE;
        }
        long next = link.nextDeadlineNs();
        if (!isGreeted && !isDown) {
            next = Math.min(next, lostNs + settings.connectTimeoutNs());
        }
        return task == null ? next : Math.min(next, progressNs + settings.requestTimeoutNs());
    }

    @Override
    public void onClose() {
        if (link == null) {
            return;
        }
        if (task != null) {
            fail(StgStatus.CANCELLED, "the client was closed");
        }
        failCommands(StgStatus.CANCELLED, "the client was closed");
        if (isGreeted && link.isConnected()) {
            say(StgType.BYE);
        }
        link.close();
        closeRegions();
    }

    @Override
    public String roleName() {
        return "staging-client";
    }
}
