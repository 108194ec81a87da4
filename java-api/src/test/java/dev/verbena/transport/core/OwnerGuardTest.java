package dev.verbena.transport.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A transport that a thread of its own borrows while the owner is outside. */
@Timeout(60)
class OwnerGuardTest {
    private static final int CALLS = 200_000;

    private final OwnerGuard guard = new OwnerGuard("guarded");
    private final AtomicBoolean isEnded = new AtomicBoolean();
    private final AtomicLong borrowed = new AtomicLong();
    private Thread borrower;

    /** Written inside only, so without order of its own. */
    private long inside;

    private void borrowAgainAndAgain() {
        borrower =
                new Thread(
                        () -> {
                            while (!isEnded.get()) {
                                if (guard.borrow()) {
                                    inside++;
                                    borrowed.incrementAndGet();
                                    guard.giveBack();
                                }
                            }
                        });
        borrower.start();
    }

    @AfterEach
    void end() throws InterruptedException {
        isEnded.set(true);
        if (borrower != null) {
            borrower.join();
        }
    }

    @Test
    void shouldLetOneOfTheTwoInAtATime() throws InterruptedException {
        borrowAgainAndAgain();
        long entered = 0;
        while (entered < CALLS || borrowed.get() < CALLS / 100) {
            assertThat(guard.enter()).isTrue();
            inside++;
            entered++;
            guard.exit();
        }
        end();
        assertThat(guard.enter()).isTrue();
        assertThat(inside).isEqualTo(entered + borrowed.get());
        guard.exit();
    }

    @Test
    void shouldNotLendWhileTheOwnerIsInsideOrAfterClose() {
        guard.enter();
        guard.enter();
        guard.exit();
        assertThat(guard.borrow()).as("inside, once").isFalse();
        guard.exit();
        assertThat(guard.borrow()).isTrue();
        assertThat(guard.borrow()).as("borrowed").isFalse();
        guard.giveBack();
        assertThat(guard.close(1, () -> {})).isTrue();
        assertThat(guard.borrow()).as("closed").isFalse();
        assertThat(guard.enter()).isFalse();
        guard.reopen();
        assertThat(guard.borrow()).isTrue();
        guard.giveBack();
        assertThat(guard.enter()).isTrue();
        guard.exit();
    }

    @Test
    void shouldCloseOnlyWhatWasGivenBack() {
        guard.borrow();
        assertThat(guard.close(1_000_000, () -> {})).as("borrowed").isFalse();
        assertThat(guard.isClosed()).isFalse();
        AtomicBoolean isAsked = new AtomicBoolean();
        borrower =
                new Thread(
                        () -> {
                            Await.until(() -> "close waits", isAsked::get);
                            guard.giveBack();
                        });
        borrower.start();
        assertThat(guard.close(30_000_000_000L, () -> isAsked.set(true))).isTrue();
        assertThat(guard.isClosed()).isTrue();
    }
}
