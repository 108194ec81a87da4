package dev.verbena.nessie.service;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.nessie.service.wire.ArrayBox;
import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.nessie.xdr.XdrLongs;
import dev.verbena.staging.Names;
import java.util.Arrays;

/** Values of messages, checked; what is wrong is an {@link ArrayException} that names it. */
final class Requests {
    /** In place of the number of a version: the newest sealed one. */
    static final long LATEST = -1;

    static final int PUT = 1;
    static final int GET = 2;
    static final int SEAL = 3;
    static final int DESCRIBE = 4;
    static final int VERSIONS = 5;
    static final int OPEN = 6;

    /** Longest time that a request may ask to wait: a day. */
    static final long WAIT_MS_MAX = 86_400_000;

    private Requests() {}

    static String name(String name) {
        int length = name.getBytes(UTF_8).length;
        boolean isReadable = Names.readable(name).equals(name) && name.indexOf('\uFFFD') < 0;
        if (length < 1 || length > ArrayConstants.NAME_MAX || !isReadable) {
            throw bad("name '" + Names.readable(name) + "' of " + length + " bytes");
        }
        return name;
    }

    static ArrayDescription description(String name, long number, int type, XdrLongs shape) {
        ArrayType known = ArrayType.of(type);
        if (number < 0 || known == null) {
            throw bad("version " + number + " of type " + type);
        }
        ArrayDescription array =
                new ArrayDescription(name(name), number, known, whole(name, shape));
        if (array.whole().volume() > Long.MAX_VALUE / known.size()) {
            throw bad("array '%s' of %s of %s".formatted(name, array.whole(), known));
        }
        return array;
    }

    /** The box of all indices of a shape. */
    static Box whole(String name, XdrLongs shape) {
        try {
            return Box.whole(toArray(shape));
        } catch (IllegalArgumentException e) {
            throw bad("shape of array '" + name + "': " + e.getMessage());
        }
    }

    static Box box(ArrayBox box) {
        try {
            return Box.of(toArray(box.start()), toArray(box.count()));
        } catch (IllegalArgumentException e) {
            throw bad(e.getMessage());
        }
    }

    static long[] toArray(XdrLongs values) {
        long[] array = new long[values.count()];
        Arrays.setAll(array, values::get);
        return array;
    }

    static void encode(Box box, ArrayBox to) {
        to.reset();
        for (int i = 0; i < box.dimensions(); i++) {
            to.start().add(box.start(i));
            to.count().add(box.count(i));
        }
    }

    static void encodeShape(Box whole, XdrLongs to) {
        to.resize(0);
        for (int i = 0; i < whole.dimensions(); i++) {
            to.add(whole.count(i));
        }
    }

    /** Refuses a box outside the array, or memory that does not hold it. */
    static void requireInside(ArrayDescription array, Box box, Box memory, long memoryLength) {
        Box whole = array.whole();
        if (!whole.contains(box)) {
            throw Version.failure(
                    ArrayStatus.OUTSIDE,
                    array.name(),
                    array.version(),
                    "box " + box + " is not within " + whole);
        }
        int size = array.type().size();
        if (!memory.contains(box)
                || memoryLength % size != 0
                || memoryLength / size != memory.volume()) {
            throw bad(
                    "memory of %s bytes for box %s of %s of array '%s'"
                            .formatted(memoryLength, memory, array.type(), array.name()));
        }
    }

    static ArrayException bad(String what) {
        return new ArrayException(ArrayStatus.BAD_REQUEST, what);
    }
}
