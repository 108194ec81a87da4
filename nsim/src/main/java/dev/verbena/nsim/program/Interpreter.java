package dev.verbena.nsim.program;

import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.network.MessageHandler;
import dev.verbena.nsim.network.MessageTable;
import dev.verbena.nsim.network.NetworkModel;
import org.HdrHistogram.Histogram;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.Long2LongCounterMap;
import org.agrona.collections.LongHashSet;

/**
 * Plays a script on a network. One thread; nothing allocated per operation once tables have grown.
 */
public final class Interpreter implements MessageHandler {
    private static final long NEVER = -1;

    private final Engine engine;
    private final NetworkModel network;
    private final MessageTable messages;
    private final Script script;
    private final int perNode;
    private final int kind;
    private final int depthMax;
    private final int[] at;
    private final int[] started;
    private final int[] outstanding;
    private final byte[] waiting;
    private final int[] depth;
    private final long[] loopLeft;
    private final int[] loopStart;
    private final long[] endPs;
    private final long[] waitSincePs;
    private final long[] computePs;
    private final long[] pollPs;
    private final long[] completePs;
    private final Long2LongCounterMap arrivals = new Long2LongCounterMap(0);

    /** Of each rank that puts: arrivals by the rank they came to and their tag. */
    private final Int2ObjectHashMap<Long2LongCounterMap> arrivalsBySource =
            new Int2ObjectHashMap<>();

    private final LongHashSet unfinished = new LongHashSet();

    /** Sends and receives that are not done; null if the program has none. */
    private final LongHashSet pending;

    private final int[] requested;
    private final int[] pendingCount;
    private final Matching matching;
    private final Histogram latency = new Histogram(3);
    private MessageTrace trace;
    private byte[] code;
    private int cursor;
    private int ended;

    /** Ranks of this interpreter: all, or those of its partition of a parallel run. */
    private int own;

    private long putsDone;
    private long lastPs;

    /**
     * Ranks at their beginning.
     *
     * @param perNode how many ranks share a node: rank r is on node r / perNode
     * @param kind a free kind of event
     */
    public Interpreter(Engine engine, NetworkModel network, Script script, int perNode, int kind) {
        this.engine = engine;
        this.network = network;
        this.script = script;
        this.perNode = perNode;
        this.kind = kind;
        messages = network.messages();
        int n = script.size();
        depthMax = script.depthMax();
        at = new int[n];
        started = new int[n];
        outstanding = new int[n];
        waiting = new byte[n];
        depth = new int[n];
        loopLeft = new long[n * depthMax];
        loopStart = new int[n * depthMax];
        endPs = new long[n];
        waitSincePs = new long[n];
        computePs = new long[n];
        pollPs = new long[n];
        completePs = new long[n];
        latency.setAutoResize(true);
        pending = script.isTwoSided() ? new LongHashSet() : null;
        requested = new int[script.isTwoSided() ? n : 0];
        pendingCount = new int[requested.length];
        matching =
                script.isTwoSided()
                        ? new Matching(network, rank -> rank / perNode, this::onDone)
                        : null;
        network.handler(this);
        engine.handler(kind, (time, node, rank) -> proceed(time, (int) rank));
        for (int rank = 0; rank < n; rank++) {
            if (engine.isElsewhere(rank / perNode)) {
                continue;
            }
            own++;
            at[rank] = script.startOf(rank);
            endPs[rank] = NEVER;
            waiting[rank] = Operation.COMPUTE;
            resumeAt(0, rank);
        }
    }

    /** Sets the receiver of arrivals and completions. */
    public void trace(MessageTrace value) {
        trace = value;
    }

    private void tell(long timePs, String event, int message) {
        trace.onMessage(
                timePs,
                event,
                messages.kind(message) == MessageTable.PUT ? "put" : "get",
                messages.fromRank(message),
                messages.toRank(message),
                messages.bytes(message),
                messages.tag(message),
                messages.issuedPs(message),
                messages.firstInPs(message));
    }

    private void resumeAt(long timePs, int rank) {
        int node = rank / perNode;
        engine.schedule(timePs, node, node, kind, rank);
    }

    /** Whether all its ranks are at their end. */
    public boolean isDone() {
        return ended == own;
    }

    /** Puts and gets whose data are in memory. */
    public long putsDone() {
        return putsDone;
    }

    /** When the last put or get so far arrived or was complete. */
    public long lastPs() {
        return lastPs;
    }

    /** When a rank came to its end, or -1. */
    public long endPs(int rank) {
        return endPs[rank];
    }

    /** How long a rank has computed. */
    public long computePs(int rank) {
        return computePs[rank];
    }

    /** How long a rank has waited in polls, and for sends and receives. */
    public long pollPs(int rank) {
        return pollPs[rank];
    }

    /** How long a rank has waited for completions. */
    public long completePs(int rank) {
        return completePs[rank];
    }

    /** From call to data in memory, of all puts and gets, in nanoseconds. */
    public Histogram latency() {
        return latency;
    }

    /** What the first rank that is not at its end waits for; null if there is none. */
    public String firstWaiting() {
        for (int rank = 0; rank < script.size(); rank++) {
            if (endPs[rank] < 0 && !engine.isElsewhere(rank / perNode)) {
                return "rank " + rank + " waits in " + operationAt(rank);
            }
        }
        return null;
    }

    private String operationAt(int rank) {
        code = script.chunkOf(rank);
        cursor = at[rank];
        int operation = code[cursor++];
        return switch (operation) {
            case Operation.POLL -> "poll(tag " + number() + ")";
            case Operation.POLL_FROM -> "poll(from " + number() + ", tag " + number() + ")";
            case Operation.COMPLETE -> "complete(put " + (started[rank] - number()) + ")";
            case Operation.COMPLETE_ALL -> "completeAll() for " + outstanding[rank] + " puts";
            case Operation.AWAIT ->
                    "await for " + matching.describe(rank, requested[rank] - (int) number());
            case Operation.AWAIT_ALL ->
                    "awaitAll() for " + pendingCount[rank] + " sends and receives";
            default -> "operation " + operation;
        };
    }

    @Override
    public void onData(long timePs, int message) {
        putsDone++;
        lastPs = timePs;
        if (trace != null) {
            tell(timePs, "arrived", message);
        }
        latency.recordValue((timePs - messages.issuedPs(message)) / 1_000);
        if (messages.payload(message) != null) {
            matching.onData(timePs, message);
            return;
        }
        if (messages.kind(message) != MessageTable.PUT) {
            return;
        }
        int rank = messages.toRank(message);
        int tag = messages.tag(message);
        if (script.has(Operation.POLL)) {
            arrivals.incrementAndGet(key(rank, tag));
        }
        if (script.has(Operation.POLL_FROM)) {
            arrivalsBySource
                    .computeIfAbsent(messages.fromRank(message), from -> new Long2LongCounterMap(0))
                    .incrementAndGet(key(rank, tag));
        }
        int wait = waiting[rank];
        if (wait == Operation.POLL || wait == Operation.POLL_FROM) {
            proceed(timePs, rank);
        }
    }

    @Override
    public void onComplete(long timePs, int message) {
        lastPs = timePs;
        if (trace != null) {
            tell(timePs, "completed", message);
        }
        if (messages.payload(message) != null) {
            return;
        }
        int rank = messages.fromRank(message);
        outstanding[rank]--;
        unfinished.remove(key(rank, messages.number(message)));
        int wait = waiting[rank];
        if (wait == Operation.COMPLETE || wait == Operation.COMPLETE_ALL) {
            proceed(timePs, rank);
        }
    }

    private static long key(int rank, int number) {
        return (long) rank << 32 | number;
    }

    /** Takes one of the counted arrivals, if there is one. */
    private static boolean isTaken(Long2LongCounterMap counts, long key) {
        if (counts == null || counts.get(key) == 0) {
            return false;
        }
        counts.decrementAndGet(key);
        return true;
    }

    /** Does what a rank can do now. */
    private void proceed(long timePs, int rank) {
        code = script.chunkOf(rank);
        cursor = at[rank];
        boolean isGoing = true;
        while (isGoing) {
            at[rank] = cursor;
            int operation = code[cursor++];
            switch (operation) {
                case Operation.PUT, Operation.GET -> issue(operation, rank);
                case Operation.POLL -> {
                    int tag = (int) number();
                    isGoing = isTaken(arrivals, key(rank, tag));
                }
                case Operation.POLL_FROM -> {
                    int from = (int) number();
                    int tag = (int) number();
                    isGoing = isTaken(arrivalsBySource.get(from), key(rank, tag));
                }
                case Operation.COMPLETE -> {
                    int number = started[rank] - (int) number();
                    isGoing = !unfinished.contains(key(rank, number));
                }
                case Operation.COMPLETE_ALL -> isGoing = outstanding[rank] == 0;
                case Operation.LOOP -> beginLoop(rank);
                case Operation.LOOP_END -> endLoop(rank);
                case Operation.SEND -> send(timePs, rank);
                case Operation.RECEIVE -> receive(timePs, rank);
                case Operation.AWAIT -> {
                    int number = requested[rank] - (int) number();
                    isGoing = !pending.contains(key(rank, number));
                }
                case Operation.AWAIT_ALL -> isGoing = pendingCount[rank] == 0;
                case Operation.CALCULATE -> ((Runnable) script.objectAt(number())).run();
                case Operation.COMPUTE -> {
                    compute(timePs, rank);
                    return;
                }
                default -> {
                    waitedUntil(timePs, rank, Operation.END);
                    endPs[rank] = timePs;
                    ended++;
                    return;
                }
            }
            waitedUntil(timePs, rank, isGoing ? Operation.END : operation);
        }
    }

    private void compute(long timePs, int rank) {
        long duration = number();
        at[rank] = cursor;
        waiting[rank] = Operation.COMPUTE;
        computePs[rank] += duration;
        resumeAt(timePs + duration, rank);
    }

    /** Counts the time of a wait that is over, or notes the beginning of one. */
    private void waitedUntil(long timePs, int rank, int next) {
        int before = waiting[rank];
        if (before == next) {
            return;
        }
        if (before == Operation.POLL
                || before == Operation.POLL_FROM
                || before == Operation.AWAIT
                || before == Operation.AWAIT_ALL) {
            pollPs[rank] += timePs - waitSincePs[rank];
        } else if (before == Operation.COMPLETE || before == Operation.COMPLETE_ALL) {
            completePs[rank] += timePs - waitSincePs[rank];
        }
        waiting[rank] = (byte) next;
        waitSincePs[rank] = timePs;
    }

    private void issue(int operation, int rank) {
        int peer = (int) number();
        long bytes = number();
        int tag = (int) number();
        int type = operation == Operation.PUT ? MessageTable.PUT : MessageTable.GET;
        int message = messages.add(type, rank / perNode, peer / perNode, bytes);
        int number = started[rank]++;
        messages.ranks(message, rank, peer, tag, number);
        outstanding[rank]++;
        unfinished.add(key(rank, number));
        network.submit(message);
    }

    private void send(long timePs, int rank) {
        int to = (int) number();
        long bytes = number();
        int tag = (int) number();
        int flags = (int) number();
        long[] data = (long[]) script.objectAt(number());
        matching.send(timePs, rank, to, bytes, tag, flags, data, newRequest(rank));
    }

    private void receive(long timePs, int rank) {
        int from = (int) number() + Rank.ANY;
        long bytes = number();
        int tag = (int) number() + Rank.ANY;
        int flags = (int) number();
        long[] into = (long[]) script.objectAt(number());
        Receipt receipt = (Receipt) script.objectAt(number());
        int number = newRequest(rank);
        matching.receive(timePs, rank, from, bytes, tag, flags, into, receipt, number);
    }

    private int newRequest(int rank) {
        int number = requested[rank]++;
        pendingCount[rank]++;
        pending.add(key(rank, number));
        return number;
    }

    private void onDone(long timePs, int rank, int number) {
        pendingCount[rank]--;
        pending.remove(key(rank, number));
        int wait = waiting[rank];
        if (wait == Operation.AWAIT || wait == Operation.AWAIT_ALL) {
            proceed(timePs, rank);
        }
    }

    private void beginLoop(int rank) {
        long count = number();
        int slot = rank * depthMax + depth[rank]++;
        loopLeft[slot] = count;
        loopStart[slot] = cursor;
    }

    private void endLoop(int rank) {
        int slot = rank * depthMax + depth[rank] - 1;
        if (--loopLeft[slot] > 0) {
            cursor = loopStart[slot];
        } else {
            depth[rank]--;
        }
    }

    private long number() {
        long value = 0;
        int shift = 0;
        byte part;
        do {
            part = code[cursor++];
            value |= (long) (part & 0x7f) << shift;
            shift += 7;
        } while (part < 0);
        return value;
    }
}
