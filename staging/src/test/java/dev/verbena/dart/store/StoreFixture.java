package dev.verbena.dart.store;

import dev.verbena.agent.DurableStore;
import dev.verbena.dart.AckMode;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartWorld;
import dev.verbena.dart.Settings;
import dev.verbena.dart.WireEnvironment;
import dev.verbena.dart.config.ReceiverSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

/** What stores messages in a receiver, on a disk in memory, without a receiver around it. */
final class StoreFixture {
    static final UUID JOB = new UUID(0x1234_5678_0000_0000L, 6);

    final WireEnvironment wire = new WireEnvironment();
    final List<RankEntry> processes = new ArrayList<>();
    final DurableStore store = wire.disk.open();
    final MessageFiles files;
    final ReceiverSettings settings;
    final List<InboundStream> streams = new ArrayList<>();
    final InboundStream stream;
    ReceiverJournal journal;
    long now = 1_000;

    StoreFixture(Consumer<DartReceiver.Context> settings) {
        DartReceiver.Context context =
                new DartReceiver.Context().environment(wire).directory("disk");
        context.ack(AckMode.DURABLE);
        settings.accept(context);
        this.settings = Settings.of(context);
        files = new MessageFiles(this.settings);
        stream = stream(JOB, 0);
        beginJournal(false);
    }

    MessageNaming naming() {
        return new MessageNaming(settings, files, streams);
    }

    void beginJournal(boolean hasFile) {
        journal = new ReceiverJournal(store, wire.errorHandler(), processes, now, hasFile);
        files.journal(journal);
    }

    InboundStream stream(UUID job, int serverId) {
        InboundStream made = new InboundStream(job, serverId, true);
        streams.add(made);
        return made;
    }

    /** Its metadata have come. */
    static InboundMessage message(int client, long sequence, String name, int length) {
        InboundMessage message = new InboundMessage();
        message.begin(client, 2, 33, sequence);
        int block =
                new DartMetadata().name(name).payload(length, false, 0).encode(message.block, 0);
        message.decode(message.block, 0, block);
        message.position = block;
        return message;
    }

    /** Begins it, and appends all of it. */
    void write(InboundMessage message) {
        files.begin(message);
        int length = (int) message.metadata.payloadLength();
        files.hasRoom(message, DartWorld.bytes(length, message.sequence), 0, length);
        message.received = length;
        message.position += length;
    }

    /** A message of this stream that is complete, and waits for its name. */
    InboundMessage complete(InboundStream of, int client, long sequence, String name) {
        InboundMessage message = message(client, sequence, name, 100);
        write(message);
        files.complete(message);
        of.storing(message);
        return message;
    }

    void journal(int cycles) {
        for (int i = 0; i < cycles; i++) {
            journal.doWork(now, streams);
        }
    }

    /** What the next receiver reads. */
    JournalReader read() {
        JournalReader reader = new JournalReader();
        reader.read(new JournalReaderTest.Bytes(wire.disk.content(ReceiverJournal.NAME)));
        return reader;
    }

    boolean isOf(String file, InboundMessage message) {
        byte[] expected = DartWorld.bytes(100, message.sequence).byteArray();
        return Arrays.equals(wire.disk.content(file), expected);
    }

    String lastError() {
        return wire.errors.get(wire.errors.size() - 1).getMessage();
    }
}
