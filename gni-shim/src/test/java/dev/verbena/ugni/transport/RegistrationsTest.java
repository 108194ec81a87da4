package dev.verbena.ugni.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.core.OwnerGuard;
import org.junit.jupiter.api.Test;

/** Which region a memory handle leads to. */
class RegistrationsTest {
    /** As libugni makes them: the second word names the registration in bits 42 to 53. */
    private static long high(int index) {
        return (long) index << 42 | 7;
    }

    @Test
    void shouldTellRegionsApartByTheIndexOfTheirRegistration() {
        Registrations registrations = new Registrations(new OwnerGuard("guarded"), null);
        long low = 0x1234_5678_9ABC_DEF0L;
        GniRegion[] regions = new GniRegion[3];
        for (int i = 0; i < regions.length; i++) {
            regions[i] =
                    new GniRegion(registrations, i, 4096, 64, RemoteDescriptor.REMOTE_WRITE, null);
        }
        // The two words of the second mixed, as 31 * low ^ high, are those of the first.
        long inverse = 0xEF7B_DEF7_BDEF_7BDFL;
        long other = (31 * low ^ high(1) ^ high(2)) * inverse;
        regions[0].onRemote(low, high(1));
        regions[1].onRemote(other, high(2));
        registrations.reached(regions[0]);
        registrations.reached(regions[1]);
        assertThat(registrations.find(low, high(1))).isSameAs(regions[0]);
        assertThat(registrations.find(other, high(2))).isSameAs(regions[1]);
        assertThat(registrations.find(low, high(2))).isNull();
        // The index of one whose close failed half way is another's now.
        regions[2].onRemote(low + 1, high(1));
        registrations.reached(regions[2]);
        registrations.reachedNoMore(regions[0]);
        assertThat(registrations.find(low, high(1))).isNull();
        assertThat(registrations.find(low + 1, high(1))).isSameAs(regions[2]);
    }
}
