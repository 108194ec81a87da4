package dev.verbena.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Name of this host, with the pid namespace: where a process number means the same process. */
final class HostName {
    static final String NAME = find();

    private HostName() {}

    private static String find() {
        try {
            String name = Files.readString(Path.of("/proc/sys/kernel/hostname")).trim();
            Path namespace = Files.readSymbolicLink(Path.of("/proc/self/ns/pid"));
            return name + "/" + namespace;
        } catch (IOException e) {
            // Then nobody else's processes are taken for ours, and no entry is called dead.
            return "unknown-" + ProcessHandle.current().pid();
        }
    }
}
