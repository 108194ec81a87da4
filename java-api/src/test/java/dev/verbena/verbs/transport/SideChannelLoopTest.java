package dev.verbena.verbs.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.transport.Status;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The side-channel loop over real sockets of this host: peers that say nothing, nonsense, or go
 * away.
 */
@Timeout(60)
class SideChannelLoopTest {
    private static final long LONG_NS = 30_000_000_000L;

    private final BlockingQueue<ChannelFrame> atDoor = new LinkedBlockingQueue<>();
    private final BlockingQueue<ChannelFrame> atHome = new LinkedBlockingQueue<>();
    private SideChannelLoop loop;
    private ServerSocketChannel listener;
    private InetSocketAddress address;

    @BeforeEach
    void open() throws IOException {
        loop = SideChannelLoop.join();
        listener =
                loop.listen(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        atDoor::add,
                        100);
        address = (InetSocketAddress) listener.getLocalAddress();
    }

    @AfterEach
    void close() {
        loop.close(listener);
        loop.flush();
        loop.leave();
    }

    private static ChannelFrame next(BlockingQueue<ChannelFrame> frames)
            throws InterruptedException {
        ChannelFrame frame = frames.poll(30, TimeUnit.SECONDS);
        assertThat(frame).as("a letter within 30 s").isNotNull();
        frame.channel().read();
        return frame;
    }

    private Socket stranger() throws IOException {
        Socket socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout(30_000);
        return socket;
    }

    private static void say(Socket socket, int length, int kind) throws IOException {
        ByteBuffer frame =
                ByteBuffer.allocate(4 + Math.max(1, Math.min(length, 100)))
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putInt(length)
                        .put((byte) kind);
        socket.getOutputStream().write(frame.array());
    }

    private static boolean isClosed(Socket socket) throws IOException {
        socket.setSoTimeout(10_000);
        try (InputStream in = socket.getInputStream()) {
            int read;
            do {
                read = in.read();
            } while (read >= 0);
            return true;
        } catch (java.net.SocketException e) {
            return true; // reset
        }
    }

    @Test
    void shouldCarryFramesBothWaysAndTellOfTheEnd() throws Exception {
        PeerChannel channel = loop.connect(address, atHome::add);
        channel.send(Frames.plain(Frames.HELLO));
        ChannelFrame hello = next(atDoor);
        assertThat(hello.kind()).isEqualTo(Frames.HELLO);
        hello.channel().send(Frames.refuse("not today"));
        hello.channel().close();
        ChannelFrame refused = next(atHome);
        assertThat(Frames.text(refused.body())).isEqualTo("not today");
        ChannelFrame ended = next(atHome);
        assertThat(ended.kind()).isEqualTo(ChannelFrame.ENDED);
        assertThat(ended.status()).isEqualTo(Status.PEER_DEAD);
        assertThat(ended.reason()).isNotBlank();
    }

    @Test
    void shouldTellWhenNobodyListens() throws Exception {
        loop.close(listener);
        loop.flush();
        loop.connect(address, atHome::add);
        assertThat(next(atHome).status()).isEqualTo(Status.NOT_LISTENING);
    }

    @Test
    void shouldTakeASilentPeerForLostAndNotOneThatSaysThatItLives() throws Exception {
        try (Socket silent = stranger()) {
            say(silent, 1, Frames.HELLO);
            PeerChannel lost = next(atDoor).channel();
            PeerChannel living = loop.connect(address, atHome::add);
            living.send(Frames.plain(Frames.HELLO));
            PeerChannel other = next(atDoor).channel();
            living.watch(20_000_000, LONG_NS);
            other.watch(LONG_NS, 1_500_000_000);
            lost.watch(20_000_000, 300_000_000);
            ChannelFrame ended = next(atDoor);
            assertThat(ended.channel()).isSameAs(lost);
            assertThat(ended.reason()).contains("silent");
            assertThat(atDoor.poll(2, TimeUnit.SECONDS)).isNull();
            assertThat(atHome).isEmpty();
        }
    }

    private static void standStill(long ns) {
        long end = System.nanoTime() + ns;
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    @Test
    void shouldNotBlameOthersWhenItWasItselfHeldUp() throws Exception {
        try (Socket silent = stranger()) {
            say(silent, 1, Frames.HELLO);
            PeerChannel patient = next(atDoor).channel();
            patient.watch(LONG_NS, 1_200_000_000);
            loop.flush();
            // The side-channel loop itself stands still for longer than the peer may be silent.
            loop.execute(() -> standStill(1_500_000_000L));
            loop.flush();
            assertThat(atDoor.poll(200, TimeUnit.MILLISECONDS)).isNull();
            // From then on the clock runs anew, and silence is silence.
            assertThat(next(atDoor).reason()).contains("silent");
        }
    }

    @Test
    void shouldGiveUpAtTheDeadline() throws Exception {
        PeerChannel channel = loop.connect(address, atHome::add);
        channel.deadline(System.nanoTime() + 50_000_000, "too late");
        ChannelFrame ended = next(atHome);
        assertThat(ended.status()).isEqualTo(Status.TIMED_OUT);
        assertThat(ended.reason()).isEqualTo("too late");
    }

    /** The owner goes on, and the deadline counts from the call. */
    @Test
    void shouldGiveUpAtTheDeadlineAlsoWhileTheNameIsLookedUp() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        PeerChannel channel =
                loop.connect(
                        () -> {
                            awaitUninterrupted(answer);
                            return address;
                        },
                        atHome::add);
        channel.awaitJoin(System.nanoTime() + 50_000_000, "too late");
        ChannelFrame ended = next(atHome);
        assertThat(ended.status()).isEqualTo(Status.TIMED_OUT);
        assertThat(ended.reason()).isEqualTo("too late");
        answer.countDown();
        PeerChannel other = loop.connect(() -> address, atHome::add);
        other.send(Frames.plain(Frames.HELLO));
        assertThat(next(atDoor).kind()).isEqualTo(Frames.HELLO);
        assertThat(atHome).isEmpty();
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The owner reads it when it polls; the peer is not to blame if that is later. */
    @Test
    void shouldNotGiveUpAPeerWhoseWordHasCome() throws Exception {
        try (Socket peer = stranger()) {
            say(peer, 1, Frames.HELLO);
            PeerChannel channel = next(atDoor).channel();
            channel.awaitJoin(System.nanoTime() + 1_000_000_000L, "did not confirm in time");
            loop.flush();
            say(peer, 1, Frames.READY);
            assertThat(next(atDoor).kind()).isEqualTo(Frames.READY);
            assertThat(atDoor.poll(1500, TimeUnit.MILLISECONDS)).isNull();
            // Another deadline is none of that word's, which may come again.
            channel.deadline(System.nanoTime() + 500_000_000L, "did not say goodbye");
            loop.flush();
            say(peer, 1, Frames.READY);
            assertThat(next(atDoor).kind()).isEqualTo(Frames.READY);
            assertThat(next(atDoor).reason()).isEqualTo("did not say goodbye");
        }
    }

    @Test
    void shouldTurnAwayWhoWritesNonsense() throws Exception {
        int[][] frames = {
            {0, 1},
            {-1, 1},
            {Frames.LENGTH_MAX + 1, 1},
            {Integer.MAX_VALUE, 1},
            {1, 0},
            {1, 2},
            {1, 99}
        };
        for (int[] frame : frames) {
            try (Socket socket = stranger()) {
                say(socket, frame[0], frame[1]);
                assertThat(isClosed(socket)).as("length %d, kind %d", frame[0], frame[1]).isTrue();
            }
        }
        assertThat(atDoor).isEmpty();
    }

    @Test
    void shouldNotKeepMoreStrangersThanItMay() throws Exception {
        List<Socket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < 80; i++) {
                sockets.add(stranger());
            }
            assertThat(isClosed(sockets.get(79))).isTrue();
            Socket first = sockets.get(0);
            say(first, 1, Frames.HELLO);
            assertThat(next(atDoor).kind()).isEqualTo(Frames.HELLO);
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    @Test
    void shouldTellEverybodyWhenItsThreadDiesAndLetTheNextBegin() throws Exception {
        try (Socket peer = stranger()) {
            say(peer, 1, Frames.HELLO);
            PeerChannel channel = next(atDoor).channel();
            loop.execute(
                    () -> {
                        throw new AssertionError("the keeper's thread dies of this, for a test");
                    });
            ChannelFrame ended = next(atDoor);
            assertThat(ended.channel()).isSameAs(channel);
            assertThat(ended.reason()).contains("no keeper");
            assertThat(isClosed(peer)).isTrue();
            loop.close(listener);
            assertThat(listener.isOpen()).isFalse();
        }
        SideChannelLoop second = SideChannelLoop.join();
        try {
            assertThat(second).isNotSameAs(loop);
            second.connect(address, atHome::add);
            assertThat(next(atHome).status()).isEqualTo(Status.NOT_LISTENING);
        } finally {
            second.leave();
        }
    }

    @Test
    void shouldNotKeepLettersWithoutEndWhenTheOwnerDoesNotRead() throws Exception {
        try (Socket socket = stranger()) {
            say(socket, 1, Frames.HELLO);
            for (int i = 0; i < 200; i++) {
                try {
                    say(socket, 1, Frames.BYE);
                } catch (java.net.SocketException e) {
                    break;
                }
            }
            assertThat(isClosed(socket)).isTrue();
            assertThat(atDoor.size()).isBetween(64, 66);
        }
    }
}
