package dev.verbena.dart;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Handlers of tickets are called when these are final. */
@Timeout(180)
class DartTicketHandlerTest {
    private final List<String> told = new ArrayList<>();

    private DartTicket send(DartClient client, int tag, int length) {
        return client.sendCopy(DartWorld.bytes(length, tag), 0, length, null, tag);
    }

    private void note(DartTicket ticket) {
        told.add(ticket.tag() + " " + ticket.state() + " " + Thread.currentThread().getName());
    }

    private static String line(int tag, TicketState state) {
        return tag + " " + state + " " + Thread.currentThread().getName();
    }

    private void awaitTold(DartClient client, int count) {
        Await.until(
                () -> count + " told, there are " + told,
                () -> {
                    client.progress();
                    return told.size() >= count;
                });
    }

    @Test
    void shouldTellOnceOfEachMessageInTheClientsThread() throws Exception {
        try (DartWorld world = new DartWorld("shm")) {
            world.receive(world.receiverContext().messageLengthMax(1000));
            world.master();
            DartClient client = world.client(0);
            send(client, 1, 1000).onFinal(this::note);
            send(client, 2, 1001).onFinal(this::note);
            send(client, 3, 0).onFinal(this::note);
            awaitTold(client, 3);
            client.flush(DartWorld.LIMIT_NS);
            assertThat(told)
                    .containsExactlyInAnyOrder(
                            line(1, TicketState.STREAMED),
                            line(2, TicketState.FAILED),
                            line(3, TicketState.STREAMED));
            // One that is final already.
            DartTicket late = send(client, 4, 10);
            late.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            late.onFinal(this::note);
            awaitTold(client, 4);
            assertThat(told.get(3)).isEqualTo(line(4, TicketState.STREAMED));
        }
    }

    @Test
    void shouldPoolNoTicketWhoseHandlerIsStillToBeCalled() throws Exception {
        try (SteppedWorld stepped = new SteppedWorld("shm").start(c -> {})) {
            DartClient client = stepped.client(0, c -> c.pooledTickets(true).maxInFlight(2));
            DartTicket first = send(client, 1, 10);
            first.onFinal(
                    ticket -> {
                        note(ticket);
                        send(client, 3, 10).onFinal(this::note);
                        send(client, 4, 10).onFinal(this::note);
                    });
            first.release();
            send(client, 2, 10).onFinal(this::note).release();
            stepped.clients.clear();
            stepped.until("both", () -> stepped.world.received.size() == 2);
            stepped.settle();
            stepped.clients.add(client);
            stepped.until("four told", () -> told.size() >= 4);
            assertThat(told)
                    .containsExactlyInAnyOrder(
                            line(1, TicketState.STREAMED),
                            line(2, TicketState.STREAMED),
                            line(3, TicketState.STREAMED),
                            line(4, TicketState.STREAMED));
        }
    }

    @Test
    void shouldLetHandlersSendAndReportWhatTheyThrow() throws Exception {
        try (DartWorld world = new DartWorld("shm").receive()) {
            world.master();
            DartClient client = world.client(0);
            sendNext(client, 1);
            awaitTold(client, 5);
            world.awaitReceived(5);
            assertThat(world.received)
                    .extracting(DartWorld.Received::tag)
                    .containsExactly(1, 2, 3, 4, 5);
            assertThat(world.errors).hasSize(5).allMatch(e -> e.getMessage().contains("thrown"));
        }
    }

    private void sendNext(DartClient client, int tag) {
        send(client, tag, 100 * tag)
                .onFinal(
                        ticket -> {
                            note(ticket);
                            if (tag < 5) {
                                sendNext(client, tag + 1);
                            }
                            throw new IllegalStateException("thrown by handler " + tag);
                        });
    }

    @Test
    void shouldAwaitItsOwnTicketThoughAHandlerAwaitsAnother() throws Exception {
        try (SteppedWorld stepped = new SteppedWorld("shm").start(c -> {})) {
            DartClient client = stepped.client(0, c -> c.maxInFlight(2));
            send(client, 1, 10)
                    .onFinal(
                            ticket -> {
                                ticket.await(TicketState.STREAMED, 0);
                                note(ticket);
                            });
            stepped.clients.clear();
            stepped.until("the first", () -> stepped.world.received.size() == 1);
            stepped.settle();
            DartTicket second = send(client, 2, 10);
            assertThatThrownBy(() -> second.await(TicketState.STREAMED, 0))
                    .hasMessageContaining("is not STREAMED");
            assertThat(told).containsExactly(line(1, TicketState.STREAMED));
            stepped.clients.add(client);
        }
    }

    @Test
    void shouldRefuseACommandOfAHandlerWhileAnotherWaits() throws Exception {
        try (SteppedWorld stepped = new SteppedWorld("shm").start(c -> {})) {
            DartClient client = stepped.client(0, c -> {});
            send(client, 1, 10)
                    .onFinal(
                            ticket -> {
                                note(ticket);
                                client.command(7, new byte[1]);
                            });
            stepped.clients.clear();
            stepped.until("the message", () -> stepped.world.received.size() == 1);
            stepped.settle();
            assertThatThrownBy(() -> client.command(6, DartWorld.bytes(1, 1), 0, 1, 0))
                    .hasMessageContaining("command 6 after 0 ms: no reply");
            assertThat(told).containsExactly(line(1, TicketState.STREAMED));
            assertThat(stepped.world.errors)
                    .singleElement(as(InstanceOfAssertFactories.THROWABLE))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("command 7 while another waits for its answer");
            assertThatThrownBy(() -> client.command(8, DartWorld.bytes(1, 1), 0, 1, 0))
                    .hasMessageContaining("command 8 after 0 ms");
            stepped.clients.add(client);
        }
    }

    @Test
    void shouldTellOfWhatIsUnconfirmedWhenTheClientIsClosed() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (DartWorld world = new DartWorld("shm")) {
            world.onMessage =
                    () -> {
                        try {
                            go.await();
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                    };
            world.receive();
            world.master();
            DartClient client = world.client(0);
            send(client, 1, 100).onFinal(this::note);
            assertThatThrownBy(() -> client.close(0)).hasMessageContaining("unconfirmed");
            assertThat(told).containsExactly(line(1, TicketState.FAILED));
            go.countDown();
        } finally {
            go.countDown();
        }
    }
}
