package dev.verbena.auto;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Capability;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.TransportLimits;
import dev.verbena.transport.core.TransportPart;
import java.lang.System.Logger;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/** The transport {@code auto://}; see the package. Opened by {@link AutoTransportProvider}. */
final class AutoTransport extends AutoOperations {
    private static final Logger LOGGER = System.getLogger("dev.verbena.auto");
    private static final AtomicBoolean SLOWNESS_TOLD = new AtomicBoolean();

    private final Choice choice;
    private final AutoTokens tokens;
    private final PartEvents[] events;
    private final Sleeper sleeper;
    private final PollSchedule schedule = new PollSchedule(SystemNanoClock.INSTANCE);
    private final UnsafeBuffer greeting;
    private final int greetingLength;
    private final boolean hasAtomics;

    /** The part that is polled first next time. */
    private int next;

    private AutoTransport(
            TransportContext context,
            URI uri,
            TransportLimits limits,
            TransportPart[] parts,
            Choice choice) {
        super(uri, limits, parts);
        this.choice = choice;
        this.tokens = new AutoTokens(parts.length * context.receiveSlotCount() + 1);
        this.events = new PartEvents[parts.length];
        for (int part = 0; part < parts.length; part++) {
            events[part] = new PartEvents(this, part, tokens);
        }
        this.sleeper = new Sleeper(parts);
        this.greeting = new UnsafeBuffer(new byte[parts[0].limits().privateDataLengthMax()]);
        this.greetingLength = Greeting.write(greeting, uri);
        this.hasAtomics = hasCommonAtomics(parts);
    }

    /** Of these parts, which belong to it from now on. */
    static AutoTransport of(
            TransportContext context, AutoAddress address, TransportPart[] parts, Choice choice) {
        URI uri = address.uri();
        int connectionsMax = context.connectionsMax();
        int privateMax = Integer.MAX_VALUE;
        for (TransportPart part : parts) {
            connectionsMax = Math.min(connectionsMax, part.limits().connectionsMax());
            privateMax = Math.min(privateMax, part.limits().privateDataLengthMax());
        }
        privateMax -= Greeting.length(uri);
        if (privateMax < 1) {
            throw new IllegalArgumentException(
                    "address " + uri + " leaves no room for private data; choose a shorter name");
        }
        TransportLimits limits = limits(context, connectionsMax, privateMax);
        return new AutoTransport(context, uri, limits, parts, choice);
    }

    private static boolean hasCommonAtomics(TransportPart[] parts) {
        for (TransportPart part : parts) {
            if ((part.capabilities() & Capability.ATOMICS) == 0
                    || parts.length > 1 && !part.hasProcessorAtomics()) {
                return false;
            }
        }
        return true;
    }

    @Override
    boolean hasAtomics() {
        return hasAtomics;
    }

    @Override
    public long capabilities() {
        long common = hasAtomics ? -1 : ~Capability.ATOMICS;
        for (TransportPart part : parts) {
            common &= part.capabilities();
        }
        return common;
    }

    @Override
    public String explain() {
        StringBuilder text = new StringBuilder("auto: ").append(uri).append(". ");
        text.append(choice.explain());
        if (!hasAtomics) {
            text.append(" No atomics: those of its parts do not agree with one another.");
        }
        for (int part = 0; part < parts.length; part++) {
            text.append(' ')
                    .append(choice.scheme(part))
                    .append(", connections now: ")
                    .append(connectionCount(part))
                    .append(" [")
                    .append(parts[part].explain())
                    .append(']');
        }
        return text.toString();
    }

    // ---- the hooks of the shell ----

    @Override
    protected RegisteredRegion allocateRegion(long length, int rights) {
        return regions.allocate(length, rights);
    }

    @Override
    protected RegisteredRegion registerRegion(OffHeapMemory memory, int rights) {
        return regions.register(memory, rights);
    }

    @Override
    public OffHeapMemory mapFile(Path file, long length) {
        OffHeapMemory memory = null;
        for (int part = 0; part < parts.length && memory == null; part++) {
            memory = parts[part].mapFile(file, length);
        }
        return memory;
    }

    @Override
    protected String openRegions(boolean isOwnerOutside) {
        return regions.names();
    }

    @Override
    protected void listenForPeers() {
        for (TransportPart part : parts) {
            part.listen();
        }
    }

    @Override
    protected long connectTo(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs) {
        AutoAddress address = AutoAddress.of(peer);
        int part = choice.of(address);
        if (!isRoomForOffer()) {
            return BACK_PRESSURED;
        }
        if (length > 0) {
            greeting.putBytes(greetingLength, privateData, offset, length);
        }
        long inner =
                parts[part].connect(
                        choice.uri(part, address),
                        greeting,
                        0,
                        greetingLength + length,
                        context,
                        timeoutNs);
        if (inner < 0) {
            return inner;
        }
        tell(peer, part, address);
        long handle = handle(part, inner);
        opened(handle);
        return handle;
    }

    /** That there would be something faster is said aloud, once in a process. */
    private void tell(URI peer, int part, AutoAddress address) {
        boolean isNews = !choice.isFastest(part, address) && !SLOWNESS_TOLD.getAndSet(true);
        Logger.Level level = isNews ? Logger.Level.INFO : Logger.Level.DEBUG;
        if (LOGGER.isLoggable(level)) {
            LOGGER.log(level, peer + ": " + choice.why(part, address));
        }
    }

    /** A peer wants to connect. */
    void offered(long handle, URI peer) {
        offered(handle);
        if (LOGGER.isLoggable(Logger.Level.DEBUG)) {
            LOGGER.log(Logger.Level.DEBUG, peer + " asks over " + choice.scheme(partOf(handle)));
        }
    }

    boolean isRoomForOffer() {
        return connectionCount() < limits.connectionsMax();
    }

    @Override
    protected int acceptPeer(long connection, long context) {
        int part = partOf(connection);
        int answer = part < 0 ? NOT_CONNECTED : parts[part].accept(inner(connection), context);
        if (answered(connection) && answer == NOT_CONNECTED) {
            ended(connection);
        }
        return answer;
    }

    @Override
    protected int rejectPeer(long connection) {
        int part = partOf(connection);
        int answer = part < 0 ? NOT_CONNECTED : parts[part].reject(inner(connection));
        return endedBy(answer, connection);
    }

    @Override
    protected int disconnectPeer(long connection) {
        int part = partOf(connection);
        int answer = part < 0 ? NOT_CONNECTED : parts[part].disconnect(inner(connection));
        return endedBy(answer, connection);
    }

    /** A part says nothing of an offer whose peer has gone, until it is answered. */
    private int endedBy(int answer, long connection) {
        boolean isGone = answered(connection) && answer == NOT_CONNECTED;
        if (answer == ACCEPTED || isGone) {
            ended(connection);
        }
        return answer;
    }

    @Override
    protected void retainMessage(long messageToken) {
        tokens.checkHandled(messageToken);
        parts[tokens.part(messageToken)].retain(tokens.partToken(messageToken));
        tokens.retain(messageToken);
    }

    @Override
    protected void releaseMessage(long messageToken) {
        tokens.checkRetained(messageToken);
        parts[tokens.part(messageToken)].release(tokens.partToken(messageToken));
        tokens.free(messageToken);
    }

    @Override
    protected int deliver(TransportHandler handler, int limit) {
        int count = 0;
        int first = next;
        boolean areOthersDue =
                parts.length > 1 && schedule.isDue(connectionCount() > connectionCount(0));
        next = first + 1 == parts.length ? 0 : first + 1;
        for (int i = 0; i < parts.length; i++) {
            int part = first + i < parts.length ? first + i : first + i - parts.length;
            if (part == 0) {
                int polled = events[0].poll(handler, limit - count);
                schedule.onFirstPolled(polled);
                count += polled;
            } else if (areOthersDue) {
                int polled = events[part].poll(handler, limit - count);
                schedule.onOthersPolled(polled);
                count += polled;
            }
        }
        return count;
    }

    @Override
    protected boolean awaitEvents(long deadlineNs) {
        schedule.ask(); // of whichever part ends the sleep
        sleeper.begin();
        while (true) {
            if (takeWakeup() || guard.isClosed()) {
                return true;
            }
            long nowNs = nanoTime();
            if (sleeper.sleep(nowNs, deadlineNs)) {
                return true;
            }
            if (deadlineNs - nanoTime() <= 0) {
                return takeWakeup();
            }
        }
    }

    @Override
    protected void ringBell() {
        sleeper.ring();
    }

    @Override
    protected void free() {
        List<TransportPart> closing = new ArrayList<>(List.of(parts));
        Collections.reverse(closing);
        CloseHelper.closeAll(closing);
    }
}
