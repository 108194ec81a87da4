package dev.verbena.nessie.service;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.nessie.service.wire.ArrayReply;
import dev.verbena.nessie.service.wire.ArrayRequest;

/** A request that may have to wait. One thread. */
abstract class Job {
    final ArrayRequest request;
    final Caller caller;
    final String name;

    /** How long it may wait. */
    final long waitMs;

    final long deadlineNs;
    private ArrayException reason;

    Job(ArrayRequest request, Caller caller, long nowNs) {
        this.request = request;
        this.caller = caller;
        this.name = Requests.name(request.name().text());
        this.waitMs = Math.max(0, Math.min(request.waitMs(), ArrayConstants.WAIT_MS_MAX));
        this.deadlineNs = nowNs + waitMs * 1_000_000;
    }

    /** The version as the client knows it. */
    ArrayDescription description() {
        return Requests.description(name, request.number(), request.type(), request.shape());
    }

    /**
     * Begins, or answers at once.
     *
     * @return false: it must wait, as {@link #mustWait} was told
     * @throws ArrayException why it can never begin
     */
    abstract boolean attempt();

    /** Whether what it waits for may never come when nobody else is served. */
    boolean waitsForOthers() {
        return true;
    }

    /** It does not begin any more. */
    void giveUp() {}

    /** Why it cannot begin now; for the client, if that lasts. */
    boolean mustWait(ArrayStatus status, String why) {
        reason = failure(status, why);
        return false;
    }

    /** An exception that names the version. */
    ArrayException failure(ArrayStatus status, String why) {
        return Version.failure(status, name, request.number(), why);
    }

    /** Its time is over. */
    void timeOut() {
        giveUp();
        String late = reason.getMessage() + ", after " + waitMs + " ms";
        fail(waitMs > 0 ? new ArrayException(ArrayStatus.DEADLINE, late) : reason);
    }

    void fail(ArrayException why) {
        fail(caller, why);
    }

    static void fail(Caller caller, ArrayException why) {
        String text = why.getMessage();
        if (text.getBytes(UTF_8).length > ArrayConstants.TEXT_MAX) {
            text = text.substring(0, ArrayConstants.TEXT_MAX / 4) + "...";
        }
        ArrayReply reply = new ArrayReply().status(why.status().ordinal());
        reply.text().text(text);
        caller.reply(reply);
    }

    /** True. */
    boolean succeed(ArrayDescription array) {
        ArrayReply reply = new ArrayReply().number(array.version()).type(array.type().code());
        Requests.encodeShape(array.whole(), reply.shape());
        caller.reply(reply);
        return true;
    }
}
