package dev.verbena.staging.control;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * The peers behind a transport's connections, found by the context that the transport gives back
 * with each event. A context is a slot and how often that was used, so that a late event of a peer
 * that was forgotten finds nobody, and not the peer that has its slot now. One thread.
 *
 * @param <P> what the protocol knows of a peer
 */
public final class PeerSlots<P> {
    /** Most peers that there can be room for. */
    public static final int SLOTS_MAX = 1 << 20;

    private static final int SLOT_MASK = SLOTS_MAX - 1;

    private final int max;
    private final List<P> peers = new ArrayList<>();
    private final List<Long> contexts = new ArrayList<>();

    /** Room for so many peers at a time, at most {@link #SLOTS_MAX}. */
    public PeerSlots(int max) {
        if (max < 1 || max > SLOTS_MAX) {
            throw new IllegalArgumentException("max " + max + " is outside 1 to " + SLOTS_MAX);
        }
        this.max = max;
    }

    /** A new peer, made for its context; null: as many are there as may be. */
    public P add(LongFunction<P> make) {
        int slot = peers.indexOf(null);
        if (slot < 0 && peers.size() == max) {
            return null;
        }
        if (slot < 0) {
            slot = peers.size();
            peers.add(null);
            contexts.add((long) slot);
        }
        P peer = make.apply(contexts.get(slot));
        peers.set(slot, peer);
        return peer;
    }

    /** The peer of this context; null: it was forgotten, or never was. */
    public P get(long context) {
        int slot = (int) (context & SLOT_MASK);
        boolean isIt = slot < peers.size() && contexts.get(slot) == context;
        return isIt ? peers.get(slot) : null;
    }

    /** Forgets a peer; false: it was forgotten before. */
    public boolean remove(long context) {
        if (get(context) == null) {
            return false;
        }
        int slot = (int) (context & SLOT_MASK);
        peers.set(slot, null);
        contexts.set(slot, context + SLOTS_MAX);
        return true;
    }

    /** Every peer, which may be removed meanwhile. */
    public void forEach(Consumer<P> action) {
        for (int i = 0; i < peers.size(); i++) {
            if (peers.get(i) != null) {
                action.accept(peers.get(i));
            }
        }
    }
}
