package dev.verbena.nessie.nnti;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** What the parts of {@link NntiContract} share: two connected transports on one thread. */
@Timeout(120)
abstract class NntiFixture {
    static final int SOURCE = BufferFlags.PUT_SRC | BufferFlags.GET_DST;
    static final int TARGET = BufferFlags.PUT_DST | BufferFlags.GET_SRC;

    NntiPair pair;

    /** URI scheme of the provider. */
    protected abstract String scheme();

    /** Whether to do as much as the specification asks for, over a slow transport, too. */
    boolean isWhole() {
        // --long: 1,000,000 sends to a full queue: not over shm:// only
        return Boolean.getBoolean("verbena.long");
    }

    @BeforeEach
    void open() {
        pair = new NntiPair(scheme(), NntiOptions.DEFAULT);
    }

    @AfterEach
    void close() {
        pair.close();
    }

    void oneSided() {
        pair.close();
        pair = new NntiPair(scheme(), NntiOptions.ONE_SIDED);
    }

    NntiResult end(WorkRequest request) {
        pair.pump("ended", request::isComplete);
        return request.status().result();
    }

    NntiResult put(NntiBuffer from, long offset, long length, BufferHandle to, long at) {
        WorkRequest request = new WorkRequest();
        NntiResult started = pair.left.put(pair.toRight, from, offset, length, to, at, request);
        return started == NntiResult.OK ? end(request) : started;
    }

    static void requireRefused(NntiResult result, Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        NntiException.class, e -> assertThat(e.result()).isEqualTo(result));
    }
}
