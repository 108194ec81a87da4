package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Memory windows on a real device: counterparts of rdma-core's own tests, named by the tags;
 * docs/pyverbs.md shows them side by side.
 */
@Tag("verbs-device")
@Timeout(180)
class PyverbsWindowIT {
    private RdmaDevice device;

    @BeforeEach
    void open() {
        device = RealDevice.open();
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
        }
    }

    private static final int WINDOW = Access.REMOTE_READ | Access.REMOTE_WRITE;

    /** B's memory may have windows, but peers may not touch it by its own key. */
    private RealPair pair(int operations) {
        RealPair pair =
                new RealPair(
                        device,
                        RealPair.context(QueuePairType.RC).operations(operations),
                        new CompletionQueueContext(),
                        Access.LOCAL_WRITE | Access.WINDOW_BIND);
        pair.connect();
        pair.fill();
        return pair;
    }

    /** A writes to B's memory from offset 4096 on, by this key. */
    private static int writeStatus(RealPair pair, int key, int offset) {
        SendRequestFlyweight write =
                pair.sends
                        .at(0)
                        .segment(pair.regionA, 8, 100)
                        .write(pair.regionB.remoteAddress(offset), key);
        return pair.run(write).status();
    }

    private static void checkWrites(RealPair pair, int key, int offset) {
        assertThat(writeStatus(pair, key, offset)).isEqualTo(CompletionStatus.SUCCESS);
        pair.checkBytes(8, offset, 100);
    }

    private static void checkBound(RealPair pair, long id) {
        CompletionFlyweight bound = pair.next(pair.completionsB);
        assertThat(bound.isSuccess()).as(bound.toString()).isTrue();
        assertThat(bound.id()).isEqualTo(id);
        assertThat(bound.opcode()).isEqualTo(CompletionFlyweight.BIND_WINDOW);
    }

    private static void bindType2(RealPair pair, SendRequests sends, MemoryWindow window) {
        int key = window.nextKey();
        SendRequestFlyweight bind =
                sends.at(0).id(3).bindWindow(window, key, pair.regionB, 4096, 1000, WINDOW);
        assertThat(pair.b.post(bind.signalled(true))).isEqualTo(1);
        assertThat(window.remoteKey()).isEqualTo(key);
        checkBound(pair, 3);
    }

    @Test
    @Tag("pyverbs-test_mr.MWTest.test_mw_type1")
    void shouldBindWindowsOfType1() {
        try (RealPair pair = pair(0);
                MemoryWindow window = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1)) {
            assertThat(pair.b.bind(window, 3, pair.regionB, 4096, 1000, WINDOW)).isEqualTo(1);
            checkBound(pair, 3);
            checkWrites(pair, window.remoteKey(), 4200);
            assertThatThrownBy(pair.regionB::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("memory window");
            // Soft-RoCE does not check where a window ends, but what it allows.
            pair.b.bind(window, 4, pair.regionB, 4096, 1000, Access.REMOTE_READ);
            checkBound(pair, 4);
            assertThat(writeStatus(pair, window.remoteKey(), 4200))
                    .isEqualTo(CompletionStatus.REMOTE_ACCESS);
        }
    }

    @Test
    @Tag("pyverbs-test_mr.MWTest.test_invalidate_mw_type1")
    void shouldUnbindWindowsOfType1() {
        try (RealPair pair = pair(0);
                MemoryWindow window = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1)) {
            pair.b.bind(window, 3, pair.regionB, 4096, 1000, WINDOW);
            checkBound(pair, 3);
            int key = window.remoteKey();
            checkWrites(pair, key, 4096);
            assertThat(pair.b.bind(window, 4, pair.regionB, 0, 0, 0)).isEqualTo(1);
            checkBound(pair, 4);
            assertThat(writeStatus(pair, key, 4096)).isEqualTo(CompletionStatus.REMOTE_ACCESS);
        }
    }

    @Test
    @Tag("pyverbs-test_mr.MWTest.test_mw_type2")
    @Tag("pyverbs-test_mr.MWTest.test_mw_type2_invalidate_dealloc")
    void shouldBindWindowsOfType2() {
        try (RealPair pair = pair(0);
                SendRequests sends = pair.b.newSends(1);
                MemoryWindow window = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
            bindType2(pair, sends, window);
            int key = window.remoteKey();
            checkWrites(pair, key, 4096);
            window.close();
            assertThat(writeStatus(pair, key, 4096)).isEqualTo(CompletionStatus.REMOTE_ACCESS);
        }
    }

    @Test
    @Tag("pyverbs-test_mr.MWTest.test_mw_type2_invalidate_local")
    void shouldInvalidateAWindowHereAndBindItAgain() {
        try (RealPair pair = pair(0);
                SendRequests sends = pair.b.newSends(1);
                MemoryWindow window = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
            bindType2(pair, sends, window);
            checkWrites(pair, window.remoteKey(), 4096);
            int first = window.remoteKey();
            SendRequestFlyweight invalidate = sends.at(0).id(8).localInvalidate(first);
            assertThat(pair.b.post(invalidate.signalled(true))).isEqualTo(1);
            CompletionFlyweight done = pair.next(pair.completionsB);
            assertThat(done.isSuccess()).as(done.toString()).isTrue();
            assertThat(done.id()).isEqualTo(8);
            bindType2(pair, sends, window);
            checkWrites(pair, window.remoteKey(), 4500);
            assertThat(writeStatus(pair, first, 4096)).isEqualTo(CompletionStatus.REMOTE_ACCESS);
        }
    }

    @Test
    @Tag("pyverbs-test_mr.MWTest.test_mw_type2_invalidate_remote")
    void shouldLetThePeerInvalidateAWindow() {
        try (RealPair pair = pair(0);
                SendRequests sends = pair.b.newSends(1);
                MemoryWindow window = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
            bindType2(pair, sends, window);
            int key = window.remoteKey();
            checkWrites(pair, key, 4096);
            pair.b.post(pair.receives.set(0, 70, pair.regionB, 0, 64), 0, 1);
            SendRequestFlyweight send = pair.sends.at(0).segment(pair.regionA, 8, 64);
            assertThat(pair.run(send.sendInvalidate(key)).isSuccess()).isTrue();
            CompletionFlyweight received = pair.next(pair.completionsB);
            assertThat(received.id()).isEqualTo(70);
            // Not hasInvalidatedKey(): the kernel's Soft-RoCE marks it with another bit.
            assertThat(received.invalidatedKey()).isEqualTo(key);
            assertThat(writeStatus(pair, key, 4096)).isEqualTo(CompletionStatus.REMOTE_ACCESS);
        }
    }

    @Test
    @Tag("pyverbs-test_qpex.QpExTestCase.test_qp_ex_rc_bind_mw")
    void shouldBindWindowsByTheBuilder() {
        int operations = SendOperations.RELIABLE | SendOperations.BIND_WINDOW;
        try (RealPair pair = pair(operations);
                SendBuilder builder = pair.b.newBuilder(1);
                MemoryWindow window = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
            int key = window.nextKey();
            builder.start()
                    .request()
                    .id(6)
                    .bindWindow(window, key, pair.regionB, 4096, 1000, WINDOW)
                    .signalled(true);
            assertThat(builder.complete()).isEqualTo(1);
            checkBound(pair, 6);
            assertThat(window.remoteKey()).isEqualTo(key);
            checkWrites(pair, key, 4096);
        }
    }

    @Test
    @Tag("pyverbs-test_mr.MWTest.test_reg_mw_wrong_type")
    void shouldRefuseWindowsOfAWrongType() {
        try (RealPair pair = pair(0);
                MemoryWindow first = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
                MemoryWindow second = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
            assertThatThrownBy(() -> pair.domain.allocateMemoryWindow(null))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> pair.b.bind(second, 1, pair.regionB, 0, 8, WINDOW))
                    .isInstanceOf(IllegalArgumentException.class);
            SendRequestFlyweight send = pair.sends.at(0);
            assertThatThrownBy(() -> send.bindWindow(first, first.nextKey(), pair.regionB, 0, 8, 0))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
