package dev.verbena.dart.server;

import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.staging.Counters;

/** Ends of messages: what their processes are told, and who reports. Owned by t1. */
final class PullEnds {
    private final ServerShared shared;
    private final HeaderQueue headers;
    private ServedClients clients;

    PullEnds(ServerShared shared, HeaderQueue headers) {
        this.shared = shared;
        this.headers = headers;
    }

    /** Whose messages these are; before anything else. */
    void clients(ServedClients clients) {
        this.clients = clients;
    }

    /** All of it was asked for and has come, or failed: its process is told. */
    void finishIfDone(PullMessage message) {
        if (!message.isAllPosted || message.outstandingParts > 0 || message.client == null) {
            return;
        }
        if (message.notice == 0) {
            tellDone(message);
        }
        headers.free(message);
    }

    private void tellDone(PullMessage message) {
        ServedClient client = message.client;
        Counters.add(message.isFailed ? shared.failed : shared.transferred, 1);
        if (message.isFailed) {
            report(message);
        }
        client.addDone(
                message.sequence,
                message.isFailed ? message.failureResult : ControlFlyweight.RESULT_OK,
                client.isReturningEarly && message.postedParts > 0 ? 0 : 1);
        clients.hasNews(client);
    }

    private void report(PullMessage message) {
        ServedClient client = message.client;
        String why =
                client.state == ServedClient.GONE
                        ? "is dropped: its process is gone"
                        : "could not be read out of its process: "
                                + (message.failure.isEmpty() ? "it was refused" : message.failure);
        shared.report(
                Code.TRANSFER_FAILED.because("message %s of %s %s", message.sequence, client, why));
    }
}
