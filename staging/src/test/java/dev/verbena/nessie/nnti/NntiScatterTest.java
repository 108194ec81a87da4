package dev.verbena.nessie.nnti;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One operation on several buffers of a peer (section 1.4). */
@Timeout(60)
class NntiScatterTest {
    private static final int LENGTH = 100;
    private static final int FLAGS =
            BufferFlags.SEND_SRC
                    | BufferFlags.PUT_SRC
                    | BufferFlags.PUT_DST
                    | BufferFlags.GET_SRC
                    | BufferFlags.GET_DST;

    private final List<NntiBuffer> targets = new ArrayList<>();
    private final List<BufferHandle> handles = new ArrayList<>();
    private final WorkRequest request = new WorkRequest();
    private NntiPair pair;
    private NntiBuffer local;

    @BeforeEach
    void open() {
        pair = new NntiPair("shm", NntiOptions.DEFAULT);
        local = pair.left.alloc(LENGTH, 1, FLAGS);
        for (int length : new int[] {10, 1, 60, 40}) {
            targets.add(pair.right.alloc(length, 1, FLAGS));
            handles.add(targets.get(targets.size() - 1).handle());
        }
        for (int i = 0; i < LENGTH; i++) {
            local.window().putByte(i, (byte) (i + 1));
        }
    }

    @AfterEach
    void close() {
        pair.close();
    }

    private void end(NntiResult started) {
        assertThat(started).isEqualTo(NntiResult.OK);
        pair.pump("ended", request::isComplete);
        assertThat(request.status().result()).isEqualTo(NntiResult.OK);
    }

    @Test
    void shouldScatterAndGather() {
        end(pair.left.scatter(pair.toRight, local, LENGTH, handles, request));
        int at = 0;
        for (NntiBuffer target : targets) {
            for (int i = 0; i < target.length(); i++, at++) {
                int expected = at < LENGTH ? at + 1 : 0;
                assertThat(target.window().getByte(i)).as("byte %s", at).isEqualTo((byte) expected);
            }
        }
        NntiBuffer into = pair.left.alloc(LENGTH, 1, FLAGS);
        end(pair.left.gather(pair.toRight, handles, LENGTH, into, request));
        for (int i = 0; i < LENGTH; i++) {
            assertThat(into.window().getByte(i)).isEqualTo((byte) (i + 1));
        }
    }

    @Test
    void shouldNotTellThePeer() {
        end(pair.left.scatter(pair.toRight, local, LENGTH, handles, request));
        NntiStatus status = new NntiStatus();
        for (NntiBuffer target : targets) {
            assertThat(pair.right.await(target, 0, status)).isEqualTo(NntiResult.ETIMEDOUT);
        }
        assertThat(pair.right.refusedCount()).isZero();
    }

    @Test
    void shouldRefuseWhatCannotBeJoined() {
        BufferHandle joined = new BufferHandle().join(handles);
        NntiBuffer longer = pair.left.alloc(200, 1, FLAGS);
        assertThat(pair.left.scatter(pair.toRight, longer, 112, handles, request))
                .isEqualTo(NntiResult.EINVAL);
        assertThat(pair.left.send(pair.toRight, local, joined, request))
                .isEqualTo(NntiResult.EINVAL);
        handles.add(pair.right.alloc(8, 1, BufferFlags.GET_SRC).handle());
        assertThat(pair.left.scatter(pair.toRight, local, LENGTH, handles, request))
                .isEqualTo(NntiResult.EPERM);
        handles.add(local.handle());
        assertThatThrownBy(() -> joined.join(handles)).hasMessageContaining("all of one process");
        assertThatThrownBy(() -> joined.join(List.of())).hasMessageContaining("0 segments");
        List<BufferHandle> many = Collections.nCopies(65, targets.get(0).handle());
        assertThatThrownBy(() -> joined.join(many)).hasMessageContaining("1 to 64");
    }
}
