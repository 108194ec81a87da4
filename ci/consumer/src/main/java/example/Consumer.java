package example;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.net.URI;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** A put and a get between two transports, as a stranger would write it. Prints "put and get: OK". */
public final class Consumer {
    private static final int LENGTH = 64;
    private static final long SECOND = 1_000_000_000L;

    public static void main(String[] args) {
        TransportContext here = new TransportContext().job("consumer-" + ProcessHandle.current().pid());
        TransportContext there = new TransportContext().job(here.job());
        try (Transport a = Transports.open("shm", here);
                Transport b = Transports.open("shm", there)) {
            transfer(a, b);
        }
        System.out.println("put and get: OK");
    }

    private static void transfer(Transport a, Transport b) {
        Events atA = new Events();
        Events atB = new Events();
        try (RegisteredRegion source = a.allocate(LENGTH, 0);
                RegisteredRegion target = b.allocate(LENGTH, RemoteDescriptor.REMOTE_ALL)) {
            RemoteDescriptor descriptor = target.describe(0, LENGTH, target.rights(), new RemoteDescriptor());
            b.listen();
            DirectBuffer nothing = new UnsafeBuffer(new byte[0]);
            long connection = a.connect(b.uri(), nothing, 0, 0, 7, 5 * SECOND);
            long deadline = a.nanoTime() + 10 * SECOND;
            while (!atA.isConnected) {
                a.poll(atA, 16);
                b.poll(atB, 16);
                if (atB.offered != 0) {
                    check(b.accept(atB.offered, 8) == Transport.ACCEPTED, "accept");
                    atB.offered = 0;
                }
                check(a.nanoTime() - deadline < 0, "connected within 10 s");
            }
            source.buffer(0, LENGTH).putLong(0, 0x1122334455667788L);
            check(a.put(connection, source, 0, descriptor, 8, 8, 1, 0) == Transport.ACCEPTED, "put accepted");
            complete(a, atA, 1, deadline);
            check(target.buffer(0, LENGTH).getLong(8) == 0x1122334455667788L, "the bytes are at the target");
            target.buffer(0, LENGTH).putLong(16, 99);
            check(a.get(connection, source, 32, descriptor, 16, 8, 2, 0) == Transport.ACCEPTED, "get accepted");
            complete(a, atA, 2, deadline);
            check(source.buffer(0, LENGTH).getLong(32) == 99, "the bytes are here");
        }
    }

    private static void complete(Transport transport, Events events, long context, long deadline) {
        while (events.completed != context) {
            transport.poll(events, 16);
            check(transport.nanoTime() - deadline < 0, "completed in time");
        }
    }

    private static void check(boolean isTrue, String what) {
        if (!isTrue) {
            throw new AssertionError("not so: " + what);
        }
    }

    private static final class Events implements TransportHandler {
        private boolean isConnected;
        private long offered;
        private long completed;

        @Override
        public void onConnectRequest(long connection, URI peer, DirectBuffer data, int offset, int length) {
            offered = connection;
        }

        @Override
        public void onConnected(long connection, long context) {
            isConnected = true;
        }

        @Override
        public void onCompletion(long connection, int operation, long context, int status, long value) {
            check(status == Status.OK, "status " + status + " is OK");
            completed = context;
        }
    }
}
