package dev.verbena.nessie.service;

import dev.verbena.agent.DurableStore;
import dev.verbena.nessie.nnti.NntiBuffer;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Versions of arrays, the memory of their pieces, and their files. Pieces move to disk when memory
 * is short, the oldest first. Never waits. One thread.
 */
final class ArrayStore implements AutoCloseable {
    private static final int VERSIONS_MAX = 1 << 16;

    private final DurableStore files;
    private final PieceMemory memory;
    private final ArrayServerOptions options;
    private final Map<String, TreeMap<Long, Version>> arrays = new HashMap<>();

    /** Complete pieces in memory, the oldest first; without those of versions that were dropped. */
    private final Set<Piece> resident = new LinkedHashSet<>();

    private final Set<Version> writing = new LinkedHashSet<>();
    private long nextFile;
    private int versionCount;
    private boolean isChanged;

    ArrayStore(DurableStore files, PieceMemory memory, ArrayServerOptions options) {
        this.files = files;
        this.memory = memory;
        this.options = options;
    }

    /** Files of this number are not to be written over. */
    void reserveFile(long file) {
        nextFile = Math.max(nextFile, file + 1);
    }

    /** One that is new, or was found in the files. */
    void add(Version version) {
        ArrayDescription array = version.description;
        arrays.computeIfAbsent(array.name(), key -> new TreeMap<>()).put(array.version(), version);
        versionCount++;
    }

    private TreeMap<Long, Version> versions(String name) {
        return arrays.getOrDefault(name, new TreeMap<>());
    }

    /** A version, made if it is not there. */
    Version open(ArrayDescription array) {
        Version version = find(array.name(), array.version());
        if (version == null) {
            if (versionCount == VERSIONS_MAX) {
                String why = "the server has " + VERSIONS_MAX + " versions already";
                throw Version.failure(ArrayStatus.BUSY, array.name(), array.version(), why);
            }
            version = new Version(array, new VersionFile(files, nextFile++, false));
            add(version);
            isChanged = true;
        }
        version.requireSame(array.whole(), array.type());
        return version;
    }

    /** A version; of {@code LATEST} the newest sealed one; null: there is none. */
    Version find(String name, long number) {
        TreeMap<Long, Version> versions = versions(name);
        Stream<Version> newest = versions.descendingMap().values().stream();
        return number >= 0
                ? versions.get(number)
                : newest.filter(Version::isSealed).findFirst().orElse(null);
    }

    /** Sealed versions with a number above this one, ascending. */
    List<Version> sealedAfter(String name, long number) {
        Stream<Version> later = versions(name).tailMap(number, false).values().stream();
        return later.filter(Version::isSealed).toList();
    }

    // ---- memory

    /** Memory for a piece; null: not now, pieces are on their way to disk. */
    NntiBuffer take(long length) {
        NntiBuffer taken = memory.take(length);
        if (taken == null) {
            evict(memory.charge(length));
            taken = memory.take(length);
        }
        return taken;
    }

    private void evict(long wanted) {
        Iterator<Piece> oldest = resident.iterator();
        while (memory.free() < wanted && oldest.hasNext()) {
            Piece piece = oldest.next();
            boolean isLost = !piece.version.file.error.isEmpty();
            if ((isLost || piece.is(Piece.State.FILED)) && !piece.isUsed()) {
                oldest.remove();
                drop(piece);
                if (isLost) {
                    // Never to be sealed: what is left of it makes room, on the disk, too.
                    piece.version.pieces.clear();
                    piece.version.file.remove(true);
                }
            }
        }
        long missing = wanted - memory.free();
        for (Piece piece : resident) {
            if (missing > 0 && piece.version.file.error.isEmpty()) {
                missing -= memory.charge(piece.length());
                write(piece);
            }
        }
    }

    private void drop(Piece piece) {
        if (piece.memory != null && !piece.isUsed()) {
            memory.give(piece.memory);
            piece.memory(null);
            isChanged = true;
        }
    }

    private void write(Piece piece) {
        if (!piece.is(Piece.State.QUEUED)) {
            piece.version.file.write(piece);
            writing.add(piece.version);
        }
    }

    /** All bytes of a piece have come. */
    void completed(Piece piece) {
        piece.state(Piece.State.COMPLETE);
        resident.add(piece);
        isChanged = true;
    }

    /** A piece does not come. */
    void giveUp(Piece piece) {
        piece.version.pieces.remove(piece);
        drop(piece);
        isChanged = true;
    }

    /** A reader is done with a piece. */
    void unuse(Piece piece) {
        piece.unuse();
        isChanged |= !piece.isUsed();
        if (!resident.contains(piece)) {
            drop(piece);
        }
    }

    // ---- sealing

    /** Brings a version to disk; true: it is there. To be asked again while it is false. */
    boolean seal(Version version) {
        version.sealing();
        version.requireFile();
        if (!version.isSealed() && version.canBeSealed()) {
            writing.add(version);
        }
        return version.isSealed();
    }

    /** Writes on; work done. */
    int doWork() {
        int work = 0;
        for (Version version : writing) {
            work += version.file.doWork();
        }
        writing.removeIf(this::isWritten);
        isChanged |= work > 0;
        return work;
    }

    private boolean isWritten(Version version) {
        VersionFile file = version.file;
        if (file.error.isEmpty() && !file.isSealed()) {
            return file.isIdle() && !sealOn(version);
        }
        isChanged = true;
        retire(version.description.name());
        return true;
    }

    /** The next step of a version that is being sealed; false: it is not. */
    private boolean sealOn(Version version) {
        if (version.canBeSealed()) {
            version.pieces.forEach(this::write);
            if (version.are(Piece.State.FILED)) {
                version.file.seal(Recovery.encode(version, options));
            }
            return true;
        }
        return false;
    }

    /**
     * Drops the oldest sealed versions beyond those that are kept. The home server seals last, and
     * names an older one as the newest until then: the others keep one more.
     */
    private void retire(String name) {
        List<Version> sealed = sealedAfter(name, -1);
        int kept = options.versionsKept() == 0 ? sealed.size() : options.versionsKept();
        int more = Split.home(name, options.places()) == options.place() ? 0 : 1;
        sealed.subList(0, Math.max(0, sealed.size() - kept - more)).forEach(this::remove);
    }

    private void remove(Version version) {
        versions(version.description.name()).remove(version.description.version());
        versionCount--;
        version.file.remove(!version.pieces.isEmpty());
        version.pieces.forEach(resident::remove);
        version.pieces.forEach(this::drop);
    }

    /** Whether anything has changed that a request may wait for; asking forgets it. */
    boolean takeChanged() {
        boolean was = isChanged;
        isChanged = false;
        return was;
    }

    @Override
    public void close() {
        writing.forEach(version -> version.file.close());
    }
}
