package dev.verbena.staging.sink;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.List;

/** A sink before another one, which does the work; a subclass looks at what that one took. */
public abstract class ForwardingSink implements Sink {
    private final Sink sink;

    /**
     * Before a sink.
     *
     * @param sink closed by this
     */
    protected ForwardingSink(Sink sink) {
        this.sink = sink;
    }

    /** The other sink has this dataset; by the thread that handed it over. */
    protected abstract void taken(SinkDataset dataset, FileChannel data);

    @Override
    public int sessionsMax() {
        return sink.sessionsMax();
    }

    @Override
    public SinkSession open() throws IOException {
        return new Session(sink.open());
    }

    @Override
    public void watch(SinkWatch watch) {
        sink.watch(watch);
    }

    @Override
    public void close() {
        sink.close();
    }

    private final class Session implements SinkSession {
        private final SinkSession session;

        Session(SinkSession session) {
            this.session = session;
        }

        @Override
        public void transfer(SinkDataset dataset, FileChannel data) throws IOException {
            session.transfer(dataset, data);
            taken(dataset, data);
        }

        @Override
        public void transferAll(List<SinkDataset> datasets, List<FileChannel> data)
                throws IOException {
            session.transferAll(datasets, data);
            for (int i = 0; i < datasets.size(); i++) {
                taken(datasets.get(i), data.get(i));
            }
        }

        @Override
        public String command(String text) throws IOException {
            return session.command(text);
        }

        @Override
        public String createTar(String command) throws IOException {
            return session.createTar(command);
        }

        @Override
        public String loadSubtar(String command) throws IOException {
            return session.loadSubtar(command);
        }

        @Override
        public String query(String text, int rowsMax) throws IOException {
            return session.query(text, rowsMax);
        }

        @Override
        public void close() throws IOException {
            session.close();
        }
    }
}
