package dev.verbena.savime.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgType;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** What a server may say in the parts of a result. */
class RunAnswerTest {
    private final RunAnswer answer = new RunAnswer(null, "");
    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[StgFlyweight.LENGTH_MAX]);

    private void add(String text, int announced, boolean hasMore) {
        add(answer, text, announced, hasMore);
    }

    private void add(RunAnswer to, String text, int announced, boolean hasMore) {
        byte[] bytes = text.getBytes(UTF_8);
        StgFlyweight part = new StgFlyweight().begin(buffer, 0, StgType.RUN_RESULT);
        to.add(
                part.text(bytes, 0, bytes.length, announced)
                        .flags(hasMore ? StgFlags.FLAG_MORE : 0));
    }

    @Test
    void shouldPutPartsTogether() {
        add("12345678", 10, true);
        assertThat(answer.isComplete).isFalse();
        add("90", 10, false);
        assertThat(answer.isComplete).isTrue();
        assertThat(answer.text()).isEqualTo("1234567890");
    }

    /** Else a server could go on without end. */
    @Test
    void shouldRefuseAnEmptyPartBeforeTheLast() {
        add("12345678", 10, true);
        assertThatThrownBy(() -> add("", 10, true)).hasMessageContaining("empty");
    }

    @Test
    void shouldRefuseMoreThanAnnounced() {
        add("12345678", 10, true);
        assertThatThrownBy(() -> add("123", 10, false)).hasMessageContaining("longer");
    }

    @Test
    void shouldNameOnceWhatServerAndClientKnow() {
        RunAnswer both = new RunAnswer(null, "a, b");
        add(both, "b, c", 4, false);
        assertThat(both.failedBefore()).isEqualTo("a, b, c");
        RunAnswer server = new RunAnswer(null, "");
        add(server, "b", 1, false);
        assertThat(server.failedBefore()).isEqualTo("b");
        RunAnswer client = new RunAnswer(null, "a");
        add(client, "", 0, false);
        assertThat(client.failedBefore()).isEqualTo("a");
    }
}
