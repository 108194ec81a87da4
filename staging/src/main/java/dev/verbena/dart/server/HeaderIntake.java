package dev.verbena.dart.server;

import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.staging.Counters;
import dev.verbena.staging.RareReports;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.NanoClock;

/**
 * Which headers of clients a server takes: each once, in order, and none that it could not deliver.
 * What it takes is parked until there is a buffer, or relayed to the server that reads the data.
 * Owned by t1.
 */
final class HeaderIntake {
    private final ServerShared shared;
    private final NanoClock clock;
    private final ServedClients clients;
    private final HeaderQueue headers;
    private final HeaderRelay relay;
    private final RareReports malformedReports;
    private final RareReports tooLongReports;

    /**
     * @param relay null: no client has a delegate
     */
    HeaderIntake(
            ServerShared shared, ServedClients clients, HeaderQueue headers, HeaderRelay relay) {
        this.shared = shared;
        this.clock = shared.settings.environment().nanoClock();
        this.clients = clients;
        this.headers = headers;
        this.relay = relay;
        this.malformedReports = new RareReports(shared.settings.environment().errorHandler());
        this.tooLongReports = new RareReports(shared.settings.environment().errorHandler());
    }

    /** The client asks that nothing be read out of its process, or that it be read again. */
    void onSuspend(ServedClient client, boolean isSuspended) {
        if (client.delegate != null) {
            relay.suspend(client, isSuspended);
            return;
        }
        client.suspend(isSuspended);
        if (!isSuspended) {
            headers.resume(client);
        }
    }

    /** A header of this client is in the buffer. */
    void onHeader(ServedClient client, ControlFlyweight incoming, DirectBuffer buffer, int offset) {
        long sequence = incoming.sequence();
        if (sequence <= client.lastSequence) {
            Counters.add(shared.duplicateHeaders, 1);
            client.oweSeen();
            clients.hasNews(client);
            return;
        }
        if (sequence - 1 - incoming.skipped() > client.lastSequence) {
            // An earlier header is missing; both will be sent again, in order.
            return;
        }
        if (client.outstandingHeaders >= ServedClient.DONE_CAPACITY) {
            malformed(client + " sends more headers than it has credits");
            return;
        }
        final long resumeAt = client.lastSequence + 1;
        client.headerCame(sequence);
        if (shared.isStopRequested) {
            client.addDone(sequence, ControlFlyweight.RESULT_STOPPING, 1);
            clients.hasNews(client);
            return;
        }
        if (client.delegate != null) {
            Counters.add(shared.headers, 1);
            int length = ControlFlyweight.LENGTH + incoming.metadataLength();
            relay.add(client, resumeAt, buffer, offset, length);
            return;
        }
        if (incoming.length() > shared.messageLengthMax()) {
            refuseTooLong(client, sequence, incoming.length());
            return;
        }
        try {
            headers.park(client, incoming, buffer, offset + ControlFlyweight.LENGTH);
            Counters.add(shared.headers, 1);
        } catch (DartException e) {
            malformed(e.getMessage());
            client.addDone(sequence, ControlFlyweight.RESULT_MALFORMED, 1);
            clients.hasNews(client);
        }
    }

    /** Nothing of it is read out of its process: the receiver would take nothing of it. */
    private void refuseTooLong(ServedClient client, long sequence, long length) {
        Counters.add(shared.headers, 1);
        Counters.add(shared.failed, 1);
        tooLongReports.report(
                clock.nanoTime(),
                ("message %s of %s is not delivered: it has %s bytes, and "
                                + "messageLengthMax of the receiver is %s")
                        .formatted(sequence, client, length, shared.messageLengthMax()),
                text -> Code.TOO_LONG.because(text));
        client.addDone(sequence, ControlFlyweight.RESULT_TOO_LONG, 1);
        clients.hasNews(client);
    }

    /** A peer sent what makes no sense. */
    void malformed(String what) {
        Counters.add(shared.malformed, 1);
        malformedReports.report(clock.nanoTime(), what, text -> Code.MALFORMED.because(text));
    }
}
