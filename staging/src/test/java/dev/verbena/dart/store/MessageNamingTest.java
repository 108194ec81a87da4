package dev.verbena.dart.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartException;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** When a complete message gets its name, and which. */
class MessageNamingTest {
    private StoreFixture bench = new StoreFixture(c -> c.replace(true));
    private MessageNaming naming = bench.naming();

    private void keepBoth() {
        bench = new StoreFixture(c -> c.keepBoth(true));
        naming = bench.naming();
    }

    private boolean step(InboundStream stream, InboundMessage message) {
        naming.beginCycle(bench.now);
        return naming.step(stream, message);
    }

    /** So many cycles, with the journal's. */
    private boolean steps(InboundMessage message, int cycles) {
        for (int i = 0; i < cycles; i++) {
            if (step(bench.stream, message)) {
                return true;
            }
            bench.journal(1);
        }
        return false;
    }

    @Test
    void shouldRenameWhatIsForced() {
        InboundMessage message = bench.complete(bench.stream, 7, 12, "n");
        bench.wire.disk.isStuck = true;
        assertThat(steps(message, 20)).isFalse();
        assertThat(message.state).isEqualTo(InboundMessage.FORCING);
        bench.wire.disk.isStuck = false;
        assertThat(steps(message, 20)).isTrue();
        assertThat(message.file).isNull();
        assertThat(message.promiseRound).as("nothing was acknowledged").isZero();
        assertThat(bench.isOf("n", message)).isTrue();
        assertThat(bench.wire.disk.content(message.temporaryName)).isNull();
        assertThat(naming.nextDeadlineNs()).isEqualTo(ProtocolAgent.NO_DEADLINE);
    }

    @Test
    void shouldWaitForARenameAndReportThatItFailed() {
        InboundMessage message = bench.complete(bench.stream, 7, 12, "n");
        bench.wire.disk.renameLooks = 1_000;
        assertThat(steps(message, 50)).isFalse();
        assertThat(message.state).isEqualTo(InboundMessage.RENAMING);
        assertThat(message.rename).isNotNull();
        bench.wire.disk.renameFailures = 1;
        assertThatThrownBy(() -> steps(message, 2_000))
                .isInstanceOf(DartException.class)
                .hasMessageContaining("renaming n failed");
    }

    @Test
    void shouldNotNameWhatCouldNotBeWritten() {
        bench.wire.disk.failures = 1;
        InboundMessage message = bench.complete(bench.stream, 7, 12, "n");
        assertThatThrownBy(() -> step(bench.stream, message))
                .isInstanceOf(DartException.class)
                .hasMessageContaining("no space left");
    }

    @Test
    void shouldTakeForStoredWhatHasItsName() {
        InboundMessage message = StoreFixture.message(7, 12, "n", 100);
        message.state = InboundMessage.RENAMED;
        assertThat(step(bench.stream, message)).isTrue();
    }

    @Test
    void shouldPromiseANameIfTheBeginningWasAcknowledged() {
        InboundMessage message = bench.complete(bench.stream, 7, 12, "n");
        message.isBegunSettled = true;
        bench.stream.isDirty = false;
        for (int i = 0; i < 20; i++) {
            assertThat(step(bench.stream, message)).isFalse();
        }
        assertThat(message.state)
                .as("the journal has not written")
                .isEqualTo(InboundMessage.PROMISING);
        assertThat(bench.stream.isDirty).isTrue();
        assertThat(steps(message, 50)).isTrue();
        assertThat(bench.isOf("n", message)).isTrue();
        assertThat(bench.read().messages().get(0).fileName).isEqualTo("n");
    }

    @Test
    void shouldReplaceNoOtherFileUnlessAsked() {
        bench = new StoreFixture(c -> {});
        naming = bench.naming();
        bench.wire.disk.put("n", new byte[5]);
        InboundMessage message = bench.complete(bench.stream, 7, 12, "n");
        assertThat(steps(message, 50)).isTrue();
        assertThat(bench.isOf("n.7-12", message)).isTrue();
        assertThat(bench.wire.disk.content("n")).hasSize(5);
        assertThat(bench.wire.errors)
                .singleElement()
                .asString()
                .contains("'n' with other bytes", "message 12 of client 7", "'n.7-12'");
        // As after a crash, when it comes again.
        bench.stream.stored(message);
        bench.wire.disk.put("n", bench.wire.disk.content("n.7-12"));
        message = bench.complete(bench.stream, 7, 12, "n");
        assertThat(steps(message, 50)).isTrue();
        assertThat(message.fileName).isEqualTo("n");
    }

    @Test
    void shouldReplaceAnOlderFileUnlessBothAreKept() {
        bench.wire.disk.put("n", new byte[5]);
        InboundMessage message = bench.complete(bench.stream, 7, 12, "n");
        assertThat(steps(message, 50)).isTrue();
        assertThat(bench.isOf("n", message)).isTrue();
        keepBoth();
        bench.wire.disk.put("n", new byte[5]);
        for (String name : new String[] {"n.7-12", "n.7-12.12345678", "n.7-12.12345678.1"}) {
            message = bench.complete(bench.stream, 7, 12, "n");
            assertThat(steps(message, 50)).isTrue();
            bench.stream.stored(message);
            assertThat(message.fileName).isEqualTo(name);
            assertThat(bench.isOf(name, message)).isTrue();
            assertThat(message.promiseRound).as("the second name is promised").isNotZero();
        }
        assertThat(bench.wire.disk.content("n")).hasSize(5);
    }

    @Test
    void shouldCutALongNameForWhatIsPutBehindIt() {
        keepBoth();
        InboundMessage first = bench.complete(bench.stream, 7, 12, "x".repeat(200));
        first.fileName = "x".repeat(250);
        bench.wire.disk.put(first.fileName, new byte[5]);
        bench.wire.disk.put("x".repeat(200), new byte[5]);
        assertThat(steps(first, 50)).isTrue();
        assertThat(first.fileName).isEqualTo("x".repeat(200) + ".7-12");
    }

    @Test
    void shouldNotReplaceWhatALaterMessageOfItsClientStored() {
        for (int i = 0; i < 3; i++) {
            bench = new StoreFixture(c -> c.replace(true));
            naming = bench.naming();
            InboundStream other = bench.stream(i == 1 ? new UUID(9, 9) : StoreFixture.JOB, 1);
            other.neverAgain(i == 2 ? 8 : 7, 20);
            bench.wire.disk.put("n", new byte[5]);
            InboundMessage late = bench.complete(bench.stream, 7, 12, "n");
            assertThat(steps(late, 50)).isTrue();
            assertThat(late.fileName).isEqualTo(i == 0 ? "n.7-12" : "n");
        }
    }

    @Test
    void shouldNotReplaceWhatALaterMessageStoredOverTheSameStream() {
        bench = new StoreFixture(c -> c.replace(true));
        naming = bench.naming();
        bench.stream.neverAgain(7, 13);
        bench.wire.disk.put("n", new byte[5]);
        InboundMessage late = bench.complete(bench.stream, 7, 12, "n");
        assertThat(steps(late, 50)).isTrue();
        assertThat(late.fileName).isEqualTo("n.7-12");
    }

    @Test
    void shouldReplaceWhatItsOwnStreamStored() {
        bench.stream.neverAgain(7, 11);
        bench.wire.disk.put("n", new byte[5]);
        InboundMessage message = bench.complete(bench.stream, 7, 12, "n");
        assertThat(steps(message, 50)).isTrue();
        assertThat(message.fileName).isEqualTo("n");
    }

    /** A message of another stream whose rename has been asked for. */
    private InboundMessage naming(UUID job, int client, long sequence, String name) {
        InboundStream other = bench.stream(job, bench.streams.size());
        InboundMessage message = bench.complete(other, client, sequence, name);
        message.state = InboundMessage.RENAMING;
        message.rename = bench.store.rename(message.temporaryName, name);
        return message;
    }

    @Test
    void shouldWaitWhileTheSameMessageIsBeingNamed() {
        naming(StoreFixture.JOB, 7, 12, "other");
        InboundMessage message = bench.complete(bench.stream, 7, 12, "n");
        assertThat(steps(message, 50)).isFalse();
        assertThat(message.rename).isNull();
    }

    @Test
    void shouldWaitWhileAnotherOfItsNameIsBeingNamed() {
        InboundMessage other = naming(new UUID(9, 9), 8, 1, "n");
        InboundMessage message = bench.complete(bench.stream, 7, 12, "n");
        assertThat(steps(message, 50)).isFalse();
        other.rename = null;
        other.state = InboundMessage.RENAMED;
        assertThat(steps(message, 50)).as("it is not delivered yet").isFalse();
        bench.streams.get(1).stored(other);
        assertThat(steps(message, 50)).isTrue();
    }

    @Test
    void shouldNotWaitForOthers() {
        naming(new UUID(9, 9), 7, 12, "other job");
        naming(StoreFixture.JOB, 8, 12, "other client");
        naming(StoreFixture.JOB, 7, 11, "other message");
        InboundStream waiting = bench.stream(StoreFixture.JOB, 9);
        bench.complete(waiting, 7, 12, "n");
        InboundMessage message = bench.complete(bench.stream, 7, 12, "n");
        assertThat(steps(message, 50)).isTrue();
        assertThat(message.fileName).isEqualTo("n");
    }

    @Test
    void shouldNotReplaceWhatALaterMessageIsJustGetting() {
        naming(StoreFixture.JOB, 7, 13, "other");
        bench.wire.disk.put("n", new byte[5]);
        InboundMessage message = bench.complete(bench.stream, 7, 12, "n");
        assertThat(steps(message, 50)).isTrue();
        assertThat(message.fileName).isEqualTo("n.7-12");
        InboundMessage newest = bench.complete(bench.stream, 7, 14, "n");
        bench.stream.stored(message);
        assertThat(steps(newest, 50)).isTrue();
        assertThat(newest.fileName).as("13 is not later").isEqualTo("n");
    }

    @Test
    void shouldPromiseAnotherNameIfTheFirstWasTakenMeanwhile() {
        keepBoth();
        InboundMessage message = bench.complete(bench.stream, 7, 12, "n");
        while (message.state != InboundMessage.PROMISING) {
            step(bench.stream, message);
        }
        bench.journal(20);
        assertThat(bench.read().messages().get(0).fileName).isEqualTo("n");
        bench.wire.disk.put("n", new byte[5]);
        bench.stream.isDirty = false;
        assertThat(step(bench.stream, message)).isFalse();
        assertThat(message.state).isEqualTo(InboundMessage.PROMISING);
        assertThat(message.promiseRound).isZero();
        assertThat(message.isJournaled).isFalse();
        assertThat(bench.stream.isDirty).isTrue();
        assertThat(steps(message, 50)).isTrue();
        assertThat(message.fileName).isEqualTo("n.7-12");
        assertThat(bench.isOf("n.7-12", message)).isTrue();
        assertThat(bench.read().messages().get(0).fileName).isEqualTo("n.7-12");
    }

    @Test
    void shouldNotTakeANameThatAnotherIsJustGetting() {
        keepBoth();
        naming(new UUID(9, 9), 8, 1, "n");
        InboundMessage message = bench.complete(bench.stream, 7, 12, "n");
        assertThat(steps(message, 50)).isTrue();
        assertThat(message.fileName).isEqualTo("n.7-12");
    }

    @Test
    void shouldLookOnWithLessHasteWhenItFindsNoName() {
        keepBoth();
        InboundMessage message = bench.complete(bench.stream, 7, 12, "n");
        bench.wire.disk.put("n", new byte[5]);
        bench.wire.disk.unreadable = "n";
        for (int i = 0; i < 20 && naming.nextDeadlineNs() != bench.now; i++) {
            assertThat(step(bench.stream, message)).isFalse();
        }
        for (int i = 2; i < 64; i++) {
            assertThat(step(bench.stream, message)).isFalse();
            assertThat(naming.nextDeadlineNs()).isEqualTo(bench.now);
            assertThat(bench.wire.errors).isEmpty();
        }
        assertThat(step(bench.stream, message)).isFalse();
        assertThat(bench.wire.errors).hasSize(1);
        assertThat(bench.lastError()).startsWith("no free name for 'n' after 1024 tries");
        assertThat(naming.nextDeadlineNs()).isEqualTo(bench.now + 100_000_000);
        bench.wire.disk.unreadable = "";
        bench.now += 100_000_000 - 1;
        assertThat(step(bench.stream, message)).as("too early").isFalse();
        assertThat(message.state).isEqualTo(InboundMessage.FORCING);
        assertThat(naming.nextDeadlineNs()).isEqualTo(bench.now + 1);
        bench.now++;
        bench.wire.disk.unreadable = "n";
        assertThat(step(bench.stream, message)).isFalse();
        assertThat(naming.nextDeadlineNs()).isEqualTo(bench.now + 100_000_000);
        assertThat(bench.wire.errors).as("said once").hasSize(1);
        bench.wire.disk.unreadable = "";
        bench.now += 100_000_000;
        step(bench.stream, message);
        assertThat(message.state).isEqualTo(InboundMessage.PROMISING);
        assertThat(naming.nextDeadlineNs()).isEqualTo(ProtocolAgent.NO_DEADLINE);
        bench.wire.disk.unreadable = "n";
        InboundMessage next = bench.complete(bench.stream, 7, 13, "n");
        bench.now++;
        for (int i = 0; i < 5; i++) {
            step(bench.stream, next);
        }
        assertThat(naming.nextDeadlineNs()).as("it has patience again").isEqualTo(bench.now);
    }
}
