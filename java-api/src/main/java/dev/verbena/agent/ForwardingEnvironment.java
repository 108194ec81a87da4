package dev.verbena.agent;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import java.net.URI;
import java.util.random.RandomGenerator;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.status.CountersManager;

/**
 * An environment that hands everything on to another one. A subclass changes what it is for: slower
 * streams, a store that fails, a transport that counts.
 */
public class ForwardingEnvironment implements Environment {
    private final Environment inner;

    /**
     * Hands on.
     *
     * @param inner gets every call; not closed by this
     */
    protected ForwardingEnvironment(Environment inner) {
        this.inner = inner;
    }

    @Override
    public NanoClock nanoClock() {
        return inner.nanoClock();
    }

    @Override
    public EpochClock epochClock() {
        return inner.epochClock();
    }

    @Override
    public RandomGenerator random(String name) {
        return inner.random(name);
    }

    @Override
    public RandomGenerator unpredictable() {
        return inner.unpredictable();
    }

    @Override
    public Transport openTransport(String scheme, TransportContext context) {
        return inner.openTransport(scheme, context);
    }

    @Override
    public TransportContext contextFor(URI address, boolean isOwn) {
        return inner.contextFor(address, isOwn);
    }

    @Override
    public ByteStreams streams() {
        return inner.streams();
    }

    @Override
    public DurableStore store(String directory) {
        return inner.store(directory);
    }

    @Override
    public String linkTarget(String path) {
        return inner.linkTarget(path);
    }

    @Override
    public CountersManager counters() {
        return inner.counters();
    }

    @Override
    public String variable(String name) {
        return inner.variable(name);
    }

    @Override
    public StagingEvents events() {
        return inner.events();
    }

    @Override
    public boolean carriesPayloads() {
        return inner.carriesPayloads();
    }

    @Override
    public ErrorHandler errorHandler() {
        return inner.errorHandler();
    }
}
