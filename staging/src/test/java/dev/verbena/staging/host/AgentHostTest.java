package dev.verbena.staging.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.Await;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.agent.RealEnvironment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AgentHostTest {
    private static final long LONG_NS = 50_000_000_000L;

    private final RealEnvironment environment = RealEnvironment.create();
    private final AgentHost host = new AgentHost(environment, IllegalStateException::new);
    private final List<String> closed = new CopyOnWriteArrayList<>();
    private final AtomicInteger cycles = new AtomicInteger();

    @AfterEach
    void close() {
        host.close();
        environment.close();
    }

    private AgentThread.Builder thread(String name) {
        return AgentThread.builder(name, environment);
    }

    private ProtocolAgent agent(String name) {
        return agent(name, cycles::incrementAndGet);
    }

    private ProtocolAgent agent(String name, Runnable work) {
        return new ProtocolAgent() {
            @Override
            public int doWork() {
                work.run();
                return 0;
            }

            @Override
            public long nextDeadlineNs() {
                return NO_DEADLINE;
            }

            @Override
            public void onClose() {
                closed.add(name);
            }

            @Override
            public String roleName() {
                return name;
            }
        };
    }

    @Test
    void shouldRunAgentsAndCloseThoseThatStartedLastFirst() {
        assertThat(host.hasThreads()).isFalse();
        host.start(thread("kit-1").agent(agent("a")).agent(agent("b")));
        host.start(thread("kit-2").agent(agent("c")));
        assertThat(host.hasThreads()).isTrue();
        assertThat(host.await(() -> cycles.get() > 10, LONG_NS)).isTrue();
        host.close();
        host.close();
        assertThat(closed).containsExactly("c", "b", "a");
    }

    @Test
    void shouldCloseTheOthersWhenAThreadHangs() throws Exception {
        CountDownLatch hang = new CountDownLatch(1);
        host.start(thread("kit-1").agent(agent("a")));
        host.start(thread("kit-2").closeTimeoutNs(1_000_000).agent(agent("b", () -> hang(hang))));
        Await.until("it hangs", () -> cycles.get() < 0);
        assertThatThrownBy(host::close).hasMessageContaining("kit-2");
        assertThat(closed).containsExactly("a");
        hang.countDown();
        Await.until("both have ended", () -> closed.size() == 2);
    }

    private void hang(CountDownLatch latch) {
        cycles.set(Integer.MIN_VALUE);
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldSayWhenTheTimeIsOver() {
        assertThat(host.await(() -> false, 1_000_000)).isFalse();
        assertThat(host.await(() -> false, 0)).isFalse();
        assertThat(host.await(() -> true, 0)).isTrue();
    }

    @Test
    void shouldTellWhoWaitsOfAFailure() {
        Error cause = new AssertionError("said by the test");
        Thread other = new Thread(() -> host.failed(cause));
        other.start();
        assertThat(host.await(() -> host.failure() != null, LONG_NS)).isTrue();
        assertThat(host.failure()).isSameAs(cause);
    }

    @Test
    void shouldThrowForAnInterruptAndKeepTheMark() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> host.await(() -> false, LONG_NS))
                .isInstanceOf(IllegalStateException.class)
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isTrue();
    }
}
