package dev.verbena.savime.query;

import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.SinkSession;
import dev.verbena.staging.sink.SinkWatch;
import java.io.IOException;
import java.nio.channels.FileChannel;

/**
 * Hands staged datasets to SAVIME, which serves one session at a time (specification, section 9).
 * Each becomes a dataset of its name; commands are queries, and anything but the success text is a
 * refusal.
 */
public final class SavimeSink implements Sink {
    private static final String PARAMETER = "@0";

    private final String host;
    private final int port;
    private final SavimeClient.Limits limits;
    private volatile SinkWatch watch = SinkWatch.NONE;
    private int lastClient = -1;

    /** Connects when there is something to send. */
    public SavimeSink(String host, int port, SavimeClient.Limits limits) {
        this.host = host;
        this.port = port;
        this.limits =
                new SavimeClient.Limits(
                        limits.connect(),
                        limits.accept(),
                        limits.answer(),
                        limits.stall(),
                        () -> {
                            limits.stalled().run();
                            watch.wedged();
                        });
    }

    @Override
    public int sessionsMax() {
        return 1;
    }

    @Override
    public SinkSession open() throws IOException {
        SavimeClient client = SavimeClient.connect(host, port, limits);
        if (isRestarted(client.clientId())) {
            watch.restarted();
        }
        return new Session(client);
    }

    /** A server numbers its clients from 0: who gets a number again speaks to another one. */
    private synchronized boolean isRestarted(int client) {
        boolean isAgain = client <= lastClient;
        lastClient = client;
        return isAgain;
    }

    @Override
    public void watch(SinkWatch by) {
        watch = by;
    }

    private static final class Session implements SinkSession {
        private final SavimeClient client;

        Session(SavimeClient client) {
            this.client = client;
        }

        @Override
        public void transfer(SinkDataset dataset, FileChannel data) throws IOException {
            String query = SavimeQueries.createDataset(dataset.name(), dataset.type(), PARAMETER);
            try {
                client.command(query, SavimeParameter.of(PARAMETER, data, dataset.length()));
            } catch (SavimeQueryException e) {
                // It may have come with the session that was lost.
                if (!dataset.isRepeated() || !e.getMessage().contains("already exists")) {
                    throw new SinkRejectedException(e.getMessage());
                }
            }
        }

        @Override
        public String command(String text) throws IOException {
            try {
                return client.command(text);
            } catch (SavimeQueryException e) {
                throw new SinkRejectedException(e.getMessage());
            } catch (IllegalArgumentException e) {
                throw new SinkRejectedException("refused before it was sent: " + e.getMessage());
            }
        }

        @Override
        public void close() throws IOException {
            client.close();
        }
    }
}
