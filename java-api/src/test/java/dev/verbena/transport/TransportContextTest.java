package dev.verbena.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class TransportContextTest {
    @Test
    void shouldConcludeWithItsDefaults() {
        TransportContext context = new TransportContext();
        assertThat(context.conclude()).isSameAs(context);
    }

    @Test
    void shouldKeepWhatItIsGiven() {
        TransportContext context =
                new TransportContext().job("a").name("b").option("k", "v").connectionsMax(3);
        assertThat(context.job()).isEqualTo("a");
        assertThat(context.name()).isEqualTo("b");
        assertThat(context.options()).containsEntry("k", "v");
        assertThat(context.connectionsMax()).isEqualTo(3);
    }

    /** A program that opens two transports with one context must not change the first. */
    @Test
    void shouldCopyEveryField() throws Exception {
        TransportContext context =
                new TransportContext()
                        .job("a")
                        .name("b")
                        .messageLengthMax(65)
                        .creditsPerConnection(2)
                        .receiveSlotCount(4)
                        .outstandingMax(5)
                        .connectionsMax(6)
                        .peerTimeoutNs(7)
                        .incarnation(8)
                        .errorHandler(error -> {})
                        .option("k", "v");
        TransportContext copy = context.copy();
        for (Field field : TransportContext.class.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers())) {
                field.setAccessible(true);
                Object value = field.get(context);
                assertThat(field.get(copy)).as(field.getName()).isEqualTo(value);
                assertThat(value).isNotEqualTo(field.get(new TransportContext()));
            }
        }
        context.option("k", "changed");
        assertThat(copy.options()).containsEntry("k", "v");
    }

    @Test
    void shouldBeCopiedByATransport() {
        TransportContext context = new TransportContext().job("copied").name("a");
        try (Transport first = Transports.open("shm", context);
                Transport second = Transports.open("shm", context.name("b"))) {
            context.job("other");
            long connection =
                    first.connect(second.uri(), new UnsafeBuffer(), 0, 0, 0, 1_000_000_000L);
            assertThat(connection).isPositive();
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("wrong")
    void shouldNameTheWrongValue(String named, UnaryOperator<TransportContext> change) {
        assertThatThrownBy(() -> change.apply(new TransportContext()).conclude())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(named);
    }

    static Stream<Arguments> wrong() {
        return Stream.of(
                wrong("job is null", c -> c.job(null)),
                wrong("name is null", c -> c.name(null)),
                wrong("errorHandler is null", c -> c.errorHandler(null)),
                wrong("key of an option is null", c -> c.option(null, "v")),
                wrong("option k is null", c -> c.option("k", null)),
                wrong("job ''", c -> c.job("")),
                wrong("job '.hidden'", c -> c.job(".hidden")),
                wrong("job 'a/b'", c -> c.job("a/b")),
                wrong("job '../x'", c -> c.job("../x")),
                wrong("name 'a b'", c -> c.name("a b")),
                wrong("name '.a'", c -> c.name(".a")),
                wrong("1 to 63 letters", c -> c.job("j".repeat(64))),
                wrong("1 to 63 letters", c -> c.name("n".repeat(64))),
                wrong("messageLengthMax 63", c -> c.messageLengthMax(63)),
                wrong("creditsPerConnection 0", c -> c.creditsPerConnection(0)),
                wrong("creditsPerConnection 3", c -> c.creditsPerConnection(3)),
                wrong("receiveSlotCount 1 ", c -> c.receiveSlotCount(1)),
                wrong("outstandingMax -1", c -> c.outstandingMax(-1)),
                wrong("connectionsMax 0", c -> c.connectionsMax(0)),
                wrong("peerTimeoutNs 0", c -> c.peerTimeoutNs(0)));
    }

    private static Arguments wrong(String named, UnaryOperator<TransportContext> change) {
        return Arguments.of(named, change);
    }
}
