package dev.verbena.dart.server;

import dev.verbena.dart.stream.ServerBuffer;
import dev.verbena.dart.stream.StreamOwner;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlResult;
import dev.verbena.staging.Counters;

/** What t3 tells t1: which buffers are empty, what was confirmed, what is lost. Owned by t1. */
final class BufferReturns {
    private static final int REPLAYED_LIMIT = 64;

    private final ServerShared shared;
    private final PartPuller puller;

    BufferReturns(ServerShared shared, PartPuller puller) {
        this.shared = shared;
        this.puller = puller;
    }

    /** Buffers that t3 is done with. */
    int takeEmpty(ServedClients clients) {
        int work = 0;
        ServerBuffer buffer;
        while (work < shared.settings.bufferCount() && (buffer = shared.empty.poll()) != null) {
            work++;
            ServedClient client = clients.client(buffer.slot(), buffer.generation());
            if (client != null) {
                client.bufferReturned();
                boolean isWhole =
                        buffer.isLast()
                                && buffer.status() == ServerBuffer.OK
                                && !buffer.isDropped();
                if (isWhole && buffer.isSpilled()) {
                    client.spilled(buffer.sequence());
                    clients.hasNews(client);
                } else if (isWhole) {
                    client.streamed(buffer.sequence());
                    Counters.add(shared.streamed, 1);
                    clients.hasNews(client);
                }
                clients.freeIfGone(client);
            }
            puller.returned(buffer);
        }
        return work + takeReplayed(clients) + takeLosses(clients);
    }

    /**
     * What t3 cannot stream, after what it gave back: of a message that is confirmed, every loss
     * before it is known here.
     */
    private int takeLosses(ServedClients clients) {
        int work = 0;
        ServerBuffer part;
        while (work < StreamOwner.LOSSES_MAX && (part = shared.losses.poll()) != null) {
            work++;
            ServedClient client = clients.client(part.slot(), part.generation());
            if (client != null && isStillPulled(client, part)) {
                continue; // counted, and told of, when its pull ends
            }
            Counters.add(shared.failed, 1);
            if (client != null) {
                client.addLost(part.sequence(), part.lostResult());
                clients.hasNews(client);
            }
        }
        if (work > 0) {
            shared.wakeT3();
        }
        return work;
    }

    /** What the receiver confirmed out of files. */
    private int takeReplayed(ServedClients clients) {
        int work = 0;
        ServerBuffer part;
        while (work < REPLAYED_LIMIT && (part = shared.replayed.poll()) != null) {
            work++;
            ServedClient client = clients.client(part.slot(), part.generation());
            if (client != null) {
                client.streamed(part.sequence());
                clients.hasNews(client);
            }
        }
        return work;
    }

    /** Whether later parts of the message are still to come: it fails as if a pull had failed. */
    private boolean isStillPulled(ServedClient client, ServerBuffer part) {
        PullMessage message = puller.find(client, part.sequence());
        if (message == null) {
            return false;
        }
        boolean isUnreadable = part.lostResult() == ControlFlyweight.RESULT_TRANSFER_FAILED;
        message.lost(
                part.lostResult(),
                isUnreadable
                        ? "what was spilled of it cannot be read any more"
                        : ControlResult.name(part.lostResult()));
        return true;
    }
}
