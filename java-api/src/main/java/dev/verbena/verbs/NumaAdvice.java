package dev.verbena.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;

/**
 * Whether the calling thread may run near a device: on the processors of the NUMA node that the
 * card is plugged into. Memory is taken from the node of the thread that touches it first.
 */
public final class NumaAdvice {
    private static final int CPUS_MAX = 1 << 16;

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
            BitSet near = cpus(nearList);
            BitSet own = cpus(ownList);
            if (near.isEmpty() || own.isEmpty()) {
                return "";
            }
            String place = device + " is on NUMA node " + node + " (processors " + nearList + ")";
            BitSet far = (BitSet) own.clone();
            far.andNot(near);
            if (far.isEmpty()) {
                return place + ", where this thread runs";
            }
            return place
                    + "; WARNING: this thread "
                    + (near.intersects(own) ? "may run" : "runs")
                    + " elsewhere (processors "
                    + ownList
                    + "), and takes its memory there: numactl --cpunodebind="
                    + node
                    + " --membind="
                    + node
                    + " COMMAND keeps both near";
        } catch (IOException e) {
            return "";
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

    /** The kernel's way to write sets: {@code 0-3,8,10-11}; what is no such list is no set. */
    private static BitSet cpus(String list) {
        BitSet cpus = new BitSet();
        for (String part : list.split(",")) {
            if (!part.matches("[0-9]{1,5}(-[0-9]{1,5})?")) {
                return new BitSet();
            }
            String[] ends = part.split("-");
            int first = Integer.parseInt(ends[0]);
            int last = Integer.parseInt(ends[ends.length - 1]);
            if (first > last || last >= CPUS_MAX) {
                return new BitSet();
            }
            cpus.set(first, last + 1);
        }
        return cpus;
    }
}
