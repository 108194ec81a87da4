package dev.verbena.nessie.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** What the parts of {@link RpcContract} share: a server and a client on one thread. */
@Timeout(120)
abstract class RpcFixture {
    static final int ECHO = 1;
    static final int HOLD = 2;
    static final int FAIL = 4;

    final Deque<RpcCall> held = new ArrayDeque<>();
    RpcPair pair;
    RpcEndpoint client;
    RpcService service;

    /** URI scheme of the provider. */
    protected abstract String scheme();

    /** Whether to do as much as the specification asks for, over a slow transport, too. */
    boolean isWhole() {
        // --long: 64 clients with 16 MiB, 1,000,000 random requests: not over shm:// only
        return Boolean.getBoolean("verbena.long");
    }

    @BeforeEach
    void open() {
        connect(RpcServerOptions.DEFAULT);
    }

    private void connect(RpcServerOptions options) {
        pair = open(options);
        connectClient();
    }

    /** Another client takes the place of the former. */
    void connectClient() {
        client = pair.client();
        service = pair.service(client);
    }

    private RpcPair open(RpcServerOptions options) {
        RpcPair made = new RpcPair(scheme(), options);
        made.server.register(ECHO, Bytes::new, call -> call.reply(0, call.args()));
        made.server.register(HOLD, null, this::hold);
        made.server.register(FAIL, Bytes::new, call -> call.reply(-7, call.args()));
        return made;
    }

    private void hold(RpcCall call) {
        if (!call.isResponseless()) {
            held.add(call);
        }
    }

    void reopen(RpcServerOptions options) {
        pair.close();
        connect(options);
    }

    @AfterEach
    void close() {
        pair.close();
        assertThat(pair.errors).isEmpty();
    }

    ClientRequest call(int opcode, Bytes args, Bytes result, long timeoutMs) {
        ClientRequest request = new ClientRequest();
        client.client().call(request, service, opcode, args, result, null, 0, timeoutMs);
        return request;
    }

    ClientRequest done(int opcode, Bytes args, Bytes result) {
        ClientRequest request = call(opcode, args, result, 20_000);
        pair.pump("answered", request::isDone);
        return request;
    }

    void requireEcho(int length) {
        Bytes args = new Bytes(length);
        Bytes result = new Bytes();
        ClientRequest request = done(ECHO, args, result);
        assertThat(request.result()).isEqualTo(RpcResult.OK);
        assertThat(Arrays.equals(result.value, args.value)).isTrue();
    }
}
