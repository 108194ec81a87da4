package dev.verbena.ugni.transport;

import dev.verbena.ugni.bindings.ugni;
import org.agrona.BufferUtil;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Other transports, and how one learns where the control mailbox of another is: by a datagram.
 * Every transport has open datagrams posted that tell of itself, so that asking takes no processor
 * time of the one who is asked. One thread.
 */
final class Peers {
    private static final int OPEN = 8;
    private static final int RESPONSE_LIMIT = 64;

    private final GniResources resources;
    private final UnsafeBuffer announcement;
    private final UnsafeBuffer heard;
    private final long[] openEndpoints = new long[OPEN];

    /** Whether a datagram is posted there; not where somebody sat on the lock meanwhile. */
    private final boolean[] isOpen = new boolean[OPEN];

    private final Long2ObjectHashMap<GniPeer> peers = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<GniPeer> asked = new Long2ObjectHashMap<>();
    private long nextQuestion = OPEN;

    Peers(GniResources resources) {
        this.resources = resources;
        this.announcement = buffer();
        this.heard = buffer();
        Memory control = resources.control.memory;
        Announcement.write(
                announcement,
                resources.incarnation,
                control.address(),
                control.low(),
                control.high(),
                resources.name);
        for (int i = 0; i < OPEN; i++) {
            openEndpoints[i] = Gni.must("GNI_EpCreate", ugni.vgn_ep_create(resources.nic, 0));
            Gni.must("GNI_EpPostDataWId", open(i));
        }
    }

    private static UnsafeBuffer buffer() {
        return new UnsafeBuffer(
                BufferUtil.allocateDirectAligned(
                        ugni.GNI_DATAGRAM_MAXSIZE, ugni.GNI_DATAGRAM_MAXSIZE));
    }

    private int open(int index) {
        int answer =
                ugni.vgn_data_post_id(
                        openEndpoints[index],
                        announcement.addressOffset(),
                        Announcement.LENGTH,
                        heard.addressOffset(),
                        ugni.GNI_DATAGRAM_MAXSIZE,
                        index + 1);
        isOpen[index] = answer == 0;
        return answer;
    }

    // ---- peers ----

    /** Number of the process at an instance. */
    static long key(int address, int instance) {
        return (long) address << Integer.SIZE | instance & 0xFFFF_FFFFL;
    }

    /**
     * Who is there now, also where we hold on to a predecessor that is gone.
     *
     * @return its incarnation; 0: nobody
     */
    long incarnationAt(int address, int instance) {
        GniPeer held = peers.get(key(address, instance));
        if (held != null) {
            resources.pin(address, instance, 0);
        }
        int state = resources.peerState(address, instance);
        long found = state == ugni.GNI_EXT_PEER_DEAD ? 0 : resources.peerIncarnation();
        if (held != null) {
            resources.pin(address, instance, held.incarnation);
        }
        return found;
    }

    /** One more user of a peer in this incarnation. */
    GniPeer take(int address, int instance, long incarnation) {
        GniPeer peer = peers.get(key(address, instance));
        if (peer == null || peer.incarnation != incarnation) {
            long endpoint =
                    resources.endpoint(
                            resources.controlQueue, address, instance, ControlMailbox.EVENT);
            peer = new GniPeer(address, instance, incarnation, endpoint);
            peers.put(key(address, instance), peer);
            resources.pin(address, instance, incarnation);
            if (incarnation == resources.incarnation) {
                Memory own = resources.control.memory;
                peer.know(resources.name, own.address(), own.low(), own.high());
            }
        }
        peer.use();
        return peer;
    }

    void release(GniPeer peer) {
        if (!peer.unuse()) {
            return;
        }
        asked.remove(peer.question);
        ugni.vgn_ep_destroy(peer.endpoint);
        long key = key(peer.address, peer.instance);
        if (peers.get(key) == peer) {
            peers.remove(key);
            resources.pin(peer.address, peer.instance, 0);
            if (peer.incarnation != resources.incarnation) {
                resources.forget(peer.address, peer.instance);
            }
        }
    }

    // ---- asking ----

    /** Asks for the peer's control mailbox unless that was done. */
    void ask(GniPeer peer) {
        if (peer.isKnown() || peer.question != 0) {
            return;
        }
        if (peer.answer == null) {
            peer.expectAnswerIn(buffer());
        }
        long question = ++nextQuestion;
        int answer =
                ugni.vgn_data_post_id(
                        peer.endpoint,
                        announcement.addressOffset(),
                        Announcement.LENGTH,
                        peer.answer.addressOffset(),
                        ugni.GNI_DATAGRAM_MAXSIZE,
                        question);
        if (answer == 0) {
            peer.asked(question);
            asked.put(question, peer);
        }
    }

    /** Takes datagrams that have met another. What cannot be done now is done later. */
    void progress() {
        for (int i = 0; i < OPEN; i++) {
            if (!isOpen[i] && open(i) != 0) {
                return;
            }
        }
        for (int i = 0; i < RESPONSE_LIMIT; i++) {
            if (ugni.vgn_data_probe_id(resources.nic, resources.at(0)) != 0) {
                return;
            }
            long id = resources.scratch.getLong(0);
            boolean isTaken = id <= OPEN ? onMet((int) id - 1) : onAnswer(id);
            if (!isTaken) {
                return;
            }
        }
    }

    private boolean onMet(int index) {
        if (end(openEndpoints[index], index + 1) <= 0) {
            return false;
        }
        open(index);
        return isOpen[index];
    }

    private boolean onAnswer(long id) {
        GniPeer peer = asked.get(id);
        if (peer == null) {
            return false; // its endpoint is gone, and the datagram with it
        }
        int state = end(peer.endpoint, id);
        if (state <= 0) {
            return false;
        }
        asked.remove(id);
        peer.answered();
        if (state == ugni.GNI_POST_COMPLETED && Announcement.read(peer.answer, peer)) {
            peer.forgetAnswer();
        }
        return true;
    }

    /** What became of a datagram that was found finished; 0 and below: it cannot be taken now. */
    private int end(long endpoint, long id) {
        return ugni.vgn_data_test_id(endpoint, id, resources.at(0));
    }
}
