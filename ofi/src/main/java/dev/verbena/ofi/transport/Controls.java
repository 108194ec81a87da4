package dev.verbena.ofi.transport;

import dev.verbena.ofi.bindings.fabric;

/** Sends control records; each occupies a packet until the provider has sent it. One thread. */
final class Controls {
    static final int SENT = 0;
    static final int LATER = 1;
    static final int FAILED = 2;

    private final OfiResources resources;
    private final long job;
    private final long silenceNs;
    private final ControlRecord[] records = new ControlRecord[OfiResources.CONTROLS];
    private final int[] free = new int[OfiResources.CONTROLS];
    private int freeCount;

    Controls(OfiResources resources, long job, long silenceNs) {
        this.resources = resources;
        this.job = job;
        this.silenceNs = silenceNs;
        for (int i = 0; i < records.length; i++) {
            records[i] = new ControlRecord().wrap(resources.controlView(i), 0);
            records[i].sender(resources.incarnation, job, silenceNs, resources.name);
            free[freeCount++] = i;
        }
    }

    /** Hash of the job, which both ends must share. */
    long job() {
        return job;
    }

    /** Sends one record, if that can be done now. */
    int send(
            OfiPeer peer,
            int type,
            int to,
            int from,
            int credits,
            int messageLengthMax,
            byte[] data,
            long wanted) {
        if (freeCount == 0) {
            return LATER;
        }
        int index = free[--freeCount];
        records[index].write(type, to, from, credits, messageLengthMax, data);
        records[index].wanted(wanted);
        return send(peer, index);
    }

    /** Refuses a request in another version of the records, if that can be done now. */
    void refuseVersion(OfiPeer peer, int version, int to) {
        if (freeCount > 0) {
            int index = free[--freeCount];
            records[index].write(ControlRecord.VERSION, to, 0, 0, 0, null);
            records[index].version(version);
            send(peer, index);
        }
    }

    private int send(OfiPeer peer, int index) {
        long context = resources.controlContext(index);
        int answer =
                resources.calls.send(
                        context + OfiResources.CONTEXT,
                        ControlRecord.LENGTH,
                        resources.ownDescriptor(),
                        peer.fabricAddress,
                        context);
        if (answer == 0) {
            return SENT;
        }
        free[freeCount++] = index;
        return answer == -fabric.VFI_EAGAIN ? LATER : FAILED;
    }

    /** The provider has sent this one. */
    void ended(int index) {
        free[freeCount++] = index;
    }

    /** Nothing is under way. */
    boolean isIdle() {
        return freeCount == records.length;
    }
}
