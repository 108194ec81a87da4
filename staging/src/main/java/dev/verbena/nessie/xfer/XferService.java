package dev.verbena.nessie.xfer;

import dev.verbena.nessie.NessieServer;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.RpcCall;
import dev.verbena.nessie.rpc.RpcHandler;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.staging.Checksum;
import java.util.function.Supplier;
import org.agrona.DirectBuffer;

/**
 * The operations of a server. Bulk data moves through the server's slots, piece by piece if it is
 * longer than one. Its handlers may run on several threads.
 */
public final class XferService {
    /** What a client gets whose bytes were damaged on their way. */
    static final int DAMAGED = 1;

    /** What a thread keeps to encode the next one into: new memory takes as long as encoding. */
    private static final int READ_KEPT_MAX = 4 << 20;

    /** What one call needs at a time, and so each thread that runs handlers. */
    private static final class Workspace {
        final Checksum checksum = new Checksum();
        final DataArray array = new DataArray();
        final XferValue withArray = new XferValue(1, array);
        final XferValue plain = new XferValue(1, null);
    }

    private final ThreadLocal<Workspace> workspaces = ThreadLocal.withInitial(Workspace::new);

    private XferService() {}

    /**
     * Adds the operations to a server.
     *
     * @param builder has slots, each of at least {@link DataArray#ELEMENT_LENGTH} bytes
     */
    public static NessieServer.Builder serve(NessieServer.Builder builder) {
        XferService service = new XferService();
        for (XferMethod method : XferMethod.values()) {
            boolean hasArray = method == XferMethod.WRITE_ENCODE;
            Supplier<XferArgs> args = () -> new XferArgs(hasArray ? new DataArray() : null);
            RpcHandler handler = call -> service.run(call, method);
            if (method.isBulk()) {
                builder.onBulk(method.opcode(), args, handler);
            } else {
                builder.on(method.opcode(), args, handler);
            }
        }
        return builder;
    }

    private void run(RpcCall call, XferMethod method) {
        Workspace space = workspaces.get();
        space.checksum.reset();
        XferArgs args = (XferArgs) call.args();
        switch (method) {
            case WRITE_ENCODE -> writeEncode(call, args, space);
            case READ_ENCODE -> readEncode(call, args, space);
            default -> moveBulk(call, method, args, space);
        }
    }

    private static void writeEncode(RpcCall call, XferArgs args, Workspace space) {
        DataArray array = args.array;
        answer(call, args, space, check(args, space, array.memory(), array.count(), 0));
        array.release();
    }

    private static void readEncode(RpcCall call, XferArgs args, Workspace space) {
        DataArray array = space.array.resize(args.count());
        if (args.validation() != Validation.NONE) {
            DataArray.fill(array.memory(), 0, array.count(), args.seed(), 0);
        }
        addTo(space, args, array.memory(), array.length());
        space.withArray.numbers.set(0, space.checksum.value());
        call.reply(0, space.withArray);
        if (array.length() > READ_KEPT_MAX) {
            array.release();
        }
    }

    private static void moveBulk(RpcCall call, XferMethod method, XferArgs args, Workspace space) {
        long length = (long) args.count() * DataArray.ELEMENT_LENGTH;
        int code = call.dataLength() == length ? 0 : RpcResult.EINVAL.code();
        int pieceMax = (int) (call.slot().length() / DataArray.ELEMENT_LENGTH);
        for (int from = 0; from < args.count() && code == 0; from += pieceMax) {
            int count = Math.min(pieceMax, args.count() - from);
            code =
                    method.isWrite()
                            ? get(call, method, args, space, from, count)
                            : put(call, args, space, from, count);
        }
        answer(call, args, space, code);
    }

    private static int get(
            RpcCall call, XferMethod method, XferArgs args, Workspace space, int from, int count) {
        NntiBuffer slot = call.slot();
        int bytes = count * DataArray.ELEMENT_LENGTH;
        long at = (long) from * DataArray.ELEMENT_LENGTH;
        if (args.validation() != Validation.NONE) {
            slot.window().setMemory(0, bytes, (byte) -1); // as the client does before it reads
        }
        boolean isPush = method == XferMethod.WRITE_RDMA_PUSH;
        RpcResult how =
                isPush ? call.askData(slot, 0, bytes, at) : call.getData(slot, 0, bytes, at);
        return how == RpcResult.OK ? check(args, space, slot.window(), count, from) : how.code();
    }

    private static int put(RpcCall call, XferArgs args, Workspace space, int from, int count) {
        NntiBuffer slot = call.slot();
        int bytes = count * DataArray.ELEMENT_LENGTH;
        if (args.validation() == Validation.NONE) {
            slot.window().setMemory(0, bytes, (byte) 0); // nothing of another client
        } else {
            DataArray.fill(slot.window(), 0, count, args.seed(), from);
        }
        addTo(space, args, slot.window(), bytes);
        return call.putData(slot, 0, bytes, (long) from * DataArray.ELEMENT_LENGTH).code();
    }

    /** {@link #DAMAGED}: an element is not what its seed gives. */
    private static int check(
            XferArgs args, Workspace space, DirectBuffer in, int count, int first) {
        addTo(space, args, in, count * DataArray.ELEMENT_LENGTH);
        boolean isFull = args.validation() == Validation.FULL;
        return isFull && DataArray.mismatch(in, 0, count, args.seed(), first) >= 0 ? DAMAGED : 0;
    }

    private static void addTo(Workspace space, XferArgs args, DirectBuffer from, int length) {
        if (args.validation() == Validation.CRC) {
            space.checksum.update(from, 0, length);
        }
    }

    private static void answer(RpcCall call, XferArgs args, Workspace space, int code) {
        space.plain.numbers.set(0, space.checksum.value());
        call.reply(code, args.validation() == Validation.CRC ? space.plain : null);
    }
}
