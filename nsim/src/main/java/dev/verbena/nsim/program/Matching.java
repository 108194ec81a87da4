package dev.verbena.nsim.program;

import dev.verbena.nsim.network.MessageTable;
import dev.verbena.nsim.network.NetworkModel;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.function.IntUnaryOperator;
import java.util.function.Predicate;
import org.agrona.collections.Int2ObjectHashMap;
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
    /** What the put carries that tells a sender that its long message was fetched. */
    private static final Object DONE = new Object();

    private final NetworkModel network;
    private final MessageTable messages;
    private final IntUnaryOperator nodeOf;
    private final Requests requests;
    private final Int2ObjectHashMap<ArrayDeque<Receive>> posted = new Int2ObjectHashMap<>();
    private final Int2ObjectHashMap<ArrayDeque<Message>> unexpected = new Int2ObjectHashMap<>();

    /** Messages that came before others of the same sender. */
    private final Int2ObjectHashMap<ArrayDeque<Message>> early = new Int2ObjectHashMap<>();

    /** Sends so far, and messages taken so far, by sender and receiver. */
    private final Long2LongHashMap sent = new Long2LongHashMap(0);

    private final Long2LongHashMap taken = new Long2LongHashMap(0);

    /** Receives requests that are done. */
    interface Requests {
        void onDone(long timePs, int rank, int number);
    }

    /**
     * What the put of a send carries.
     *
     * @param pair its sender and its receiver
     * @param sequence its number among the messages of the pair
     * @param isAsking whether the bytes are still to be fetched
     * @param number of the request of its sender
     */
    private record Message(
            int from,
            int tag,
            long pair,
            long sequence,
            boolean isAsking,
            long bytes,
            long[] data,
            int number) {}

    /** What a receive waits for, and where it goes. */
    private record Receive(
            int from, int tag, int context, long bytes, long[] into, Receipt receipt, int number) {
        boolean fits(Message message) {
            return context == contextOf(message.pair)
                    && (from == Rank.ANY || from == message.from)
                    && (tag == Rank.ANY || tag == message.tag);
        }
    }

    /** What the get carries that fetches a long message. */
    private record Fetch(Receive receive, Message message) {}

    Matching(NetworkModel network, IntUnaryOperator nodeOf, Requests requests) {
        this.network = network;
        this.nodeOf = nodeOf;
        this.requests = requests;
        messages = network.messages();
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
        long pair = pair(rank, to, flags & Operation.COLLECTIVE);
        long[] carried = data == null || isAsking ? data : data.clone();
        long sequence = sent.get(pair);
        sent.put(pair, sequence + 1);
        Message message = new Message(rank, tag, pair, sequence, isAsking, bytes, carried, number);
        submit(MessageTable.PUT, rank, to, isAsking ? 0 : bytes, tag, number, message);
        if (!isAsking) {
            requests.onDone(timePs, rank, number);
        }
    }

    private void submit(
            int kind, int rank, int peer, long bytes, int tag, int number, Object payload) {
        int message = messages.add(kind, nodeOf.applyAsInt(rank), nodeOf.applyAsInt(peer), bytes);
        messages.ranks(message, rank, peer, tag, number);
        messages.payload(message, payload);
        network.submit(message);
    }

    private static long pair(int from, int to, int context) {
        return ((long) from << 32 | to) << 1 | context;
    }

    private static int contextOf(long pair) {
        return (int) pair & 1;
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
        Receive receive = new Receive(from, tag, context, bytes, into, receipt, number);
        Message message = takeFirst(unexpected, rank, receive::fits);
        if (message == null) {
            append(posted, rank, receive);
        } else {
            join(timePs, rank, receive, message);
        }
    }

    private static <T> void append(Int2ObjectHashMap<ArrayDeque<T>> lists, int rank, T one) {
        lists.computeIfAbsent(rank, r -> new ArrayDeque<>(4)).add(one);
    }

    private static <T> T takeFirst(
            Int2ObjectHashMap<ArrayDeque<T>> lists, int rank, Predicate<T> fits) {
        ArrayDeque<T> list = lists.get(rank);
        if (list == null) {
            return null;
        }
        for (Iterator<T> all = list.iterator(); all.hasNext(); ) {
            T one = all.next();
            if (fits.test(one)) {
                all.remove();
                return one;
            }
        }
        return null;
    }

    /** A message that is not of the program itself, which has no payload, is in memory. */
    void onData(long timePs, int message) {
        Object payload = messages.payload(message);
        if (payload instanceof Message came) {
            int rank = messages.toRank(message);
            if (came.sequence == taken.get(came.pair)) {
                arrive(timePs, rank, came);
                arriveEarlyOnes(timePs, rank, came.pair);
            } else {
                append(early, rank, came);
            }
        } else if (payload instanceof Fetch fetch) {
            fetched(timePs, messages.fromRank(message), fetch);
        } else {
            requests.onDone(timePs, messages.toRank(message), messages.tag(message));
        }
    }

    private void arriveEarlyOnes(long timePs, int rank, long pair) {
        Predicate<Message> isNext = m -> m.pair == pair && m.sequence == taken.get(pair);
        for (Message next = takeFirst(early, rank, isNext);
                next != null;
                next = takeFirst(early, rank, isNext)) {
            arrive(timePs, rank, next);
        }
    }

    private void arrive(long timePs, int rank, Message message) {
        taken.put(message.pair, message.sequence + 1);
        Receive receive = takeFirst(posted, rank, one -> one.fits(message));
        if (receive == null) {
            append(unexpected, rank, message);
        } else {
            join(timePs, rank, receive, message);
        }
    }

    /** A receive has its message: done, or to be fetched. Both are in no list. */
    private void join(long timePs, int rank, Receive receive, Message message) {
        if (message.bytes > receive.bytes) {
            throw new SimulationException(
                    ("rank %s receives %s bytes from rank %s, tag %s, where it has room for %s;"
                                    + " make the receive as long as the send")
                            .formatted(
                                    rank, message.bytes, message.from, message.tag, receive.bytes));
        }
        if (receive.receipt != null) {
            receive.receipt.fill(message.from, message.tag, message.bytes);
        }
        Fetch fetch = new Fetch(receive, message);
        if (message.isAsking) {
            int from = message.from;
            submit(MessageTable.GET, rank, from, message.bytes, 0, receive.number, fetch);
        } else {
            received(timePs, rank, fetch);
        }
    }

    private void fetched(long timePs, int rank, Fetch fetch) {
        Message message = fetch.message;
        submit(MessageTable.PUT, rank, message.from, 0, message.number, 0, DONE);
        received(timePs, rank, fetch);
    }

    private void received(long timePs, int rank, Fetch fetch) {
        long[] data = fetch.message.data;
        if (data != null && fetch.receive.into != null) {
            System.arraycopy(data, 0, fetch.receive.into, 0, data.length);
        }
        requests.onDone(timePs, rank, fetch.receive.number);
    }

    /** What request a rank waits for, for an error message. */
    String describe(int rank, int number) {
        for (Receive one : posted.getOrDefault(rank, new ArrayDeque<>())) {
            if (one.number == number) {
                String of = one.context == Operation.COLLECTIVE ? "a collective's " : "";
                return "%sreceive(from %s, tag %s)".formatted(of, any(one.from), any(one.tag));
            }
        }
        return "a send that its receiver has not received";
    }

    private static String any(int number) {
        return number == Rank.ANY ? "any" : Integer.toString(number);
    }
}
