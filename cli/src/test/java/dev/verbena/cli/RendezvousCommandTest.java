package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.ForwardingEnvironment;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.agent.RendezvousServer;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.Termination;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.agrona.concurrent.NanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class RendezvousCommandTest {
    /** Its thread dies when it looks at the clock. */
    private static RendezvousServer deadServer(RealEnvironment environment) {
        ForwardingEnvironment withoutMemory =
                new ForwardingEnvironment(environment) {
                    @Override
                    public NanoClock nanoClock() {
                        return () -> {
                            throw new OutOfMemoryError("says the test");
                        };
                    }
                };
        return RendezvousServer.launch(withoutMemory, "", 0);
    }

    @Test
    void shouldFailWhenTheServerHasEndedByItself() {
        List<Throwable> errors = new CopyOnWriteArrayList<>();
        try (Termination termination = new Termination(10_000);
                RealEnvironment environment =
                        RealEnvironment.builder().errorHandler(errors::add).build();
                RendezvousServer server = deadServer(environment)) {
            assertThatThrownBy(() -> RendezvousCommand.serve(termination, server))
                    .isInstanceOf(Messages.Failure.class)
                    .hasMessageContaining("the rendezvous server has ended");
        }
        assertThat(errors).extracting(Throwable::getMessage).contains("says the test");
    }
}
