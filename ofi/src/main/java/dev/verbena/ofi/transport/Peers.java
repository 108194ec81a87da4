package dev.verbena.ofi.transport;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.agrona.CloseHelper;
import org.agrona.collections.Long2ObjectHashMap;

/** The peers of one transport, by name and by incarnation. One thread. */
final class Peers {
    private static final int PORT_AT = 2;
    private static final int IPV4 = 16;
    private static final int IPV4_AT = 4;
    private static final int IPV6_AT = 8;
    private static final int PORT_MASK = 0xFFFF;

    private final OfiResources resources;
    private final Map<String, OfiPeer> byName = new HashMap<>();
    private final Long2ObjectHashMap<OfiPeer> byIncarnation = new Long2ObjectHashMap<>();
    private final List<OfiPeer> all = new ArrayList<>();

    Peers(OfiResources resources) {
        this.resources = resources;
    }

    /** The peer whose endpoint has this name. */
    OfiPeer of(byte[] name) {
        String key = HexFormat.of().formatHex(name);
        OfiPeer peer = byName.get(key);
        if (peer == null) {
            peer = new OfiPeer(all.size() + 1L, resources.insert(name), name);
            byName.put(key, peer);
            all.add(peer);
        }
        return peer;
    }

    OfiPeer at(long number) {
        return all.get((int) number - 1);
    }

    /** A record came from this incarnation, which need not be known. */
    void heard(long incarnation) {
        OfiPeer peer = byIncarnation.get(incarnation);
        if (peer != null) {
            peer.heard(incarnation);
        }
    }

    /** A record told which incarnation is there. */
    void heard(OfiPeer peer, long incarnation) {
        if (peer.incarnation != incarnation) {
            byIncarnation.remove(peer.incarnation);
            byIncarnation.put(incarnation, peer);
        }
        peer.heard(incarnation);
    }

    void tick(long nowNs) {
        for (int i = 0; i < all.size(); i++) {
            all.get(i).tick(nowNs);
        }
    }

    /** Fabric addresses of those that a connection is bound to. */
    long[] inUse() {
        return all.stream().filter(p -> p.users > 0).mapToLong(p -> p.fabricAddress).toArray();
    }

    /** Nothing is known of who is there now: the next {@link #look} begins anew. */
    void forget(OfiPeer peer) {
        CloseHelper.close(peer.probe);
        peer.probing(null);
        peer.reached(true);
    }

    /**
     * Whether somebody is at the peer's address, as far as the operating system knows.
     *
     * @return false while that is not known yet; {@link OfiPeer#isGone} says the answer
     */
    boolean look(OfiPeer peer) {
        if (!resources.isSeenByTcp()) {
            return true;
        }
        try {
            if (peer.probe == null) {
                SocketChannel channel = SocketChannel.open();
                peer.probing(channel);
                channel.configureBlocking(false);
                if (!channel.connect(socket(peer.name))) {
                    return false;
                }
            } else if (!peer.probe.finishConnect()) {
                return false;
            }
            CloseHelper.close(peer.probe);
            peer.probing(null);
            peer.reached(true);
        } catch (ConnectException e) {
            CloseHelper.close(peer.probe);
            peer.probing(null);
            peer.reached(false);
        } catch (IOException | RuntimeException e) {
            CloseHelper.close(peer.probe); // no route, say: the time limit decides
            peer.probing(null);
        }
        return true;
    }

    private static InetSocketAddress socket(byte[] name) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(name).order(ByteOrder.BIG_ENDIAN);
        boolean isIpv4 = name.length == IPV4;
        byte[] address = new byte[isIpv4 ? Integer.BYTES : 2 * Long.BYTES];
        bytes.get(isIpv4 ? IPV4_AT : IPV6_AT, address);
        return new InetSocketAddress(
                InetAddress.getByAddress(address), bytes.getShort(PORT_AT) & PORT_MASK);
    }

    void close() {
        all.forEach(peer -> CloseHelper.quietClose(peer.probe));
    }
}
