package dev.verbena.dart.server;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.stream.ServerBuffer;

/**
 * t2: moves buffers whose pull has ended from pbq to fbq, in the order in which the pulls ended. It
 * learns of that order from t1, which owns the transport.
 */
final class CompletionAgent implements ProtocolAgent {
    private final ServerShared shared;
    private final boolean[] isPending;
    private int pendingCount;

    CompletionAgent(ServerShared shared) {
        this.shared = shared;
        this.isPending = new boolean[shared.settings.bufferCount()];
    }

    @Override
    public int doWork() {
        int taken = takePending();
        int moved = 0;
        for (int i = 0; i < isPending.length; i++) {
            ServerBuffer buffer = shared.completed.peek();
            if (buffer == null) {
                break;
            }
            if (!isPending[buffer.index()]) {
                taken += takePending();
            }
            shared.completed.poll();
            isPending[buffer.index()] = false;
            pendingCount--;
            shared.full.offer(buffer);
            moved++;
        }
        if (taken + moved > 0) {
            shared.pendingBuffers.lazySet(pendingCount);
        }
        if (moved > 0) {
            shared.wakeT3();
        }
        return taken + moved;
    }

    private int takePending() {
        int taken = 0;
        ServerBuffer buffer;
        while (taken < isPending.length && (buffer = shared.pending.poll()) != null) {
            isPending[buffer.index()] = true;
            pendingCount++;
            taken++;
        }
        return taken;
    }

    @Override
    public long nextDeadlineNs() {
        return NO_DEADLINE;
    }

    @Override
    public String roleName() {
        return "dart-t2";
    }
}
