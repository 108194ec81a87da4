package dev.verbena.savime.server;

import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.savime.store.BackgroundWork;
import dev.verbena.savime.store.StagedFile;
import dev.verbena.savime.store.StagingDirectory;
import dev.verbena.savime.wire.DatasetState;
import dev.verbena.staging.CounterMirror;
import dev.verbena.staging.bootstrap.ServicePublisher;
import dev.verbena.staging.forward.Senders;
import dev.verbena.staging.forward.SinkHealth;
import dev.verbena.staging.sink.StagedArrays;
import dev.verbena.transport.Transport;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.agrona.CloseHelper;

/**
 * The staging server: takes datasets from clients into memory or onto disk and hands them to a
 * sink. What may wait runs elsewhere, on threads of the directories and of the sender pool, and its
 * results are polled. One thread, except what says otherwise.
 */
public final class StagingEngine implements ProtocolAgent {
    private static final long EXPIRE_EVERY_NS = 20_000_000L;
    private static final long LOOK_EVERY_NS = 5_000_000_000L;

    private final ServerSettings settings;
    private final Environment environment;
    private final StagingDirectory memory;
    private final StagingDirectory disk;
    private final BackgroundWork memoryWork;
    private final BackgroundWork diskWork;
    private final Senders senders;
    private final ServerCounts counts = new ServerCounts();
    private final Registry registry;
    private final StorageJobs jobs;
    private final BounceBuffers bounce;
    private final Admission admission;
    private final Ends ends;
    private final Openings openings;
    private final Sealing sealing;
    private final Reception reception;
    private final Forwarding forwarding;
    private final Dispatch dispatch;
    private final CounterMirror mirror;
    private final ServicePublisher publisher;
    private Transport transport;
    private TcpClients tcp;
    private TransportClients oneSided;
    private long expiredNs;
    private long lookedNs;
    private volatile int port;
    private volatile URI uri;
    private volatile boolean isReady;
    private volatile RuntimeException startFailure;
    private volatile boolean isStopAsked;
    private volatile boolean isDrained;

    /**
     * A server, not yet listening.
     *
     * @param memory null: none
     * @param disk null: none
     * @param senders closed by this, as are the directories
     * @param arrays told of the datasets that there are
     * @param workers start what works on files, by name: threads, where nothing is simulated
     */
    public StagingEngine(
            ServerSettings settings,
            StagingDirectory memory,
            StagingDirectory disk,
            Senders senders,
            StagedArrays arrays,
            Function<String, BackgroundWork> workers) {
        this.settings = settings;
        this.environment = settings.environment();
        this.memory = memory;
        this.disk = disk;
        this.senders = senders;
        memoryWork = workers.apply("verbena-stage-memory");
        diskWork = workers.apply("verbena-stage-disk");
        jobs =
                new StorageJobs(
                        memoryWork,
                        diskWork,
                        memory != null && memory.isQuick(),
                        environment.errorHandler());
        registry = new Registry(environment.epochClock().time() << 20);
        bounce = new BounceBuffers(settings.bounceLength(), settings.bounceCount());
        ends = new Ends(settings, registry, jobs, counts, bounce, arrays);
        admission = new Admission(settings, ends::discard);
        ends.admission(admission);
        openings = new Openings(settings, registry, admission, jobs, memory, disk, ends, counts);
        forwarding = new Forwarding(settings, registry, ends, jobs, counts, senders, arrays);
        sealing = new Sealing(settings, registry, jobs, ends, counts, forwarding::add);
        reception = new Reception(settings, registry, jobs, bounce, ends, counts, sealing);
        dispatch =
                new Dispatch(
                        settings, registry, admission, openings, reception, sealing, forwarding);
        publisher =
                settings.servicePath() == null
                        ? null
                        : new ServicePublisher(
                                environment, settings.servicePath(), TransportClients.PROTOCOL);
        mirror =
                new CounterMirror(environment, "stage")
                        .show("memory reserved", admission.memory::reserved)
                        .show("disk reserved", admission.disk::reserved)
                        .show("sink is away", () -> senders.health().isAway() ? 1 : 0)
                        .show("sink losses", () -> senders.health().losses())
                        .show("sink wedged", () -> senders.health().wedges())
                        .show("sink restarts", () -> senders.health().restarts());
        counts.show(mirror);
    }

    /** Calls this, on any thread, when {@link #doWork} may have something to do. */
    public void onReady(Runnable wakeup) {
        memoryWork.onReady(wakeup);
        diskWork.onReady(wakeup);
        senders.onReady(wakeup);
        if (publisher != null) {
            publisher.onReady(wakeup);
        }
    }

    @Override
    public void onStart() {
        try {
            start();
        } catch (RuntimeException e) {
            startFailure = e;
            throw e;
        }
    }

    private void start() {
        recover();
        if (memory != null) {
            try {
                looked(memory.space());
            } catch (IOException e) {
                environment.errorHandler().onError(e);
            }
        }
        prefault();
        if (settings.transport() != null) {
            transport = settings.transport().get();
            reception.transport(transport);
            oneSided = new TransportClients(settings, transport, dispatch, reception, publisher);
            uri = transport.uri();
        }
        if (settings.listenHost() != null) {
            tcp = new TcpClients(settings, dispatch, reception);
            port = tcp.port();
        }
        expiredNs = environment.nanoClock().nanoTime();
        lookedNs = expiredNs;
    }

    /** How much room the file system in memory has, and others leave. */
    private void lookAtMemory(long nowNs) {
        boolean isDue = memory != null && nowNs - lookedNs - LOOK_EVERY_NS >= 0;
        if (isDue && !isStopAsked) {
            lookedNs = nowNs;
            StagingDirectory.Space[] space = new StagingDirectory.Space[1];
            jobs.submit(
                    true,
                    () -> space[0] = memory.space(),
                    failure -> {
                        if (failure == null) {
                            looked(space[0]);
                        }
                    });
        }
    }

    private void looked(StagingDirectory.Space space) {
        admission.fileSystem(space.total(), space.used());
    }

    /** Fills the pool with files that have their pages. */
    private void prefault() {
        long length = settings.prefaultLength();
        for (int i = 0; i < settings.prefaultCount() && memory != null; i++) {
            if (!admission.mayMake(length)) {
                return;
            }
            long id = registry.nextId();
            StagedFile[] made = new StagedFile[1];
            jobs.submit(
                    true,
                    () -> {
                        StagedFile file = memory.create(id, length);
                        made[0] = file;
                        file.reserve();
                    },
                    failure -> prefaulted(made[0], length, failure));
        }
    }

    private void prefaulted(StagedFile file, long length, Exception failure) {
        if (failure == null) {
            if (transport != null) {
                file.share(transport);
            }
            admission.keep(file);
            return;
        }
        admission.notMade(length);
        if (file != null) {
            ends.discard(file);
        }
    }

    /** Complete datasets of an earlier server go into the queue, in their order. */
    private void recover() {
        List<StagingDirectory.Found> found = new ArrayList<>();
        for (StagingDirectory directory : new StagingDirectory[] {memory, disk}) {
            if (directory != null) {
                found.addAll(directory.recover(environment.errorHandler()));
            }
        }
        found.sort(Comparator.comparingLong(each -> each.meta().syncedOrder()));
        for (StagingDirectory.Found each : found) {
            Session session = registry.session(each.meta().clientId());
            Dataset dataset = Dataset.recovered(session, each.file(), each.meta());
            admission.charge(each.file());
            registry.add(dataset);
            sealing.orderAfter(each.meta().syncedOrder());
            if (dataset.meta.type().equals(Openings.COMMAND)) {
                ends.remove(dataset, DatasetState.ABORTED); // Who sent it does not wait any more.
            } else if (dataset.state == DatasetState.RECEIVED) {
                forwarding.add(dataset);
            } else {
                dataset.ended(environment.nanoClock().nanoTime());
            }
        }
    }

    @Override
    public int doWork() {
        if (isStopAsked) {
            openings.stop();
            forwarding.stop();
        }
        int work = jobs.poll();
        if (oneSided != null) {
            work += oneSided.doWork();
        }
        if (tcp != null) {
            work += tcp.doWork();
        }
        work += openings.doWork() + forwarding.doWork();
        long now = environment.nanoClock().nanoTime();
        if (now - expiredNs - EXPIRE_EVERY_NS >= 0) {
            expiredNs = now;
            work += reception.expire(now) + forwarding.expire(now);
        }
        work += ends.expire(now);
        lookAtMemory(now);
        mirror.publish(now);
        isReady = oneSided == null || oneSided.isPublished();
        isDrained =
                isStopAsked
                        && !reception.isReceiving()
                        && senders.inFlight() == 0
                        && jobs.isQuiet();
        return work;
    }

    @Override
    public long nextDeadlineNs() {
        long now = environment.nanoClock().nanoTime();
        long next = forwarding.nextDeadlineNs();
        if (oneSided != null) {
            next = Math.min(next, oneSided.nextDeadlineNs());
        }
        if (tcp != null) {
            next = Math.min(next, tcp.nextDeadlineNs(now));
        }
        if (memory != null && !isStopAsked) {
            next = Math.min(next, lookedNs + LOOK_EVERY_NS);
        }
        next = Math.min(next, ends.nextDeadlineNs());
        boolean mayExpire = registry.datasetCount() > 0 || openings.isWaiting();
        return mayExpire ? Math.min(next, now + EXPIRE_EVERY_NS) : next;
    }

    /** The transport in which the thread may sleep; null: none. On the engine's thread. */
    public Transport transport() {
        return transport;
    }

    /** Whether peers put blocks into its memory now. On the engine's thread. */
    public boolean isBeingPutInto() {
        return oneSided != null && counts.get(ServerCounts.Count.PINNED) > 0;
    }

    /** Refuses new datasets and gives nothing more to the sink. Any thread. */
    public void requestStop() {
        isStopAsked = true;
    }

    /** After {@link #requestStop}: nothing is received, sent or deleted. Any thread. */
    public boolean isDrained() {
        return isDrained;
    }

    /** Clients can find the server. Any thread. */
    public boolean isReady() {
        return isReady;
    }

    /** Why it has not started; null: it has, or still may. Any thread. */
    public RuntimeException startFailure() {
        return startFailure;
    }

    /** TCP port; 0: none, or not yet. Any thread. */
    public int port() {
        return port;
    }

    /** Address of the transport; null: none, or not yet. Any thread. */
    public URI uri() {
        return uri;
    }

    /** Any thread. */
    public ServerCounts counts() {
        return counts;
    }

    /** How the sink is. Any thread. */
    public SinkHealth sink() {
        return senders.health();
    }

    /** Bytes of memory that are reserved, those of the pool included. Any thread. */
    public long memoryReserved() {
        return admission.memory.reserved();
    }

    /** Any thread. */
    public long diskReserved() {
        return admission.disk.reserved();
    }

    @Override
    public void onClose() {
        CloseHelper.closeAll(tcp, oneSided);
        // Datasets that were not complete are removed by jobs of their own.
        senders.close();
        admission.clear();
        memoryWork.close();
        diskWork.close();
        jobs.poll();
        // The transport maps files, and may hold bounce buffers.
        CloseHelper.closeAll(mirror::close, memory, disk, transport, bounce);
    }

    @Override
    public String roleName() {
        return "staging-server";
    }
}
