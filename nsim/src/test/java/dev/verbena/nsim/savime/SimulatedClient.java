package dev.verbena.nsim.savime;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.nsim.world.SimulatedProcess;
import dev.verbena.nsim.world.World;
import dev.verbena.savime.client.ClientEngine;
import dev.verbena.savime.client.ClientSettings;
import dev.verbena.savime.client.RunCommand;
import dev.verbena.savime.client.Task;
import dev.verbena.savime.client.TaskQueue;
import dev.verbena.savime.client.Upload;
import dev.verbena.savime.wire.StgFlags;
import dev.verbena.transport.TransportContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntSupplier;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A client's engine, and a program that gives it datasets and commands, several at a time, with
 * pauses. World's thread.
 */
final class SimulatedClient implements ProtocolAgent, AutoCloseable {
    static final long PEER_TIMEOUT_NS = 50_000_000;
    static final byte[] TOKEN = new byte[16];

    private static final int TASKS = 16;
    private static final int WINDOW = 4;
    private static final int ELEMENT = 8;
    private static final int ELEMENTS_MAX = 2500;
    private static final int PAUSE_NS = 3_000_000;
    private static final long HEARTBEAT_NS = 20_000_000;
    private static final long LONG_NS = 20_000_000_000L;

    private final SimulatedProcess process;
    private final int index;
    private final Random random;
    private final IntSupplier place;
    private final TaskQueue queue = new TaskQueue(1, 1, () -> {});
    private final ClientEngine engine;
    private final OffHeapMemory memory;
    private final List<Asked> asked = new ArrayList<>();
    private long nextNs;
    private int inFlight;

    /** A dataset or a command that was given to the engine. */
    static final class Asked {
        private final String name;
        private final int flags;
        private final int askedAt;
        private int endedAt;
        private Task task;

        private Asked(String name, int flags, int askedAt) {
            this.name = name;
            this.flags = flags;
            this.askedAt = askedAt;
        }

        private void ended(Task ended, int at) {
            task = ended;
            endedAt = at;
        }

        /** Of a dataset; the text of a command. */
        String name() {
            return name;
        }

        boolean isDataset() {
            return flags < 0;
        }

        boolean isOrdered() {
            return flags >= 0 && (flags & StgFlags.FLAG_IMMEDIATE) == 0;
        }

        /** Place among all that happened. */
        int askedAt() {
            return askedAt;
        }

        /** Place among all that happened; 0: it has not ended. */
        int endedAt() {
            return endedAt;
        }

        /** How it ended; -1: it has not. */
        int status() {
            return task == null ? -1 : task.status();
        }

        String text() {
            return task == null ? "" : task.text();
        }
    }

    /**
     * Nothing sent yet.
     *
     * @param place counts what happens, here and elsewhere
     * @param path file with the server's address
     */
    SimulatedClient(
            SimulatedProcess process, int index, Random random, IntSupplier place, String path) {
        this.process = process;
        this.index = index;
        this.random = random;
        this.place = place;
        memory = OffHeapMemories.allocate((long) ELEMENT * ELEMENTS_MAX * TASKS);
        ClientSettings settings =
                new ClientSettings(
                        process,
                        1000 + index,
                        TOKEN,
                        4096 * (1 + random.nextInt(2)),
                        1 + random.nextInt(3),
                        1,
                        random.nextBoolean(),
                        random.nextInt(3) > 0,
                        HEARTBEAT_NS,
                        LONG_NS,
                        LONG_NS);
        TransportContext context = new TransportContext().peerTimeoutNs(PEER_TIMEOUT_NS);
        engine =
                ClientEngine.transport(
                        settings, () -> process.openTransport(World.SCHEME, context), path, queue);
    }

    /** Byte of a dataset of this name. */
    static byte content(String name, int at) {
        return (byte) ((name.hashCode() + at) * 0x9E3779B1 >>> 24);
    }

    List<Asked> asked() {
        return asked;
    }

    SimulatedProcess process() {
        return process;
    }

    TaskQueue queue() {
        return queue;
    }

    /** All that it asks for has ended, and the sink has what it is owed, or never will. */
    boolean isDone() {
        return asked.size() == TASKS && inFlight == 0 && queue.isDrained();
    }

    private long nowNs() {
        return process.nanoClock().nanoTime();
    }

    @Override
    public void onStart() {
        engine.onStart();
        nextNs = nowNs();
    }

    private boolean mayAsk() {
        return asked.size() < TASKS && inFlight < WINDOW;
    }

    @Override
    public int doWork() {
        int work = engine.doWork();
        if (mayAsk() && nowNs() - nextNs >= 0) {
            nextNs = nowNs() + random.nextInt(PAUSE_NS);
            inFlight++;
            ask();
            work++;
        }
        return work;
    }

    private void ask() {
        int number = asked.size();
        int kind = random.nextInt(10);
        if (kind < 7) {
            write("c" + index + "_" + number, number);
        } else {
            boolean isImmediate = kind == 9;
            int flags =
                    isImmediate
                            ? StgFlags.FLAG_IMMEDIATE
                            : random.nextInt(3) == 0 ? StgFlags.FLAG_EVEN_IF_FAILED : 0;
            run("run c" + index + " " + number, flags);
        }
    }

    private void write(String name, int number) {
        int length = ELEMENT * (1 + random.nextInt(ELEMENTS_MAX));
        int offset = ELEMENT * ELEMENTS_MAX * number;
        UnsafeBuffer bytes = memory.buffer(offset, length);
        for (int i = 0; i < length; i++) {
            bytes.putByte(i, content(name, i));
        }
        Asked what = new Asked(name, -1, place.getAsInt());
        asked.add(what);
        Upload.Dataset dataset =
                new Upload.Dataset(name, "double", ELEMENT, 0, random.nextInt(3), null);
        queue.add(new Upload(dataset, memory, offset, length, task -> ended(what, task)));
    }

    private void run(String text, int flags) {
        Asked what = new Asked(text, flags, place.getAsInt());
        asked.add(what);
        queue.add(new RunCommand(text, flags, null, task -> ended(what, task)));
    }

    private void ended(Asked what, Task task) {
        inFlight--;
        what.ended(task, place.getAsInt());
    }

    @Override
    public long nextDeadlineNs() {
        return mayAsk() ? Math.min(nextNs, engine.nextDeadlineNs()) : engine.nextDeadlineNs();
    }

    @Override
    public void onClose() {
        engine.onClose();
    }

    @Override
    public String roleName() {
        return engine.roleName();
    }

    /** Frees its memory, once its process has ended. */
    @Override
    public void close() {
        memory.close();
    }
}
