package dev.verbena.dart.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.dart.DartStep;
import dev.verbena.dart.DartStepContext;
import dev.verbena.dart.Settings;
import dev.verbena.dart.store.InboundMessage;
import dev.verbena.dart.store.InboundStream;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

/** An assembler of steps in virtual time, and what it has handed over, freed and reported. */
abstract class AssembledSteps {
    static final UUID JOB = new UUID(1, 2);
    static final long DEADLINE_NS = 1_000_000_000L;

    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    final List<Throwable> errors = new ArrayList<>();
    final List<StepPart> free = new ArrayList<>();
    final List<Throwable> stops = new ArrayList<>();
    final List<DartStep> handled = new ArrayList<>();
    final InboundStream stream = new InboundStream(JOB, 0, false);
    Consumer<DartStep> handler = step -> {};
    long now = 1_000;
    StepAssembler assembler;

    StepAssembler assembler(Consumer<DartStepContext> settings) {
        DartStepContext context = new DartStepContext(this::handle);
        context.deadlineNs(DEADLINE_NS).rankCount(2).messagesPerRank(1);
        settings.accept(context);
        assembler =
                new StepAssembler(
                        Settings.of(context), () -> now, errors::add, free::add, stops::add);
        return assembler;
    }

    private void handle(DartStep step) {
        handled.add(step);
        handler.accept(step);
    }

    static InboundMessage message(int rank, long step, long payload) {
        InboundMessage message = OpenStepTest.message(rank, "v");
        message.begin(rank, 0, 0, step);
        message.metadata().step(step).payload(payload, false, 0);
        return message;
    }

    InboundMessage admitted(int rank, long step) {
        InboundMessage message = message(rank, step, 0);
        assertThat(assembler.admit(stream, message)).isTrue();
        return message;
    }

    InboundMessage taken(int rank, long step) {
        InboundMessage message = admitted(rank, step);
        assertThat(assembler.take(message)).isTrue();
        return message;
    }

    boolean isRefused(int rank, long step, long payload) {
        return !assembler.admit(stream, message(rank, step, payload));
    }

    String lastError() {
        return errors.get(errors.size() - 1).getMessage();
    }
}
