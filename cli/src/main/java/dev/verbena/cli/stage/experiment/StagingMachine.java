package dev.verbena.cli.stage.experiment;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.savime.StagingService;
import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkSession;
import dev.verbena.transport.TransportContext;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A staging server in this process, whose sink cannot be reached: as in the paper, where the second
 * hop was 18 times slower, what arrives stays while it is measured.
 */
final class StagingMachine implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final RealEnvironment environment;
    private final StagingService service;

    private static final class AwaySink implements Sink {
        @Override
        public int sessionsMax() {
            return 1;
        }

        @Override
        public SinkSession open() throws IOException {
            throw new IOException("the experiment has no sink");
        }
    }

    /**
     * Ready for clients.
     *
     * @param configuration gets the transport's address; null: it listens on TCP
     */
    StagingMachine(
            String scheme, String job, Path memory, long bytesMax, Path disk, Path configuration) {
        environment =
                RealEnvironment.builder()
                        .application("stage experiment")
                        .job(job)
                        .errorHandler(failure -> {})
                        .build();
        StagingService.Context context =
                new StagingService.Context()
                        .environment(environment)
                        .memory(memory, bytesMax)
                        .disk(disk, Long.MAX_VALUE)
                        .sink(new AwaySink())
                        .retry(Duration.ofHours(1), Duration.ofHours(1))
                        .grace(Duration.ofSeconds(10));
        if (configuration == null) {
            context.listen(null, 0);
        } else {
            context.transport(scheme, new TransportContext().job(job), configuration.toString());
        }
        try {
            service = StagingService.launch(context);
        } catch (RuntimeException e) {
            environment.close();
            throw e;
        }
    }

    void awaitReady() {
        service.awaitReady(PATIENCE);
    }

    int port() {
        return service.port();
    }

    @Override
    public void close() {
        service.close();
        environment.close();
    }
}
