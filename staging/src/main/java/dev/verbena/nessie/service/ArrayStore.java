package dev.verbena.nessie.service;

import dev.verbena.agent.DurableStore;
import dev.verbena.nessie.nnti.NntiBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

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
    private final LinkedHashMap<Piece, Version> resident = new LinkedHashMap<>();
    private final List<Version> writing = new ArrayList<>();
    private long nextFile;
    private int versionCount;
    private boolean isChanged;

    /** Why the disk took a piece no more; pieces of that version stay in memory. */
    private ArrayException failure;

    ArrayStore(DurableStore files, PieceMemory memory, ArrayServerOptions options) {
        this.files = files;
        this.memory = memory;
        this.options = options;
    }

    /** A sealed version that was found in the files. */
    void recovered(Version version, long file) {
        versionsOf(version.description().name()).put(version.description().version(), version);
        versionCount++;
        reserveFile(file);
    }

    /** Files of this number are not to be written over. */
    void reserveFile(long file) {
        nextFile = Math.max(nextFile, file + 1);
    }

    private TreeMap<Long, Version> versionsOf(String name) {
        return arrays.computeIfAbsent(name, key -> new TreeMap<>());
    }

    /** A version, made if it is not there. */
    Version open(ArrayDescription array) {
        Version version = find(array.name(), array.version());
        if (version == null) {
            if (versionCount == VERSIONS_MAX) {
                throw Version.failure(
                        ArrayStatus.BUSY,
                        array.name(),
                        array.version(),
                        "the server has " + VERSIONS_MAX + " versions already");
            }
            version = new Version(array, new VersionFile(files, nextFile++));
            versionsOf(array.name()).put(array.version(), version);
            versionCount++;
            isChanged = true;
        }
        requireSame(version, array.whole(), array.type());
        return version;
    }

    /** Refuses another shape or type. */
    static void requireSame(Version version, Box whole, ArrayType type) {
        ArrayDescription known = version.description();
        if (!known.whole().equals(whole) || known.type() != type) {
            throw version.failure(
                    ArrayStatus.MISMATCH,
                    "it is %s of %s, not %s of %s"
                            .formatted(known.whole(), known.type(), whole, type));
        }
    }

    /** A version; of {@link Requests#LATEST} the newest sealed one; null: there is none. */
    Version find(String name, long number) {
        TreeMap<Long, Version> versions = arrays.get(name);
        if (versions == null || number >= 0) {
            return versions == null ? null : versions.get(number);
        }
        for (Version each : versions.descendingMap().values()) {
            if (each.isSealed()) {
                return each;
            }
        }
        return null;
    }

    /** Sealed versions with a number above this one. */
    List<Version> sealedAfter(String name, long number, int countMax) {
        List<Version> found = new ArrayList<>();
        NavigableMap<Long, Version> versions = arrays.getOrDefault(name, new TreeMap<>());
        for (Version each : versions.tailMap(number, false).values()) {
            if (each.isSealed() && found.size() < countMax) {
                found.add(each);
            }
        }
        return found;
    }

    // ---- memory

    /** Memory for a piece; null: not now, pieces are on their way to disk. */
    NntiBuffer take(long length) {
        NntiBuffer taken = memory.take(length);
        if (taken == null) {
            evict(length);
            taken = memory.take(length);
        }
        return taken;
    }

    void give(NntiBuffer buffer) {
        memory.give(buffer);
        isChanged = true;
    }

    private void evict(long length) {
        Iterator<Map.Entry<Piece, Version>> oldest = resident.entrySet().iterator();
        while (memory.free() < length && oldest.hasNext()) {
            Piece piece = oldest.next().getKey();
            if (piece.isInFile() && !piece.isUsed()) {
                oldest.remove();
                drop(piece);
            }
        }
        long missing = length - memory.free();
        for (Map.Entry<Piece, Version> each : resident.entrySet()) {
            if (missing <= 0) {
                return;
            }
            if (each.getValue().file().error().isEmpty()) {
                missing -= each.getKey().length();
                write(each.getValue(), each.getKey());
            }
        }
        if (missing > 0 && failure != null) {
            throw failure;
        }
    }

    private void drop(Piece piece) {
        NntiBuffer buffer = piece.memory();
        piece.memory(null);
        give(buffer);
    }

    private void write(Version version, Piece piece) {
        VersionFile file = version.file();
        if (!piece.isInFile() && !piece.isQueued()) {
            file.write(piece);
        }
        if (!writing.contains(version)) {
            writing.add(version);
        }
    }

    /** All bytes of a piece have come. */
    void completed(Version version, Piece piece) {
        piece.completed();
        resident.put(piece, version);
        isChanged = true;
    }

    /** A piece does not come. */
    void giveUp(Version version, Piece piece) {
        version.giveUp(piece);
        if (piece.memory() != null) {
            drop(piece);
        }
        isChanged = true;
    }

    /** A reader is done with a piece. */
    void unuse(Version version, Piece piece) {
        piece.unuse();
        if (version.isRemoved() && !piece.isUsed() && piece.memory() != null) {
            drop(piece);
        }
    }

    // ---- sealing

    /** Brings a version to disk; true: it is there. To be asked again while it is false. */
    boolean seal(Version version) {
        version.sealing();
        if (version.isSealed()) {
            return true;
        }
        VersionFile file = version.file();
        if (!file.error().isEmpty()) {
            throw version.failure(ArrayStatus.FAILED, file.error());
        }
        if (!version.hasIncomplete() && !writing.contains(version)) {
            writing.add(version);
        }
        return false;
    }

    /** Writes on; work done. */
    int doWork() {
        int work = 0;
        for (int i = writing.size() - 1; i >= 0; i--) {
            Version version = writing.get(i);
            VersionFile file = version.file();
            int done = file.doWork();
            work += done;
            isChanged |= done > 0;
            if (!file.error().isEmpty()) {
                writing.remove(i);
                failure = version.failure(ArrayStatus.FAILED, file.error());
                isChanged = true;
            } else if (file.isSealed()) {
                writing.remove(i);
                version.sealed();
                isChanged = true;
                retire(version.description().name());
            } else if (file.isIdle() && !sealOn(version)) {
                writing.remove(i);
            }
        }
        return work;
    }

    /** The next step of a version that is being sealed; false: it is not. */
    private boolean sealOn(Version version) {
        if (!version.isSealing() || version.hasIncomplete()) {
            return false;
        }
        int left = 0;
        for (Piece piece : version.pieces()) {
            if (!piece.isInFile()) {
                write(version, piece);
                left++;
            }
        }
        if (left == 0) {
            version.file().seal(Recovery.encode(version, options));
        }
        return true;
    }

    /** Drops the oldest sealed versions beyond those that are kept. */
    private void retire(String name) {
        List<Version> sealed = sealedAfter(name, -1, Integer.MAX_VALUE);
        int surplus = options.versionsKept() == 0 ? 0 : sealed.size() - options.versionsKept();
        for (int i = 0; i < surplus; i++) {
            remove(sealed.get(i));
        }
    }

    private void remove(Version version) {
        versionsOf(version.description().name()).remove(version.description().version());
        versionCount--;
        version.removed();
        version.file().remove();
        for (Piece piece : version.pieces()) {
            resident.remove(piece);
            if (!piece.isUsed() && piece.memory() != null) {
                drop(piece);
            }
        }
    }

    /** Whether anything has changed that a request may wait for; asking forgets it. */
    boolean takeChanged() {
        boolean was = isChanged;
        isChanged = false;
        return was;
    }

    @Override
    public void close() {
        for (Version version : writing) {
            version.file().close();
        }
    }
}
