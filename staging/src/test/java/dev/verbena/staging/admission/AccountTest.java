package dev.verbena.staging.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(10)
class AccountTest {
    private final Account total = new Account(100);
    private final Account peer = new Account(total, 60);
    private final Account other = new Account(total, 60);

    @Test
    void shouldReserveUpToItsCapacity() {
        assertThat(total.reserve(100)).isTrue();
        assertThat(total.reserve(0)).isTrue();
        assertThat(total.reserve(1)).isFalse();
        total.release(1);
        assertThat(total.reserve(1)).isTrue();
        assertThat(total.free()).isZero();
    }

    @Test
    void shouldReserveInBothAccountsOrInNeither() {
        assertThat(peer.reserve(61)).isFalse();
        assertThat(total.reserved()).isZero();
        assertThat(peer.reserve(60)).isTrue();
        assertThat(other.reserve(41)).isFalse();
        assertThat(other.reserved()).isZero();
        assertThat(other.reserve(40)).isTrue();
        assertThat(total.free()).isZero();
        peer.release(60);
        assertThat(total.reserved()).isEqualTo(40);
    }

    @Test
    void shouldSayWhatNeverFits() {
        assertThat(peer.isWithinCapacity(60)).isTrue();
        assertThat(peer.isWithinCapacity(61)).isFalse();
        assertThat(peer.isWithinCapacity(-1)).isFalse();
        assertThat(new Account(total, 1000).isWithinCapacity(101)).isFalse();
    }

    @Test
    void shouldCountWhatIsThereAlready() {
        peer.charge(90);
        assertThat(peer.free()).isEqualTo(-30);
        assertThat(peer.reserve(0)).isFalse();
        assertThat(other.reserve(11)).isFalse();
        assertThat(other.reserve(10)).isTrue();
        peer.release(31);
        assertThat(peer.reserve(1)).isTrue();
    }

    @Test
    void shouldNotOverflow() {
        assertThat(total.reserve(1)).isTrue();
        assertThat(total.reserve(Long.MAX_VALUE)).isFalse();
        assertThat(peer.reserve(Long.MAX_VALUE)).isFalse();
        assertThat(total.reserved()).isEqualTo(1);
    }

    @Test
    void shouldRefuseNonsense() {
        assertThatThrownBy(() -> total.reserve(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> total.release(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Account(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> total.release(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("release of 1 bytes of 0");
    }
}
