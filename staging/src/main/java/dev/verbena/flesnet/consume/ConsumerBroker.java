package dev.verbena.flesnet.consume;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.flesnet.ComponentFlyweight;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.FlesnetException;
import dev.verbena.flesnet.Timeslice;
import dev.verbena.flesnet.TimesliceHandler;
import dev.verbena.staging.Arguments;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Gives timeslices of a compute node to consumers in other processes of this machine (section 9).
 * As handler it only keeps what it gets; as agent, on a thread of its own, it copies each timeslice
 * that somebody wants into shared memory, releases it, and hands the copy out. A consumer whose
 * process is gone, or that is idle and silent for ten seconds, is given up: what it had is
 * released. Nothing is allocated per timeslice.
 */
public final class ConsumerBroker implements TimesliceHandler, ProtocolAgent {
    private static final long BEAT_NS = 100_000_000L;
    private static final long SILENCE_NS = 10_000_000_000L;

    private final FlesnetContext context;
    private final Path path;
    private final int itemCount;
    private final int consumersMin;
    private final OneToOneConcurrentArrayQueue<Timeslice> waiting;
    private final Worker[] workers = new Worker[ConsumerSegment.WORKERS];
    private final int[] targets = new int[ConsumerSegment.WORKERS];
    private final QueuePolicy[] policies = new QueuePolicy[ConsumerSegment.WORKERS];
    private final int[] uses;
    private ConsumerSegment segment;
    private UnsafeBuffer buffer;
    private int registered;
    private long nextBeatNs;
    private long beat;
    private volatile long handedCount;
    private volatile long unwantedCount;
    private volatile boolean isEnding;
    private volatile boolean isFinished;

    /**
     * A broker; touches nothing before it is started.
     *
     * @param path the segment, best in a folder that is memory; its folder takes registrations
     * @param items timeslices that are in the hands of consumers at a time, 2 to 4,096
     * @param consumers nothing is handed out before so many have registered
     */
    public ConsumerBroker(FlesnetContext context, Path path, int items, int consumers) {
        this.context = context.conclude();
        this.path = path;
        this.itemCount = items;
        this.consumersMin = consumers;
        Arguments.range("items", items, 2, 4096);
        Arguments.range("consumers", consumers, 0, ConsumerSegment.WORKERS);
        uses = new int[items];
        waiting = new OneToOneConcurrentArrayQueue<>(1 << context.descriptorExponent());
    }

    @Override
    public void onTimeslice(Timeslice timeslice) {
        if (!waiting.offer(timeslice)) {
            throw new IllegalStateException("more timeslices than there are descriptors");
        }
    }

    @Override
    public void onStart() {
        try {
            long content = (long) context.inputs() << context.dataExponent();
            segment = ConsumerSegment.create(path, context.inputs(), itemCount, content);
        } catch (IOException e) {
            throw new FlesnetException("cannot make " + path + ": " + e, e);
        }
        buffer = segment.buffer();
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Worker(buffer, ConsumerSegment.workerAt(i));
        }
        nextBeatNs = now();
    }

    private long now() {
        return context.environment().nanoClock().nanoTime();
    }

    @Override
    public int doWork() {
        long now = now();
        int work = 0;
        if (now - nextBeatNs >= 0) {
            nextBeatNs = now + BEAT_NS;
            buffer.putLongOrdered(ConsumerSegment.BEAT, ++beat);
            register(now);
            giveUp(now);
            work++;
        }
        for (Worker worker : workers) {
            if (!worker.isFree()) {
                work += collect(worker);
            }
        }
        Timeslice next = waiting.peek();
        if (next != null && registered >= consumersMin && handOut(next)) {
            // In this order: as soon as it is released another one may come and need its place.
            waiting.poll();
            next.release();
            work++;
        }
        if (next == null && isEnding && waiting.isEmpty() && isAllBack()) {
            buffer.putIntOrdered(ConsumerSegment.ENDED, ConsumerSegment.FINISHED);
            isFinished = true;
        }
        return work;
    }

    // ---- consumers

    private void register(long now) {
        String prefix = ConsumerSegment.prefix(path);
        try (DirectoryStream<Path> found =
                Files.newDirectoryStream(
                        path.toAbsolutePath().getParent(),
                        file -> file.getFileName().toString().startsWith(prefix))) {
            for (Path file : found) {
                if (ConsumerSegment.isRegistration(path, file)) {
                    register(file, now);
                }
            }
        } catch (IOException e) {
            context.environment().errorHandler().onError(e);
        }
    }

    private void register(Path file, long now) throws IOException {
        try {
            String name = file.getFileName().toString();
            String number = name.substring(ConsumerSegment.prefix(path).length());
            long token = Long.parseUnsignedLong(number);
            ConsumerWish wish = ConsumerWish.parse(Files.readString(file));
            Worker free = null;
            for (Worker worker : workers) {
                free = free == null && worker.isFree() ? worker : free;
            }
            if (free == null) {
                throw new IllegalArgumentException("there is room for " + workers.length);
            }
            // Before it has a place: the file may be deleted meanwhile.
            if (!ConsumerSegment.isAlive(token >>> 32, file)) {
                throw new IllegalArgumentException("its process is gone");
            }
            free.begin(wish, token, now);
            // Who deletes the file decides: a consumer that leaves does so too.
            if (Files.deleteIfExists(file)) {
                registered++;
            } else {
                free.end();
            }
        } catch (IllegalArgumentException | IOException e) {
            report("cannot register consumer " + file.getFileName(), e);
            Files.deleteIfExists(file);
        }
    }

    private void report(String what, Exception why) {
        context.environment()
                .errorHandler()
                .onError(new FlesnetException(what + ": " + why.getMessage(), why));
    }

    private void giveUp(long now) {
        for (Worker worker : workers) {
            if (worker.isFree() || worker.isLeaving()) {
                continue;
            }
            boolean isGone = !ConsumerSegment.isAlive(worker.process());
            if (isGone || worker.isSilent(now, SILENCE_NS)) {
                lose(worker, new FlesnetException(isGone ? "its process is gone" : "it is silent"));
            }
        }
    }

    private void lose(Worker worker, Exception why) {
        report("consumer '" + worker.wish().name() + "' is lost", why);
        end(worker);
    }

    private void end(Worker worker) {
        for (int item = worker.takeBack(); item >= 0; item = worker.takeBack()) {
            uses[item]--;
        }
        worker.end();
    }

    private int collect(Worker worker) {
        int work = 0;
        try {
            for (int item = worker.takeCompleted(); item >= 0; item = worker.takeCompleted()) {
                uses[item]--;
                work++;
            }
        } catch (IllegalStateException e) {
            lose(worker, e);
            return 1;
        }
        if (worker.isLeaving()) {
            end(worker);
            return 1;
        }
        return work + (worker.handKept() ? 1 : 0);
    }

    // ---- handing out

    /** Whether this timeslice is done with here; false: it must wait. */
    private boolean handOut(Timeslice timeslice) {
        int count = choose(timeslice.descriptor());
        int item = count > 0 ? freeItem(count) : -1;
        if (count < 0 || item < 0 && isAnyForAll(count)) {
            return false;
        }
        if (item >= 0) {
            write(timeslice, segment.itemAt(item));
            uses[item] = count;
            for (int i = 0; i < count; i++) {
                give(workers[targets[i]], policies[i], item);
            }
        }
        if (item >= 0) {
            handedCount++;
        } else {
            unwantedCount++;
        }
        return true;
    }

    /**
     * Fills {@link #targets} and their groups' {@link #policies}; how many, -1: one has no room and
     * wants all.
     */
    private int choose(long number) {
        int count = 0;
        for (int w = 0; w < workers.length; w++) {
            Worker worker = workers[w];
            if (worker.isFree() || !worker.wish().wants(number) || hasEarlier(w, number)) {
                continue;
            }
            int target = best(w, number);
            if (target >= 0) {
                policies[count] = worker.wish().policy();
                targets[count++] = target;
            } else if (worker.wish().policy() == QueuePolicy.ALL) {
                return -1;
            }
        }
        return count;
    }

    private boolean isTogether(int first, int second, long number) {
        if (first == second) {
            return true;
        }
        if (workers[first].isFree() || workers[second].isFree()) {
            return false;
        }
        ConsumerWish a = workers[first].wish();
        ConsumerWish b = workers[second].wish();
        return !a.group().isEmpty() && a.group().equals(b.group()) && b.wants(number);
    }

    private boolean hasEarlier(int of, long number) {
        for (int w = 0; w < of; w++) {
            if (isTogether(of, w, number)) {
                return true;
            }
        }
        return false;
    }

    /** The member of the group with the least to do; the group's policy is its first member's. */
    private int best(int first, long number) {
        QueuePolicy policy = workers[first].wish().policy();
        int best = -1;
        for (int w = first; w < workers.length; w++) {
            boolean isAble =
                    isTogether(first, w, number)
                            && (policy == QueuePolicy.ALL
                                    ? workers[w].hasRoom()
                                    : workers[w].isIdle());
            if (isAble && (best < 0 || workers[w].outstanding() < workers[best].outstanding())) {
                best = w;
            }
        }
        return best < 0 && policy == QueuePolicy.ONE ? first : best;
    }

    private void give(Worker worker, QueuePolicy policy, int item) {
        if (worker.outstanding() == 0 || policy == QueuePolicy.ALL) {
            worker.hand(item);
            return;
        }
        keep(worker, item);
    }

    private void keep(Worker worker, int item) {
        int before = worker.keep(item);
        if (before >= 0) {
            uses[before]--;
        }
    }

    private boolean isAnyForAll(int count) {
        for (int i = 0; i < count; i++) {
            if (policies[i] == QueuePolicy.ALL) {
                return true;
            }
        }
        return false;
    }

    /** Room for a newer one than what its targets keep. */
    private int freeItem(int count) {
        int item = freeItem();
        for (int i = 0; i < count && item < 0; i++) {
            if (policies[i] == QueuePolicy.ONE) {
                keep(workers[targets[i]], Worker.NONE);
                item = freeItem();
            }
        }
        return item;
    }

    private int freeItem() {
        for (int i = 0; i < uses.length; i++) {
            if (uses[i] == 0) {
                return i;
            }
        }
        return -1;
    }

    private boolean isAllBack() {
        for (int use : uses) {
            if (use != 0) {
                return false;
            }
        }
        return true;
    }

    private void write(Timeslice timeslice, int at) {
        int components = timeslice.componentCount();
        buffer.putLong(at, timeslice.index(), LITTLE_ENDIAN);
        buffer.putLong(at + 8, timeslice.descriptor(), LITTLE_ENDIAN);
        buffer.putInt(at + 16, timeslice.flags(), LITTLE_ENDIAN);
        buffer.putInt(at + 20, components, LITTLE_ENDIAN);
        buffer.putLong(at + 24, timeslice.arrivalSpreadNs(), LITTLE_ENDIAN);
        int next = ConsumerSegment.TABLE + components * ConsumerSegment.ENTRY;
        for (int i = 0; i < components; i++) {
            boolean isThere = timeslice.hasComponent(i);
            int size = isThere ? timeslice.size(i) : 0;
            int entry = at + ConsumerSegment.TABLE + i * ConsumerSegment.ENTRY;
            buffer.putLong(entry, next, LITTLE_ENDIAN);
            buffer.putInt(entry + 8, size, LITTLE_ENDIAN);
            int flags = isThere ? timeslice.flags(i) : ComponentFlyweight.MISSING_COMPONENT;
            buffer.putInt(entry + 12, flags, LITTLE_ENDIAN);
            int microslices = isThere ? timeslice.microsliceCount(i) : 0;
            buffer.putInt(entry + 16, microslices, LITTLE_ENDIAN);
            buffer.putInt(entry + 20, isThere ? 1 : 0, LITTLE_ENDIAN);
            copy(timeslice, i, at + next, size);
            next += size;
        }
    }

    private void copy(Timeslice timeslice, int input, int to, int size) {
        if (size > 0) {
            DirectBuffer ring = timeslice.ring(input);
            int from = timeslice.offset(input, 0);
            int first = Math.min(size, ring.capacity() - from);
            buffer.putBytes(to, ring, from, first);
            buffer.putBytes(to + first, ring, 0, size - first);
        }
    }

    // ---- the end

    /** No more timeslices come: consumers are asked to end once they have theirs. Any thread. */
    public void finish() {
        isEnding = true;
    }

    /** Whether consumers have completed everything after {@link #finish()}. Any thread. */
    public boolean isFinished() {
        return isFinished;
    }

    /** Timeslices that were handed out. Any thread. */
    public long handedCount() {
        return handedCount;
    }

    /** Timeslices that went by because no consumer was there or wanted them. Any thread. */
    public long unwantedCount() {
        return unwantedCount;
    }

    @Override
    public long nextDeadlineNs() {
        return nextBeatNs;
    }

    /** Tells consumers that it is over and removes the segment; their mappings stay. */
    @Override
    public void onClose() {
        if (buffer == null) {
            return;
        }
        if (!isFinished) {
            buffer.putIntOrdered(ConsumerSegment.ENDED, ConsumerSegment.FAILED);
        }
        try {
            if (segment.isAt(path)) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            context.environment().errorHandler().onError(e);
        }
    }

    @Override
    public String roleName() {
        return "flesnet-consumers";
    }
}
