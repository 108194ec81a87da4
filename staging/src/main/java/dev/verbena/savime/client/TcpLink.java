package dev.verbena.savime.client;

import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.savime.link.TcpMessages;
import dev.verbena.savime.wire.MessageQueue;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.staging.Checksum;
import dev.verbena.staging.Heartbeat;
import dev.verbena.staging.LinkBackOff;
import dev.verbena.transport.Transport;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** By TCP: blocks travel as messages. */
final class TcpLink implements ServerLink, TcpMessages.Handler {
    private static final int TIMEOUT_HEARTBEATS = 3;

    private final Environment environment;
    private final String host;
    private final int port;
    private final Events events;
    private final MessageQueue out = new MessageQueue(1024);
    private final Checksum checksum = new Checksum();
    private final LinkBackOff backOff;
    private final Heartbeat heartbeat;
    private final long heartbeatNs;
    private ByteStream stream;
    private TcpMessages messages;
    private boolean isConnected;
    private long saidNs;
    private int writing = -1;
    private String whyNot = "not connected yet";

    TcpLink(Environment environment, String host, int port, long heartbeatNs, Events events) {
        this.environment = environment;
        this.host = host;
        this.port = port;
        this.events = events;
        this.heartbeatNs = heartbeatNs;
        this.backOff =
                new LinkBackOff(
                        environment.random("stg-client"), environment.nanoClock().nanoTime());
        this.heartbeat = new Heartbeat(TIMEOUT_HEARTBEATS * heartbeatNs);
    }

    @Override
    public int doWork() {
        long now = environment.nanoClock().nanoTime();
        if (messages == null) {
            if (now - backOff.nextTryNs() < 0) {
                return 0;
            }
            backOff.failed(now);
            stream = environment.streams().connect(host, port);
            messages = new TcpMessages(stream, out, this);
            return 1;
        }
        if (messages.isEnded()) {
            lost(messages.error());
            return 1;
        }
        if (!isConnected) {
            if (!messages.isOpen()) {
                return 0;
            }
            isConnected = true;
            backOff.reset();
            heartbeat.begin(now, heartbeatNs);
            saidNs = now;
            events.onConnected();
        }
        return move(now);
    }

    private int move(long now) {
        int read = messages.read();
        int written = messages.write();
        if (read > 0) {
            heartbeat.heard(now);
        }
        if (written > 0) {
            saidNs = now;
        }
        if (writing >= 0 && messages != null && !messages.isWritingData()) {
            int slot = writing;
            writing = -1;
            events.onWritten(slot, true);
        }
        boolean isDue = heartbeat.isDue(now);
        if (heartbeat.isOver(now) && written == 0) {
            messages.end("it does not answer");
        } else if ((isDue || isSilent(now)) && events.askIfAlive()) {
            saidNs = now;
            if (isDue) {
                heartbeat.asked(now);
            }
        }
        return read + written;
    }

    /** The server drops who is silent, however much it says itself. */
    private boolean isSilent(long now) {
        return now - saidNs - heartbeatNs >= 0;
    }

    private void lost(String why) {
        whyNot = "no connection to " + host + ":" + port + ": " + why;
        isConnected = false;
        writing = -1;
        out.clear();
        messages.close();
        messages = null;
    }

    @Override
    public void onMessage(DirectBuffer buffer, int offset, int length) {
        events.onMessage(buffer, offset, length);
    }

    @Override
    public MutableDirectBuffer dataTarget(StgFlyweight header) {
        throw new IllegalArgumentException("a server sends no blocks");
    }

    @Override
    public void onData(StgFlyweight header) {}

    @Override
    public boolean isConnected() {
        return isConnected;
    }

    @Override
    public String whyNot() {
        return whyNot;
    }

    @Override
    public MessageQueue out() {
        return out;
    }

    @Override
    public RegisteredRegion register(OffHeapMemory memory) {
        return null;
    }

    @Override
    public int pieceLength() {
        return Integer.MAX_VALUE;
    }

    @Override
    public boolean write(OutgoingBlock block, boolean isSummed) {
        if (writing >= 0 || messages == null) {
            return false;
        }
        writing = block.tag;
        messages.writeData(
                block.session,
                block.dataset,
                block.offset,
                block.number,
                block.window,
                block.windowOffset,
                block.length);
        if (isSummed) {
            checksum.of(block.window, block.windowOffset, block.length);
        }
        return true;
    }

    @Override
    public int sum() {
        return checksum.value();
    }

    @Override
    public void reset(String why) {
        if (messages != null) {
            messages.end(why);
        }
    }

    @Override
    public long nextDeadlineNs() {
        long now = environment.nanoClock().nanoTime();
        if (messages == null) {
            return backOff.nextTryNs();
        }
        if (!isConnected) {
            return ProtocolAgent.NO_DEADLINE;
        }
        long sayNs = Math.max(now, saidNs + heartbeatNs);
        return Math.min(sayNs, now + Math.min(heartbeat.untilNs(now), Long.MAX_VALUE / 2));
    }

    @Override
    public Transport transport() {
        return null;
    }

    @Override
    public void close() {
        if (messages != null) {
            messages.write();
            messages.close();
            messages = null;
        }
    }
}
