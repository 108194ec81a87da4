package dev.verbena.staging.proof;

import dev.verbena.agent.DurableStore;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.staging.CounterMirror;
import dev.verbena.staging.admission.Account;
import dev.verbena.staging.bootstrap.ServicePublisher;
import dev.verbena.staging.control.RecordOutbox;
import dev.verbena.staging.control.RecordServer;
import dev.verbena.staging.file.AtomicFile;
import dev.verbena.staging.transfer.Transfer;
import dev.verbena.staging.transfer.TransferEngine;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Pulls what clients announce, as far as its memory allows, stores each message in a file of its
 * own and says so. A message that is announced again is stored again: nothing need be remembered.
 */
final class ProofService
        implements ProtocolAgent,
                RecordServer.Protocol<ProofService.Peer>,
                TransferEngine.Handler<ProofService.Message> {
    static final String PROTOCOL = "proof/1";
    static final int WINDOW = 8;
    private static final long PARTS = 1L << 32;

    static final class Message extends Transfer {
        Peer peer;
        ProofRecord announced;
        UnsafeBuffer content;
    }

    static final class Peer extends RecordServer.Peer {
        final Account account;
        final ArrayDeque<Message> announced = new ArrayDeque<>();
        final ArrayDeque<ProofRecord> answers = new ArrayDeque<>();

        Peer(long connection, long context, Account account) {
            super(connection, context);
            this.account = account;
        }
    }

    final Account memory;
    final AtomicLong savedCount = new AtomicLong();
    private final Environment environment;
    private final Supplier<Transport> opening;
    private final DurableStore store;
    private final CounterMirror mirror;
    private final ServicePublisher publisher;
    private final RemoteDescriptor nothing = new RemoteDescriptor();
    private final ArrayDeque<Message> pulled = new ArrayDeque<>();
    private AtomicFile file;
    private Transport transport;
    private RecordServer<Peer> server;
    private RecordOutbox outbox;
    private TransferEngine<Message> engine;

    ProofService(Environment environment, Supplier<Transport> opening, String path, long bytesMax) {
        this.environment = environment;
        this.opening = opening;
        memory = new Account(bytesMax);
        store = environment.store(path + ".saved");
        publisher = new ServicePublisher(environment, path, PROTOCOL);
        mirror = new CounterMirror(environment, "proof").show("messages saved", savedCount);
    }

    void onReady(Runnable wakeup) {
        publisher.onReady(wakeup);
        store.onReady(wakeup);
    }

    @Override
    public void onStart() {
        transport = opening.get();
        outbox = new RecordOutbox(transport, 64, ProofRecord.LENGTH, 0);
        server = new RecordServer<>(transport, outbox, 64, this, environment.errorHandler());
        engine =
                new TransferEngine<>(
                        transport, 4, 16 * 1024, 1024, PARTS, this, environment.errorHandler());
    }

    @Override
    public int doWork() {
        int work = server.poll() + publisher.doWork(transport.uri());
        server.forEach(this::admit);
        work += engine.doWork() + save();
        server.forEach(this::answer);
        mirror.publish(environment.nanoClock().nanoTime());
        return work;
    }

    @Override
    public Peer connected(long connection, long context) {
        return new Peer(connection, context, new Account(memory, WINDOW * 64 * 1024));
    }

    @Override
    public void onRecord(Peer peer, DirectBuffer buffer, int at, int length) {
        ProofRecord record = ProofRecord.read(buffer, at, length);
        if (record.type() == ProofRecord.HEARTBEAT && peer.answers.size() < 2 * WINDOW) {
            peer.answers.add(record);
            return;
        }
        Message message = new Message();
        message.descriptor().decode(buffer, at + ProofRecord.DESCRIPTOR);
        message.of(peer.connection(), 0, record.length());
        if (record.type() != ProofRecord.ANNOUNCE
                || peer.announced.size() == WINDOW
                || !peer.account.isWithinCapacity(record.length())) {
            throw new IllegalArgumentException("not allowed: " + record);
        }
        message.peer = peer;
        message.announced = record;
        peer.announced.add(message);
    }

    private void admit(Peer peer) {
        Message next = peer.announced.peek();
        if (next != null && engine.hasRoom() && peer.account.reserve(next.length())) {
            next.content = new UnsafeBuffer(new byte[(int) next.length()]);
            engine.pull(peer.announced.remove());
        }
    }

    @Override
    public void onPulled(
            Message message, int buffer, DirectBuffer window, long position, int length) {
        message.content.putBytes((int) position, window, 0, length);
        engine.release(buffer);
    }

    @Override
    public void onEnded(Message message, int status) {
        if (status == Status.OK) {
            pulled.add(message);
        } else {
            message.peer.account.release(message.length());
        }
    }

    private int save() {
        Message message = pulled.peek();
        if (message == null) {
            return 0;
        }
        ProofRecord record = message.announced;
        if (file == null) {
            file = new AtomicFile(store, "c" + record.client() + "-" + record.sequence(), "next");
            file.replace();
        }
        int work = file.doWork(message.content, message.content.capacity());
        if (!file.error().isEmpty()) {
            server.drop(message.peer, file.error());
        } else if (file.isIdle()) {
            savedCount.lazySet(savedCount.get() + 1);
            message.peer.answers.add(new ProofRecord(ProofRecord.SAVED, 0, record.sequence(), 0));
        } else {
            return work;
        }
        file.close();
        file = null;
        pulled.remove().peer.account.release(message.length());
        return work;
    }

    private void answer(Peer peer) {
        ProofRecord answer = peer.answers.peek();
        if (answer != null && answer.send(outbox, peer.connection(), nothing)) {
            peer.answers.remove();
        }
    }

    @Override
    public void onCompletion(long context, int status) {
        engine.onCompletion(context, status);
    }

    @Override
    public long nextDeadlineNs() {
        return publisher.nextDeadlineNs();
    }

    @Override
    public void onClose() {
        server.close(engine::isQuiet);
        CloseHelper.closeAll(publisher, file, mirror::close, engine, outbox, transport, store);
    }

    @Override
    public String roleName() {
        return "proof-service";
    }
}
