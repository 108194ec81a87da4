package dev.verbena.nessie.rpc;

import java.util.Comparator;

/**
 * How a server works.
 *
 * @param pendingMax requests that it holds at a time; more wait at their senders
 * @param threads 0: handlers run in the server's loop; otherwise so many run at a time, elsewhere
 * @param requestsMax the server ends after so many requests; below 0: never
 * @param argsLengthMax longest arguments that it fetches, bytes
 * @param slotCount buffers for bulk data, for operations that need one
 * @param slotLength bytes of each
 * @param fetchTimeoutNs how long a client may take to fetch a long result
 * @param progressNs how often the progress callback is called, at least 100 ms
 * @param order which request is next, see {@link RequestOrder}
 */
public record RpcServerOptions(
        int pendingMax,
        int threads,
        long requestsMax,
        int argsLengthMax,
        int slotCount,
        int slotLength,
        long fetchTimeoutNs,
        long progressNs,
        Comparator<RpcCall> order) {
    /** 256 requests, no threads, arguments up to 128 MiB, no slots, 10 s, 100 ms, FIFO. */
    public static final RpcServerOptions DEFAULT =
            new RpcServerOptions(
                    256, 0, -1, 1 << 27, 0, 0, 10_000_000_000L, 100_000_000L, RequestOrder.FIFO);

    /** Holds so many requests at a time. */
    public RpcServerOptions withPendingMax(int count) {
        return with(count, threads, requestsMax, slotCount, slotLength, fetchTimeoutNs);
    }

    /** With so many threads. */
    public RpcServerOptions withThreads(int count) {
        return with(pendingMax, count, requestsMax, slotCount, slotLength, fetchTimeoutNs);
    }

    /** Ends after so many requests. */
    public RpcServerOptions withRequestsMax(long count) {
        return with(pendingMax, threads, count, slotCount, slotLength, fetchTimeoutNs);
    }

    /** With so many buffers of so many bytes. */
    public RpcServerOptions withSlots(int count, int length) {
        return with(pendingMax, threads, requestsMax, count, length, fetchTimeoutNs);
    }

    /** Gives up on long results after so long. */
    public RpcServerOptions withFetchTimeoutNs(long timeoutNs) {
        return with(pendingMax, threads, requestsMax, slotCount, slotLength, timeoutNs);
    }

    private RpcServerOptions with(
            int pending, int count, long limit, int slots, int bytes, long fetchNs) {
        return new RpcServerOptions(
                pending, count, limit, argsLengthMax, slots, bytes, fetchNs, progressNs, order);
    }
}
