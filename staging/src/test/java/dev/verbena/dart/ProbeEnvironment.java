package dev.verbena.dart;

import dev.verbena.agent.Environment;
import dev.verbena.agent.ForwardingEnvironment;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntPredicate;
import java.util.function.LongPredicate;
import org.agrona.DirectBuffer;

/**
 * An environment whose transport counts what it is asked for, can lose messages although it reports
 * them as sent, and can hold back completions of gets.
 */
final class ProbeEnvironment extends ForwardingEnvironment {
    final Map<String, Integer> calls = new ConcurrentHashMap<>();

    /** Called for each send with its number, from 1; true: the message is lost. */
    volatile LongPredicate losesSend = number -> false;

    /**
     * Called for each send with the type of its control record; true: the peer is not connected.
     * Null: never.
     */
    volatile IntPredicate refusesRecord;

    /** Called for each get with its number, from 1; true: the transport throws. */
    volatile LongPredicate throwsGet = number -> false;

    private long gets;

    /** Completions of gets are kept while this is set, and delivered in reverse order after. */
    volatile boolean isHoldingGets;

    /** Addresses of regions as they were made. */
    final List<Long> regionAddresses = new ArrayList<>();

    private long sends;

    ProbeEnvironment(Environment inner) {
        super(inner);
    }

    int count(String call) {
        return calls.getOrDefault(call, 0);
    }

    @Override
    public Transport openTransport(String scheme, TransportContext context) {
        Transport transport = super.openTransport(scheme, context);
        Probe probe = new Probe(transport);
        return (Transport)
                Proxy.newProxyInstance(
                        Transport.class.getClassLoader(), new Class<?>[] {Transport.class}, probe);
    }

    private final class Probe implements InvocationHandler {
        private final Transport transport;
        private final List<long[]> lostSends = new ArrayList<>();
        private final List<long[]> heldGets = new ArrayList<>();

        Probe(Transport transport) {
            this.transport = transport;
        }

        private static int type(Object[] arguments) {
            RegisteredRegion region = (RegisteredRegion) arguments[1];
            return region.buffer((Long) arguments[2], 8).getShort(4, ByteOrder.LITTLE_ENDIAN);
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            String name = method.getName();
            calls.merge(name, 1, Integer::sum);
            boolean isChosen = refusesRecord != null && name.equals("send");
            if (isChosen && refusesRecord.test(type(arguments))) {
                return Transport.NOT_CONNECTED;
            }
            if (name.equals("send") && losesSend.test(++sends)) {
                lostSends.add(new long[] {(Long) arguments[0], (Long) arguments[4]});
                return Transport.ACCEPTED;
            }
            if (name.equals("get") && throwsGet.test(++gets)) {
                throw new IllegalArgumentException("get " + gets + " is refused by the test");
            }
            if (name.equals("poll")) {
                return poll((TransportHandler) arguments[0], (Integer) arguments[1]);
            }
            try {
                Object result = method.invoke(transport, arguments);
                if (name.equals("allocate")) {
                    regionAddresses.add(((dev.verbena.memory.RegisteredRegion) result).address());
                }
                return result;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }

        private int poll(TransportHandler handler, int limit) {
            int work = 0;
            while (!lostSends.isEmpty()) {
                long[] lost = lostSends.remove(0);
                handler.onCompletion(lost[0], Operation.SEND, lost[1], 0, 0);
                work++;
            }
            if (!isHoldingGets) {
                for (int i = heldGets.size() - 1; i >= 0; i--) {
                    long[] held = heldGets.get(i);
                    handler.onCompletion(held[0], Operation.GET, held[1], (int) held[2], held[3]);
                    work++;
                }
                heldGets.clear();
            }
            return work + Math.max(0, transport.poll(new Filter(handler), limit));
        }

        private final class Filter implements TransportHandler {
            private final TransportHandler handler;

            Filter(TransportHandler handler) {
                this.handler = handler;
            }

            @Override
            public void onCompletion(
                    long connection, int operation, long context, int status, long value) {
                if (operation == Operation.GET && isHoldingGets) {
                    heldGets.add(new long[] {connection, context, status, value});
                } else {
                    handler.onCompletion(connection, operation, context, status, value);
                }
            }

            @Override
            public void onMessage(
                    long connection,
                    long context,
                    DirectBuffer buffer,
                    int offset,
                    int length,
                    long token) {
                handler.onMessage(connection, context, buffer, offset, length, token);
            }

            @Override
            public void onConnectRequest(
                    long connection, URI peer, DirectBuffer data, int offset, int length) {
                handler.onConnectRequest(connection, peer, data, offset, length);
            }

            @Override
            public void onConnected(long connection, long context) {
                handler.onConnected(connection, context);
            }

            @Override
            public void onConnectFailed(long connection, long context, int status, String reason) {
                handler.onConnectFailed(connection, context, status, reason);
            }

            @Override
            public void onDisconnected(long connection, long context) {
                handler.onDisconnected(connection, context);
            }

            @Override
            public void onPeerLost(long connection, long context, String reason) {
                handler.onPeerLost(connection, context, reason);
            }
        }
    }
}
