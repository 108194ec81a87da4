package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What came of a datagram: state, peer, and the peer's bytes, copied. Reusable; not thread-safe.
 *
 * <p>uGNI does not report how long the peer's datagram was: bytes behind it are 0.
 */
public final class Datagram {
    /** Bytes that a datagram carries at most. */
    public static final int LENGTH_MAX = ugni.GNI_DATAGRAM_MAXSIZE;

    private final UnsafeBuffer bytes = Nic.aligned(LENGTH_MAX);
    private int state = DatagramState.NONE;
    private int address;
    private int instance;
    private long id;

    /** Empty. */
    public Datagram() {}

    /** One of {@link DatagramState}. */
    public int state() {
        return state;
    }

    /** The peer's address. */
    public int address() {
        return address;
    }

    /** The peer's instance. */
    public int instance() {
        return instance;
    }

    /** Number under which it was posted, as a probe by number found it. */
    public long id() {
        return id;
    }

    /** The peer's bytes, {@link #LENGTH_MAX} of them; of a completed one only. */
    public DirectBuffer bytes() {
        return bytes;
    }

    void state(int state) {
        this.state = state;
    }

    void peer(int address, int instance) {
        this.address = address;
        this.instance = instance;
    }

    void id(long id) {
        this.id = id;
    }

    void copy(UnsafeBuffer from) {
        bytes.putBytes(0, from, 0, LENGTH_MAX);
    }

    @Override
    public String toString() {
        return "datagram %s of %x.%s"
                .formatted(DatagramState.name(state), address, Integer.toUnsignedString(instance));
    }
}
