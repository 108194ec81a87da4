package dev.verbena.savime.client;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.savime.wire.MessageQueue;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.staging.control.RecordClient;
import dev.verbena.staging.control.RecordOutbox;
import dev.verbena.transport.Capability;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransferSum;
import dev.verbena.transport.Transport;
import java.util.function.Supplier;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;

/** By a transport: blocks are put into the server's memory. */
final class TransportLink implements ServerLink, RecordClient.Protocol {
    private static final String PROTOCOL = "stg/1";
    private static final int SLOTS = 64;

    /** Contexts of puts begin here, behind those of the outbox. */
    private static final long PUTS = 1L << 32;

    /**
     * Where the transport takes no sums: put, then summed up while a cache of the processor has it.
     */
    private static final int SUMMED_PIECE = 512 << 10;

    private final Events events;
    private final Transport transport;
    private final RecordOutbox outbox;
    private final RecordClient link;
    private final MessageQueue out = new MessageQueue(1024);
    private final TransferSum sum = new TransferSum();
    private boolean isConnected;

    TransportLink(
            ClientSettings settings, Supplier<Transport> opening, String path, Events events) {
        this.events = events;
        this.transport = opening.get();
        this.outbox = new RecordOutbox(transport, SLOTS, StgFlyweight.LENGTH_MAX, 0);
        this.link =
                new RecordClient(
                        settings.environment(),
                        transport,
                        outbox,
                        path,
                        PROTOCOL,
                        settings.heartbeatNs(),
                        this);
    }

    @Override
    public int doWork() {
        int work = link.doWork();
        if (isConnected && !link.isConnected()) {
            isConnected = false;
            out.clear();
        }
        while (isConnected && !out.isEmpty()) {
            int at = outbox.next();
            if (at < 0) {
                return work;
            }
            int length = out.length();
            outbox.buffer().putBytes(at, out.buffer(), out.at(), length);
            if (outbox.send(link.connection(), length) != Transport.ACCEPTED) {
                return work;
            }
            out.remove();
            work++;
        }
        return work;
    }

    @Override
    public void onConnected(long connection) {
        out.clear();
        isConnected = true;
        events.onConnected();
    }

    @Override
    public void onRecord(DirectBuffer buffer, int offset, int length) {
        events.onMessage(buffer, offset, length);
    }

    @Override
    public boolean askIfAlive() {
        return events.askIfAlive();
    }

    @Override
    public void onCompletion(long context, int status) {
        // One whose connection ends is lost with that; its event follows.
        if (status != Status.PEER_DEAD && status != Status.FLUSHED) {
            events.onWritten((int) (context - PUTS), status == Status.OK);
        }
    }

    @Override
    public boolean isConnected() {
        return isConnected;
    }

    @Override
    public String whyNot() {
        return link.whyNot();
    }

    @Override
    public MessageQueue out() {
        return out;
    }

    @Override
    public RegisteredRegion register(OffHeapMemory memory) {
        return transport.register(memory, 0);
    }

    @Override
    public int pieceLength() {
        return (transport.capabilities() & Capability.SUMS) == 0 ? SUMMED_PIECE : Integer.MAX_VALUE;
    }

    @Override
    public boolean write(OutgoingBlock block, boolean isSummed) {
        int answer = isSummed ? putSummed(block) : put(block);
        return answer == Transport.ACCEPTED;
    }

    private int put(OutgoingBlock block) {
        return transport.put(
                link.connection(),
                block.source,
                block.sourceOffset,
                block.target,
                block.targetOffset,
                block.length,
                PUTS + block.tag,
                Transport.STREAMED);
    }

    private int putSummed(OutgoingBlock block) {
        return transport.putSummed(
                link.connection(),
                block.source,
                block.sourceOffset,
                block.target,
                block.targetOffset,
                block.length,
                sum,
                PUTS + block.tag,
                Transport.STREAMED);
    }

    @Override
    public int sum() {
        return sum.value();
    }

    @Override
    public void reset(String why) {
        if (isConnected) {
            link.end(why);
        }
    }

    @Override
    public long nextDeadlineNs() {
        return link.nextDeadlineNs();
    }

    @Override
    public Transport transport() {
        return transport;
    }

    @Override
    public void close() {
        for (int i = 0; i < 1000 && isConnected && !(out.isEmpty() && outbox.isIdle()); i++) {
            if (doWork() == 0) {
                transport.await(transport.nanoTime() + 1_000_000);
            }
        }
        link.close();
        for (int i = 0; i < 1000 && !outbox.isIdle(); i++) {
            link.doWork();
        }
        CloseHelper.closeAll(outbox, transport);
    }
}
