package dev.verbena.transport.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls of a library without locks by a transport's owner and by a thread beside it. */
@Timeout(60)
class TurnsTest {
    private static final int CALLS = 200_000;

    private final Turns turns = new Turns();
    private final AtomicBoolean isEnded = new AtomicBoolean();
    private final AtomicLong taken = new AtomicLong();
    private Thread beside;

    /** Written in turns only, so without order of its own. */
    private long calls;

    private void takeTurnsBeside() {
        beside =
                new Thread(
                        () -> {
                            while (!isEnded.get()) {
                                turns.take();
                                calls++;
                                taken.incrementAndGet();
                                turns.giveBack();
                                LockSupport.parkNanos(10_000); // now and then: the rare side
                            }
                        });
        beside.start();
    }

    @AfterEach
    void end() throws InterruptedException {
        isEnded.set(true);
        if (beside != null) {
            beside.join();
        }
    }

    @Test
    void shouldLetOneOfTheTwoCallAtATime() throws InterruptedException {
        takeTurnsBeside();
        long entered = 0;
        while (entered < CALLS || taken.get() < CALLS / 100) {
            turns.enter();
            calls++;
            entered++;
            turns.exit();
        }
        end();
        assertThat(calls).isEqualTo(entered + taken.get());
    }

    @Test
    void shouldLetACallEndBeforeTheOtherSidesTurn() {
        turns.enter();
        takeTurnsBeside();
        Await.until(
                () -> "the thread beside waits",
                () -> beside.getState() == Thread.State.TIMED_WAITING);
        assertThat(taken).hasValue(0);
        turns.exit();
        Await.until(() -> "its turn", () -> taken.get() > 0);
    }
}
