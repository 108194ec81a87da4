package dev.verbena.nessie.service;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.agent.DurableStore;
import dev.verbena.agent.DurableStore.ReadableFile;
import dev.verbena.nessie.service.wire.ArrayPiece;
import dev.verbena.nessie.service.wire.SealedVersion;
import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.staging.Checksum;
import dev.verbena.staging.metadata.Box;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.agrona.DirectBuffer;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.UnsafeBuffer;

/** Finds sealed versions in a server's files, and deletes what belongs to none. */
record Recovery(DurableStore files, ArrayServerOptions options, ErrorHandler errorHandler) {
    private static final int LENGTH_MAX = 16 << 20;

    /** The content of the file that makes a version sealed. */
    static DirectBuffer encode(Version version, ArrayServerOptions options) {
        ArrayDescription array = version.description;
        SealedVersion sealed = new SealedVersion().place(options.place()).places(options.places());
        sealed.number(array.version()).type(array.type().code()).name().text(array.name());
        Requests.encodeShape(array.whole(), sealed.shape());
        for (Piece piece : version.pieces) {
            ArrayPiece entry = sealed.pieces().add();
            Requests.encode(piece.box, entry.box());
            entry.at(piece.fileAt);
        }
        int length = sealed.encodedLength();
        UnsafeBuffer content = new UnsafeBuffer(new byte[length + Integer.BYTES]);
        sealed.encode(content, 0);
        content.putInt(length, new Checksum().of(content, 0, length), BIG_ENDIAN);
        return content;
    }

    /** Adds what is sealed to a store. */
    void run(ArrayStore store) {
        List<String> names = files.list();
        Set<Long> sealed = new HashSet<>(Set.of(-1L));
        for (String name : names) {
            long id = idOf(name, VersionFile.SEALED);
            if (sealed.add(id)) {
                store.reserveFile(id);
                recover(store, name, id);
            }
        }
        for (String name : names) {
            boolean isOfNone = !sealed.contains(idOf(name, VersionFile.PIECES));
            if (isOfNone || idOf(name, VersionFile.NEXT) >= 0) {
                files.delete(name);
            }
        }
    }

    /** Number of a version's file; -1: it is none. */
    private static long idOf(String name, String end) {
        String number = name.endsWith(end) ? name.substring(0, name.length() - end.length()) : "";
        return number.matches("[0-9]{1,18}") ? Long.parseLong(number) : -1;
    }

    /** A damaged version stays on disk, and is reported. */
    private void recover(ArrayStore store, String name, long id) {
        try (ReadableFile file = files.read(name)) {
            store.add(version(content(file), id));
        } catch (IllegalArgumentException | XdrException | ArrayException e) {
            errorHandler.onError(
                    new ArrayException(ArrayStatus.FAILED, name + ": " + e.getMessage()));
        }
    }

    private static UnsafeBuffer content(ReadableFile file) {
        long length = file.length();
        if (length < Integer.BYTES || length > LENGTH_MAX) {
            throw new IllegalArgumentException("it has " + length + " bytes");
        }
        UnsafeBuffer content = new UnsafeBuffer(new byte[(int) length]);
        file.read(0, content, 0, (int) length);
        return content;
    }

    private Version version(UnsafeBuffer content, long id) {
        SealedVersion sealed = decode(content);
        Requests.requirePlace(options, sealed.place(), sealed.places());
        ArrayDescription array =
                Requests.description(
                        sealed.name().text(), sealed.number(), sealed.type(), sealed.shape());
        Version version = new Version(array, new VersionFile(files, id, true));
        long end = 0;
        for (int i = 0; i < sealed.pieces().count(); i++) {
            ArrayPiece entry = sealed.pieces().get(i);
            Box box = Requests.box(entry.box());
            long at = entry.at();
            Piece piece = version.add(box);
            boolean isInside = array.whole().contains(box);
            if (!isInside || at < 0 || at > Long.MAX_VALUE - piece.length()) {
                throw new IllegalArgumentException("piece " + box + " at " + at);
            }
            piece.filedAt(at);
            piece.state(Piece.State.FILED);
            end = Math.max(end, at + piece.length());
        }
        requireLength(version, end);
        return version;
    }

    /** Decodes the content of such a file; throws what {@link #recover} catches. */
    static SealedVersion decode(DirectBuffer content) {
        int length = content.capacity() - Integer.BYTES;
        if (length < 0
                || content.getInt(length, BIG_ENDIAN) != new Checksum().of(content, 0, length)) {
            throw new IllegalArgumentException("its checksum is wrong");
        }
        SealedVersion sealed = new SealedVersion();
        sealed.decode(content, 0, length);
        return sealed;
    }

    private static void requireLength(Version version, long end) {
        try (ReadableFile pieces = end == 0 ? null : version.file.read()) {
            if (pieces != null && pieces.length() < end) {
                String lengths = pieces.length() + " bytes instead of " + end;
                throw new IllegalArgumentException("the file of its pieces has " + lengths);
            }
        }
    }
}
