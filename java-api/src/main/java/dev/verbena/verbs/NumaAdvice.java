package dev.verbena.verbs;

import dev.verbena.agent.CpuSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Whether the calling thread may run near a device: on the processors of the NUMA node that the NIC
 * is plugged into. Memory is taken from the node of the thread that touches it first.
 */
public final class NumaAdvice {
    private NumaAdvice() {}

    /**
     * What to know about the place of a device, one sentence for people; empty on a machine with
     * one node, or where the kernel does not say.
     */
    public static String of(String device) {
        return of(Path.of("/"), device);
    }

    static String of(Path root, String device) {
        try {
            Path sys = root.resolve("sys");
            String node = read(sys.resolve("class/infiniband/" + device + "/device/numa_node"));
            if (!node.matches("[0-9]{1,4}") || !Files.exists(nodes(sys).resolve("node1"))) {
                return "";
            }
            String nearList = read(nodes(sys).resolve("node" + node + "/cpulist"));
            String ownList = allowed(root);
            CpuSet near = CpuSet.parse(nearList);
            CpuSet own = CpuSet.parse(ownList);
            String place = device + " is on NUMA node " + node + " (processors " + nearList + ")";
            if (near.containsAll(own)) {
                return place + ", where this thread runs";
            }
            return ("%s; WARNING: this thread %s elsewhere (processors %s), and takes its memory"
                            + " there: verbena --cpus %s COMMAND, CpuSet.bind in a program, or numactl"
                            + " --cpunodebind=%s --membind=%s COMMAND keeps both near")
                    .formatted(
                            place,
                            near.intersects(own) ? "may run" : "runs",
                            ownList,
                            nearList,
                            node,
                            node);
        } catch (IOException | IllegalArgumentException e) {
            return ""; // unreadable, or no lists of processors
        }
    }

    private static Path nodes(Path sys) {
        return sys.resolve("devices/system/node");
    }

    private static String read(Path file) throws IOException {
        return Files.readString(file).trim();
    }

    private static String allowed(Path root) throws IOException {
        String key = "Cpus_allowed_list:";
        for (String line : Files.readAllLines(root.resolve("proc/thread-self/status"))) {
            if (line.startsWith(key)) {
                return line.substring(key.length()).trim();
            }
        }
        return "";
    }
}
