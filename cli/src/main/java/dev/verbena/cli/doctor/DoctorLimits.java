package dev.verbena.cli.doctor;

import dev.verbena.cli.terminal.ByteSize;
import dev.verbena.cli.terminal.ThisMachine;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** Limits of this process and this machine: memory, files, processes, processors. */
final class DoctorLimits {
    /** Below this no two processes find room. */
    static final long SHARED_LEAST = 32L << 20;

    /** What the demo shares at most, rounded up. */
    static final long SHARED_COMFORTABLE = 256L << 20;

    private static final long MEMORY_COMFORTABLE = 1L << 30;
    private static final long FILES_COMFORTABLE = 1024;
    private static final long PROCESSES_COMFORTABLE = 512;
    private static final int CORES_COMFORTABLE = 4;

    private final Machine machine;

    DoctorLimits(Machine machine) {
        this.machine = machine;
    }

    List<Finding> findings(Path shared) {
        return List.of(
                lockedMemory(), sharedMemory(shared), memory(), openFiles(), processes(), cores());
    }

    Finding lockedMemory() {
        String name = "locked memory";
        long soft = machine.softLimit("Max locked memory");
        long hard = machine.hardLimit("Max locked memory");
        String found = "limit " + ByteSize.text(soft);
        if (soft == Long.MAX_VALUE) {
            return Finding.ok(name, found);
        }
        boolean hasCard = !machine.names("/sys/class/infiniband").isEmpty();
        String remedy;
        if (hard > soft) {
            found += ", may be raised to " + ByteSize.text(hard);
            remedy = "ulimit -l " + (hard == Long.MAX_VALUE ? "unlimited" : hard / 1024);
        } else if (!machine.containerKind().isEmpty()) {
            remedy = "start the container with --ulimit memlock=-1:-1";
        } else {
            remedy =
                    "as root: prlimit --memlock=unlimited:unlimited --pid $$ (this shell); for good:"
                            + " echo '* - memlock unlimited' > /etc/security/limits.d/memlock.conf, or"
                            + " LimitMEMLOCK=infinity in the unit of slurmd";
        }
        String cost = "an RDMA NIC registers locked memory: more than this fails with ENOMEM.";
        return hasCard
                ? Finding.warning(name, found, cost, remedy)
                : Finding.note(
                        name,
                        found,
                        cost + " shm://, portals:// and gni:// lock none, no loss now",
                        remedy);
    }

    Finding sharedMemory(Path folder) {
        String name = "shared memory";
        if (!Files.isDirectory(folder)) {
            return Finding.wrong(
                    name,
                    folder + ": no such folder",
                    "no transport of this version works without it",
                    "mount -t tmpfs -o size=1g,mode=1777 tmpfs " + folder + ", or VERBENA_SHM_DIR");
        }
        File space = folder.toFile();
        return sharedMemory(
                folder,
                ThisMachine.fileSystem(folder),
                space.getUsableSpace(),
                space.getTotalSpace(),
                Files.isWritable(folder));
    }

    /** The verdict, from what the file system says. */
    Finding sharedMemory(Path folder, String type, long usable, long total, boolean isWritable) {
        String name = "shared memory";
        String found =
                "%s (%s), %s of %s"
                        .formatted(folder, type, ByteSize.text(usable), ByteSize.text(total));
        found += " free";
        if (!isWritable) {
            return Finding.wrong(
                    name,
                    found + ", not writable",
                    "no process can offer memory",
                    "chmod 1777 " + folder + " as root, or VERBENA_SHM_DIR=DIR");
        }
        if (usable < SHARED_LEAST) {
            return Finding.wrong(
                    name, found, "one server needs more than that", sharedRemedy(folder));
        }
        if (usable < SHARED_COMFORTABLE) {
            return Finding.warning(
                    name,
                    found,
                    "buffers and sent memory lie here: servers have fewer, or allocations fail with"
                            + " ENOSPC; the demo uses a folder on disk instead",
                    sharedRemedy(folder));
        }
        return Set.of("tmpfs", "hugetlbfs", ThisMachine.UNKNOWN).contains(type)
                ? Finding.ok(name, found)
                : Finding.warning(
                        name,
                        found,
                        "it is a disk: the kernel writes shared pages back to it",
                        "unset VERBENA_SHM_DIR, or name a folder of a tmpfs");
    }

    private String sharedRemedy(Path folder) {
        String kind = machine.containerKind();
        if (kind.equals("Kubernetes")) {
            return "mount an emptyDir with 'medium: Memory' at /dev/shm in the pod";
        }
        return kind.isEmpty()
                ? "as root: mount -o remount,size=1g " + folder + "; or VERBENA_SHM_DIR=DIR"
                : "start the container with --shm-size=1g; or VERBENA_SHM_DIR=DIR";
    }

    Finding memory() {
        String name = "memory";
        long available = kilobytes("MemAvailable");
        String limit = machine.text("/sys/fs/cgroup/memory.max");
        String found = ByteSize.text(available) + " available";
        if (!limit.isEmpty() && !limit.equals("max")) {
            long group = Long.parseLong(limit);
            found += ", control group allows " + ByteSize.text(group);
            available = Math.min(available, group);
        }
        return available >= MEMORY_COMFORTABLE
                ? Finding.ok(name, found)
                : Finding.warning(
                        name,
                        found,
                        "shared memory counts too; the kernel kills what goes beyond",
                        "fewer processes, or --memory=2g for a container");
    }

    private long kilobytes(String label) {
        String value = machine.field("/proc/meminfo", label).replace(" kB", "");
        return value.isEmpty() ? Long.MAX_VALUE : Long.parseLong(value) * 1024;
    }

    Finding openFiles() {
        long soft = machine.softLimit("Max open files");
        String found = soft == Long.MAX_VALUE ? "no limit" : "limit " + soft;
        return soft >= FILES_COMFORTABLE
                ? Finding.ok("open files", found)
                : Finding.warning(
                        "open files",
                        found,
                        "every peer takes three, every client of a server as many",
                        "ulimit -n " + Math.min(machine.hardLimit("Max open files"), 65536));
    }

    Finding processes() {
        long soft = machine.softLimit("Max processes");
        String group = machine.text("/sys/fs/cgroup/pids.max");
        if (!group.isEmpty() && !group.equals("max")) {
            soft = Math.min(soft, Long.parseLong(group));
        }
        String found = soft == Long.MAX_VALUE ? "no limit" : "limit " + soft;
        return soft >= PROCESSES_COMFORTABLE
                ? Finding.ok("processes", found)
                : Finding.warning(
                        "processes",
                        found + " (threads count)",
                        "a JVM has some 20 threads; starting more fails with EAGAIN",
                        machine.containerKind().isEmpty()
                                ? "ulimit -u 4096"
                                : "start the container with --pids-limit=4096");
    }

    Finding cores() {
        int usable = Runtime.getRuntime().availableProcessors();
        String quota = machine.text("/sys/fs/cgroup/cpu.max");
        String found =
                usable + " usable of " + machine.text("/sys/devices/system/cpu/online") + " online";
        boolean isLimited = !quota.isEmpty() && !quota.startsWith("max");
        found += isLimited ? ", control group quota " + quota : "";
        return usable >= CORES_COMFORTABLE && !isLimited
                ? Finding.ok("cores", found)
                : Finding.note(
                        "cores",
                        found,
                        "processes share cores: agents sleep when idle and lose little, but"
                                + " latencies measured here are those of the scheduler",
                        isLimited ? "start the container without --cpus" : "");
    }
}
