package dev.verbena.verbs;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;

/**
 * Makes one of each object that there is, those that few devices have, too, and closes them in the
 * reverse order. What a device refuses is noted and left out; asking for it must leave nothing
 * behind, either.
 */
final class EveryObject implements AutoCloseable {
    private static final int EXTENDED =
            SendOperations.RELIABLE | SendOperations.LOCAL_INVALIDATE | SendOperations.BIND_WINDOW;

    /** What the device refused, with the name of the error. */
    final Map<String, String> refused = new TreeMap<>();

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final RdmaDevice device;

    /** What makes one, or is refused it. */
    private interface Maker<T> {
        T make();
    }

    private EveryObject(String name) {
        device = kept(RdmaDevices.open(name));
    }

    /** One of each object of the device of this name. */
    static EveryObject of(String name) {
        EveryObject all = new EveryObject(name);
        boolean isDone = false;
        try {
            all.make();
            isDone = true;
        } finally {
            if (!isDone) {
                all.close();
            }
        }
        return all;
    }

    /** Files of this process that are no files of a disk: of devices, events, sockets. */
    static long descriptors() throws IOException {
        long count = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path file : files) {
                String target = Files.isSymbolicLink(file) ? target(file) : "";
                if (target.startsWith("anon_inode:") || target.startsWith("/dev/infiniband/")) {
                    count++;
                }
            }
        }
        return count;
    }

    private static String target(Path file) {
        try {
            return Files.readSymbolicLink(file).toString();
        } catch (IOException e) {
            return ""; // closed meanwhile
        }
    }

    private <T extends AutoCloseable> T kept(T object) {
        open.push(object);
        return object;
    }

    /** Null where the device refuses. */
    private <T extends AutoCloseable> T tried(String what, Maker<T> maker) {
        try {
            return kept(maker.make());
        } catch (VerbsException e) {
            refused.put(what, VerbsErrno.name(e.errno()));
            return null;
        }
    }

    private void make() {
        OffHeapMemory memory = kept(OffHeapMemories.allocate(8192));
        ProtectionDomain domain = kept(device.allocateProtectionDomain());
        MemoryRegion region = kept(domain.register(memory, Access.REMOTE_ALL));
        CompletionChannel channel = kept(device.createCompletionChannel());
        CompletionQueue queue = kept(device.createCompletionQueue(8, channel, 0));
        makeMemory(domain, memory);
        makeAnew(domain, memory);
        makeQueues(domain, queue);
        makeXrc(domain, queue);
        makeThreads(domain);
        makeSpreading(domain, queue);
        makeImported(domain, region);
        assert region.remoteKey() != 0;
        GidChoice gid = device.chooseGid(1);
        PathContext path = new PathContext().gidIndex(gid.entry().index());
        tried("address handle", () -> domain.createAddressHandle(path, gid.entry().gid(), 0));
    }

    private void makeMemory(ProtectionDomain domain, OffHeapMemory memory) {
        DeviceMemory resources = tried("device memory", () -> device.allocateDeviceMemory(4096, 6));
        if (resources != null) {
            tried("region on the card", () -> domain.register(resources, 0, 64, Access.REMOTE_ALL));
        }
        MemoryRegion everything = tried("implicit region", domain::registerImplicit);
        if (everything != null) {
            kept(everything.part(memory, 0, 64));
        }
        tried("region on demand", () -> domain.register(memory, onDemand()));
        tried("null region", domain::allocateNullRegion);
        tried("dma-buf region", () -> domain.registerDmaBuf(0, 0, 4096, 0, Access.LOCAL_WRITE));
        for (MemoryWindowType type : MemoryWindowType.values()) {
            tried("window of " + type, () -> domain.allocateMemoryWindow(type));
        }
    }

    private static int onDemand() {
        return Access.LOCAL_WRITE | Access.ON_DEMAND;
    }

    /** Registered anew: the object of before is closed, or stays if that is refused. */
    private void makeAnew(ProtectionDomain domain, OffHeapMemory memory) {
        MemoryRegion first = kept(domain.register(memory, 0, 4096, Access.LOCAL_WRITE));
        tried(
                "region registered anew",
                () -> first.reregister(new ReregistrationContext().memory(memory, 4096, 4096)));
    }

    private void makeQueues(ProtectionDomain domain, CompletionQueue queue) {
        tried(
                "extended completion queue",
                () ->
                        device.createCompletionQueue(
                                new CompletionQueueContext().details(CompletionDetails.STANDARD)));
        tried(
                "completion queue with time stamps",
                () ->
                        device.createCompletionQueue(
                                new CompletionQueueContext().details(CompletionDetails.TIMESTAMP)));
        SharedReceiveQueue shared = kept(domain.createSharedReceiveQueue(4, 1));
        kept(shared.newReceives(2));
        QueuePairContext both = new QueuePairContext().completions(queue);
        QueuePair receiver = kept(domain.createQueuePair(both.sharedReceives(shared)));
        kept(receiver.newSends(2));
        for (QueuePairType type :
                new QueuePairType[] {
                    QueuePairType.RC, QueuePairType.UC, QueuePairType.UD, QueuePairType.RAW_PACKET
                }) {
            QueuePairContext plain = new QueuePairContext().type(type).completions(queue);
            QueuePair pair = tried("queue pair " + type, () -> domain.createQueuePair(plain));
            if (pair != null && type == QueuePairType.RAW_PACKET) {
                FlowContext flow = new FlowContext().etherType(0x88b5);
                tried("flow rule", () -> pair.createFlow(flow));
            }
        }
        QueuePair extended =
                tried(
                        "extended queue pair",
                        () ->
                                domain.createQueuePair(
                                        new QueuePairContext()
                                                .completions(queue)
                                                .operations(EXTENDED)));
        if (extended != null) {
            kept(extended.newBuilder(2));
        }
    }

    private void makeSpreading(ProtectionDomain domain, CompletionQueue queue) {
        ReceiveQueue receives =
                tried("receive queue", () -> domain.createReceiveQueue(4, 1, queue));
        if (receives == null) {
            return;
        }
        ReceiveTable table =
                tried("receive table", () -> device.createReceiveTable(receives, receives));
        ReceiveHash hash = new ReceiveHash(ReceiveHash.FROM_IPV4, new byte[40]);
        QueuePairContext context =
                new QueuePairContext().type(QueuePairType.RAW_PACKET).spread(table, hash);
        tried("spreading queue pair", () -> domain.createQueuePair(context));
    }

    private void makeImported(ProtectionDomain domain, MemoryRegion region) {
        RdmaDevice again =
                tried("imported device", () -> RdmaDevices.importDevice(device.commandFile()));
        if (again == null) {
            return;
        }
        ProtectionDomain same =
                tried("imported domain", () -> again.importProtectionDomain(domain.handle()));
        tried(
                "imported region",
                () -> same.importRegion(region.handle(), region.remoteAddress(0), region.access()));
    }

    private void makeXrc(ProtectionDomain domain, CompletionQueue queue) {
        XrcDomain xrc = tried("XRC domain", device::openXrcDomain);
        if (xrc == null) {
            return;
        }
        SharedReceiveContext receives = new SharedReceiveContext().capacity(4).xrc(xrc, queue);
        tried("XRC receives", () -> domain.createSharedReceiveQueue(receives));
        QueuePairContext sender =
                new QueuePairContext().type(QueuePairType.XRC_SEND).completions(queue);
        tried("XRC sender", () -> domain.createQueuePair(sender));
        QueuePairContext receiver =
                new QueuePairContext().type(QueuePairType.XRC_RECEIVE).xrcDomain(xrc);
        tried("XRC receiver", () -> domain.createQueuePair(receiver));
    }

    private void makeThreads(ProtectionDomain domain) {
        ThreadDomain threads = tried("thread domain", device::allocateThreadDomain);
        if (threads != null) {
            tried("parent domain", () -> domain.allocateParentDomain(threads));
        }
    }

    @Override
    public void close() {
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }
}
