package dev.verbena.savime.server;

import dev.verbena.savime.server.ServerCounts.Count;
import dev.verbena.savime.server.ServerCounts.Step;
import dev.verbena.savime.store.MetaFile;
import dev.verbena.savime.store.StagedFile;
import dev.verbena.savime.store.StagingDirectory;
import dev.verbena.savime.wire.DatasetNames;
import dev.verbena.savime.wire.DatasetState;
import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgStatus;
import dev.verbena.savime.wire.StgType;
import dev.verbena.staging.Names;
import dev.verbena.staging.metadata.PieceMetadata;
import java.util.ArrayDeque;
import java.util.Objects;
import org.agrona.DirectBuffer;

/** DATASET_OPEN: names, admission, placement, files (specification, sections 5.2, 5.3 and 6.4). */
final class Openings {
    /** Type of a dataset that is the text of a command. */
    static final String COMMAND = "command";

    private static final int TYPE_MAX = 63;
    private static final long LENGTH_MAX = 1L << 42;
    private static final int COMMAND_MAX = 1 << 20;
    private static final int REPLACE = 1;
    private static final int SUFFIX = 2;
    private static final int MEMORY_ONLY = 1;
    private static final int DISK_ONLY = 2;

    private final ServerSettings settings;
    private final Registry registry;
    private final Admission admission;
    private final StorageJobs jobs;
    private final StagingDirectory memory;
    private final StagingDirectory disk;
    private final Ends ends;
    private final ServerCounts counts;
    private final ArrayDeque<Opening> waiting = new ArrayDeque<>();
    private final ArrayDeque<Opening> takenUpLater = new ArrayDeque<>();
    private boolean isStopping;

    /**
     * What is asked for, and since when.
     *
     * @param replaced has the name until this one has its file; null: nobody
     * @param before low half of the number that it had when its connection was lost; 0: it is new
     */
    private record Opening(
            Connection connection,
            long request,
            String name,
            String type,
            long length,
            int elementSize,
            int placement,
            PieceMetadata piece,
            Dataset replaced,
            int before,
            long commandsBefore,
            long sinceNs) {
        Opening named(String other, Dataset instead) {
            return new Opening(
                    connection,
                    request,
                    other,
                    type,
                    length,
                    elementSize,
                    placement,
                    piece,
                    instead,
                    before,
                    commandsBefore,
                    sinceNs);
        }
    }

    Openings(
            ServerSettings settings,
            Registry registry,
            Admission admission,
            StorageJobs jobs,
            StagingDirectory memory,
            StagingDirectory disk,
            Ends ends,
            ServerCounts counts) {
        this.settings = settings;
        this.registry = registry;
        this.admission = admission;
        this.jobs = jobs;
        this.memory = memory;
        this.disk = disk;
        this.ends = ends;
        this.counts = counts;
    }

    /** Refuses from now on. */
    void stop() {
        isStopping = true;
    }

    void onOpen(Connection by, StgFlyweight message, DirectBuffer buffer) {
        if (message.onDuplicate() > SUFFIX || message.placementRule() > DISK_ONLY) {
            throw new IllegalArgumentException("an unknown rule for a dataset");
        }
        PieceMetadata piece = null;
        if (message.metadataLength() > 0) {
            int at = message.metadataAt();
            piece = PieceMetadata.decode(buffer, at, message.metadataLength());
        }
        int before = (message.flags() & StgFlags.FLAG_AGAIN) == 0 ? 0 : message.status();
        Opening opening =
                new Opening(
                        by,
                        message.request(),
                        message.name(),
                        message.elementType(),
                        message.totalBytes(),
                        message.elementSize(),
                        message.placementRule(),
                        piece,
                        null,
                        before,
                        by.session.commandCount,
                        settings.environment().nanoClock().nanoTime());
        int refusal = refusal(opening);
        if (refusal != StgStatus.OK) {
            refuse(opening, refusal);
        } else if (!isTakenUp(opening)) {
            open(opening, message.onDuplicate());
        }
    }

    private void open(Opening asked, int onDuplicate) {
        Opening opening = asked;
        String name = asked.name;
        Dataset same = registry.named(name);
        if (registry.isTaken(name)) {
            if (onDuplicate == SUFFIX) {
                opening = asked.named(free(name), null);
            } else if (onDuplicate == REPLACE && same != null && same.isWaiting()) {
                opening = asked.named(name, same);
            } else {
                refuse(asked, StgStatus.DUPLICATE);
                return;
            }
        }
        registry.take(opening.name);
        if (!waiting.isEmpty() || !place(opening, settings.admissionWaitNs() == 0)) {
            waiting.add(opening);
        }
    }

    private int refusal(Opening asked) {
        long length = asked.length;
        int elementSize = asked.elementSize;
        if (isStopping) {
            return StgStatus.SHUTTING_DOWN;
        }
        if (!DatasetNames.isLegal(asked.name)) {
            return StgStatus.BAD_NAME;
        }
        boolean isShort = !asked.type.equals(COMMAND) || length <= COMMAND_MAX;
        boolean isSize =
                length > 0 && length <= LENGTH_MAX && elementSize > 0 && length % elementSize == 0;
        if (!isSize || !isShort || !isType(asked.type)) {
            return StgStatus.BAD_SIZE;
        }
        boolean isFull = registry.datasetCount() + waiting.size() >= settings.datasetsMax();
        return isFull ? StgStatus.TOO_MANY : StgStatus.OK;
    }

    /** Nothing in it means something else in a sink's language. */
    private static boolean isType(String type) {
        boolean isLength = !type.isEmpty() && type.length() <= TYPE_MAX;
        return isLength
                && type.chars()
                        .allMatch(
                                c ->
                                        c >= 'a' && c <= 'z'
                                                || c >= 'A' && c <= 'Z'
                                                || c >= '0' && c <= '9'
                                                || c == '_'
                                                || c == ':');
    }

    private String free(String name) {
        for (int i = 2; ; i++) {
            String suffix = "_" + i;
            int keep = Math.min(name.length(), DatasetNames.LENGTH_MAX - suffix.length());
            String next = name.substring(0, keep) + suffix;
            if (!registry.isTaken(next)) {
                return next;
            }
        }
    }

    /**
     * Whether it is a dataset that its client, which lost its connection, had begun: that goes on
     * with what has arrived, or is answered again that all has. Another write of that name begins
     * anew in the file that is there.
     */
    private boolean isTakenUp(Opening opening) {
        Connection by = opening.connection;
        Dataset same = registry.named(opening.name);
        boolean isSame = same != null && opening.before != 0 && (int) same.id() == opening.before;
        boolean mayTakeUp =
                same != null
                        && same.session == by.session
                        && same.length() == opening.length
                        && (same.connection == null || isSame && same.connection != by);
        if (mayTakeUp && same.isComplete()) {
            if (isSame) {
                same.takenUp(by);
                opened(by, same, opening.request, opening.length);
            }
            return isSame;
        }
        boolean isOpen = mayTakeUp && same.state == DatasetState.RECEIVING;
        if (!isOpen || !isSame && !isAlike(same, opening)) {
            return false;
        }
        if (same.hasJobs()) {
            takenUpLater.add(opening);
        } else {
            ends.revoke(same);
            if (!isSame) {
                same.givenUp(opening.commandsBefore);
            }
            same.resumed(by);
            opened(by, same, opening.request, same.firstGap());
        }
        return true;
    }

    /** Whether the file that is there, and what is noted of it, are right for this one. */
    private static boolean isAlike(Dataset dataset, Opening opening) {
        MetaFile meta = dataset.meta;
        int wrongPlace = dataset.file.isInMemory() ? DISK_ONLY : MEMORY_ONLY;
        return opening.placement != wrongPlace
                && meta.type().equals(opening.type)
                && meta.elementSize() == opening.elementSize
                && Objects.equals(meta.piece(), opening.piece);
    }

    /** Those whose dataset was worked on when they came; work done. */
    private int takeUp() {
        int work = 0;
        for (int i = takenUpLater.size(); i > 0; i--) {
            Opening opening = takenUpLater.remove();
            Dataset same = registry.named(opening.name);
            boolean isBusy = same != null && same.hasJobs() && !same.isComplete();
            if (opening.connection.isEnding) {
                work++;
            } else if (isBusy) {
                takenUpLater.add(opening);
            } else {
                work++;
                if (!isTakenUp(opening)) {
                    open(opening, 0);
                }
            }
        }
        return work;
    }

    /**
     * A dataset that is refused has failed as one that the sink refuses; the text of a command has
     * not.
     */
    private static void refuse(Opening opening, int status) {
        Connection by = opening.connection;
        by.reply(StgType.DATASET_OPENED, opening.request, status);
        if (!opening.type.equals(COMMAND)) {
            String readable = opening.name.isEmpty() ? "''" : Names.readable(opening.name);
            by.session.failed(readable, opening.commandsBefore);
        }
    }

    private void opened(Connection by, Dataset dataset, long request, long resumeOffset) {
        by.reply(StgType.DATASET_OPENED, request, StgStatus.OK)
                .opened(
                        dataset.id(),
                        dataset.file.isInMemory() ? 1 : 2,
                        resumeOffset,
                        dataset.name());
    }

    /** Those that wait for memory, in order; work done. */
    int doWork() {
        int work = takeUp();
        while (!waiting.isEmpty()) {
            Opening first = waiting.peek();
            long now = settings.environment().nanoClock().nanoTime();
            boolean isLast = now - first.sinceNs - settings.admissionWaitNs() >= 0;
            boolean isGone = first.connection.isEnding;
            if (isGone) {
                registry.give(first.name, first.replaced);
            } else if (!place(first, isLast || isStopping)) {
                break;
            }
            waiting.remove();
            work++;
        }
        return work;
    }

    boolean isWaiting() {
        return !(waiting.isEmpty() && takenUpLater.isEmpty());
    }

    /** Finds a place; false: it may wait for memory, or for the sink to have what it replaces. */
    private boolean place(Opening opening, boolean isLast) {
        if (registry.isThere(opening.replaced) && !opening.replaced.isWaiting()) {
            if (isLast) {
                giveUp(opening, StgStatus.DUPLICATE);
            }
            return isLast;
        }
        if (opening.placement != DISK_ONLY && memory != null) {
            StagedFile used = admission.reuse(opening.length);
            if (used != null) {
                counts.add(Count.REUSED, 1);
                make(opening, true, used);
                return true;
            }
            if (admission.reserveMemory(opening.length)) {
                make(opening, true, null);
                return true;
            }
            if (!isLast && opening.length <= settings.memoryMax()) {
                return false;
            }
        }
        if (opening.placement != MEMORY_ONLY
                && disk != null
                && admission.reserveDisk(opening.length)) {
            make(opening, false, null);
        } else {
            giveUp(opening, StgStatus.NO_SPACE);
        }
        return true;
    }

    private void giveUp(Opening opening, int status) {
        registry.give(opening.name, opening.replaced);
        refuse(opening, status);
    }

    private void make(Opening opening, boolean isMemory, StagedFile used) {
        long id = registry.nextId();
        StagingDirectory directory = isMemory ? memory : disk;
        MetaFile meta =
                new MetaFile(
                        id,
                        opening.name,
                        opening.type,
                        opening.length,
                        opening.elementSize,
                        opening.connection.session.clientId,
                        DatasetState.RECEIVING,
                        false,
                        0,
                        settings.environment().epochClock().time(),
                        0,
                        opening.piece);
        StagedFile[] made = new StagedFile[1];
        Session session = opening.connection.session;
        session.count(1);
        boolean isReplacing = registry.isThere(opening.replaced);
        if (isReplacing) {
            opening.replaced.jobs(1); // It is not sent meanwhile.
        }
        jobs.submitShort(
                isMemory,
                () -> {
                    made[0] =
                            used == null
                                    ? directory.create(id, opening.length)
                                    : directory.reuse(used, id);
                    made[0].writeMeta(meta);
                },
                failure -> {
                    session.count(-1);
                    if (isReplacing) {
                        opening.replaced.jobs(-1);
                    }
                    if (failure == null) {
                        made(opening, made[0], meta);
                    } else {
                        notMade(opening, isMemory, used == null ? made[0] : used);
                    }
                });
    }

    private void made(Opening opening, StagedFile file, MetaFile meta) {
        Session session = opening.connection.session;
        Dataset dataset =
                new Dataset(session, opening.connection, file, meta, opening.commandsBefore);
        if (opening.before != 0) {
            dataset.repeated(); // An earlier server may have had it, and the sink, too.
        }
        registry.add(dataset);
        long now = settings.environment().nanoClock().nanoTime();
        counts.took(Step.OPEN, now - opening.sinceNs);
        if (session.isConnected(opening.connection)) {
            replace(opening);
            opened(opening.connection, dataset, opening.request, 0);
        } else {
            registry.give(opening.name, opening.replaced);
            ends.remove(dataset, DatasetState.ABORTED);
        }
    }

    /** What had its name goes, as this one is there. */
    private void replace(Opening opening) {
        Dataset old = opening.replaced;
        if (!registry.isThere(old)) {
            return;
        }
        if (!old.meta.type().equals(COMMAND)) {
            old.replaced(opening.connection.session, opening.commandsBefore);
        }
        ends.remove(old, DatasetState.ABORTED);
    }

    /**
     * A full disk, mostly.
     *
     * @param file what there is of it; null: nothing
     */
    private void notMade(Opening opening, boolean isMemory, StagedFile file) {
        registry.give(opening.name, opening.replaced);
        admission.release(isMemory, opening.length);
        if (file != null) {
            ends.discard(file);
        }
        if (opening.connection.session.isConnected(opening.connection)) {
            refuse(opening, StgStatus.NO_SPACE);
        }
        registry.forgetIfOver(opening.connection.session);
    }
}
