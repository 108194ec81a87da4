package dev.verbena.nsim.world;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.core.TransportRegion;
import org.agrona.concurrent.UnsafeBuffer;

/** Memory that a simulated network interface reaches. */
final class SimulatedRegion extends TransportRegion {
    final SimulatedTransport transport;
    final long key;

    /** The whole, for the model's own copies. */
    final UnsafeBuffer bytes;

    /** The toolkit's own memory; null if it is another's. */
    private OffHeapMemory own;

    /** Its owner wanted to close it, and was refused because of what is outstanding. */
    private boolean isCloseRefused;

    /** Whose memory it is. */
    enum Origin {
        /** The toolkit's, for this region alone. */
        OWN,
        /** Its owner's, who handed it in. */
        FOREIGN,
        /** The world's: others use it, too, and its bytes mean nothing. */
        BLANK
    }

    SimulatedRegion(
            SimulatedTransport transport,
            long id,
            long key,
            long length,
            OffHeapMemory memory,
            Origin origin,
            int rights) {
        super(id, memory.address(), length, rights, origin == Origin.FOREIGN ? memory : null);
        this.transport = transport;
        this.key = key;
        this.own = origin == Origin.OWN ? memory : null;
        this.bytes = new UnsafeBuffer(memory.address(), (int) length);
        if (origin == Origin.FOREIGN) {
            memory.acquire(user());
        }
    }

    @Override
    protected RemoteDescriptor describeChecked(
            long offset, long length, int rights, RemoteDescriptor descriptor) {
        return descriptor.set(
                RemoteDescriptor.KIND_SIM,
                rights,
                (int) id(),
                offset,
                length,
                key,
                transport.incarnation);
    }

    @Override
    protected void closeOpen() {
        transport.closeRegion(this);
    }

    void closeRefused() {
        isCloseRefused = true;
    }

    boolean isCloseRefused() {
        return isCloseRefused;
    }

    /** Frees it whatever is outstanding. */
    void free() {
        retire();
        if (own != null) {
            own.close();
            own = null;
        } else {
            releaseMemory();
        }
    }

    @Override
    public String user() {
        return "region " + id() + " of " + transport.uri();
    }
}
