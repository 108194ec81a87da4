package dev.verbena.verbs;

import org.agrona.UnsafeApi;

/** What posting of sends and of receives have in common. One thread. */
abstract class Poster {
    final WorkLog log;

    /** 8 bytes for the address of a request that the library refuses. */
    final long bad = UnsafeApi.allocateMemory(Long.BYTES);

    private int refusal;

    Poster(WorkLog log) {
        this.log = log;
        UnsafeApi.putLong(null, bad, 0);
    }

    /** Errno of the last {@link Post#REFUSED}. */
    final int refusal() {
        return refusal;
    }

    /** Index of the first request that the library has not taken. */
    final int firstRefused(Requests requests, int from, int ready) {
        int at = requests.indexOf(UnsafeApi.getLong(null, bad), from, from + ready);
        UnsafeApi.putLong(null, bad, 0); // a library may refuse the next without saying which
        return at;
    }

    /** Of a result below 0. */
    final int codeOf(int result) {
        refusal = -result;
        return refusal == VerbsErrno.ENOMEM ? Post.BACK_PRESSURED : Post.REFUSED;
    }

    /** When the queue is closed. */
    final void close(RdmaDevice device) {
        device.giveBack(log);
        UnsafeApi.freeMemory(bad);
    }
}
