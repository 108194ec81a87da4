package dev.verbena.agent;

import dev.verbena.agent.internal.ErrorHandlers;
import dev.verbena.softnic.NativeAccess;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.status.CountersManager;

/**
 * The environment of a real machine: system clocks, TCP, files, counters in shared memory.
 *
 * <p>Thread-safe, except that {@link #counters()} follows the rule of Agrona's manager: allocate
 * and free counters on one thread. Close it last, after everything that was made here.
 */
public final class RealEnvironment implements Environment, AutoCloseable {
    static {
        // Agrona buffers need what this opens.
        NativeAccess.open();
    }

    private final NanoClock nanoClock;
    private final EpochClock epochClock;
    private final long seed;
    private final CountersFile.Writer countersFile;
    private final FieldPictures pictures;
    private final NioByteStreams streams;
    private final ErrorHandler errorHandler;
    private final StagingEvents events = flightRecorder();

    private RealEnvironment(Builder builder) {
        this.nanoClock = builder.nanoClock;
        this.epochClock = builder.epochClock;
        this.seed = builder.seed;
        this.countersFile =
                CountersFile.create(
                        builder.shmDirectory, builder.job, builder.application, builder.epochClock);
        this.pictures = new FieldPictures(countersFile.path());
        ErrorHandler next = builder.errorHandler;
        this.errorHandler =
                ErrorHandlers.harmless(
                        error -> {
                            boolean recorded = countersFile.recordError(error);
                            events.error(error);
                            next.onError(error);
                            if (!recorded) {
                                countersFile.errorLogIsFull();
                            }
                        });
        this.streams = new NioByteStreams(errorHandler);
    }

    /** Starts to describe an environment. */
    public static Builder builder() {
        return new Builder();
    }

    /** An environment with all defaults. */
    public static RealEnvironment create() {
        return builder().build();
    }

    @Override
    public NanoClock nanoClock() {
        return nanoClock;
    }

    @Override
    public EpochClock epochClock() {
        return epochClock;
    }

    @Override
    public RandomGenerator random(String name) {
        return new SplittableRandom(NamedSeed.mix(seed, name));
    }

    @Override
    public RandomGenerator unpredictable() {
        return new SecureRandom();
    }

    /** The seed from which {@link #random} derives its streams; print it when a run fails. */
    public long seed() {
        return seed;
    }

    @Override
    public Transport openTransport(String scheme, TransportContext context) {
        return Transports.open(scheme, context);
    }

    @Override
    public ByteStreams streams() {
        return streams;
    }

    /**
     * Opens a store; a relative directory lies in the working directory. It is created if absent.
     *
     * @throws java.io.UncheckedIOException naming the directory, if it cannot be created or is none
     */
    @Override
    public DurableStore store(String directory) {
        return FileDurableStore.open(Path.of(directory), errorHandler);
    }

    @Override
    public String linkTarget(String path) {
        Path link = Path.of(path);
        try {
            return Files.isSymbolicLink(link) ? link.toRealPath().toString() : path;
        } catch (IOException e) {
            return path; // Opening it reports why it cannot be opened.
        }
    }

    @Override
    public CountersManager counters() {
        return countersFile.counters();
    }

    @Override
    public String variable(String name) {
        return System.getenv(name);
    }

    /** Events of JDK Flight Recorder, {@link StagingEvents#NONE} in a JVM without it. */
    @Override
    public StagingEvents events() {
        return events;
    }

    private static StagingEvents flightRecorder() {
        // The class must not be touched where the module is missing.
        boolean isThere = ModuleLayer.boot().findModule("jdk.jfr").isPresent();
        return isThere ? new FlightRecorderEvents() : StagingEvents.NONE;
    }

    /** Where the counters of this process can be read, see {@link CountersFile}. */
    public Path countersPath() {
        return countersFile.path();
    }

    /**
     * Where a receiver that makes pictures of fields shows the newest, see {@code verbena watch}.
     */
    public FieldPictures pictures() {
        return pictures;
    }

    /**
     * Records the error in the distinct error log behind the counters, and hands it to the
     * builder's handler.
     */
    @Override
    public ErrorHandler errorHandler() {
        return errorHandler;
    }

    /**
     * Ends the wake-up thread of the streams and removes the counters file and the pictures.
     * Counters may still be used, they are only no longer shown. Idempotent.
     */
    @Override
    public void close() {
        streams.close();
        try {
            pictures.close();
        } finally {
            countersFile.close();
        }
    }

    /** Describes an environment; every value has a default. */
    public static final class Builder {
        private long seed = new SplittableRandom().nextLong();
        private ErrorHandler errorHandler = Builder::printOneLine;
        private Path shmDirectory = CountersFile.defaultShmDirectory();
        private String job = new TransportContext().job();
        private String application = "java";
        private NanoClock nanoClock = SystemNanoClock.INSTANCE;
        private EpochClock epochClock = SystemEpochClock.INSTANCE;

        private Builder() {}

        /** Seed of all named random streams; default: a fresh one, see {@link #seed()}. */
        public Builder seed(long seed) {
            this.seed = seed;
            return this;
        }

        /** Gets every error after it was recorded; default: one line on standard error. */
        public Builder errorHandler(ErrorHandler errorHandler) {
            this.errorHandler = errorHandler;
            return this;
        }

        /** Where shared-memory files live; default {@code $VERBENA_SHM_DIR}, else /dev/shm. */
        public Builder shmDirectory(Path shmDirectory) {
            this.shmDirectory = shmDirectory;
            return this;
        }

        /** Job that the counters file belongs to; default as in {@link TransportContext#job()}. */
        public Builder job(String job) {
            this.job = job;
            return this;
        }

        /** What this process is, for people who read its counters. */
        public Builder application(String application) {
            this.application = application;
            return this;
        }

        /** Another monotonic clock, for tests. */
        public Builder nanoClock(NanoClock nanoClock) {
            this.nanoClock = nanoClock;
            return this;
        }

        /** Another wall clock, for tests. */
        public Builder epochClock(EpochClock epochClock) {
            this.epochClock = epochClock;
            return this;
        }

        /**
         * Makes the environment.
         *
         * @throws IllegalArgumentException for a job name with other characters than letters,
         *     digits, dots, dashes and underscores
         * @throws java.io.UncheckedIOException if the counters file cannot be made, naming it
         */
        public RealEnvironment build() {
            new TransportContext().job(job).conclude();
            return new RealEnvironment(this);
        }

        private static void printOneLine(Throwable error) {
            System.err.println("verbena: " + error);
        }
    }
}
