package dev.verbena.nessie.xfer;

import dev.verbena.nessie.NessieServer;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.RpcCall;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.staging.Checksum;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.ManyToManyConcurrentArrayQueue;

/**
 * The operations of a server. Bulk data moves through the server's slots, piece by piece if it is
 * longer than one. Its handlers may run on several threads.
 */
public final class XferService {
    /** What a client gets whose bytes were damaged on their way. */
    static final int DAMAGED = 1;

    private static final int WORKSPACES_MAX = 64;

    /** What one call needs at a time. */
    private static final class Workspace {
        final Checksum checksum = new Checksum();
        final DataArray array = new DataArray();
        final XferValue withArray = new XferValue(1, array);
        final XferValue plain = new XferValue(1, null);
    }

    private final ManyToManyConcurrentArrayQueue<Workspace> workspaces =
            new ManyToManyConcurrentArrayQueue<>(WORKSPACES_MAX);

    private XferService() {}

    /**
     * Adds the operations to a server.
     *
     * @param builder has slots, each of at least {@link DataArray#ELEMENT_LENGTH} bytes
     */
    public static NessieServer.Builder serve(NessieServer.Builder builder) {
        XferService service = new XferService();
        for (XferMethod method : XferMethod.values()) {
            if (method.isBulk()) {
                builder.onBulk(
                        method.opcode(),
                        () -> new XferArgs(null),
                        call -> service.run(call, XferService::moveBulk));
            }
        }
        return builder.on(
                        XferMethod.WRITE_ENCODE.opcode(),
                        () -> new XferArgs(new DataArray()),
                        call -> service.run(call, XferService::writeEncode))
                .on(
                        XferMethod.READ_ENCODE.opcode(),
                        () -> new XferArgs(null),
                        call -> service.run(call, XferService::readEncode));
    }

    private interface Operation {
        void run(RpcCall call, XferArgs args, Workspace space);
    }

    private void run(RpcCall call, Operation operation) {
        Workspace taken = workspaces.poll();
        Workspace space = taken == null ? new Workspace() : taken;
        space.checksum.reset();
        operation.run(call, (XferArgs) call.args(), space);
        workspaces.offer(space);
    }

    private static void writeEncode(RpcCall call, XferArgs args, Workspace space) {
        DataArray array = args.array;
        if (accepts(args, space, array.memory(), 0, array.count(), 0)) {
            answer(call, args, space);
        } else {
            call.reply(DAMAGED, null);
        }
        array.release();
    }

    private static void readEncode(RpcCall call, XferArgs args, Workspace space) {
        DataArray array = space.array.resize(args.count());
        if (args.validation() != Validation.NONE) {
            DataArray.fill(array.memory(), 0, array.count(), args.seed(), 0);
        }
        addTo(space, args, array.memory(), array.length());
        call.reply(0, space.withArray.checksum(space.checksum.value()));
    }

    private static void moveBulk(RpcCall call, XferArgs args, Workspace space) {
        long length = (long) args.count() * DataArray.ELEMENT_LENGTH;
        if (call.dataLength() != length) {
            call.reply(RpcResult.EINVAL.code(), null);
            return;
        }
        boolean isWrite = call.opcode() != XferMethod.READ_RDMA.opcode();
        int pieceMax = (int) (call.slot().length() / DataArray.ELEMENT_LENGTH);
        for (int from = 0; from < args.count(); from += pieceMax) {
            int count = Math.min(pieceMax, args.count() - from);
            int code = isWrite ? get(call, space, from, count) : put(call, space, from, count);
            if (code != 0) {
                call.reply(code, null);
                return;
            }
        }
        answer(call, args, space);
    }

    private static int get(RpcCall call, Workspace space, int from, int count) {
        NntiBuffer slot = call.slot();
        int bytes = count * DataArray.ELEMENT_LENGTH;
        long at = (long) from * DataArray.ELEMENT_LENGTH;
        RpcResult moved =
                call.opcode() == XferMethod.WRITE_RDMA_PUSH.opcode()
                        ? call.askData(slot, 0, bytes, at)
                        : call.getData(slot, 0, bytes, at);
        if (moved != RpcResult.OK) {
            return moved.code();
        }
        XferArgs args = (XferArgs) call.args();
        return accepts(args, space, slot.window(), 0, count, from) ? 0 : DAMAGED;
    }

    private static int put(RpcCall call, Workspace space, int from, int count) {
        NntiBuffer slot = call.slot();
        XferArgs args = (XferArgs) call.args();
        int bytes = count * DataArray.ELEMENT_LENGTH;
        if (args.validation() == Validation.NONE) {
            slot.window().setMemory(0, bytes, (byte) 0); // nothing of another client
        } else {
            DataArray.fill(slot.window(), 0, count, args.seed(), from);
        }
        addTo(space, args, slot.window(), bytes);
        return call.putData(slot, 0, bytes, (long) from * DataArray.ELEMENT_LENGTH).code();
    }

    /** False: an element is not what its seed gives. */
    private static boolean accepts(
            XferArgs args, Workspace space, DirectBuffer from, int at, int count, int first) {
        addTo(space, args, from, count * DataArray.ELEMENT_LENGTH);
        return args.validation() != Validation.FULL
                || DataArray.mismatch(from, at, count, args.seed(), first) < 0;
    }

    private static void addTo(Workspace space, XferArgs args, DirectBuffer from, int length) {
        if (args.validation() == Validation.CRC) {
            space.checksum.update(from, 0, length);
        }
    }

    private static void answer(RpcCall call, XferArgs args, Workspace space) {
        boolean isChecked = args.validation() == Validation.CRC;
        call.reply(0, isChecked ? space.plain.checksum(space.checksum.value()) : null);
    }
}
