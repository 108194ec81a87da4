package dev.verbena.staging.sink;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/**
 * The datasets that a staging server holds: complete, and not yet removed because the sink has
 * them. Any thread reads them where they are. Thread-safe.
 */
public final class StagedArrays {
    private final ConcurrentHashMap<String, Staged> byName = new ConcurrentHashMap<>();

    /** None yet. */
    public StagedArrays() {}

    private static final class Staged {
        private final SinkDataset dataset;
        private final Path data;
        private int readers;
        private boolean isGone;

        Staged(SinkDataset dataset, Path data) {
            this.dataset = dataset;
            this.data = data;
        }

        synchronized Reader open() throws IOException {
            if (isGone) {
                return null;
            }
            Reader reader = new Reader(this, FileChannel.open(data));
            readers++;
            return reader;
        }

        synchronized void closed() {
            readers--;
        }

        synchronized boolean isRead() {
            return readers > 0;
        }

        synchronized boolean gone() {
            isGone = true;
            return readers > 0;
        }
    }

    /** A dataset's bytes, from 0 to its length: they do not change while this is open. */
    public static final class Reader implements AutoCloseable {
        private final Staged staged;
        private final FileChannel data;

        private Reader(Staged staged, FileChannel data) {
            this.staged = staged;
            this.data = data;
        }

        /** Closed with this. */
        public FileChannel data() {
            return data;
        }

        @Override
        public void close() throws IOException {
            try {
                data.close();
            } finally {
                staged.closed();
            }
        }
    }

    /** What there is now. */
    public List<SinkDataset> list() {
        List<SinkDataset> all = new ArrayList<>();
        byName.values().forEach(each -> all.add(each.dataset));
        return all;
    }

    /** The dataset of this name; null: there is none any more. */
    public Reader open(String name) throws IOException {
        Staged staged = byName.get(name);
        return staged == null ? null : staged.open();
    }

    /** The server holds a dataset, in a file. */
    public void arrived(SinkDataset dataset, Path data) {
        byName.put(dataset.name(), new Staged(dataset, data));
    }

    /**
     * It removes one.
     *
     * @return null if nobody reads it. Else its file must not be written to again, and has its
     *     space, deleted or not, as long as this says that somebody reads it
     */
    public BooleanSupplier left(String name) {
        Staged staged = byName.remove(name);
        return staged != null && staged.gone() ? staged::isRead : null;
    }
}
