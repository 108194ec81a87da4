package dev.verbena.staging.bootstrap;

import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.staging.Names;
import java.io.UncheckedIOException;
import java.net.URI;
import org.agrona.concurrent.NanoClock;

/**
 * Publishes the address of a service in a {@link ServiceFile}: claims the file, as soon as no other
 * service has it, publishes, and withdraws at the end. Never waits. One thread.
 */
public final class ServicePublisher implements AutoCloseable {
    private static final long CLAIM_RETRY_NS = 20_000_000;
    private static final long FAILED_RETRY_NS = 1_000_000_000;

    private final Environment environment;
    private final NanoClock clock;
    private final String protocol;
    private final ServiceFile file;
    private ServiceAddress own;
    private long nextTryNs;

    /** Touches no file yet. */
    public ServicePublisher(Environment environment, String path, String protocol) {
        this.environment = environment;
        this.clock = environment.nanoClock();
        this.protocol = protocol;
        this.file = new ServiceFile(environment, path, ServiceAddress.LENGTH_MAX);
        this.nextTryNs = clock.nanoTime();
    }

    /** Calls this, on any thread, when {@link #doWork} may have something to do. */
    public void onReady(Runnable wakeup) {
        file.onReady(wakeup);
    }

    /**
     * Claims and publishes, anew a second after it failed.
     *
     * @param url address of the service's transport
     * @return work done
     * @throws UncheckedIOException naming the file and why it cannot be written
     */
    public int doWork(URI url) {
        try {
            return publish(url);
        } catch (UncheckedIOException e) {
            own = null;
            nextTryNs = clock.nanoTime() + FAILED_RETRY_NS;
            throw e;
        }
    }

    private int publish(URI url) {
        if (own == null && clock.nanoTime() - nextTryNs >= 0) {
            nextTryNs = clock.nanoTime() + CLAIM_RETRY_NS;
            if (file.claim(0)) {
                long epochMs = environment.epochClock().time();
                own = new ServiceAddress(protocol, Names.job(environment), epochMs, url);
                file.publish(own.encode(), own.service().toString());
            }
        }
        return file.publishStep();
    }

    /** Whether clients can find the service. */
    public boolean isPublished() {
        return file.isPublished();
    }

    /** When {@link #doWork} has something to do although nothing happens. */
    public long nextDeadlineNs() {
        return own == null ? nextTryNs : ProtocolAgent.NO_DEADLINE;
    }

    /** Withdraws what was published, unless another service has replaced it. */
    @Override
    public void close() {
        if (own != null && own.encode().equals(file.read())) {
            file.delete();
        }
        file.close();
    }
}
