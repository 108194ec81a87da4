package dev.verbena.savime;

import dev.verbena.staging.sink.FileSink;
import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.SinkSession;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** Files, and commands that are answered with their own text, but for {@code nonsense}. */
final class EchoSink implements Sink {
    private final FileSink files;

    EchoSink(Path folder) {
        files = new FileSink(folder);
    }

    @Override
    public int sessionsMax() {
        return files.sessionsMax();
    }

    @Override
    public SinkSession open() throws IOException {
        SinkSession session = files.open();
        return new SinkSession() {
            @Override
            public void transfer(SinkDataset dataset, FileChannel data) throws IOException {
                session.transfer(dataset, data);
            }

            @Override
            public String command(String text) throws IOException {
                if (text.equals("nonsense")) {
                    throw new SinkRejectedException("Error: " + text);
                }
                return "answer to " + text;
            }

            @Override
            public void close() throws IOException {
                session.close();
            }
        };
    }

    @Override
    public void close() {
        files.close();
    }
}
