package dev.verbena.nessie.service;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.nessie.service.wire.ArrayBox;
import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.nessie.xdr.XdrLongs;
import dev.verbena.staging.Names;
import dev.verbena.staging.metadata.Box;
import java.util.stream.IntStream;

/** Values of messages, checked; what is wrong is an {@link ArrayException} that names it. */
final class Requests {
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
        return IntStream.range(0, values.count()).mapToLong(values::get).toArray();
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
            String why = "box " + box + " is not within " + whole;
            throw Version.failure(ArrayStatus.OUTSIDE, array.name(), array.version(), why);
        }
        int size = array.type().size();
        boolean isFull = memoryLength % size == 0 && memoryLength / size == memory.volume();
        if (!isFull || !memory.contains(box)) {
            String what = "memory of %s bytes for box %s of %s of array '%s'";
            throw bad(what.formatted(memoryLength, memory, array.type(), array.name()));
        }
    }

    /** Refuses what another server was meant to get, or has written. */
    static void requirePlace(ArrayServerOptions options, int place, int places) {
        if (place != options.place() || places != options.places()) {
            String own = options.place() + " of " + options.places();
            String why = "this is server %s, not %s of %s".formatted(own, place, places);
            throw new ArrayException(ArrayStatus.WRONG_SERVER, why);
        }
    }

    static ArrayException bad(String what) {
        return new ArrayException(ArrayStatus.BAD_REQUEST, what);
    }
}
