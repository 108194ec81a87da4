package dev.verbena.nsim.program;

import dev.verbena.nsim.network.MessageTable;
import dev.verbena.nsim.network.NetworkModel;
import java.util.function.IntUnaryOperator;
import org.agrona.collections.Long2LongHashMap;

/**
 * Sends and receives over puts and gets. A short message is one put into memory that the receiver
 * has ready; its send is done at once. For a long one an empty put asks; the rank that receives it
 * gets the data and notifies the sender by another empty put, with which the send is done.
 *
 * <p>A receive takes the first message that fits, a message the first receive that it fits.
 * Messages of one sender to one receiver count in the order of the sends, whatever the network
 * does: one that overtook waits for those before it. Nothing of a rank is touched but by events of
 * its node.
 */
final class Matching {
    /** A put or get of the program itself. */
    static final int PLAIN = 0;

    private static final int SHORT = 1;
    private static final int ASK = 2;
    private static final int FETCH = 3;
    private static final int DONE = 4;
    private static final int CONTEXTS = 2;

    private final NetworkModel network;
    private final MessageTable messages;
    private final IntUnaryOperator nodeOf;
    private final Requests requests;
    private final MatchTable table = new MatchTable();
    private final MatchTable.Lists posted;
    private final MatchTable.Lists unexpected;

    /** Messages that came before others of the same sender. */
    private final MatchTable.Lists early;

    /** Sends so far, and messages taken so far, by sender and receiver. */
    private final Long2LongHashMap[] sent = new Long2LongHashMap[CONTEXTS];

    private final Long2LongHashMap[] taken = new Long2LongHashMap[CONTEXTS];

    /** Receives requests that are done. */
    interface Requests {
        void onDone(long timePs, int rank, int number);
    }

    Matching(NetworkModel network, int ranks, IntUnaryOperator nodeOf, Requests requests) {
        this.network = network;
        this.nodeOf = nodeOf;
        this.requests = requests;
        messages = network.messages();
        messages.keepNotes();
        posted = new MatchTable.Lists(ranks);
        unexpected = new MatchTable.Lists(ranks);
        early = new MatchTable.Lists(ranks);
        for (int context = 0; context < CONTEXTS; context++) {
            sent[context] = new Long2LongHashMap(0);
            taken[context] = new Long2LongHashMap(0);
        }
    }

    /**
     * Starts a send.
     *
     * @param flags of {@link Operation}
     * @param data what it carries, or null
     */
    void send(
            long timePs,
            int rank,
            int to,
            long bytes,
            int tag,
            int flags,
            long[] data,
            int number) {
        boolean isAsking = (flags & Operation.ASKS_FIRST) != 0;
        int context = flags & Operation.COLLECTIVE;
        long pair = pair(rank, to);
        long sequence = sent[context].get(pair);
        sent[context].put(pair, sequence + 1);
        int message = add(MessageTable.PUT, rank, to, isAsking ? 0 : bytes, tag, number);
        messages.note(message, note(isAsking ? ASK : SHORT, context, sequence), bytes);
        messages.payload(message, data == null || isAsking ? data : data.clone());
        network.submit(message);
        if (!isAsking) {
            requests.onDone(timePs, rank, number);
        }
    }

    private int add(int kind, int rank, int peer, long bytes, int tag, int number) {
        int message = messages.add(kind, nodeOf.applyAsInt(rank), nodeOf.applyAsInt(peer), bytes);
        messages.ranks(message, rank, peer, tag, number);
        return message;
    }

    private static long pair(int from, int to) {
        return (long) from << 32 | to;
    }

    private static long note(int type, int context, long sequence) {
        return sequence << 8 | (long) context << 4 | type;
    }

    private static int type(long note) {
        return (int) note & 0xf;
    }

    private static int context(long note) {
        return (int) (note >>> 4) & 0xf;
    }

    /** Starts a receive; from and tag may be {@link Rank#ANY}. */
    void receive(
            long timePs,
            int rank,
            int from,
            long bytes,
            int tag,
            int context,
            long[] into,
            Receipt receipt,
            int number) {
        int row = table.add();
        table.from[row] = from;
        table.tag[row] = tag;
        table.context[row] = context;
        table.bytes[row] = bytes;
        table.data[row] = into;
        table.receipt[row] = receipt;
        table.number[row] = number;
        int before = MatchTable.NONE;
        for (int m = unexpected.head[rank]; m != MatchTable.NONE; m = table.next[m]) {
            if (fits(row, m)) {
                unexpected.unlink(table, rank, before, m);
                join(timePs, rank, row, m);
                return;
            }
            before = m;
        }
        posted.append(table, rank, row);
    }

    private boolean fits(int receive, int message) {
        int from = table.from[receive];
        int tag = table.tag[receive];
        return table.context[receive] == table.context[message]
                && (from == Rank.ANY || from == table.from[message])
                && (tag == Rank.ANY || tag == table.tag[message]);
    }

    /** A message whose note's type is not {@link #PLAIN} is in memory. */
    void onData(long timePs, int message) {
        long note = messages.note(message);
        switch (type(note)) {
            case FETCH ->
                    fetched(timePs, messages.fromRank(message), (int) messages.note2(message));
            case DONE -> requests.onDone(timePs, messages.toRank(message), messages.tag(message));
            default -> {
                int rank = messages.toRank(message);
                int row = rowOf(message, note);
                long pair = pair(table.from[row], rank);
                if (table.sequence[row] != taken[context(note)].get(pair)) {
                    early.append(table, rank, row);
                } else {
                    arrive(timePs, rank, row);
                    arriveEarlyOnes(timePs, rank, pair, context(note));
                }
            }
        }
    }

    private int rowOf(int message, long note) {
        int row = table.add();
        table.from[row] = messages.fromRank(message);
        table.tag[row] = messages.tag(message);
        table.context[row] = context(note);
        table.type[row] = type(note);
        table.sequence[row] = note >>> 8;
        table.bytes[row] = messages.note2(message);
        table.number[row] = messages.number(message);
        table.data[row] = messages.payload(message);
        return row;
    }

    private void arriveEarlyOnes(long timePs, int rank, long pair, int context) {
        int before = MatchTable.NONE;
        int row = early.head[rank];
        while (row != MatchTable.NONE) {
            if (pair(table.from[row], rank) == pair
                    && table.context[row] == context
                    && table.sequence[row] == taken[context].get(pair)) {
                early.unlink(table, rank, before, row);
                arrive(timePs, rank, row);
                before = MatchTable.NONE;
                row = early.head[rank];
            } else {
                before = row;
                row = table.next[row];
            }
        }
    }

    private void arrive(long timePs, int rank, int message) {
        Long2LongHashMap counts = taken[table.context[message]];
        long pair = pair(table.from[message], rank);
        counts.put(pair, counts.get(pair) + 1);
        int before = MatchTable.NONE;
        for (int row = posted.head[rank]; row != MatchTable.NONE; row = table.next[row]) {
            if (fits(row, message)) {
                posted.unlink(table, rank, before, row);
                join(timePs, rank, row, message);
                return;
            }
            before = row;
        }
        unexpected.append(table, rank, message);
    }

    /** A receive has its message: done, or to be fetched. Both rows are in no list. */
    private void join(long timePs, int rank, int receive, int message) {
        long bytes = table.bytes[message];
        if (bytes > table.bytes[receive]) {
            throw new SimulationException(
                    ("rank %s receives %s bytes from rank %s, tag %s, where it has room for %s;"
                                    + " make the receive as long as the send")
                            .formatted(
                                    rank,
                                    bytes,
                                    table.from[message],
                                    table.tag[message],
                                    table.bytes[receive]));
        }
        if (table.receipt[receive] != null) {
            table.receipt[receive].fill(table.from[message], table.tag[message], bytes);
        }
        boolean isShort = table.type[message] == SHORT;
        table.fetched[receive] = table.data[message];
        table.from[receive] = table.from[message];
        table.sequence[receive] = table.number[message];
        table.remove(message);
        if (isShort) {
            received(timePs, rank, receive);
            return;
        }
        int get = add(MessageTable.GET, rank, table.from[receive], bytes, 0, table.number[receive]);
        messages.note(get, note(FETCH, 0, 0), receive);
        network.submit(get);
    }

    private void fetched(long timePs, int rank, int receive) {
        int sender = table.from[receive];
        int numberAtSender = (int) table.sequence[receive];
        int done = add(MessageTable.PUT, rank, sender, 0, numberAtSender, 0);
        messages.note(done, note(DONE, 0, 0), 0);
        network.submit(done);
        received(timePs, rank, receive);
    }

    private void received(long timePs, int rank, int receive) {
        long[] data = table.fetched[receive];
        long[] into = table.data[receive];
        if (data != null && into != null) {
            System.arraycopy(data, 0, into, 0, data.length);
        }
        int number = table.number[receive];
        table.remove(receive);
        requests.onDone(timePs, rank, number);
    }

    /** What request a rank waits for, for an error message. */
    String describe(int rank, int number) {
        for (int row = posted.head[rank]; row != MatchTable.NONE; row = table.next[row]) {
            if (table.number[row] == number) {
                String of = table.context[row] == Operation.COLLECTIVE ? "a collective's " : "";
                return "%sreceive(from %s, tag %s)"
                        .formatted(of, any(table.from[row]), any(table.tag[row]));
            }
        }
        return "a send that its receiver has not received";
    }

    private static String any(int number) {
        return number == Rank.ANY ? "any" : Integer.toString(number);
    }
}
