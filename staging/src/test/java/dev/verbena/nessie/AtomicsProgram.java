package dev.verbena.nessie;

import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.BufferHandle;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiOptions;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.nnti.WorkRequest;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.nio.file.Files;
import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;

/** Adds to a variable of a peer, and counts in its memory under a lock of compare-and-swap. */
final class AtomicsProgram {
    /** Variables of the peer. */
    static final int SUM = 1;

    static final int LOCK = 2;

    private static final int WINDOW = 8;

    private final NntiTransport network;
    private final NntiPeer peer;

    private AtomicsProgram(NntiTransport network, NntiPeer peer) {
        this.network = network;
        this.peer = peer;
    }

    /**
     * Runs.
     *
     * @param where address of the peer, a comma, a file with the handle of its memory
     */
    static void run(TransportContext context, String where, int adds, int locks) throws Exception {
        Transports.prepare(); // before the first Agrona buffer
        String[] words = where.split(",", 2);
        BufferHandle memory = new BufferHandle();
        byte[] bytes = Files.readAllBytes(Path.of(words[1]));
        require(memory.decode(new UnsafeBuffer(bytes), 0, bytes.length));
        try (NntiTransport network =
                new NntiTransport(Transports.open("shm", context), NntiOptions.DEFAULT)) {
            AtomicsProgram program = new AtomicsProgram(network, network.connect(words[0], 60_000));
            program.add(adds);
            program.count(memory, locks);
        }
    }

    private static void require(NntiResult result) {
        if (result != NntiResult.OK) {
            throw new IllegalStateException("failed with " + result);
        }
    }

    private void add(int adds) {
        WorkRequest[] window = new WorkRequest[WINDOW];
        for (int i = 0; i < adds + WINDOW; i++) {
            int slot = i % WINDOW;
            if (window[slot] != null) {
                require(network.await(window[slot], NntiTransport.NEVER));
            }
            if (i < adds) {
                window[slot] = window[slot] == null ? new WorkRequest() : window[slot];
                require(network.fetchAdd(peer, SUM, 1, window[slot]));
            } else {
                window[slot] = null;
            }
        }
    }

    private void count(BufferHandle memory, int locks) {
        NntiBuffer own = network.alloc(8, 1, BufferFlags.PUT_SRC | BufferFlags.GET_DST);
        WorkRequest request = new WorkRequest();
        for (int i = 0; i < locks; i++) {
            while (swap(0, 1, request) != 0) {
                Thread.onSpinWait();
            }
            require(network.get(peer, memory, 0, 8, own, 0, request));
            require(network.await(request, NntiTransport.NEVER));
            own.window().putLong(0, own.window().getLong(0) + 1);
            require(network.put(peer, own, 0, 8, memory, 0, request));
            require(network.await(request, NntiTransport.NEVER));
            if (swap(1, 0, request) != 1) {
                throw new IllegalStateException("the lock was taken away");
            }
        }
    }

    private long swap(long expected, long value, WorkRequest request) {
        require(network.compareSwap(peer, LOCK, expected, value, request));
        require(network.await(request, NntiTransport.NEVER));
        return request.status().length();
    }
}
