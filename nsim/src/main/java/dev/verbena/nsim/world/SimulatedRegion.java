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

    /** The toolkit's own memory; null if it was handed in. */
    private OffHeapMemory own;

    private int outstanding;

    /** Its owner wanted to close it, and was refused because of what is outstanding. */
    private boolean isCloseRefused;

    /** Of memory of which the bytes mean nothing, and which others use, too. */
    SimulatedRegion(
            SimulatedTransport transport,
            long id,
            long key,
            long length,
            OffHeapMemory blank,
            int rights) {
        super(id, blank.address(), length, rights, null);
        this.transport = transport;
        this.key = key;
        this.bytes = new UnsafeBuffer(blank.address(), (int) length);
    }

    SimulatedRegion(
            SimulatedTransport transport,
            long id,
            long key,
            OffHeapMemory memory,
            boolean isOwn,
            int rights) {
        super(id, memory.address(), memory.length(), rights, isOwn ? null : memory);
        this.transport = transport;
        this.key = key;
        this.own = isOwn ? memory : null;
        this.bytes = new UnsafeBuffer(memory.address(), (int) memory.length());
        if (!isOwn) {
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

    int outstanding() {
        return outstanding;
    }

    /** An operation uses it. */
    void posted() {
        outstanding++;
    }

    void completed() {
        outstanding--;
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
