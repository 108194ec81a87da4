package dev.verbena.verbs;

import dev.verbena.rdma.calls.HotCalls;
import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.lang.invoke.VarHandle;

/** Posting of sends for a queue pair, by all three ways. One thread, of an open queue pair. */
final class SendPoster extends Poster {
    private final QueuePairType type;
    private final int inlineMax;
    private final int operations;
    private final long builder;
    private final MemoryRegion[] used = new MemoryRegion[1];
    private boolean hasBinds;

    /**
     * @param operations of {@link SendOperations}; 0: no builder
     * @param queue the C structure
     */
    SendPoster(WorkLog log, QueuePairType type, int inlineMax, int operations, long queue) {
        super(log);
        this.type = type;
        this.inlineMax = inlineMax;
        this.operations = operations;
        this.builder = operations == 0 ? 0 : verbscalls.vv_qp_ex(queue);
        if (type == QueuePairType.UD) {
            log.noteTargets();
        }
    }

    boolean hasBuilder() {
        return builder != 0;
    }

    /** Notes one that was posted here before, by the calling thread, and is ready. */
    boolean noteAgain(SendRequestFlyweight request) {
        if (log.isFull() || !request.hasOpenRegion()) {
            return false;
        }
        request.noteReady(log);
        return true;
    }

    /** 0 when the request is noted, or why it cannot be posted. */
    int note(SendRequestFlyweight request) {
        return log.isFull() ? Post.BACK_PRESSURED : noted(request);
    }

    int postNoted(long queue, SendRequestFlyweight request) {
        request.unchain();
        return answered(request, HotCalls.postSend(queue, request.address(), bad));
    }

    /** Both in one native call. */
    int postNotedAndPoll(
            long queue,
            SendRequestFlyweight request,
            CompletionQueue completions,
            long from,
            int limit) {
        request.unchain();
        long both =
                HotCalls.postAndPoll(
                        queue, request.address(), bad, from, limit, completions.memory());
        if (both == 0) {
            completions.tookNone();
            return answered(request, 0);
        }
        int posted = answered(request, (int) (both >> 32));
        completions.took((int) both);
        return posted;
    }

    private int answered(SendRequestFlyweight request, int result) {
        if (result != 0) {
            return refused(request.owner(), request.index(), 1, result);
        }
        if (hasBinds) {
            bindsTaken(request.owner(), request.index(), 1);
        }
        return 1;
    }

    int post(long queue, SendRequests requests, int from, int count) {
        int most = Math.min(count, log.room());
        int ready = 0;
        int stop = most == 0 ? Post.BACK_PRESSURED : 0;
        while (ready < most && stop == 0) {
            stop = noted(requests.unchecked(from + ready));
            if (stop == 0) {
                ready++;
            }
        }
        if (ready == 0) {
            return stop;
        }
        requests.chain(from, from + ready);
        int result = HotCalls.postSend(queue, requests.addressOf(from), bad);
        int taken = result == 0 ? ready : refused(requests, from, ready, result);
        if (hasBinds) {
            bindsTaken(requests, from, taken);
        }
        return taken;
    }

    /** All or nothing. */
    int postBuilt(SendRequests requests, int count) {
        if (count > log.room()) {
            return Post.BACK_PRESSURED;
        }
        int ready = 0;
        int stop = 0;
        while (ready < count && stop == 0) {
            stop = noted(requests.unchecked(ready));
            if (stop == 0) {
                ready++;
            }
        }
        if (stop == 0) {
            requests.chain(0, count);
            int result = verbscalls.vv_wr_post(builder, operations, requests.addressOf(0));
            if (result == 0) {
                if (hasBinds) {
                    bindsTaken(requests, 0, count);
                }
                return count;
            }
            stop = codeOf(result);
        }
        takeBack(requests, 0, ready);
        hasBinds = false;
        return stop;
    }

    /** Under the device's lock, so that neither window nor region can be closed meanwhile. */
    int bind(
            long queue,
            MemoryWindow window,
            long id,
            MemoryRegion region,
            long from,
            long bytes,
            int access) {
        if (log.room() < 1) {
            return Post.BACK_PRESSURED;
        }
        long windowAddress = window.address();
        long at = region.domain().device().memory().argument();
        CallMemory.putLong(at + VerbsLayout.MW_BIND_WR_ID, log.nextId());
        CallMemory.putInt(at + VerbsLayout.MW_BIND_SEND_FLAGS, VerbsLayout.IBV_SEND_SIGNALED);
        CallMemory.putLong(at + VerbsLayout.MW_BIND_BIND_INFO_MR, region.address());
        CallMemory.putLong(
                at + VerbsLayout.MW_BIND_BIND_INFO_ADDR, region.checkedAddress(from, bytes));
        CallMemory.putLong(at + VerbsLayout.MW_BIND_BIND_INFO_LENGTH, bytes);
        CallMemory.putInt(at + VerbsLayout.MW_BIND_BIND_INFO_MW_ACCESS_FLAGS, access);
        MemoryRegion before = window.bound();
        boolean isUnbinding = bytes == 0;
        log.noteTargets();
        used[0] = isUnbinding && before != null ? before : region;
        log.note(id, used, 1, window);
        int result = verbscalls.vv_bind_mw(queue, windowAddress, at);
        if (result < 0) {
            log.takeBack(0);
            return codeOf(result);
        }
        window.bound(isUnbinding ? null : region);
        window.keyChosen();
        return 1;
    }

    /**
     * 0 when the request is in the log, or why it cannot be posted. What the processor itself reads
     * while it posts must not be closed from here on: who closes looks into the log.
     */
    private int noted(SendRequestFlyweight request) {
        if (request.wasPostedBy(this)) {
            if (!request.hasOpenRegion()) {
                return Post.REGION_CLOSED;
            }
            request.noteReady(log);
            return 0;
        }
        int stop = request.check(inlineMax, type);
        if (stop != 0) {
            return stop;
        }
        request.note(log);
        if (!request.isReadWhilePosted(type)) {
            request.postedBy(this);
            return 0;
        }
        hasBinds |= request.isBind();
        VarHandle.fullFence();
        if (request.isUsable(type)) {
            return 0;
        }
        takeBack(request);
        return Post.REGION_CLOSED;
    }

    private int refused(SendRequests requests, int from, int ready, int result) {
        int at = firstRefused(requests, from, ready);
        takeBack(requests, at, from + ready);
        return at > from ? at - from : codeOf(result);
    }

    /** The library has not taken these. */
    private void takeBack(SendRequests requests, int from, int to) {
        for (int i = to - 1; i >= from; i--) {
            takeBack(requests.unchecked(i));
        }
    }

    private void takeBack(SendRequestFlyweight request) {
        if (request.isBind()) {
            request.bindRefused();
        }
        log.takeBack(0);
    }

    /** Windows that were bound by requests that the library took have their new keys. */
    private void bindsTaken(SendRequests requests, int from, int count) {
        hasBinds = false;
        for (int i = from; i < from + count; i++) {
            SendRequestFlyweight request = requests.unchecked(i);
            if (request.isBind()) {
                request.bindTaken();
            }
        }
    }
}
