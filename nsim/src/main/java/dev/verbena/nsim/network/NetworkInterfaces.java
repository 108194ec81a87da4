package dev.verbena.nsim.network;

import dev.verbena.nsim.engine.Engine;
import java.util.Arrays;

/**
 * The network interfaces of all nodes: reading messages from memory packet by packet, putting
 * packets on the cable, writing what arrives, answering.
 */
final class NetworkInterfaces {
    private static final int NONE = -1;
    private static final int ANSWERS = 1;
    private static final int CLASSES = LinkTable.MESSAGE_CLASSES;

    private final Engine engine;
    private final LinkTable linkTable;
    private final PacketTable packets;
    private final MessageTable messages;
    private final Fabric fabric;
    private final PacketNetwork network;
    private final LinkStatistics links;
    private final TransferTime onCable;
    private final TransferTime inMemory;
    private final NetworkContext context;
    private final int payload;
    private final int header;
    private final boolean isShared;
    private final int buffer;
    private MessageHandler handler;

    private final int[] sendHead;
    private final int[] sendTail;
    private final boolean[] isReading;
    private final boolean[] isWriting;
    private final boolean[] hasJustRead;

    /** Packets in a node that have been read or are being read, and have not left. */
    private final int[] readCount;

    private final int[] outHead;
    private final int[] outTail;
    private final byte[] lastClass;
    private final long[] cableFree;
    private final long[] wake;
    private final int[] writeHead;
    private final int[] writeTail;

    NetworkInterfaces(
            Engine engine,
            LinkTable linkTable,
            PacketTable packets,
            MessageTable messages,
            Fabric fabric,
            PacketNetwork network,
            NetworkContext context) {
        this.engine = engine;
        this.linkTable = linkTable;
        this.packets = packets;
        this.messages = messages;
        this.fabric = fabric;
        this.network = network;
        this.context = context;
        links = network.links();
        payload = context.payload;
        header = context.header;
        isShared = context.isDmaShared;
        buffer = context.nicBuffer;
        onCable = new TransferTime(context.linkRate());
        inMemory = new TransferTime(context.dmaRate);
        int n = linkTable.nodes;
        sendHead = filled(n);
        sendTail = new int[n];
        isReading = new boolean[n];
        isWriting = new boolean[n];
        hasJustRead = new boolean[n];
        readCount = new int[n];
        outHead = filled(CLASSES * n);
        outTail = new int[CLASSES * n];
        lastClass = new byte[n];
        cableFree = new long[n];
        wake = new long[n];
        writeHead = filled(n);
        writeTail = new int[n];
        engine.handler(
                EventKinds.SUBMIT, (time, node, message) -> begin(time, node, (int) message));
        engine.handler(EventKinds.LOCAL, this::onLocal);
        engine.handler(EventKinds.READ, this::onRead);
        engine.handler(EventKinds.ARRIVE, this::onArrive);
        engine.handler(EventKinds.WRITTEN, this::onWritten);
    }

    private static int[] filled(int length) {
        int[] array = new int[length];
        Arrays.fill(array, NONE);
        return array;
    }

    void handler(MessageHandler value) {
        handler = value;
    }

    void submit(long timePs, int message) {
        messages.issuedPs(message, timePs);
        messages.firstInPs(message, -1);
        int node = messages.source(message);
        if (context.overheadPs == 0) {
            begin(timePs, node, message);
        } else {
            engine.schedule(timePs + context.overheadPs, node, node, EventKinds.SUBMIT, message);
        }
    }

    private void begin(long timePs, int node, int message) {
        long count = context.packetCount(messages.bytes(message));
        messages.packets(message, count);
        if (node == messages.destination(message)) {
            long time = inMemory.of(count, payload, sizeOfLast(message));
            engine.schedule(timePs + time, node, node, EventKinds.LOCAL, message);
        } else if (messages.kind(message) == MessageTable.GET) {
            int size = context.requestBytes;
            answerOrAsk(node, PacketTable.REQUEST, message, size, messages.destination(message), 0);
        } else {
            enqueueMessage(node, message);
        }
    }

    private int sizeOfLast(int message) {
        long bytes = messages.bytes(message);
        return (int) (bytes - (context.packetCount(bytes) - 1) * payload);
    }

    private void onLocal(long timePs, int node, long argument) {
        int message = (int) argument;
        messages.firstInPs(message, timePs);
        handler.onData(timePs, message);
        complete(timePs, message);
    }

    private void complete(long timePs, int message) {
        handler.onComplete(timePs, message);
        messages.remove(message);
    }

    private void enqueueMessage(int node, int message) {
        messages.next(message, NONE);
        if (sendHead[node] == NONE) {
            sendHead[node] = message;
        } else {
            messages.next(sendTail[node], message);
        }
        sendTail[node] = message;
        network.decide(linkTable.ports + node);
    }

    /** Something changed at a node. */
    void decide(long timePs, int node) {
        boolean isSent;
        do {
            isSent = isSending(timePs, node);
        } while (isSent);
        boolean isReadFirst = !hasJustRead[node];
        if (isReadFirst) {
            startReading(timePs, node);
        }
        startWriting(timePs, node);
        if (!isReadFirst) {
            startReading(timePs, node);
        }
    }

    /** Puts the next packet on the cable, if there is one, the cable is free and there is room. */
    private boolean isSending(long timePs, int node) {
        int link = linkTable.ports + node;
        for (int i = 1; i <= CLASSES; i++) {
            int messageClass = (lastClass[node] + i) % CLASSES;
            int packet = outHead[node * CLASSES + messageClass];
            if (packet == NONE) {
                continue;
            }
            if (cableFree[node] > timePs) {
                wakeAt(node, cableFree[node]);
                return false;
            }
            int channel =
                    link * linkTable.channels
                            + linkTable.channel(messageClass, 0, packets.destination(packet));
            if (linkTable.credits[channel] == 0) {
                links.creditStalls[link]++;
            } else {
                linkTable.credits[channel]--;
                outHead[node * CLASSES + messageClass] = packets.next(packet);
                packets.next(packet, NONE);
                lastClass[node] = (byte) messageClass;
                send(timePs, node, packet, channel);
                return true;
            }
        }
        return false;
    }

    private void send(long timePs, int node, int packet, int channel) {
        int link = linkTable.ports + node;
        int size = packets.size(packet);
        long busy = onCable.of(size);
        cableFree[node] = timePs + busy;
        links.bytes[link] += size;
        links.packets[link]++;
        links.busyPs[link] += busy;
        if (network.details() != null) {
            network.details().busy(timePs, link, busy);
        }
        if (packets.type(packet) == PacketTable.DATA) {
            readCount[node]--;
        }
        if (linkTable.topology.isAdaptive()) {
            int to = packets.destination(packet);
            packets.state(packet, linkTable.topology.entry(node, to, links.packets[link], fabric));
        }
        fabric.inject(timePs, node, packet, channel);
    }

    private void wakeAt(int node, long timePs) {
        if (wake[node] <= engine.nowPs() || wake[node] > timePs) {
            wake[node] = timePs;
            engine.schedule(timePs, node, node, EventKinds.WAKE, linkTable.ports + node);
        }
    }

    private void startReading(long timePs, int node) {
        if (isReading[node] || isShared && isWriting[node] || readCount[node] >= buffer) {
            return;
        }
        int message = sendHead[node];
        if (message == NONE) {
            return;
        }
        long left = messages.readOne(message);
        int bytes = left > 1 ? payload : sizeOfLast(message);
        nextMessage(node, message, left > 1);
        isReading[node] = true;
        hasJustRead[node] = true;
        readCount[node]++;
        boolean isPut = messages.kind(message) == MessageTable.PUT;
        int to = isPut ? messages.destination(message) : messages.source(message);
        int packet = packets.add(PacketTable.DATA, message, bytes + header, node, to);
        packets.messageClass(packet, isPut ? 0 : ANSWERS);
        engine.schedule(timePs + inMemory.of(bytes), node, node, EventKinds.READ, packet);
    }

    /** The message read last goes behind the others, or stays in front, or is through. */
    private void nextMessage(int node, int message, boolean hasMore) {
        int next = messages.next(message);
        if (!hasMore) {
            sendHead[node] = next;
        } else if (!context.isNicFifo && next != NONE) {
            sendHead[node] = next;
            messages.next(message, NONE);
            messages.next(sendTail[node], message);
            sendTail[node] = message;
        }
    }

    private void onRead(long timePs, int node, long packet) {
        isReading[node] = false;
        enqueuePacket(node, (int) packet);
    }

    private void enqueuePacket(int node, int packet) {
        int queue = node * CLASSES + packets.messageClass(packet);
        if (outHead[queue] == NONE) {
            outHead[queue] = packet;
        } else {
            packets.next(outTail[queue], packet);
        }
        outTail[queue] = packet;
        network.decide(linkTable.ports + node);
    }

    private void answerOrAsk(int node, int type, int message, int size, int to, int messageClass) {
        int packet = packets.add(type, message, size, node, to);
        packets.messageClass(packet, messageClass);
        enqueuePacket(node, packet);
    }

    private void onArrive(long timePs, int node, long argument) {
        int packet = (int) argument;
        int channel = (int) (argument >>> 32);
        int message = packets.message(packet);
        switch (packets.type(packet)) {
            case PacketTable.CONTROL -> {
                leave(timePs, node, packet, channel);
                complete(timePs, message);
            }
            case PacketTable.REQUEST -> {
                leave(timePs, node, packet, channel);
                enqueueMessage(node, message);
            }
            default -> {
                packets.out(packet, channel);
                if (writeHead[node] == NONE) {
                    writeHead[node] = packet;
                } else {
                    packets.next(writeTail[node], packet);
                }
                writeTail[node] = packet;
                network.decide(linkTable.ports + node);
            }
        }
    }

    private void leave(long timePs, int node, int packet, int channel) {
        packets.remove(packet);
        fabric.release(timePs, node, channel);
    }

    private void startWriting(long timePs, int node) {
        int packet = writeHead[node];
        if (packet == NONE || isWriting[node] || isShared && isReading[node]) {
            return;
        }
        writeHead[node] = packets.next(packet);
        isWriting[node] = true;
        hasJustRead[node] = false;
        long time = inMemory.of(packets.size(packet) - header);
        engine.schedule(timePs + time, node, node, EventKinds.WRITTEN, packet);
    }

    private void onWritten(long timePs, int node, long argument) {
        int packet = (int) argument;
        int message = packets.message(packet);
        isWriting[node] = false;
        leave(timePs, node, packet, packets.out(packet));
        network.decide(linkTable.ports + node);
        if (messages.firstInPs(message) < 0) {
            messages.firstInPs(message, timePs);
        }
        if (messages.writtenOne(message) > 0) {
            return;
        }
        handler.onData(timePs, message);
        if (messages.kind(message) == MessageTable.GET) {
            complete(timePs, message);
        } else {
            int from = messages.source(message);
            answerOrAsk(node, PacketTable.CONTROL, message, context.controlBytes, from, ANSWERS);
        }
    }
}
