package dev.verbena.verbs;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;

/** A queue pair of the recording device and what it needs. */
final class StubPair implements AutoCloseable {
    final OffHeapMemory memory = OffHeapMemories.allocate(1 << 16);
    final VerbsStub stub = VerbsStub.open();
    final ProtectionDomain domain = stub.device.allocateProtectionDomain();
    final MemoryRegion region = domain.register(memory, Access.REMOTE_ALL);
    final CompletionQueue completions = stub.device.createCompletionQueue(64);
    final QueuePair queue;

    StubPair(QueuePairType type) {
        queue =
                domain.createQueuePair(
                        new QueuePairContext()
                                .type(type)
                                .completions(completions)
                                .sendCapacity(4)
                                .receiveCapacity(4)
                                .segmentsMax(3, 2)
                                .inlineMax(32));
    }

    @Override
    public void close() {
        queue.close();
        completions.close();
        region.close();
        domain.close();
        stub.device.close();
        memory.close();
    }
}
