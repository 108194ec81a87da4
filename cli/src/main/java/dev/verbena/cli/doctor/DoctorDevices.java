package dev.verbena.cli.doctor;

import dev.verbena.cli.terminal.Messages;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Libraries of fabrics, and the cards there are. */
final class DoctorDevices {
    private static final String NO_VERBS = "verbs:// does not work; the other transports do";

    private final Machine machine;

    DoctorDevices(Machine machine) {
        this.machine = machine;
    }

    List<Finding> findings() {
        List<Finding> findings = new ArrayList<>();
        findings.add(
                library("libibverbs", "libibverbs.so.1", NO_VERBS, "apt-get install libibverbs1"));
        findings.add(
                library("librdmacm", "librdmacm.so.1", NO_VERBS, "apt-get install librdmacm1"));
        findings.add(
                library(
                        "libfabric",
                        "libfabric.so.1",
                        "ofi:// does not work, auto:// on one host only; the others do",
                        "apt-get install libfabric1"));
        findings.add(
                library(
                        "libugni",
                        "libugni.so.0",
                        "nothing: gni:// brings a libugni of its own, for processes of one host",
                        "Cray's comes with its programming environment; -Dverbena.ugni.library"
                                + " names it"));
        findings.addAll(cards());
        return findings;
    }

    Finding library(String name, String file, String cost, String remedy) {
        Path found = find(file);
        if (found == null) {
            return Finding.note(name, file + " is not installed", cost, remedy);
        }
        String problem = problemOf(found);
        return problem == null
                ? Finding.ok(name, found.toString())
                : Finding.warning(name, found + ": " + problem, cost, "install it again");
    }

    /** Reads the first bytes: an ELF file for 64 bits. */
    private static String problemOf(Path library) {
        try (var in = Files.newInputStream(library)) {
            String head = new String(in.readNBytes(5), StandardCharsets.ISO_8859_1);
            boolean isElf = head.length() == 5 && head.startsWith("\177ELF");
            return isElf ? head.charAt(4) == 2 ? null : "not for 64 bits" : "no library";
        } catch (IOException e) {
            return Messages.of(e);
        }
    }

    private Path find(String file) {
        for (String folder : folders()) {
            Path path = machine.path(folder).resolve(file);
            if (Files.exists(path)) {
                return path;
            }
        }
        return null;
    }

    /** Where the dynamic loader looks. */
    private Set<String> folders() {
        Set<String> folders = new LinkedHashSet<>();
        for (String folder : machine.variable("LD_LIBRARY_PATH").split(":")) {
            if (folder.startsWith("/")) {
                folders.add(folder);
            }
        }
        for (String name : machine.names("/etc/ld.so.conf.d")) {
            machine.text("/etc/ld.so.conf.d/" + name)
                    .lines()
                    .filter(line -> line.startsWith("/"))
                    .forEach(line -> folders.add(line.strip()));
        }
        folders.addAll(List.of("/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"));
        folders.add("/opt/cray/ugni/default/lib64");
        return folders;
    }

    List<Finding> cards() {
        List<String> names = machine.names("/sys/class/infiniband");
        if (names.isEmpty()) {
            return List.of(
                    Finding.note(
                            "RDMA devices",
                            "none in /sys/class/infiniband",
                            "nothing: the software NIC needs no RDMA device",
                            ""));
        }
        List<Finding> findings = new ArrayList<>();
        for (String name : names) {
            findings.add(card(name));
        }
        return findings;
    }

    private Finding card(String name) {
        String folder = "/sys/class/infiniband/" + name;
        StringBuilder found = new StringBuilder();
        boolean isActive = false;
        for (String port : machine.names(folder + "/ports")) {
            String state = machine.text(folder + "/ports/" + port + "/state");
            found.append(found.length() == 0 ? "" : "; ")
                    .append("port ")
                    .append(port)
                    .append(' ')
                    .append(state.replaceFirst("^[0-9]+: ", ""))
                    .append(' ')
                    .append(machine.text(folder + "/ports/" + port + "/link_layer"))
                    .append(' ')
                    .append(machine.text(folder + "/ports/" + port + "/rate"));
            isActive |= state.endsWith("ACTIVE");
        }
        String title = "RDMA device " + name;
        if (!isActive) {
            return Finding.warning(
                    title,
                    found.toString(),
                    "no port is active",
                    "ip link set dev IF up; ibstat " + name);
        }
        boolean isOpen =
                machine.names("/dev/infiniband").stream()
                        .filter(file -> file.startsWith("uverbs"))
                        .anyMatch(file -> isAccessible("/dev/infiniband/" + file));
        return isOpen
                ? Finding.note(title, found.toString(), "verbs:// can use it", "")
                : Finding.warning(
                        title,
                        found + "; no /dev/infiniband/uverbs* for this user",
                        "verbs:// cannot use it",
                        machine.containerKind().isEmpty()
                                ? "chmod 666 /dev/infiniband/uverbs0 (udev rule of rdma-core)"
                                : "start the container with --device=/dev/infiniband");
    }

    private boolean isAccessible(String file) {
        return Files.isReadable(machine.path(file)) && Files.isWritable(machine.path(file));
    }
}
