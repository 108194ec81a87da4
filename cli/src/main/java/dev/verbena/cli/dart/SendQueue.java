package dev.verbena.cli.dart;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.ProgressLine;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartTicket;
import dev.verbena.dart.TicketState;
import dev.verbena.memory.RegisteredRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Files and folders on their way: two buffers, one read while the other is sent. Knows which are
 * confirmed, so that a sender that lost its server goes on with the rest. A file whose parts were
 * not all confirmed begins anew. One thread.
 */
final class SendQueue {
    private static final int NAMES_MAX = 5;

    private enum State {
        WAITING,
        CONFIRMED,
        LEFT_OUT
    }

    private final List<Item> items;
    private final Consumer<String> faults;
    private final BooleanSupplier isStopping;
    private final State[] states;
    private final long[] lengths;
    private final Deque<Part> pending = new ArrayDeque<>();
    private final DartMetadata metadata = new DartMetadata();
    private final RegisteredRegion[] regions = new RegisteredRegion[2];
    private final ByteBuffer[] windows = new ByteBuffer[2];
    private final DartTicket[] tickets = new DartTicket[2];
    private DartClient client;
    private final String sender = Long.toHexString(new SplittableRandom().nextLong() >>> 24);
    private int attempts;
    private String attempt;
    private int rank;
    private long timeoutNs;
    private int turn;
    private int failedItem = -1;
    private String failure = "";
    private int confirmedCount;
    private int spilledCount;
    private long byteCount;

    /** A file or folder to be sent, under the name that it gets at the receiver. */
    record Item(Path path, String name, boolean isFolder) {}

    /** A message on its way. */
    private record Part(int item, DartTicket ticket, boolean isLast) {}

    /**
     * A queue of these.
     *
     * @param faults gets what cannot be sent, and why
     * @param isStopping asked before each file: leave out the rest
     */
    SendQueue(List<Item> items, Consumer<String> faults, BooleanSupplier isStopping) {
        this.items = items;
        this.faults = faults;
        this.isStopping = isStopping;
        this.states = new State[items.size()];
        java.util.Arrays.fill(states, State.WAITING);
        this.lengths = new long[items.size()];
    }

    /** Files and folders that the receiver has confirmed. */
    int confirmedCount() {
        return confirmedCount;
    }

    /** Those of them of which the last part is on the disk of a server that waits for it. */
    int spilledCount() {
        return spilledCount;
    }

    /** Bytes of the confirmed files. */
    long byteCount() {
        return byteCount;
    }

    /** Nothing waits any more. */
    boolean isFinished() {
        return next(0) == items.size();
    }

    /** What waits, for people. */
    String unconfirmed() {
        int count = 0;
        StringBuilder names = new StringBuilder();
        for (int i = next(0); i < items.size(); i = next(i + 1)) {
            if (count++ < NAMES_MAX) {
                names.append(names.length() == 0 ? "" : ", ").append(items.get(i).name());
            }
        }
        return names + (count > NAMES_MAX ? " and " + (count - NAMES_MAX) + " more" : "");
    }

    private int next(int from) {
        int i = from;
        while (i < items.size() && states[i] != State.WAITING) {
            i++;
        }
        return i;
    }

    /**
     * Sends what waits, and waits until it is confirmed.
     *
     * @param timeoutNs longest time in which nothing is confirmed
     * @throws DartException why not everything was confirmed; what was is known
     */
    void send(DartClient client, int rank, long timeoutNs, ProgressLine line) {
        this.client = client;
        this.rank = rank;
        this.timeoutNs = timeoutNs;
        this.attempt = sender + "-" + ++attempts;
        failedItem = -1;
        pending.clear();
        prepare();
        try {
            for (int i = next(0); i < items.size(); i = next(i + 1)) {
                if (isStopping.getAsBoolean()) {
                    leaveOutFrom(i);
                    break;
                }
                line.progress("sent", confirmedCount, items.size(), items.get(i).name());
                send(i);
                settle();
            }
            while (!pending.isEmpty()) {
                line.progress(
                        "sent",
                        confirmedCount,
                        items.size(),
                        items.get(pending.peek().item()).name());
                pending.peek().ticket().await(TicketState.STREAMED, timeoutNs);
                settle();
            }
        } finally {
            settle();
        }
        if (!isFinished()) {
            throw new DartException(DartException.Code.UNCONFIRMED, failure);
        }
    }

    /** Counts what is confirmed; a file is when its last part is and none before it failed. */
    private void settle() {
        while (!pending.isEmpty() && pending.peek().ticket().state().isFinal()) {
            Part part = pending.poll();
            if (part.ticket().state() == TicketState.FAILED) {
                failedItem = part.item();
                failure = part.ticket().toString();
            } else if (part.isLast() && failedItem != part.item()) {
                states[part.item()] = State.CONFIRMED;
                confirmedCount++;
                spilledCount += part.ticket().state() == TicketState.SPILLED ? 1 : 0;
                byteCount += lengths[part.item()];
            }
        }
    }

    private void prepare() {
        long longest = 1;
        for (int i = next(0); i < items.size(); i = next(i + 1)) {
            Item item = items.get(i);
            longest = Math.max(longest, item.isFolder() ? 1 : item.path().toFile().length());
        }
        int length = (int) Math.min(longest, SentFile.PART_LENGTH);
        for (int i = 0; i < regions.length; i++) {
            regions[i] = client.allocate(length);
            tickets[i] = null;
            if (windows[i] == null || windows[i].capacity() < length) {
                windows[i] = ByteBuffer.allocateDirect(length);
            }
        }
    }

    /** Waits until a region may be filled again. */
    private int nextRegion() {
        turn = 1 - turn;
        if (tickets[turn] != null) {
            tickets[turn].await(TicketState.TRANSFERRED, timeoutNs);
        }
        return turn;
    }

    private void send(int index) {
        Item item = items.get(index);
        if (item.isFolder()) {
            int slot = nextRegion();
            SentFile.describe(metadata, item.name(), attempt, 0, 0, true);
            post(index, slot, 0, true);
            return;
        }
        try (FileChannel in = FileChannel.open(item.path(), StandardOpenOption.READ)) {
            sendFile(index, in);
        } catch (IOException e) {
            leaveOut(index, Messages.of(e));
        } catch (IllegalArgumentException e) {
            leaveOut(index, item.path() + ": " + Messages.of(e));
        }
    }

    private void leaveOutFrom(int index) {
        leaveOut(index, "asked to stop; this and what comes after: " + items.get(index).path());
        for (int i = next(index); i < items.size(); i = next(i + 1)) {
            states[i] = State.LEFT_OUT;
        }
    }

    private void leaveOut(int index, String why) {
        states[index] = State.LEFT_OUT;
        faults.accept(why + "; left out");
    }

    private void sendFile(int index, FileChannel in) throws IOException {
        Item item = items.get(index);
        long total = in.size();
        lengths[index] = total;
        CRC32C crc = new CRC32C();
        long offset = 0;
        do {
            int slot = nextRegion();
            int length = fill(in, slot, total - offset, item);
            crc.update(windows[slot].duplicate());
            UnsafeBuffer target = regions[slot].buffer(0, (int) regions[slot].length());
            target.putBytes(0, windows[slot], 0, length);
            SentFile.describe(metadata, item.name(), attempt, offset, total, false);
            offset += length;
            if (offset == total) {
                metadata.property("crc", String.format("%08x", (int) crc.getValue()));
            }
            post(index, slot, length, offset == total);
        } while (offset < total);
    }

    private void post(int index, int slot, int length, boolean isLast) {
        tickets[slot] = client.send(regions[slot], 0, length, metadata.rank(rank), 0, timeoutNs);
        pending.add(new Part(index, tickets[slot], isLast));
    }

    private int fill(FileChannel in, int slot, long rest, Item item) throws IOException {
        ByteBuffer window = windows[slot];
        int capacity = (int) Math.min(window.capacity(), regions[slot].length());
        window.clear().limit((int) Math.min(rest, capacity));
        while (window.hasRemaining()) {
            if (in.read(window) < 0) {
                throw new IOException(item.path() + ": it became shorter while it was sent");
            }
        }
        return window.flip().limit();
    }
}
