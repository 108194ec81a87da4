package dev.verbena.ofi.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.ofi.bindings.fabric;
import dev.verbena.softnic.NativeAccess;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NeedsLibfabric.class)
class ProviderSocketsTest {
    private static final long FIRST_NS = 0;
    private static final long SECOND_NS = 1_000_000_000L;

    private static byte[] name(ServerSocketChannel channel) throws IOException {
        InetSocketAddress at = (InetSocketAddress) channel.getLocalAddress();
        boolean is6 = at.getAddress() instanceof Inet6Address;
        ByteBuffer name = ByteBuffer.allocate(is6 ? 28 : 16).order(ByteOrder.nativeOrder());
        name.putShort((short) (is6 ? 10 : 2));
        name.order(ByteOrder.BIG_ENDIAN).putShort((short) at.getPort());
        name.position(is6 ? 8 : 4);
        name.put(at.getAddress().getAddress());
        return name.array();
    }

    private static boolean isReadable(ProviderSockets sockets) {
        int bell = fabric.vfi_bell();
        try {
            return fabric.vfi_sleep(sockets.descriptor(), bell, 0) == 1;
        } finally {
            fabric.vfi_close_descriptor(bell);
        }
    }

    private static ServerSocketChannel listen(InetAddress here) throws IOException {
        return ServerSocketChannel.open(family(here)).bind(new InetSocketAddress(here, 0));
    }

    private static SocketChannel connect(ServerSocketChannel to) throws IOException {
        InetSocketAddress at = (InetSocketAddress) to.getLocalAddress();
        SocketChannel channel = SocketChannel.open(family(at.getAddress()));
        channel.connect(at);
        return channel;
    }

    private static ProtocolFamily family(InetAddress address) {
        return address instanceof Inet6Address
                ? StandardProtocolFamily.INET6
                : StandardProtocolFamily.INET;
    }

    private static void write(SocketChannel channel) throws IOException {
        assertThat(channel.write(ByteBuffer.wrap(new byte[] {1}))).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void shouldWakeForWhatArrivesAtItsAddressAndFromItsPeers(String address) throws IOException {
        NativeAccess.open();
        InetAddress here = InetAddress.getByName(address);
        try (ServerSocketChannel own = listen(here);
                ServerSocketChannel ofPeer = listen(here);
                ServerSocketChannel ofNobody = listen(here);
                SocketChannel toPeer = connect(ofPeer);
                SocketChannel peer = ofPeer.accept();
                SocketChannel stranger = connect(ofNobody);
                SocketChannel toStranger = ofNobody.accept();
                SocketChannel guest = connect(own);
                SocketChannel ofGuest = own.accept();
                ProviderSockets sockets = new ProviderSockets(name(own), FIRST_NS)) {
            sockets.add(name(ofPeer), FIRST_NS);
            sockets.isQuiet(FIRST_NS);
            assertThat(sockets.found()).as("own listening, of the guest, to the peer").isEqualTo(3);
            assertThat(sockets.isQuiet(FIRST_NS)).isTrue();
            write(toStranger);
            assertThat(stranger.read(ByteBuffer.allocate(1))).isEqualTo(1);
            assertThat(isReadable(sockets)).as("for a stranger").isFalse();
            for (SocketChannel from : new SocketChannel[] {guest, peer}) {
                write(from);
                assertThat(isReadable(sockets)).isTrue();
                assertThat(sockets.isQuiet(FIRST_NS)).isFalse();
                assertThat(sockets.isQuiet(FIRST_NS)).as("unread, but told").isTrue();
                assertThat(isReadable(sockets)).isFalse();
            }
        }
    }

    @Test
    void shouldFindSocketsThatAreMadeLater() throws IOException {
        NativeAccess.open();
        try (ServerSocketChannel own = listen(InetAddress.getByName("127.0.0.1"));
                ProviderSockets sockets = new ProviderSockets(name(own), FIRST_NS)) {
            sockets.isQuiet(FIRST_NS);
            try (SocketChannel guest = connect(own);
                    SocketChannel ofGuest = own.accept()) {
                sockets.isQuiet(FIRST_NS);
                assertThat(sockets.found()).as("looked for a moment ago").isEqualTo(1);
                sockets.isQuiet(SECOND_NS);
                assertThat(sockets.found()).isEqualTo(2);
            }
        }
    }
}
