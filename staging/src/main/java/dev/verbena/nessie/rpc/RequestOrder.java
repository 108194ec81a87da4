package dev.verbena.nessie.rpc;

import java.util.Comparator;

/** Which of the requests that wait is handled next. */
public final class RequestOrder {
    /** In the order of their arrival. */
    public static final Comparator<RpcCall> FIFO = Comparator.comparingLong(call -> call.arrival);

    /** Those with the least bulk data first; equal ones in the order of their arrival. */
    public static final Comparator<RpcCall> LEAST_DATA =
            Comparator.comparingLong(RpcCall::dataLength).thenComparing(FIFO);

    private RequestOrder() {}
}
