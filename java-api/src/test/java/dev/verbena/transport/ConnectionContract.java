package dev.verbena.transport;

import static dev.verbena.transport.Transport.ACCEPTED;
import static dev.verbena.transport.Transport.BACK_PRESSURED;
import static dev.verbena.transport.Transport.NOT_CONNECTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.ContractNode.Completion;
import dev.verbena.transport.ContractNode.Life;
import dev.verbena.transport.ContractNode.Message;
import dev.verbena.transport.ContractNode.Notification;
import dev.verbena.transport.ContractNode.Request;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Connect, accept, reject, disconnect, close: every attempt ends with exactly one event. */
abstract class ConnectionContract extends ConnectTargetContract {
    private static final long LONG_NS = 10_000_000_000L;

    @Test
    void shouldShowPrivateDataAndPeerWhenAConnectionIsOffered() {
        ContractNode a = node();
        ContractNode b = node();
        b.transport.listen();
        b.transport.listen();
        b.acceptContext = 0;
        int max = a.transport.limits().privateDataLengthMax();
        assertThat(max).isPositive();
        long[] handles = new long[2];
        byte[] data = random(max, 1);
        handles[0] = a.connect(b.transport.uri(), data, 100, LONG_NS);
        handles[1] = a.connect(b.transport.uri(), new byte[0], 101, LONG_NS);
        java.util.Arrays.fill(data, (byte) 0); // copied by connect
        pump("two requests", () -> b.requests.size() == 2);
        for (Request request : b.requests) {
            assertThat(request.peer()).isEqualTo(a.transport.uri());
            boolean isFirst = request.privateData().length > 0;
            assertThat(request.privateData()).isEqualTo(isFirst ? random(max, 1) : new byte[0]);
            assertThat(b.transport.accept(request.connection(), isFirst ? 200 : 201))
                    .isEqualTo(ACCEPTED);
        }
        pump("connected", () -> a.lives.size() == 2 && b.lives.size() == 2);
        assertThat(a.lives)
                .contains(
                        new Life("connected", handles[0], 100, 0, ""),
                        new Life("connected", handles[1], 101, 0, ""));
        assertThat(b.lives).extracting(Life::context).containsExactlyInAnyOrder(200L, 201L);
        assertThatThrownBy(() -> a.connect(b.transport.uri(), new byte[max + 1], 1, LONG_NS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(String.valueOf(max + 1));
    }

    /** By the handler of the first of two connections that were made in one poll. */
    @Test
    void shouldEndAConnectThatIsDisconnectedBeforeItIsTold() {
        ContractNode a = node();
        ContractNode b = node();
        b.transport.listen();
        long one = a.connect(b.transport.uri(), 1);
        long other = a.connect(b.transport.uri(), 2);
        a.hook =
                event -> {
                    if (event instanceof Life life && life.what().equals("connected")) {
                        a.hook = later -> {};
                        a.transport.disconnect(life.connection() == one ? other : one);
                    }
                };
        pump("both", () -> a.lives.size() >= 2);
        settle();
        for (long handle : new long[] {one, other}) {
            long ends = a.count("connected", handle) + a.count("failed", handle);
            assertThat(ends).as("ends of %s in %s", handle, a.lives).isOne();
        }
    }

    /** The peer answers and sends at once, while this side is in the middle of a poll. */
    @Test
    void shouldTellOfAConnectionBeforeWhatItsPeerSendsAtOnce() {
        Pair p = new Pair();
        RegisteredRegion own = p.a.allocate(64);
        tellsOfAConnectionFirst(
                p,
                event -> event instanceof Completion,
                () -> {},
                () -> post("send", () -> p.a.transport.send(p.ab, own, 0, 8, 1, 0)));
    }

    /** A handler that sends without credit has the transport look at what else has come. */
    @Test
    void shouldTellOfAConnectionBeforeItsMessagesWhenAHandlerSends() {
        Pair p =
                new Pair(
                        node(context().creditsPerConnection(4)),
                        node(context().creditsPerConnection(4)));
        RegisteredRegion own = p.a.allocate(64);
        RegisteredRegion far = p.b.allocate(64);
        tellsOfAConnectionFirst(
                p,
                event -> event instanceof Message m && m.connection() == p.ab,
                () -> {
                    for (int i = 0; i < 8; i++) {
                        p.a.transport.send(p.ab, own, 0, 8, 1, 0);
                    }
                },
                () -> post("send", () -> p.b.transport.send(p.ba, far, 0, 8, 1, 0)));
    }

    /**
     * At the first event of a kind another peer accepts and sends within a handler of this side.
     *
     * @param then what the handler does afterwards
     * @param cause brings that event about
     */
    private void tellsOfAConnectionFirst(
            Pair p, Predicate<Object> isAwaited, Runnable then, Runnable cause) {
        ContractNode c = node();
        c.transport.listen();
        c.acceptContext = 0;
        RegisteredRegion target = p.a.allocate(64);
        RegisteredRegion source = c.allocate(64);
        long handle = p.a.connect(c.transport.uri(), 5);
        pump("request", () -> !c.requests.isEmpty());
        long offered = c.requests.peek().connection();
        long[] tellings = new long[2];
        p.a.hook =
                event -> {
                    if (isAwaited.test(event)) {
                        if (tellings[0]++ == 0) {
                            assertThat(c.transport.accept(offered, 6)).isEqualTo(ACCEPTED);
                            for (int i = 0; i < 100; i++) {
                                c.poll();
                            }
                            c.transport.send(offered, source, 0, 8, 1, 0);
                            c.transport.putNotify(
                                    offered, source, 0, describe(target), 0, 8, 3, 2, 0);
                            c.poll();
                            then.run();
                        }
                    } else if (event instanceof Message || event instanceof Notification) {
                        assertThat(p.a.count("connected", handle)).as("told of %s", event).isOne();
                        tellings[1]++;
                    }
                };
        cause.run();
        pump("answered", () -> tellings[0] > 0 && c.count("connected", offered) == 1);
        if (c.completions.isEmpty()) { // it had to wait for the poll to end
            post("send", () -> c.transport.send(offered, source, 0, 8, 1, 0));
            post(
                    "put",
                    () ->
                            c.transport.putNotify(
                                    offered, source, 0, describe(target), 0, 8, 3, 2, 0));
        }
        pump("message and notification", () -> tellings[1] == 2);
        assertThat(p.a.messages.peekLast().connection()).isEqualTo(handle);
        assertThat(p.a.notifications.peek().connection()).isEqualTo(handle);
    }

    /** More of them than there is room for connections. */
    @Test
    void shouldHaveRoomAgainAfterOffersWhosePeersHaveLeft() {
        ContractNode a = node();
        ContractNode b = node(context().connectionsMax(2));
        b.transport.listen();
        b.acceptContext = 0;
        for (int i = 1; i <= 3; i++) {
            long mine = a.connect(b.transport.uri(), i);
            pump("request", () -> !b.requests.isEmpty());
            a.transport.disconnect(mine);
            settle();
            b.transport.reject(b.requests.poll().connection());
            settle();
        }
        b.acceptContext = 9;
        long last = a.connect(b.transport.uri(), 9);
        pump("connected", () -> a.count("connected", last) == 1);
    }

    /** Every limit is legal: none wraps around, none stops the timers of the others. */
    @Test
    void shouldKeepEveryTimeLimitOfAConnect() {
        ContractNode a = node();
        ContractNode b = node();
        b.transport.listen();
        b.acceptContext = 0;
        List<Long> patient = new ArrayList<>();
        for (long limit :
                new long[] {
                    Long.MAX_VALUE, Long.MAX_VALUE - 1, Long.MAX_VALUE / 2, Long.MAX_VALUE / 1000
                }) {
            patient.add(a.connect(b.transport.uri(), new byte[0], 1, limit));
        }
        for (long limit : new long[] {20_000_000, 1, 0, -1, -Long.MAX_VALUE, Long.MIN_VALUE}) {
            long handle = a.connect(b.transport.uri(), new byte[0], 2, limit);
            assertThat(failure(a, handle).status()).as("%d ns", limit).isEqualTo(Status.TIMED_OUT);
        }
        assertThat(a.lives).as("only those failed").hasSize(6);
        pump("the requests", () -> b.requests.size() >= patient.size());
        b.requests.forEach(request -> b.transport.accept(request.connection(), 3));
        for (long handle : patient) {
            pump("the patient are connected", () -> a.count("connected", handle) == 1);
        }
    }

    @Test
    void shouldKeepOrRefuseEveryPeerTimeout() {
        ContractNode a = node(context().peerTimeoutNs(Long.MAX_VALUE / 4));
        Pair p = new Pair(a, node(context().peerTimeoutNs(Long.MAX_VALUE / 4)));
        RegisteredRegion local = a.allocate(8);
        post("send", () -> a.transport.send(p.ab, local, 0, 8, 1, 0));
        assertThat(completion(a).status()).isEqualTo(Status.OK);
        p.b.close();
        pump("the end of the peer", () -> a.hasEnded(p.ab));
        for (long limit : new long[] {0, -1, 1, Long.MIN_VALUE, Long.MAX_VALUE}) {
            assertThatThrownBy(() -> open(context().peerTimeoutNs(limit)).close())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("peerTimeoutNs " + limit);
        }
    }

    @Test
    void shouldTimeOutWhenThePeerDoesNotAnswer() {
        ContractNode a = node();
        ContractNode b = node();
        b.transport.listen();
        b.acceptContext = 0;
        // Long enough for the request to leave on a busy machine.
        long timeoutNs = 500_000_000;
        long start = a.transport.nanoTime();
        long handle = a.connect(b.transport.uri(), new byte[0], 9, timeoutNs);
        Life life = failure(a, handle);
        assertThat(life.status()).isEqualTo(Status.TIMED_OUT);
        assertThat(a.transport.nanoTime() - start).isGreaterThanOrEqualTo(timeoutNs);
        pump("the request", () -> !b.requests.isEmpty());
        expectLateAccept(b);
        assertThat(a.lives).hasSize(1);
    }

    /** Too late: an answer of any kind, but no connection that one side believes in. */
    private void expectLateAccept(ContractNode b) {
        long offered = b.requests.peek().connection();
        int answer = b.transport.accept(offered, 1);
        if (answer == ACCEPTED) {
            pump(
                    "the late accept is taken back",
                    () -> b.hasEnded(offered) || b.count("failed", offered) == 1);
        } else {
            assertThat(answer).isEqualTo(NOT_CONNECTED);
        }
    }

    @Test
    void shouldGiveUpAConnectUnderWayWhenItIsDisconnected() {
        ContractNode a = node();
        ContractNode b = node();
        b.transport.listen();
        b.acceptContext = 0;
        long handle = a.connect(b.transport.uri(), new byte[0], 9, Long.MAX_VALUE);
        pump("the request", () -> !b.requests.isEmpty());
        assertThat(a.transport.disconnect(handle)).isEqualTo(ACCEPTED);
        Life life = failure(a, handle);
        assertThat(life.status()).isEqualTo(Status.CANCELLED);
        assertThat(life.context()).isEqualTo(9);
        assertThat(a.transport.disconnect(handle)).isEqualTo(NOT_CONNECTED);
        expectLateAccept(b);
        assertThat(a.lives).hasSize(1);
    }

    @Test
    void shouldRejectAnOfferedConnectionWhenItIsDisconnected() {
        ContractNode a = node();
        ContractNode b = node();
        b.transport.listen();
        b.acceptContext = 0;
        long handle = a.connect(b.transport.uri(), 5);
        pump("the request", () -> !b.requests.isEmpty());
        long offered = b.requests.peek().connection();
        assertThat(b.transport.disconnect(offered)).isEqualTo(ACCEPTED);
        assertThat(failure(a, handle).status()).isEqualTo(Status.REFUSED);
        assertThat(b.transport.accept(offered, 1)).isEqualTo(NOT_CONNECTED);
        assertThat(b.transport.disconnect(offered)).isEqualTo(NOT_CONNECTED);
        assertThat(b.lives).isEmpty();
    }

    @Test
    void shouldPushBackWhenAllConnectionsAreTaken() {
        ContractNode a = node(context().connectionsMax(2).receiveSlotCount(64));
        ContractNode b = node();
        Pair first = new Pair(a, b);
        Pair second = new Pair(a, b);
        assertThat(a.connect(b.transport.uri(), 1)).isEqualTo(BACK_PRESSURED);
        assertThat(a.transport.disconnect(first.ab)).isEqualTo(ACCEPTED);
        pump("disconnected", () -> b.hasEnded(first.ba));
        long[] handle = new long[1];
        pump(
                "room for another",
                () -> (handle[0] = a.connect(b.transport.uri(), 1)) != BACK_PRESSURED);
        pump("connected", () -> a.count("connected", handle[0]) == 1);
        assertThat(second.ab).isNotEqualTo(handle[0]);
    }

    @Test
    void shouldAnswerNotConnectedWhenTheHandleIsNotUsable() {
        ContractNode a = node();
        ContractNode b = node();
        b.transport.listen();
        b.acceptContext = 0;
        RegisteredRegion local = a.allocate(64);
        RemoteDescriptor d = describe(b.allocate(64));
        long pending = a.connect(b.transport.uri(), 1);
        TransferVector vector = new TransferVector(1).add(local, 0, 0, 8);
        for (long handle : new long[] {pending, 0, -1, 12345678, Long.MAX_VALUE, Long.MIN_VALUE}) {
            Transport t = a.transport;
            assertThat(t.send(handle, local, 0, 8, 1, 0)).isEqualTo(NOT_CONNECTED);
            assertThat(t.put(handle, local, 0, d, 0, 8, 1, 0)).isEqualTo(NOT_CONNECTED);
            assertThat(t.get(handle, local, 0, d, 0, 8, 1, 0)).isEqualTo(NOT_CONNECTED);
            assertThat(t.putNotify(handle, local, 0, d, 0, 8, 1, 1, 0))
                    .isIn(NOT_CONNECTED, Transport.NOT_SUPPORTED);
            assertThat(t.put(handle, vector, d, 1, 0)).isEqualTo(NOT_CONNECTED);
            assertThat(t.get(handle, vector, d, 1, 0)).isEqualTo(NOT_CONNECTED);
            assertThat(t.fetchAdd(handle, d, 0, 1, 1, 0))
                    .isIn(NOT_CONNECTED, Transport.NOT_SUPPORTED);
            assertThat(t.compareSwap(handle, d, 0, 1, 1, 1, 0))
                    .isIn(NOT_CONNECTED, Transport.NOT_SUPPORTED);
            assertThat(t.accept(handle, 1)).isEqualTo(NOT_CONNECTED);
            assertThat(t.reject(handle)).isEqualTo(NOT_CONNECTED);
        }
        settle();
        assertThat(a.completions).isEmpty();
    }

    @Test
    void shouldCompleteWhatWasAcceptedBeforeThePeerLearnsOfADisconnect() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(1 << 20);
        RegisteredRegion remote = p.b.allocate(1 << 20);
        RemoteDescriptor d = describe(remote);
        fill(local, 0, random(1 << 20, 2));
        List<Object> order = new ArrayList<>();
        p.b.hook = order::add;
        for (int i = 0; i < 6; i++) {
            assertThat(p.a.transport.send(p.ab, local, 0, 100, i, 0)).isEqualTo(ACCEPTED);
        }
        assertThat(p.a.transport.put(p.ab, local, 0, d, 0, 1 << 20, 6, 0)).isEqualTo(ACCEPTED);
        assertThat(p.a.transport.disconnect(p.ab)).isEqualTo(ACCEPTED);
        assertThat(p.a.transport.send(p.ab, local, 0, 100, 9, 0)).isEqualTo(NOT_CONNECTED);
        assertThat(p.a.transport.disconnect(p.ab)).isEqualTo(NOT_CONNECTED);
        pump("end", () -> p.b.count("disconnected", p.ba) == 1 && p.a.completions.size() == 7);
        settle();
        assertThat(p.a.completions).hasSize(7).allMatch(c -> c.status() == Status.OK);
        assertThat(p.b.messages).hasSize(6);
        assertThat(order.get(order.size() - 1)).isInstanceOf(Life.class);
        assertThat(bytes(remote, 0, 1 << 20)).isEqualTo(bytes(local, 0, 1 << 20));
        assertThat(p.b.count("lost", p.ba)).isZero();
        assertThat(p.b.transport.send(p.ba, remote, 0, 8, 1, 0)).isEqualTo(NOT_CONNECTED);
        assertThat(p.a.count("lost", p.ab)).isZero();
        assertThat(p.a.count("disconnected", p.ab)).isLessThanOrEqualTo(1);
    }

    @Test
    void shouldEndOnceWhenThePeerCloses() {
        ContractNode a = node();
        ContractNode b = node();
        Pair first = new Pair(a, b);
        Pair second = new Pair(a, b);
        assertThat(first.ab).isNotEqualTo(second.ab);
        RegisteredRegion local = a.allocate(64);
        post("send", () -> a.transport.send(first.ab, local, 0, 8, 1, 0));
        b.transport.close();
        pump("both ended", () -> a.hasEnded(first.ab) && a.hasEnded(second.ab));
        settle();
        assertThat(a.count("lost", first.ab) + a.count("disconnected", first.ab)).isEqualTo(1);
        assertThat(a.count("lost", second.ab) + a.count("disconnected", second.ab)).isEqualTo(1);
        assertThat(a.completions).hasSize(1);
        assertThat(a.transport.send(first.ab, local, 0, 8, 1, 0)).isEqualTo(NOT_CONNECTED);
    }

    @Test
    void shouldFailThePendingConnectWhenThePeerCloses() {
        ContractNode a = node();
        ContractNode b = node();
        b.transport.listen();
        b.acceptContext = 0;
        long handle = a.connect(b.transport.uri(), 1);
        pump("request", () -> !b.requests.isEmpty());
        b.transport.close();
        pump("the connect ends", () -> a.count("failed", handle) == 1);
        settle();
        assertThat(a.lives).hasSize(1);
    }

    @Test
    void shouldJoinBothWhenTheyConnectToEachOtherAtOnce() {
        ContractNode a = node();
        ContractNode b = node();
        a.transport.listen();
        b.transport.listen();
        long fromA = a.connect(b.transport.uri(), 1);
        long fromB = b.connect(a.transport.uri(), 2);
        pump("two connections", () -> a.lives.size() == 2 && b.lives.size() == 2);
        assertThat(a.lives).allMatch(l -> l.what().equals("connected"));
        RegisteredRegion atA = a.allocate(8);
        RegisteredRegion atB = b.allocate(8);
        post("a", () -> a.transport.send(fromA, atA, 0, 8, 1, 0));
        post("b", () -> b.transport.send(fromB, atB, 0, 8, 1, 0));
        pump("messages", () -> a.messages.size() == 1 && b.messages.size() == 1);
        assertThat(b.messages.peek().connection()).isNotEqualTo(fromB);
    }

    @Test
    void shouldServeManyConnectionsAtATime() {
        int count = manyClients();
        ContractNode server =
                node(context().creditsPerConnection(4).receiveSlotCount(4 * (count + 1)));
        List<Pair> pairs = new ArrayList<>();
        List<RegisteredRegion> sources = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Pair p =
                    new Pair(
                            node(
                                    context()
                                            .creditsPerConnection(4)
                                            .receiveSlotCount(16)
                                            .connectionsMax(4)),
                            server);
            pairs.add(p);
            RegisteredRegion source = p.a.allocate(64);
            whole(source).putInt(0, i);
            sources.add(source);
        }
        RegisteredRegion answer = server.allocate(64);
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < count; i++) {
                Pair p = pairs.get(i);
                RegisteredRegion source = sources.get(i);
                post("to the server", () -> p.a.transport.send(p.ab, source, 0, 4, 1, 0));
            }
            int expected = count * (round + 1);
            pump("all at the server", () -> server.messages.size() == expected);
            for (Pair p : pairs) {
                post("answer", () -> server.transport.send(p.ba, answer, 0, 1, 1, 0));
            }
            int rounds = round + 1;
            pump("all answers", () -> pairs.stream().allMatch(p -> p.a.messages.size() == rounds));
        }
        Set<Long> handles = new HashSet<>();
        pairs.forEach(p -> handles.add(p.ba));
        assertThat(handles).hasSize(count);
    }
}
