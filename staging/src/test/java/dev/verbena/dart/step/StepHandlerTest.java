package dev.verbena.dart.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartStepContext;
import org.junit.jupiter.api.Test;

/** What follows when the handler of steps fails, and how long it may take. */
class StepHandlerTest extends AssembledSteps {
    @Test
    void shouldNotCountTheHandlersTime() {
        assembler(c -> c.rankCount(1));
        admitted(0, 6);
        taken(0, 5);
        handler = step -> now += 700;
        assembler.doWork(now);
        assertThat(assembler.nextDeadlineNs()).isEqualTo(1_700 + DEADLINE_NS);
    }

    private void fails() {
        handler =
                step -> {
                    throw new IllegalStateException("handler, says the test");
                };
    }

    @Test
    void shouldSkipAStepWhoseHandlerFails() {
        assembler(c -> c.rankCount(1));
        fails();
        taken(0, 5);
        taken(0, 6);
        assertThat(assembler.doWork(now)).isEqualTo(2);
        assertThat(handled).hasSize(2);
        assertThat(handled.get(0).failureCount()).isEqualTo(1);
        assertThat(assembler.statistics().handlerErrorCount()).isEqualTo(2);
        assertThat(errors).hasSize(2);
        assertThat(stops).isEmpty();
    }

    @Test
    void shouldNotGoOnWhenTheVirtualMachineItselfFails() {
        assembler(c -> c.rankCount(1));
        handler =
                step -> {
                    throw new StackOverflowError();
                };
        taken(0, 5);
        assertThatThrownBy(() -> assembler.doWork(now)).isInstanceOf(StackOverflowError.class);
    }

    @Test
    void shouldRetryWithPausesThatDoubleUpToFiveSecondsAndThenStop() {
        assembler(
                c ->
                        c.rankCount(1)
                                .onException(DartStepContext.OnException.RETRY)
                                .triesMax(8)
                                .deadlineNs(1L << 60));
        fails();
        taken(0, 5);
        long pause = 100_000_000L;
        for (int i = 1; i < 8; i++) {
            assertThat(assembler.doWork(now)).isEqualTo(1);
            assertThat(handled).hasSize(i);
            assertThat(assembler.nextDeadlineNs()).isEqualTo(now + pause);
            now += pause - 1;
            assertThat(assembler.doWork(now)).isZero();
            now++;
            pause = Math.min(5_000_000_000L, 2 * pause);
        }
        assertThat(stops).isEmpty();
        assembler.doWork(now);
        assertThat(handled).hasSize(8);
        assertThat(stops).hasSize(1);
        assertThat(stops.get(0))
                .hasMessage("the handler failed with step 5 of application 3 8 times")
                .hasCauseInstanceOf(IllegalStateException.class);
        assertThat(assembler.doWork(now)).isZero();
        assertThat(assembler.nextDeadlineNs()).isEqualTo(ProtocolAgent.NO_DEADLINE);
        assertThat(isRefused(0, 9, 0)).as("it has stopped").isTrue();
        assertThat(free).isEmpty();
    }

    @Test
    void shouldGoOnWhenARetrySucceeds() {
        assembler(c -> c.rankCount(1).onException(DartStepContext.OnException.RETRY));
        fails();
        taken(0, 5);
        taken(0, 6);
        assembler.doWork(now);
        handler = step -> {};
        now += 100_000_000L;
        assertThat(assembler.doWork(now)).isEqualTo(2);
        assertThat(assembler.statistics().completeCount()).isEqualTo(2);
        assertThat(assembler.nextDeadlineNs()).isEqualTo(ProtocolAgent.NO_DEADLINE);
    }

    @Test
    void shouldStopAtTheFirstFailureIfAsked() {
        assembler(c -> c.rankCount(1).onException(DartStepContext.OnException.STOP));
        fails();
        taken(0, 5);
        taken(0, 6);
        assembler.doWork(now);
        assertThat(handled).hasSize(1);
        assertThat(stops.get(0)).hasMessage("the handler failed with step 5 of application 3");
    }
}
