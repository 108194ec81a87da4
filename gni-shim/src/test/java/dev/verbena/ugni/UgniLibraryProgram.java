package dev.verbena.ugni;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.ugni.transport.GniTransportProvider;

/** Tells which library it got, and tries a put between two NIC handles. */
final class UgniLibraryProgram {
    private UgniLibraryProgram() {}

    public static void main(String[] arguments) {
        String cause = CommunicationDomain.unavailabilityCause();
        if (cause != null) {
            System.out.println("unavailable: " + cause);
            return;
        }
        System.out.println("library " + CommunicationDomain.library());
        System.out.println("data " + CompletionEvent.data(41));
        openTransport();
        int cookie = (int) ProcessHandle.current().pid();
        CommunicationDomain here = CommunicationDomain.create(1, 99, cookie, 0);
        CommunicationDomain there = CommunicationDomain.create(2, 99, cookie, 0);
        try {
            Nic nic = here.attach(0);
            System.out.println("address " + nic.address());
            UgniMemory memory = nic.allocate(4096);
            System.out.println("memory " + (memory.isMapped() ? "mapped" : "unmapped"));
            put(nic, there.attach(0), memory);
        } catch (UgniException e) {
            System.out.println("failed " + e.getMessage());
        } finally {
            here.closeAll();
            there.closeAll();
        }
    }

    private static void openTransport() {
        GniTransportProvider provider = new GniTransportProvider();
        System.out.println("transport cause: " + provider.unavailabilityCause());
        String job = "library-" + ProcessHandle.current().pid();
        try (Transport transport = provider.open(new TransportContext().job(job))) {
            System.out.println("transport opened at " + transport.uri().getHost());
        } catch (TransportException e) {
            System.out.println("transport refused: " + e.getMessage());
        }
    }

    private static void put(Nic nic, Nic target, UgniMemory from) {
        CompletionQueue queue = nic.completionQueue(8, CompletionQueue.NO_BLOCK);
        UgniMemory to = target.allocate(4096);
        MemoryRegistration local = nic.register(from, Nic.READ_WRITE, null);
        MemoryRegistration remote = target.register(to, Nic.READ_WRITE, null);
        Endpoint endpoint = nic.endpoint(queue).bind(target.address(), target.instance());
        PostDescriptors posts = nic.postDescriptors(1);
        PostDescriptorFlyweight post = new PostDescriptorFlyweight();
        posts.claim(post);
        from.buffer(0, 8).putLong(0, 4711);
        post.type(PostDescriptorFlyweight.RDMA_PUT)
                .cqMode(PostDescriptorFlyweight.GLOBAL_EVENT)
                .local(local, 0)
                .remote(remote.address(), remote.handle1(), remote.handle2())
                .length(8);
        if (endpoint.postRdma(post) != 0 || !isRefusedWhileInFlight(local)) {
            throw new IllegalStateException("the post was refused, or its memory let go");
        }
        int answer = queue.poll();
        int result = queue.completed(post);
        if (answer == CompletionQueue.EVENT && result == 0 && to.buffer(0, 8).getLong(0) == 4711) {
            System.out.println("put arrived");
        }
    }

    private static boolean isRefusedWhileInFlight(MemoryRegistration local) {
        try {
            local.close();
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }
}
