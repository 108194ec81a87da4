package dev.verbena.cli.doctor;

import java.util.List;

/** What the kernel, a container or its filter allows. */
final class DoctorKernel {
    private final Machine machine;

    DoctorKernel(Machine machine) {
        this.machine = machine;
    }

    List<Finding> findings() {
        return List.of(container(), filter(), yama(), fork(), hugePages(), idle());
    }

    Finding container() {
        String kind = machine.containerKind();
        String guest = isGuest() ? ", virtual machine" : "";
        if (kind.isEmpty()) {
            return Finding.ok("container", "none seen" + guest);
        }
        return Finding.note(
                "container",
                kind + (isRootless() ? ", rootless" : "") + guest,
                "processes outside, or in another container, cannot be reached",
                "for two containers of one job: --pid=container:NAME --ipc=container:NAME");
    }

    private boolean isGuest() {
        return machine.text("/proc/cpuinfo").contains(" hypervisor");
    }

    /** User ids are mapped: the user's own container. */
    private boolean isRootless() {
        String map = machine.text("/proc/self/uid_map").replaceAll("\\s+", " ");
        return !map.isEmpty() && !map.strip().equals("0 0 4294967295");
    }

    Finding filter() {
        String mode = machine.field("/proc/self/status", "Seccomp");
        return switch (mode) {
            case "", "0" -> Finding.ok("system-call filter", "none");
            default ->
                    Finding.note(
                            "system-call filter",
                            "seccomp mode " + mode,
                            "may forbid cross-memory attach; the trial below tells",
                            "");
        };
    }

    Finding yama() {
        String scope = machine.text("/proc/sys/kernel/yama/ptrace_scope");
        String remedy =
                "as root: sysctl -w kernel.yama.ptrace_scope=0 (for good: a line in"
                        + " /etc/sysctl.d/)";
        String cost =
                "memory that the toolkit did not allocate cannot be registered;"
                        + " foreignMemory=bounce copies it by a helper thread instead";
        return switch (scope) {
            case "" -> Finding.ok("Yama", "not in this kernel");
            case "0" -> Finding.ok("Yama", "ptrace_scope 0: processes of one user may attach");
            case "1" ->
                    Finding.warning(
                            "Yama",
                            "ptrace_scope 1: only to descendants, or as root",
                            cost,
                            remedy);
            case "2" ->
                    Finding.warning(
                            "Yama", "ptrace_scope 2: only with CAP_SYS_PTRACE", cost, remedy);
            default ->
                    Finding.warning(
                            "Yama",
                            "ptrace_scope " + scope + ": nobody, until the next boot",
                            cost,
                            "set kernel.yama.ptrace_scope=0 in /etc/sysctl.d/ and boot again");
        };
    }

    Finding fork() {
        boolean hasCard = !machine.names("/sys/class/infiniband").isEmpty();
        String release = machine.text("/proc/sys/kernel/osrelease");
        String mechanism = System.getProperty("jdk.lang.Process.launchMechanism", "POSIX_SPAWN");
        String found = "the JVM starts programs by " + mechanism + ", Linux " + release;
        if (!hasCard || isAtLeast(release, 5, 12)) {
            return Finding.ok("fork", found);
        }
        return Finding.warning(
                "fork",
                found,
                "before Linux 5.12 a child's copy-on-write can take pages away from the NIC",
                "export IBV_FORK_SAFE=1 before the JVM starts");
    }

    private static boolean isAtLeast(String release, int major, int minor) {
        String[] parts = release.split("[^0-9]+");
        try {
            int first = Integer.parseInt(parts[0]);
            return first > major || first == major && Integer.parseInt(parts[1]) >= minor;
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            return false;
        }
    }

    Finding hugePages() {
        String total = machine.field("/proc/meminfo", "HugePages_Total");
        String free = machine.field("/proc/meminfo", "HugePages_Free");
        String size = machine.field("/proc/meminfo", "Hugepagesize");
        String mode = machine.text("/sys/kernel/mm/transparent_hugepage/enabled");
        String found = "pool: " + (total.isEmpty() ? "none" : free + " of " + total + " free");
        found += size.isEmpty() ? "" : " (" + size + ")";
        found += mode.isEmpty() ? "" : "; transparent: " + mode;
        return !free.isEmpty() && !free.equals("0")
                ? Finding.ok("huge pages", found)
                : Finding.note(
                        "huge pages",
                        found,
                        "OffHeapMemories.allocateHugePages fails; everything else works on small"
                                + " pages",
                        "as root: sysctl -w vm.nr_hugepages=128");
    }

    /**
     * A halted virtual processor is woken by its host; one that polls for a while is not halted.
     */
    Finding idle() {
        String parameter = "/sys/module/haltpoll/parameters/guest_halt_poll_ns";
        String pollNs = machine.text(parameter);
        if (!isGuest()) {
            return Finding.ok("idle processors", "not virtual");
        }
        if (!pollNs.isEmpty() && !pollNs.equals("0")) {
            return Finding.ok("idle processors", "virtual, poll for " + pollNs + " ns");
        }
        return Finding.note(
                "idle processors",
                "virtual, halted at once",
                "waking a process that sleeps takes as long as the host takes; where it was"
                        + " measured 30 to 53 us, and 3 to 7 with polling",
                pollNs.isEmpty()
                        ? "where the kernel has it: the parameter haltpoll.guest_halt_poll_ns"
                        : "as root: echo 200000 > " + parameter);
    }
}
