package dev.verbena.staging.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(10)
class PeerSlotsTest {
    private final PeerSlots<Long> peers = new PeerSlots<>(2);

    private Long add() {
        return peers.add(context -> context);
    }

    private int count() {
        List<Long> there = new ArrayList<>();
        peers.forEach(there::add);
        return there.size();
    }

    @Test
    void shouldHaveRoomForSoMany() {
        assertThat(add()).isNotNull();
        Long second = add();
        assertThat(add()).isNull();
        assertThat(count()).isEqualTo(2);
        assertThat(peers.remove(second)).isTrue();
        assertThat(add()).isNotNull();
        assertThat(add()).isNull();
    }

    @Test
    void shouldNotFindTheNextPeerByTheContextOfOneThatIsGone() {
        Long first = add();
        assertThat(peers.get(first)).isEqualTo(first);
        assertThat(peers.remove(first)).isTrue();
        assertThat(peers.remove(first)).isFalse();
        Long next = add();
        assertThat(next).isNotEqualTo(first);
        assertThat(peers.get(first)).isNull();
        assertThat(peers.get(next)).isEqualTo(next);
    }

    @Test
    void shouldFindNobodyByAnyOtherContext() {
        add();
        for (long context : new long[] {1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 20}) {
            assertThat(peers.get(context)).isNull();
            assertThat(peers.remove(context)).isFalse();
        }
    }

    @Test
    void shouldVisitPeersThatAreRemovedMeanwhile() {
        add();
        add();
        List<Long> seen = new ArrayList<>();
        peers.forEach(
                peer -> {
                    seen.add(peer);
                    peers.remove(peer);
                });
        assertThat(seen).hasSize(2);
        assertThat(count()).isZero();
    }

    @Test
    void shouldRefuseNonsense() {
        for (int max : new int[] {0, -1, (1 << 20) + 1}) {
            assertThatThrownBy(() -> new PeerSlots<>(max))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
