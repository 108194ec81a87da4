package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.AgentStepper;
import dev.verbena.dart.store.MessageFiles;
import dev.verbena.staging.Checksum;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A receiver with a directory in virtual time, and servers made by hand, so that a test can kill
 * the receiver between any two duty cycles. One thread.
 */
public final class CrashBench implements AutoCloseable {
    static final UUID JOB = new UUID(5, 6);
    private static final int STEPS_MAX = 20_000;

    public final WireEnvironment wire = new WireEnvironment();
    public final List<ScriptedServer> servers = new ArrayList<>();

    /** Sequences of the messages that handlers saw, of all receivers. */
    public final List<Long> handled = new ArrayList<>();

    /** Their files' names. */
    final List<String> handledBy = new ArrayList<>();

    public DartReceiver receiver;
    private final Consumer<DartReceiver.Context> change;
    private AgentStepper stepper;

    private int errorsSeen;

    /** Cycles of all receivers. */
    public int steps;

    public CrashBench(Consumer<DartReceiver.Context> change) {
        this.change = change;
        begin();
    }

    private void begin() {
        DartReceiver.Context context =
                new DartReceiver.Context()
                        .environment(wire)
                        .directory("disk")
                        .windowMax(1 << 20)
                        .handler(this::onMessage);
        change.accept(context);
        receiver = DartReceiver.embed(context);
        stepper = new AgentStepper(List.of(receiver.agent()), wire.clock, wire.errorHandler());
    }

    private void onMessage(DartMessage message) {
        byte[] bytes = new byte[message.length()];
        message.buffer().getBytes(message.offset(), bytes);
        assertThat(bytes)
                .as("message %d as its handler sees it", message.sequence())
                .isEqualTo(DartWorld.bytes(bytes.length, message.sequence()).byteArray());
        assertThat(message.crc32c())
                .as("checksum of message %d", message.sequence())
                .isEqualTo(new Checksum().of(message.buffer(), 0, message.length()));
        handled.add(message.sequence());
        handledBy.add(message.metadata().name());
    }

    public ScriptedServer server(int id) {
        ScriptedServer server = new ScriptedServer(wire, JOB, id);
        servers.add(server);
        return server;
    }

    /** How a receiver may end. */
    public enum End {
        /** Killed. */
        KILL,
        /** Killed when its disk had just done what it was asked for. */
        KILL_AFTER_DISK,
        /** What was not forced is gone. */
        POWER_FAILURE
    }

    /** The receiver dies here, and another one begins on the same directory. */
    public void crash(End end) {
        if (end == End.POWER_FAILURE) {
            wire.disk.failPower();
        } else {
            wire.disk.kill(end == End.KILL_AFTER_DISK);
        }
        wire.cut();
        stepper.close();
        receiver.close();
        begin();
    }

    public void step() {
        for (ScriptedServer server : servers) {
            server.step();
        }
        stepper.step();
        failIfAHandlerDid();
        steps++;
        wire.clock.advanceNs(1_000_000);
    }

    /** A receiver goes on when its handler fails; the test must not. */
    private void failIfAHandlerDid() {
        for (; errorsSeen < wire.errors.size(); errorsSeen++) {
            if (wire.errors.get(errorsSeen) instanceof AssertionError) {
                throw (AssertionError) wire.errors.get(errorsSeen);
            }
        }
    }

    public void until(String what, BooleanSupplier condition) {
        for (int i = 0; i < STEPS_MAX && !condition.getAsBoolean(); i++) {
            step();
        }
        assertThat(condition.getAsBoolean())
                .as("%s; handled %s, files %s, %s", what, handled, files().keySet(), wire.errors)
                .isTrue();
    }

    /** Every server's frames are acknowledged. */
    public boolean isDone() {
        return servers.stream().allMatch(ScriptedServer::isAllAcknowledged);
    }

    /** Names and hashes of stored files, without the receiver's own. */
    public Map<String, Integer> files() {
        Map<String, Integer> files = new TreeMap<>();
        for (String name : wire.disk.names("")) {
            if (!name.startsWith(MessageFiles.TEMPORARY_PREFIX)
                    && !name.equals(DartReceiver.DESCRIPTIONS)) {
                files.put(name, Arrays.hashCode(wire.disk.content(name)));
            }
        }
        return files;
    }

    /** What the receivers wrote about stored files: names, by line. */
    public List<String> described() {
        byte[] all = wire.disk.content(DartReceiver.DESCRIPTIONS);
        String text = all == null ? "" : new String(all, StandardCharsets.US_ASCII);
        List<String> names = new ArrayList<>();
        text.substring(0, text.lastIndexOf('\n') + 1)
                .lines()
                .forEach(
                        line -> {
                            assertThat(line).matches("\\{\"file\":\"[^\"]+\",\"name\".*}}");
                            names.add(line.split("\"")[3]);
                        });
        return names;
    }

    public static int hash(int length, long sequence) {
        return Arrays.hashCode(DartWorld.bytes(length, sequence).byteArray());
    }

    @Override
    public void close() {
        stepper.close();
        receiver.close();
    }
}
