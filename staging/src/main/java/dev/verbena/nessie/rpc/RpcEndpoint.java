package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.MessageHandler;
import dev.verbena.nessie.nnti.NntiOptions;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.wire.RpcConstants;
import dev.verbena.staging.Arguments;
import dev.verbena.transport.Transport;
import java.util.function.Function;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.ErrorHandler;

/**
 * Client, server or both over one transport: leads each message to who knows its call. Owned by the
 * transport's thread.
 */
public final class RpcEndpoint implements AutoCloseable {
    /** Longest request or result in one message, bytes (specification, section 1.1). */
    public static final int MESSAGE_LENGTH = 1216;

    private static final int MAGIC_WITHOUT_VERSION = RpcConstants.REQUEST >>> 8;

    private final NntiTransport transport;
    private final RpcClient client;
    private final ErrorHandler errorHandler;
    private RpcServer server;

    /**
     * A client; a server if {@link #serve} is called.
     *
     * @param transport closed with this
     */
    public RpcEndpoint(NntiTransport transport, ErrorHandler errorHandler) {
        int length = transport.messageLengthMax();
        Arguments.range("messageLengthMax", length, RpcMessage.LENGTH_MAX + 64, Integer.MAX_VALUE);
        this.transport = transport;
        this.errorHandler = errorHandler;
        this.client = new RpcClient(transport);
        transport.onMessage(new Messages());
    }

    /** Serves from now on; once. */
    public RpcServer serve(RpcServerOptions options) {
        if (server != null) {
            throw new IllegalStateException("this endpoint serves already");
        }
        server = new RpcServer(transport, options, errorHandler);
        return server;
    }

    /**
     * A client over a transport without target events; see the constructor.
     *
     * @param transport closed with the endpoint
     */
    public static RpcEndpoint over(Transport transport, ErrorHandler errorHandler) {
        return new RpcEndpoint(new NntiTransport(transport, NntiOptions.ONE_SIDED), errorHandler);
    }

    /**
     * Makes something of a client over a transport without target events.
     *
     * @param transport closed with the endpoint, also if this throws
     */
    public static <T> T over(
            Transport transport, ErrorHandler errors, Function<RpcEndpoint, T> maker) {
        RpcEndpoint endpoint = null;
        try {
            endpoint = over(transport, errors);
            return maker.apply(endpoint);
        } catch (RuntimeException | Error e) {
            CloseHelper.quietClose(endpoint == null ? transport : endpoint);
            throw e;
        }
    }

    /** Calls others. */
    public RpcClient client() {
        return client;
    }

    /** The network below. */
    public NntiTransport transport() {
        return transport;
    }

    /** Does what can be done now; work done. */
    public int doWork() {
        int work = transport.progress() + client.doWork();
        return server == null ? work : work + server.doWork();
    }

    /**
     * When {@link #doWork} has something to do although nothing comes: a call times out, a long
     * result is given up, or the progress callback is due. {@code Long.MAX_VALUE}: never.
     */
    public long nextDeadlineNs() {
        long ofClient = client.nextDeadlineNs();
        return server == null ? ofClient : earlier(ofClient, server.nextDeadlineNs());
    }

    /** The earlier of two deadlines, of which {@code Long.MAX_VALUE} is none. */
    public static long earlier(long a, long b) {
        boolean isFirst = b == Long.MAX_VALUE || a != Long.MAX_VALUE && a - b < 0;
        return isFirst ? a : b;
    }

    /** Calls under way end with {@code ECANCELED}. */
    @Override
    public void close() {
        client.close();
        if (server != null) {
            server.close();
        }
        transport.close();
    }

    private final class Messages implements MessageHandler {
        @Override
        public boolean mayPassOthers(DirectBuffer buffer, int offset, int length) {
            return RpcMessage.magic(buffer, offset, length) != RpcConstants.REQUEST;
        }

        @Override
        public boolean onMessage(NntiPeer peer, DirectBuffer buffer, int offset, int length) {
            int magic = RpcMessage.magic(buffer, offset, length);
            if (magic == RpcConstants.REQUEST && server != null) {
                return server.onRequest(peer, buffer, offset, length);
            }
            if (magic == RpcConstants.RESULT) {
                client.onResult(peer, buffer, offset, length);
            } else if (magic == RpcConstants.ASK) {
                client.onAsk(peer, buffer, offset, length);
            } else if (magic == RpcConstants.PUSHED && server != null) {
                server.onPushed(peer, buffer, offset, length);
            } else if (magic == RpcConstants.ACK && server != null) {
                server.onAck(peer, buffer, offset);
            } else if (magic >>> 8 == MAGIC_WITHOUT_VERSION && server != null) {
                server.onUnknownVersion(peer, buffer, offset);
            }
            return true;
        }

        @Override
        public void onPeerClosed(NntiPeer peer) {
            client.onPeerClosed(peer);
            if (server != null) {
                server.onPeerClosed(peer);
            }
        }
    }
}
