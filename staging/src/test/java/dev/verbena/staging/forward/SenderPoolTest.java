package dev.verbena.staging.forward;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.staging.forward.SinkTask.Result;
import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkSession;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a sink throws ends neither the sender threads nor the tasks. */
@Timeout(60)
class SenderPoolTest {
    private static final long LONG_MS = 50_000;

    private final List<Result> results = new ArrayList<>();

    /** A sink whose sessions cannot be opened or closed without an exception. */
    private record BadSink(Error onOpen, IOException onClose) implements Sink {
        @Override
        public int sessionsMax() {
            return 1;
        }

        @Override
        public SinkSession open() {
            if (onOpen != null) {
                throw onOpen;
            }
            return new SinkSession() {
                @Override
                public void transfer(SinkDataset dataset, FileChannel data) {
                    throw new AssertionError("nothing is transferred here");
                }

                @Override
                public String command(String text) {
                    return text;
                }

                @Override
                public void close() throws IOException {
                    if (onClose != null) {
                        throw onClose;
                    }
                }
            };
        }

        @Override
        public void close() {}
    }

    private static SinkTask task(Error failure) {
        return new SinkTask(null) {
            @Override
            protected String perform(SinkSession session) {
                if (failure != null) {
                    throw failure;
                }
                return "";
            }
        };
    }

    private void run(SenderPool pool, SinkTask task) {
        int before = results.size();
        pool.submit(task);
        Await.until(
                "the end of a task",
                () -> {
                    pool.poll(ended -> results.add(ended.result()));
                    return results.size() > before;
                });
        assertThat(pool.hasRoom()).isTrue();
    }

    @Test
    void shouldEndTasksOfASinkThatThrowsErrors() {
        try (SenderPool pool = new SenderPool(new BadSink(null, null), 1, LONG_MS)) {
            run(pool, task(new LinkageError("no such method")));
            run(pool, task(new OutOfMemoryError("direct buffer memory")));
            run(pool, task(null));
        }
        assertThat(results).containsExactly(Result.REJECTED, Result.UNKNOWN, Result.OK);
    }

    @Test
    void shouldEndTasksOfASinkThatCannotBeOpened() {
        try (SenderPool pool =
                new SenderPool(new BadSink(new LinkageError("no driver"), null), 1, LONG_MS)) {
            run(pool, task(null));
            run(pool, task(null));
        }
        assertThat(results).containsExactly(Result.UNREACHABLE, Result.UNREACHABLE);
    }

    /** Else this would last longer than the test may. */
    @Test
    void shouldEndItsThreadsWhenASessionCannotBeClosed() {
        Sink sink = new BadSink(null, new IOException("the connection is broken"));
        try (SenderPool pool = new SenderPool(sink, 1, 10 * LONG_MS)) {
            run(pool, task(null));
            pool.submit(task(null));
        }
    }
}
