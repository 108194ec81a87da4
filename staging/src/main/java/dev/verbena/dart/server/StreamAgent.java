package dev.verbena.dart.server;

import dev.verbena.agent.ByteStreams;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.stream.ReceiverLink;
import dev.verbena.dart.stream.ServerBuffer;
import dev.verbena.dart.stream.Spill;
import dev.verbena.dart.stream.SpillFiles;
import dev.verbena.staging.Counters;
import dev.verbena.staging.carrier.TransportStreams;
import dev.verbena.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.NanoClock;

/**
 * t3: takes full buffers, puts the parts of each client back into the order in which their pulls
 * were started, streams them to the receiver and gives them back to ebq once acknowledged.
 */
public final class StreamAgent implements ProtocolAgent {
    /** Where the stream of one client stands. */
    private static final class Track {
        int clientId;
        int generation = -1;

        /** The highest of which a part was taken. */
        long lastSequence;

        long nextOrdinal;
        long openSequence;
        long givenUpSequence;
    }

    private final ServerShared shared;
    private final Track[] tracks;
    private final List<ServerBuffer> early = new ArrayList<>();

    /** Messages that wait for parts that were asked for. */
    private final List<GivenUp> givenUp = new ArrayList<>();

    private final ReceiverLink link;

    /** Null: the receiver is elsewhere. */
    private final FileSink sink;

    /** Null: the receiver is reached by TCP, or is the sink. */
    private final TransportStreams carrier;

    /** Null: nothing is spilled. */
    private final Spill spill;

    private final NanoClock clock;
    private int held;

    public StreamAgent(ServerShared shared) {
        this.shared = shared;
        this.clock = shared.settings.environment().nanoClock();
        this.tracks = new Track[shared.settings.clientsMax()];
        for (int i = 0; i < tracks.length; i++) {
            tracks[i] = new Track();
        }
        sink = shared.settings.sinkDirectory().isEmpty() ? null : new FileSink(shared);
        carrier = carrier(shared);
        if (shared.settings.isDiscarding()) {
            link = null;
            spill = null;
        } else {
            ByteStreams streams = streams();
            spill = spill(streams);
            SpillFiles files = spill == null ? null : spill.files();
            link =
                    new ReceiverLink(
                            shared, this::giveBack, streams, files, null, new ReverseLink(shared));
            if (spill != null) {
                spill.serve(link, this::release, this::giveBack);
            }
        }
    }

    /** Null: none. Nobody else closes the memory when there will be no server. */
    private static TransportStreams carrier(ServerShared shared) {
        if (shared.bufferMemory == null) {
            return null;
        }
        try {
            return TransportStreams.reaching(
                    shared.settings.environment(), shared.settings.receiverAddress());
        } catch (RuntimeException e) {
            shared.bufferMemory.close();
            shared.bufferMemory.close();
            throw e;
        }
    }

    /** Null: none. */
    private Spill spill(ByteStreams streams) {
        try {
            boolean isSpilling = !shared.settings.spillDirectory().isEmpty();
            return isSpilling ? new Spill(shared, streams) : null;
        } catch (RuntimeException e) {
            if (carrier != null) {
                carrier.close();
                shared.bufferMemory.close();
                shared.bufferMemory.close();
            }
            throw e;
        }
    }

    private ByteStreams streams() {
        if (carrier != null) {
            return carrier;
        }
        return sink == null ? shared.settings.environment().streams() : sink.streams;
    }

    /** What t3 sleeps in; null: nothing of its own. */
    Transport transport() {
        return carrier == null ? null : carrier.transport();
    }

    @Override
    public void onStart() {
        if (carrier != null) {
            carrier.source(shared.bufferMemory.memory());
        }
        if (sink != null) {
            sink.agent().onStart();
        }
    }

    @Override
    public int doWork() {
        // Before the parts: those of a later registration in the same slot must not come first.
        for (GivenUp next; (next = shared.givenUp.poll()) != null; ) {
            givenUp.add(next);
        }
        int work = carrier == null ? 0 : carrier.poll();
        ServerBuffer buffer;
        while (work < shared.settings.bufferCount() && (buffer = shared.full.poll()) != null) {
            held++;
            inOrder(buffer);
            work++;
        }
        if (!givenUp.isEmpty()) {
            givenUp.removeIf(this::isGivenUp);
        }
        if (link != null) {
            work += link.doWork();
        }
        if (sink != null) {
            work += sink.doWork();
        }
        if (spill != null) {
            work += spill.doWork(clock.nanoTime());
        }
        if (shared.isDrained && !shared.isFinished && isFinished()) {
            shared.finished();
            work++;
        }
        if (work > 0) {
            shared.streamingBuffers.lazySet(held);
        }
        return work;
    }

    /** The receiver has everything, or the next server will find it in files. */
    private boolean isFinished() {
        boolean isSaid = link == null || link.finish();
        return spill == null ? isSaid : spill.isKept(clock.nanoTime(), isSaid);
    }

    private void inOrder(ServerBuffer buffer) {
        Track track = tracks[buffer.slot()];
        if (track.generation != buffer.generation()) {
            track.clientId = buffer.clientId();
            track.generation = buffer.generation();
            track.lastSequence = 0;
            track.nextOrdinal = 0;
            track.openSequence = 0;
            track.givenUpSequence = 0;
        }
        if (buffer.ordinal() != track.nextOrdinal) {
            early.add(buffer);
            return;
        }
        take(track, buffer);
        for (int i = 0; i < early.size(); ) {
            ServerBuffer next = early.get(i);
            if (next.slot() == buffer.slot() && next.ordinal() == track.nextOrdinal) {
                early.remove(i);
                take(track, next);
                i = 0;
            } else {
                i++;
            }
        }
    }

    private void take(Track track, ServerBuffer buffer) {
        track.nextOrdinal++;
        track.lastSequence = Math.max(track.lastSequence, buffer.sequence());
        if (buffer.status() == ServerBuffer.FAILED) {
            // The receiver hears of it only if it has got a part of this message.
            boolean isOpen = track.openSequence == buffer.sequence();
            buffer.giveUp();
            track.givenUpSequence = buffer.sequence();
            track.openSequence = 0;
            if (isOpen) {
                giveUp(track, buffer.slot(), buffer.sequence());
                stream(buffer);
            } else {
                giveBack(buffer);
            }
        } else if (track.givenUpSequence == buffer.sequence()) {
            buffer.dropped(true);
            giveBack(buffer);
        } else {
            track.openSequence = buffer.isLast() ? 0 : buffer.sequence();
            stream(buffer);
        }
    }

    /** Whether nothing more is to be done: all that was asked for of this message is here. */
    private boolean isGivenUp(GivenUp message) {
        Track track = tracks[message.slot()];
        boolean isSame = track.generation == message.generation();
        if (isSame
                && track.nextOrdinal == message.nextOrdinal()
                && track.openSequence == message.sequence()) {
            giveUp(track, message.slot(), message.sequence());
        }
        return isSame
                ? track.nextOrdinal >= message.nextOrdinal()
                : track.generation > message.generation();
    }

    /**
     * The receiver need not take what is held of a message that will never be whole, and whose
     * bytes may be what it has no room for. In the files of a spill the next server would find
     * these bytes all the same; and behind parts of the same message that was sent again, the
     * receiver would take the end of the one for the end of the other.
     */
    private void giveUp(Track track, int slot, long sequence) {
        if (link == null || spill != null) {
            return;
        }
        for (Track other : tracks) {
            boolean isSentAgain =
                    other != track
                            && other.clientId == track.clientId
                            && other.lastSequence >= sequence;
            if (isSentAgain) {
                return;
            }
        }
        link.held().giveUp(slot, track.generation, sequence);
    }

    private void stream(ServerBuffer buffer) {
        if (link == null) {
            Counters.add(shared.streamedBytes, buffer.length());
            buffer.streamBegan(clock.nanoTime());
            giveBack(buffer);
        } else {
            link.add(buffer);
        }
    }

    private void reportLost(ServerBuffer buffer) {
        if (buffer.status() == ServerBuffer.OK && !buffer.isDropped() && !buffer.isNotice()) {
            shared.lost.add(
                    buffer.clientId(), buffer.sequence(), buffer.name(), "the receiver got");
        }
    }

    /** A file has it: the buffer is free, although the receiver has not confirmed anything. */
    private void release(ServerBuffer buffer) {
        held--;
        buffer.spilled();
        shared.streamingBuffers.lazySet(held);
        shared.empty.offer(buffer);
        shared.wakeT1();
    }

    private void giveBack(ServerBuffer buffer) {
        if (buffer.isStandIn()) {
            spill.replayed(buffer);
            return;
        }
        if (spill != null && !spill.isFree(buffer)) {
            return;
        }
        held--;
        if (buffer.status() == ServerBuffer.OK && !buffer.isDropped() && !buffer.isNotice()) {
            long now = clock.nanoTime();
            shared.times.record(
                    buffer.slot(),
                    buffer.clientId(),
                    buffer.pulledNs() - buffer.pullBeganNs(),
                    buffer.streamBeganNs() - buffer.pulledNs(),
                    now - buffer.streamBeganNs());
            shared.events.streamed(
                    buffer.clientId(),
                    buffer.sequence(),
                    buffer.length(),
                    buffer.streamBeganNs() - buffer.pulledNs(),
                    now - buffer.streamBeganNs());
        }
        shared.streamingBuffers.lazySet(held);
        shared.empty.offer(buffer);
        shared.wakeT1();
    }

    @Override
    public long nextDeadlineNs() {
        if (link == null) {
            return NO_DEADLINE;
        }
        long next = link.nextDeadlineNs();
        if (sink != null) {
            next = Math.min(next, sink.agent().nextDeadlineNs());
        }
        return spill == null ? next : Math.min(next, spill.nextDeadlineNs(clock.nanoTime()));
    }

    @Override
    public void onClose() {
        if (link != null) {
            link.close();
        }
        if (sink != null) {
            sink.agent().onClose();
        }
        if (spill != null) {
            spill.close();
        }
        if (carrier != null) {
            carrier.close();
            shared.bufferMemory.close();
        }
        // t1 and t2 have ended: what they had handed on is nobody's any more.
        early.forEach(this::reportLost);
        shared.full.drain(this::reportLost);
        shared.completed.drain(this::reportLost);
    }

    @Override
    public String roleName() {
        return "dart-t3";
    }
}
