package dev.verbena.dart.receiver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.dart.CrashBench;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.ScriptedServer;
import dev.verbena.dart.Settings;
import dev.verbena.dart.WireEnvironment;
import dev.verbena.dart.config.ReceiverSettings;
import dev.verbena.dart.store.InboundMessage;
import dev.verbena.dart.store.InboundStream;
import dev.verbena.dart.store.MessageFiles;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which stream a receiver forgets when it knows too many. */
@Timeout(60)
class StreamTableTest {
    private static final UUID JOB = new UUID(8, 9);
    private static final UUID OTHER = new UUID(8, 10);

    private final WireEnvironment wire = new WireEnvironment();
    private final List<UUID> ended = new ArrayList<>();
    private final ReceiverShared shared = shared(false);
    private final StreamTable table = table(shared);

    private ReceiverShared shared(boolean isAcceptingGaps) {
        return new ReceiverShared(
                Settings.of(
                        new DartReceiver.Context()
                                .environment(wire)
                                .handler(m -> {})
                                .acceptGaps(isAcceptingGaps)),
                null,
                null);
    }

    private StreamTable table(ReceiverShared shared) {
        return new StreamTable(shared, ended::add);
    }

    /** A server that connects, and is gone. */
    private InboundStream come(int serverId) {
        return table.attach(table.find(JOB, serverId), null, JOB, serverId, 0);
    }

    /** As {@link #come}, and something of it was taken. */
    private InboundStream use(int serverId) {
        InboundStream stream = come(serverId);
        stream.taken(null, 0, 0, true);
        stream.settle();
        return stream;
    }

    private boolean isKnown(int serverId) {
        return table.find(JOB, serverId) != null;
    }

    @Test
    void shouldForgetFirstWhatCostsLeast() {
        for (int i = 0; i < StreamTable.STREAMS_MAX; i++) {
            use(i);
        }
        table.find(JOB, 0).open().put(7, new InboundMessage());
        table.find(JOB, 9).finish();
        use(2000);
        assertThat(isKnown(9)).isFalse();
        assertThat(wire.errors).isEmpty();

        come(2001);
        assertThat(isKnown(1)).isFalse();
        assertThat(wire.errors).hasSize(1);
        assertThat(wire.errors.get(0)).hasMessageContaining("server 1 of job " + JOB);

        // Nothing ever came of the last one: a stranger forgets no other.
        come(2002);
        assertThat(isKnown(2001)).isFalse();
        assertThat(wire.errors).hasSize(1);
        assertThat(isKnown(0)).as("half received").isTrue();
        assertThat(shared.streams).hasSize(StreamTable.STREAMS_MAX);
    }

    private InboundStream half(int serverId, int frames, String source, long awaySinceNs) {
        InboundStream stream = come(serverId);
        for (int i = 0; i < frames; i++) {
            stream.taken(null, 0, 0, true);
        }
        stream.settle();
        InboundMessage message = new InboundMessage();
        message.begin(7, 0, 0, 0);
        stream.open().put(7, message);
        stream.attach(null, source);
        stream.away(awaySinceNs);
        return stream;
    }

    @Test
    @Tag("dart-S7")
    void shouldServeANewServerWhenOneHostHasFilledTheTableWithHalfMessages() {
        half(1, 50, "stranger", 10);
        half(2, 1, "other", 1);
        for (int i = 3; i <= StreamTable.STREAMS_MAX; i++) {
            half(i, 1, "stranger", 20 + i);
        }
        for (int i = 0; i < 300; i++) {
            // They go on making up servers.
            half(5000 + i, 1, "stranger", 3000 + i);
        }
        come(3000);
        assertThat(isKnown(3000)).isTrue();
        assertThat(isKnown(1)).as("many frames").isTrue();
        assertThat(isKnown(2)).as("another host").isTrue();
        assertThat(isKnown(3)).as("an earlier one").isTrue();
        assertThat(shared.streams).hasSize(StreamTable.STREAMS_MAX);
        assertThat(wire.errors).anyMatch(e -> e.getMessage().contains("server 5000 of job"));
    }

    @Test
    @Tag("dart-S7")
    void shouldForgetWhoHasBeenAwayLongestWhenManyHostsHaveFilledTheTable() {
        for (int i = 0; i < StreamTable.STREAMS_MAX; i++) {
            half(i, 1, "host " + i % 20, i == 500 ? 7 : 1000 - i % 900);
        }
        come(3000);
        assertThat(isKnown(500)).isFalse();
        assertThat(isKnown(3000)).isTrue();
        assertThat(wire.errors).hasSize(2);
    }

    @Test
    @Tag("dart-S7")
    void shouldForgetHalfMessagesAfterAWhile() {
        half(1, 1, "", 100);
        half(2, 1, "", 300);
        use(3).away(100);
        table.expire(1099, 1000);
        assertThat(isKnown(1)).isTrue();
        table.expire(1100, 1000);
        assertThat(isKnown(1)).isFalse();
        assertThat(isKnown(2)).isTrue();
        assertThat(isKnown(3)).as("costs nothing").isTrue();
        assertThat(wire.errors).anyMatch(e -> e.getMessage().contains("server 1 of job"));
    }

    @Test
    void shouldSayThatAJobIsOverWhenItsLastStreamIsForgotten() {
        half(1, 1, "", 100);
        use(2);
        table.expire(1100, 1000);
        assertThat(isKnown(1)).isFalse();
        assertThat(ended).as("server 2 may serve on").isEmpty();
        half(1, 1, "", 100);
        table.find(JOB, 2).finish();
        table.expire(1100, 1000);
        assertThat(ended).containsExactly(JOB);
    }

    @Test
    void shouldSayThatAJobIsOverWhenItsLastStreamMakesRoom() {
        for (int i = 1; i < StreamTable.STREAMS_MAX; i++) {
            use(i);
        }
        table.attach(null, null, OTHER, 0, 0);
        use(2000);
        assertThat(table.find(OTHER, 0)).isNull();
        assertThat(ended).containsExactly(OTHER);
        table.attach(null, null, OTHER, 1, 0);
        table.attach(null, null, OTHER, 2, 0);
        assertThat(table.find(OTHER, 1)).as("in the place of a server of the job").isNull();
        assertThat(ended).containsExactly(OTHER);
    }

    @Test
    void shouldForgetWhatAServerThatBeginsAnewHadSent() {
        InboundStream stream = use(5);
        assertThat(stream.nextWanted()).isEqualTo(2);
        assertThat(table.attach(stream, null, JOB, 5, 1)).isSameAs(stream);
        assertThat(table.attach(stream, null, JOB, 5, 2)).isSameAs(stream);
        InboundStream anew = table.attach(stream, null, JOB, 5, 0);
        assertThat(anew).isNotSameAs(stream);
        assertThat(anew.nextWanted()).isEqualTo(1);
        assertThat(anew.acknowledgedNext()).as("no journal: what is taken counts").isEqualTo(1);
        assertThat(shared.streams).containsExactly(anew);
        assertThat(table.find(new UUID(8, 8), 5)).isNull();
    }

    private static DartMetadata named(String name) {
        return new DartMetadata().name(name);
    }

    /** A message that is complete and not stored yet, of a receiver with a directory. */
    private InboundMessage storing(MessageFiles files, InboundStream stream, long sequence) {
        InboundMessage message = new InboundMessage();
        UnsafeBuffer block = new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX]);
        int length = named("n-" + sequence).payload(0, false, 0).encode(block, 0);
        message.begin(7, 5, 0, sequence);
        message.decode(block, 0, length);
        message.job(JOB);
        files.begin(message);
        stream.taken(message, 0, 0, true);
        files.complete(message);
        stream.storing(message);
        return message;
    }

    @Test
    @Tag("dart-F9")
    void shouldGiveUpByNameWhatIsNotStoredWhenItsServerBeginsAnew() {
        ReceiverSettings settings = onDisk();
        try (MessageFiles files = new MessageFiles(settings)) {
            ReceiverShared own = new ReceiverShared(settings, files, null);
            StreamTable streams = table(own);
            InboundStream stream = streams.attach(null, null, JOB, 5, 0);
            storing(files, stream, 3);
            storing(files, stream, 4);
            assertThat(temporaryFiles(wire)).hasSize(2);
            assertThat(streams.attach(stream, null, JOB, 5, 0)).isNotSameAs(stream);
            assertThat(temporaryFiles(wire)).isEmpty();
            assertThat(stream.storing()).isEmpty();
            assertThat(stream.storingBytes()).isZero();
            assertThat(own.abandoned.get()).isEqualTo(2);
            assertThat(wire.errors)
                    .extracting(Throwable::getMessage)
                    .containsExactly(
                            "message 3 of client 7 is lost: its server began anew before it was"
                                    + " stored",
                            "message 4 of client 7 is lost: its server began anew before it was"
                                    + " stored");
        }
    }

    @Test
    @Tag("dart-F9")
    void shouldLetAFileGetItsNameBeforeItsServerBeginsAnew() {
        ReceiverSettings settings = onDisk();
        try (MessageFiles files = new MessageFiles(settings)) {
            ReceiverShared own = new ReceiverShared(settings, files, null);
            StreamTable streams = table(own);
            MessageDelivery delivery = new MessageDelivery(own);
            InboundStream stream = streams.attach(null, null, JOB, 5, 0);
            InboundMessage message = storing(files, stream, 3);
            wire.disk.renameLooks = 3;
            for (int i = 0; i < 100 && message.rename() == null; i++) {
                delivery.store(i);
            }
            assertThatThrownBy(() -> streams.attach(stream, null, JOB, 5, 0))
                    .isInstanceOf(DartException.class)
                    .hasMessageContaining("message 3 of client 7 is being stored");
            for (int i = 0; i < 100 && !stream.storing().isEmpty(); i++) {
                delivery.store(i);
            }
            assertThat(streams.attach(stream, null, JOB, 5, 0)).isNotSameAs(stream);
            assertThat(wire.disk.names("")).contains("n-3");
            assertThat(temporaryFiles(wire)).isEmpty();
            assertThat(wire.errors).isEmpty();
        }
    }

    /** The journal promises its name, and is written anew. */
    @Test
    @Tag("dart-F9")
    void shouldGiveUpWhatIsPromisedWhenItsServerBeginsAnew() {
        try (CrashBench bench = new CrashBench(c -> {})) {
            ScriptedServer first = bench.server(1).message(7, 3, named("n"), 1000, 2);
            first.allowed = 1;
            bench.until("begun", () -> first.acknowledged == 2);
            bench.wire.disk.stuck = "receiving-state";
            first.allowAll();
            for (int i = 0; i < 50; i++) {
                bench.step();
            }
            first.disconnect();
            bench.servers.remove(first);
            ScriptedServer anew = bench.server(1).message(7, 3, named("m"), 1000, 1).allowAll();
            bench.until("given up", () -> !bench.wire.errors.isEmpty());
            bench.wire.disk.stuck = "";
            bench.until("stored", anew::isAllAcknowledged);
            bench.until("none is left", () -> temporaryFiles(bench.wire).isEmpty());
            assertThat(bench.files()).containsOnlyKeys("m");
            assertThat(bench.wire.errors)
                    .singleElement()
                    .extracting(Throwable::getMessage)
                    .asString()
                    .contains("message 3 of client 7 is lost: its server began anew");
        }
    }

    private ReceiverSettings onDisk() {
        return Settings.of(
                new DartReceiver.Context().environment(wire).directory("disk").handler(m -> {}));
    }

    /** Of messages; the receiver has others of its own. */
    private static List<String> temporaryFiles(WireEnvironment of) {
        return of.disk.names("").stream()
                .filter(name -> name.matches("\\.receiving-[0-9].*"))
                .toList();
    }

    @Test
    void shouldRefuseAServerWhoseHalvesWereGivenUpUnlessGapsAreAccepted() {
        InboundStream stream = use(5);
        stream.loseHalf();
        assertThatThrownBy(() -> table.attach(stream, null, JOB, 5, 1))
                .isInstanceOf(DartException.class)
                .hasMessageContaining("half received from server 5");
        StreamTable accepting = table(shared(true));
        assertThat(accepting.attach(stream, null, JOB, 5, 1)).isSameAs(stream);
        assertThat(stream.isHalfLost()).isFalse();
        assertThat(stream.hasLostBeginnings()).isTrue();
    }

    @Test
    void shouldGoOnBehindAGapOnlyWhenToldSo() {
        InboundStream stream = use(5);
        table.gap(stream, 9);
        assertThat(stream.nextWanted()).isEqualTo(2);
        assertThat(shared.protocolErrors.get()).isEqualTo(1);
        assertThat(wire.errors).hasSize(1);
        assertThat(wire.errors.get(0)).hasMessageContaining("accept the gap");
        ReceiverShared told = shared(true);
        StreamTable accepting = table(told);
        accepting.gap(stream, 2);
        assertThat(stream.hasLostBeginnings()).as("nothing is missing before frame 2").isFalse();
        assertThat(told.protocolErrors.get()).isEqualTo(1);
        InboundMessage half = new InboundMessage();
        stream.open().put(7, half);
        accepting.gap(stream, 9);
        assertThat(stream.nextWanted()).isEqualTo(9);
        assertThat(stream.settledNext()).isEqualTo(9);
        assertThat(stream.hasLostBeginnings()).isTrue();
        assertThat(told.protocolErrors.get()).isEqualTo(1);
        assertThat(wire.errors).hasSizeGreaterThanOrEqualTo(3);
    }
}
