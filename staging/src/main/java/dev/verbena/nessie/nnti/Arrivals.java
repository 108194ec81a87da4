package dev.verbena.nessie.nnti;

import dev.verbena.transport.Transport;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.function.IntConsumer;
import java.util.function.Predicate;
import org.agrona.DirectBuffer;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/** What peers send, and do in the buffers of this process. */
final class Arrivals {
    private record Held(NntiPeer peer, long token, UnsafeBuffer bytes) {}

    private final Transport transport;
    private final Answers answers;
    private final Long2ObjectHashMap<NntiBuffer> byRegion = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<NntiBuffer> byId = new Long2ObjectHashMap<>();
    private final ArrayDeque<Held> held = new ArrayDeque<>();
    private final NntiStatus event = new NntiStatus();

    /** Null: there is no receive queue. */
    NntiBuffer queue;

    private MessageHandler handler;
    private final Variables variables;
    private IntConsumer onChanged = index -> {};

    /** Messages that nobody could take, and those that were malformed. */
    long refusedCount;

    Arrivals(Transport transport, Postings postings, Variables variables) {
        this.transport = transport;
        this.answers = new Answers(postings);
        this.variables = variables;
    }

    void handler(MessageHandler newHandler) {
        handler = newHandler;
    }

    void onPeerClosed(NntiPeer peer) {
        if (handler != null) {
            handler.onPeerClosed(peer);
        }
    }

    void onChanged(IntConsumer newHandler) {
        onChanged = newHandler;
    }

    void refused() {
        refusedCount++;
    }

    void add(NntiBuffer buffer) {
        byId.put(buffer.handle().bufferId(), buffer);
        Arrays.stream(buffer.regions).forEach(each -> byRegion.put(each.id(), buffer));
        if ((buffer.flags() & BufferFlags.RECV_QUEUE) != 0) {
            queue = buffer;
        }
    }

    void remove(NntiBuffer buffer) {
        byId.remove(buffer.handle().bufferId());
        Arrays.stream(buffer.regions).forEach(each -> byRegion.remove(each.id()));
        if (queue == buffer) {
            queue = null;
        }
    }

    Collection<NntiBuffer> all() {
        return byId.values();
    }

    /** A send without a destination, whose message begins here. */
    void onData(NntiPeer peer, DirectBuffer buffer, int at, int messageLength, long token) {
        int number = Messages.number(buffer, at);
        int offset = at + Messages.DATA_OFFSET;
        int length = messageLength - Messages.DATA_OFFSET;
        NntiResult verdict = verdict(peer, length);
        if (number != 0 && !answers.give(peer, number, verdict)) {
            refusedCount++;
        }
        // One that wants no answer is dropped later if it is too long for the queue.
        boolean isTaken = number == 0 ? verdict != NntiResult.ENOENT : verdict == NntiResult.OK;
        if (!isTaken) {
            refusedCount++;
            return;
        }
        boolean hasHandler = queue == null && handler != null;
        boolean isFirst =
                held.isEmpty() || hasHandler && handler.mayPassOthers(buffer, offset, length);
        if (isFirst && take(peer, buffer, offset, length)) {
            return;
        }
        // The bytes are copied, for a handler's buffer may be another one later; the slot is kept
        // so that the sender runs out of credits.
        UnsafeBuffer copy = new UnsafeBuffer(new byte[length]);
        copy.putBytes(0, buffer, offset, length);
        transport.retain(token);
        held.add(new Held(peer, token, copy));
    }

    /** Whether a message of this length is taken here, now or once there is room. */
    private NntiResult verdict(NntiPeer peer, int length) {
        if (queue == null) {
            return handler == null ? NntiResult.ENOENT : NntiResult.OK;
        }
        NntiResult fitting = length > queue.elementSize() ? NntiResult.EMSGSIZE : NntiResult.OK;
        return queue.isFor(peer) ? fitting : NntiResult.EPERM;
    }

    private boolean take(NntiPeer peer, DirectBuffer buffer, int offset, int length) {
        if (queue != null) {
            return enqueue(peer, buffer, offset, length);
        }
        // Without a handler the queue was unregistered while messages waited for a slot of it.
        // Their senders were told that they are taken: they wait for the next queue.
        return handler != null && handler.onMessage(peer, buffer, offset, length);
    }

    private boolean enqueue(NntiPeer peer, DirectBuffer buffer, int offset, int length) {
        NntiResult verdict = verdict(peer, length);
        int at = verdict == NntiResult.OK ? queue.claimSlot() : 0;
        if (at < 0) {
            return false;
        }
        if (verdict == NntiResult.OK) {
            queue.window().putBytes(at, buffer, offset, length);
        } else {
            refusedCount++; // it may have waited for an earlier queue, with longer elements
        }
        if (verdict != NntiResult.EPERM) {
            queue.arrived(event.set(NntiOperation.RECEIVE, verdict, queue, at, length, peer));
        }
        return true;
    }

    /** Offers again what could not be taken; work done. */
    int doWork() {
        int work = answers.doWork();
        Held first;
        while ((first = held.peek()) != null
                && take(first.peer(), first.bytes(), 0, first.bytes().capacity())) {
            if (held.remove(first)) { // its handler may have disconnected the peer
                transport.release(first.token());
            }
            work++;
        }
        return work;
    }

    /** Forgets the messages of a peer that wait; null: all. Their slots are given back. */
    void drop(NntiPeer peer) {
        Predicate<Held> isOfIt = each -> peer == null || each.peer() == peer;
        held.stream().filter(isOfIt).forEach(each -> transport.release(each.token()));
        held.removeIf(isOfIt);
    }

    /** A put or a send with a destination has landed. */
    void onNotify(NntiPeer peer, int operation, long regionId, long offset, long length) {
        arrived(peer, operation, byRegion.get(regionId), offset, length);
    }

    /** A peer says what it did. */
    void onNotice(NntiPeer peer, int operation, int id, long offset, long length) {
        if (operation != Messages.ATOMIC) {
            arrived(peer, operation, byId.get(id), offset, length);
        } else if (id >= 0 && id < variables.count()) {
            onChanged.accept(id);
        } else {
            refused();
        }
    }

    private void arrived(
            NntiPeer peer, int operation, NntiBuffer buffer, long offset, long length) {
        NntiOperation kind = NntiOperation.atTarget(operation);
        boolean isGood = peer != null && buffer != null && kind != null && buffer.isFor(peer);
        if (!isGood || buffer.check(kind.localFlag, offset, length) != NntiResult.OK) {
            refusedCount++;
        } else {
            buffer.arrived(event.set(kind, NntiResult.OK, buffer, offset, length, peer));
        }
    }
}
