package dev.verbena.cli.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What was sent and what arrived, compared to the byte. Files are compared and deleted while the
 * run goes on, so that the disk stays small.
 */
final class ChaosLedger {
    private final ChaosWorld world;
    private final long seed;
    private final List<String> faults = new ArrayList<>();
    private final Map<String, Integer> arrived = new HashMap<>();
    private long bytes;
    private int streamedCount;
    private int spilledCount;
    private int failedCount;
    private volatile boolean isEnding;

    ChaosLedger(ChaosWorld world, long seed) {
        this.world = world;
        this.seed = seed;
    }

    /** Compares what is there until told to end. */
    Thread follow() {
        Thread thread =
                new Thread(
                        () -> {
                            while (!isEnding) {
                                compare();
                                try {
                                    Thread.sleep(300);
                                } catch (InterruptedException e) {
                                    return;
                                }
                            }
                        },
                        "ledger");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    void end() {
        isEnding = true;
    }

    private synchronized void compare() {
        try (Stream<Path> files = Files.list(world.disk.outside())) {
            for (Path file : files.toList()) {
                if (!file.getFileName().toString().startsWith(".")) {
                    compare(file);
                }
            }
        } catch (IOException | RuntimeException e) {
            fault("the receiver's folder cannot be read: " + e);
        }
    }

    private void compare(Path file) throws IOException {
        String text = file.getFileName().toString();
        try {
            Payload.Name name = Payload.Name.parse(text);
            byte[] expected = Payload.bytes(seed, name);
            byte[] found = Files.readAllBytes(file);
            int at = Arrays.mismatch(expected, found);
            if (at >= 0) {
                String what = " of " + found.length + ", expected " + expected.length;
                fault(text + " differs at byte " + at + what);
            }
            arrived.merge(text, 1, Integer::sum);
            bytes += found.length;
            Files.delete(file);
        } catch (NoSuchFileException e) {
            // Replaced just now by the same message.
        } catch (IllegalArgumentException e) {
            fault("unexpected file: " + e.getMessage());
            Files.delete(file);
        }
    }

    private synchronized void fault(String what) {
        if (faults.size() < 50 && !faults.contains(what)) {
            faults.add(what);
        }
    }

    /** Everything that is wrong after the run. */
    List<String> close() throws IOException {
        compare();
        for (ChaosProcess process : world.all) {
            if (process.name.startsWith("client")) {
                settle(process);
            } else if (!process.name.startsWith("stranger")) {
                look(process);
            }
        }
        order();
        try (Stream<Path> files = Files.list(world.disk.outside())) {
            files.filter(file -> file.getFileName().toString().startsWith(".receiving"))
                    // The receiver's own journal and lock stay: the next one goes on from there.
                    .filter(
                            file ->
                                    !file.getFileName()
                                            .toString()
                                            .matches("\\.receiving-(state|lock)"))
                    .filter(file -> !world.hasKilledServers)
                    .forEach(file -> fault("left behind: " + file.getFileName()));
        }
        try (Stream<Path> files = Files.list(world.all.get(0).log.getParent())) {
            files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith("hs_err") || name.startsWith("core"))
                    .forEach(name -> fault("a process crashed: " + name));
        }
        return faults;
    }

    /** What a client was told, against what is there. */
    private void settle(ChaosProcess client) {
        Set<String> open = new HashSet<>();
        boolean hasEnded = false;
        for (String line : client.out().split("\n")) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "sent" -> open.add(words[1]);
                case "streamed" -> {
                    open.remove(words[1]);
                    streamedCount++;
                    if (!arrived.containsKey(words[1])) {
                        fault(words[1] + " was confirmed and is not at the receiver");
                    }
                }
                case "spilled" -> {
                    open.remove(words[1]);
                    spilledCount++;
                    if (!arrived.containsKey(words[1])) {
                        fault(words[1] + " was on a server's disk and is not at the receiver");
                    }
                }
                case "failed" -> {
                    open.remove(words[1]);
                    failedCount++;
                    if (words.length < 3) {
                        fault(line + ": without a reason");
                    }
                }
                case "end" -> hasEnded = true;
                case "error:" -> fault(client.name + ": " + line);
                default -> {}
            }
        }
        if (hasEnded && !open.isEmpty()) {
            fault(client.name + ": neither confirmed nor failed: " + open);
        }
        look(client);
    }

    private void look(ChaosProcess process) {
        for (String line : process.out().split("\n")) {
            if (line.startsWith("\tat ")
                    || line.startsWith("Exception in thread")
                    || line.contains("gave up closing in order")
                    || line.contains("OutOfMemory")
                    || line.contains("fatal error")) {
                fault(process.name + " prints: " + line + process.tail());
                return;
            }
        }
    }

    /** Messages of a client's connection are delivered in order, and again only after a kill. */
    private void order() {
        Map<String, Integer> last = new HashMap<>();
        Map<String, String> where = new HashMap<>();
        for (ChaosProcess process : world.all) {
            if (!process.name.startsWith("receiver")) {
                continue;
            }
            for (String line : process.out().split("\n")) {
                if (line.startsWith("stored chaos-")) {
                    String text = line.substring(7, line.indexOf(','));
                    deliver(process.name, text, last, where);
                }
            }
        }
    }

    private void deliver(
            String receiver, String text, Map<String, Integer> last, Map<String, String> where) {
        Payload.Name name = Payload.Name.parse(text);
        String life = name.client() + "-" + name.life();
        String before = where.put(text, receiver);
        if (before != null && before.equals(receiver)) {
            fault(text + " was delivered twice by " + receiver);
        }
        if (before != null) {
            return;
        }
        Integer latest = last.get(life);
        if (latest != null && name.index() < latest) {
            fault(text + " was delivered after " + latest);
        } else {
            last.put(life, name.index());
        }
    }

    String summary() {
        return arrived.size()
                + " messages compared, "
                + bytes / 1_000_000
                + " MB; "
                + streamedCount
                + " confirmed, "
                + spilledCount
                + " promised from a disk, "
                + failedCount
                + " failed by name";
    }
}
