package dev.verbena.cli.flesnet;

import dev.verbena.cli.terminal.HostPort;
import dev.verbena.flesnet.archive.ArchiveHead;
import dev.verbena.flesnet.archive.ArchiveWriter;
import dev.verbena.flesnet.archive.ArchivedTimeslice;
import dev.verbena.flesnet.stream.MessagePublisher;
import java.io.ByteArrayOutputStream;
import java.io.IOException;

/**
 * Timeslices for ZeroMQ's subscribers: each message is a {@code .tsa} archive of one timeslice. One
 * thread.
 */
final class TimesliceStream implements AutoCloseable {
    private final MessagePublisher publisher;
    private final ArchiveHead head = new ArchiveHead(ArchiveHead.TIMESLICES, 0, 0, "", "");
    private final String host;
    private int shownCount;

    private TimesliceStream(MessagePublisher publisher, String host) {
        this.publisher = publisher;
        this.host = host;
    }

    /**
     * Listens.
     *
     * @param place null: answers null
     */
    static TimesliceStream open(HostPort place, int highWater) throws IOException {
        if (place == null) {
            return null;
        }
        return new TimesliceStream(new MessagePublisher(place.resolve(), highWater), place.host());
    }

    HostPort address() {
        return new HostPort(host, publisher.port());
    }

    /** Serves subscribers; answers whether their number has changed. */
    boolean doWork() {
        publisher.doWork(System.nanoTime());
        boolean isChanged = shownCount != publisher.subscriberCount();
        shownCount = publisher.subscriberCount();
        return isChanged;
    }

    int subscriberCount() {
        return shownCount;
    }

    boolean isWanted() {
        return publisher.subscriberCount() > 0;
    }

    void publish(ArchivedTimeslice timeslice) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ArchiveWriter writer = new ArchiveWriter(bytes, head)) {
            writer.write(timeslice);
        }
        publisher.publish(bytes.toByteArray());
    }

    /** Goes on sending; answers whether anything still waits. */
    boolean isSending() {
        publisher.doWork(System.nanoTime());
        return !publisher.isFlushed();
    }

    String summary() {
        return "; published %s, %s times missed by a subscriber, %s connections refused"
                .formatted(
                        publisher.publishedCount(),
                        publisher.droppedCount(),
                        publisher.refusedCount());
    }

    @Override
    public void close() {
        publisher.close();
    }
}
