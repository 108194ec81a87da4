package dev.verbena.savime.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.savime.wire.StgStatus;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TaskQueueTest {
    private static Upload upload(String name, String type) {
        return new Upload(new Upload.Dataset(name, type, 1, 0, 0, null), null, 0, 10, task -> {});
    }

    private static RunCommand command(String text) {
        return new RunCommand(text, 0, null, task -> {});
    }

    @Test
    @Tag("savime-11")
    void shouldKnowWhatFailedAtAnyServerBeforeACommand() {
        TaskQueue queue = new TaskQueue(2, 2, () -> {});
        Upload refused = upload("refused", "double");
        Upload inSink = upload("unwanted", "double");
        Upload text = upload("command_1", "command");
        RunCommand command = command("first");
        Upload later = upload("later", "double");
        queue.add(refused);
        queue.add(inSink);
        queue.add(text);
        queue.add(command);
        queue.add(later);
        refused.answeredBy("a");
        queue.ended(refused, StgStatus.DUPLICATE, "");
        inSink.opened(7, "unwanted_2", true);
        queue.owe("a", inSink);
        queue.ended(inSink, StgStatus.OK, "");
        queue.paid("a", 7, "FAILED");
        queue.ended(text, StgStatus.SERVER_LOST, "");
        queue.ended(later, StgStatus.SERVER_LOST, "");

        assertThat(queue.takeFailed(command)).isEqualTo("refused, unwanted_2");
        assertThat(queue.takeFailed(command)).isEmpty();
        RunCommand next = command("next");
        queue.add(next);
        assertThat(queue.takeFailed(next)).isEqualTo("later");
    }

    /** It may forget while the client is away, and when it is started again. */
    @Test
    void shouldKnowWhatTheOnlyServerHasRefused() {
        TaskQueue queue = new TaskQueue(1, 1, () -> {});
        Upload refused = upload("refused", "double");
        RunCommand command = command("first");
        queue.add(refused);
        queue.add(command);
        refused.answeredBy("a");
        queue.ended(refused, StgStatus.DUPLICATE, "");
        assertThat(queue.takeFailed(command)).isEqualTo("refused");
    }

    private static void confirm(TaskQueue queue, long id, int onDuplicate) {
        confirm(queue, id, taken(queue, onDuplicate));
    }

    private static Upload taken(TaskQueue queue, int onDuplicate) {
        Upload upload =
                new Upload(
                        new Upload.Dataset("a", "double", 1, onDuplicate, 0, null),
                        null,
                        0,
                        10,
                        task -> {});
        queue.add(upload);
        assertThat(queue.take("s")).isSameAs(upload);
        return upload;
    }

    private static void confirm(TaskQueue queue, long id, Upload upload) {
        upload.opened(id, "a", true);
        queue.owe("s", upload);
        queue.ended(upload, StgStatus.OK, "");
    }

    @Test
    @Tag("savime-11")
    void shouldKnowThatAnotherClientHasReplacedADataset() {
        TaskQueue queue = new TaskQueue(2, 2, () -> {});
        confirm(queue, 1, 0);
        confirm(queue, 2, 1);
        queue.replaced("s", 1, "ABORTED");
        RunCommand command = command("behind its own");
        queue.add(command);
        assertThat(queue.takeFailed(command)).isEmpty();
        queue.replaced("s", 2, "ABORTED");
        RunCommand next = command("behind another client's");
        queue.add(next);
        assertThat(queue.takeFailed(next)).isEqualTo("a");
        assertThat(queue.takeLost()).containsExactly("a: ABORTED", "a: ABORTED");
    }

    private static String failedBeforeNext(TaskQueue queue) {
        RunCommand next = command("next");
        queue.add(next);
        return queue.takeFailed(next);
    }

    /** What became of the two may be told on two connections, in any order. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("savime-11")
    void shouldKnowThatItHasReplacedADatasetWhenTheOtherIsInTheSinkBefore(boolean isLate) {
        TaskQueue queue = new TaskQueue(2, 4, () -> {});
        Upload first = taken(queue, 0);
        if (!isLate) {
            confirm(queue, 1, first);
        }
        Upload second = taken(queue, 1);
        if (isLate) {
            confirm(queue, 1, first);
        }
        confirm(queue, 2, second);
        queue.paid("s", 2, "");
        queue.replaced("s", 1, "ABORTED");
        assertThat(failedBeforeNext(queue)).isEmpty();
    }

    /** Another client has, then, and it learns of both failures. */
    @Test
    @Tag("savime-11")
    void shouldKnowThatItHasNotReplacedADatasetWhereTheOtherWasRefused() {
        TaskQueue queue = new TaskQueue(2, 4, () -> {});
        confirm(queue, 1, 0);
        queue.ended(taken(queue, 1), StgStatus.NO_SPACE, "");
        queue.replaced("s", 1, "ABORTED");
        assertThat(failedBeforeNext(queue)).isEqualTo("a, a");
    }

    @Test
    @Tag("savime-11")
    void shouldKnowThatItHasReplacedADatasetAtTheSecondTry() {
        TaskQueue queue = new TaskQueue(2, 4, () -> {});
        confirm(queue, 1, 0);
        Upload refused = taken(queue, 1);
        confirm(queue, 2, 1);
        queue.ended(refused, StgStatus.NO_SPACE, "");
        queue.replaced("s", 1, "ABORTED");
        assertThat(queue.takeLost()).containsExactly("a: ABORTED");
        assertThat(failedBeforeNext(queue)).isEqualTo("a");
    }

    /** Two engines had one each. */
    @Test
    @Tag("savime-11")
    void shouldKnowThatItHasNotReplacedADatasetWhereTwoOthersWereRefused() {
        TaskQueue queue = new TaskQueue(2, 4, () -> {});
        confirm(queue, 1, 0);
        Upload first = taken(queue, 1);
        Upload second = taken(queue, 1);
        queue.ended(first, StgStatus.NO_SPACE, "");
        queue.ended(second, StgStatus.NO_SPACE, "");
        queue.replaced("s", 1, "ABORTED");
        assertThat(failedBeforeNext(queue)).isEqualTo("a, a, a");
    }

    @Test
    void shouldLoseAServerOnceNoConnectionToItIsLeft() {
        TaskQueue queue = new TaskQueue(2, 4, () -> {});
        confirm(queue, 1, 0);
        Upload text = upload("command_1", "command");
        RunCommand command = new RunCommand("long", 0, text, task -> {});
        queue.add(command);
        assertThat(queue.take("s")).isSameAs(text);
        text.opened(9, "command_1", true);
        text.answeredBy("s");
        queue.ended(text, StgStatus.OK, "");
        queue.down("s", "first");
        queue.down("other", "first");
        queue.up("s");
        queue.down("s", "again");
        assertThat(queue.takeLost()).isEmpty();
        assertThat(command.status()).isEqualTo(StgStatus.OK);
        queue.down("s", "second");
        assertThat(queue.takeLost()).containsExactly("a: SERVER_LOST, second");
        assertThat(command.status()).isEqualTo(StgStatus.SERVER_LOST);
        assertThat(queue.takeUnsent("other")).isEmpty();
        assertThat(queue.takeUnsent("s")).containsExactly(9L);
        assertThat(queue.takeUnsent("s")).isEmpty();
    }

    @Test
    void shouldAskForDatasetsOnceAConnectionOfSeveralIsDown() {
        TaskQueue queue = new TaskQueue(2, 4, () -> {});
        assertThat(queue.takeToAsk("s")).isFalse();
        queue.down("s", "first");
        assertThat(queue.takeToAsk("other")).isFalse();
        assertThat(queue.takeToAsk("s")).isTrue();
        assertThat(queue.takeToAsk("s")).isFalse();
    }
}
