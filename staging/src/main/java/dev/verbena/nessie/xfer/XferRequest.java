package dev.verbena.nessie.xfer;

import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.BufferHandle;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.ClientRequest;
import dev.verbena.nessie.rpc.RpcClient;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.rpc.RpcService;
import dev.verbena.nessie.xdr.XdrValue;
import dev.verbena.staging.Arguments;
import dev.verbena.staging.Checksum;
import org.agrona.MutableDirectBuffer;

/** One transfer at a time of a client, with memory of its own, registered once. One thread. */
public final class XferRequest {
    /** Of the messages that ask for a piece of an array, and say that it was put. */
    private static final int PUSH_LENGTH = 64 + BufferHandle.LENGTH_OF_ONE;

    private final XferMethod method;
    final ClientRequest rpc = new ClientRequest();
    private final Checksum checksum = new Checksum();
    private final DataArray array;
    private final NntiBuffer data;
    private final XferArgs args;
    private final XferValue result;
    private int sent;
    private boolean isFilled;

    XferRequest(NntiTransport network, XferMethod method, int count, Validation validation) {
        Arguments.range("count", count, 1, DataArray.COUNT_MAX);
        this.method = method;
        int flags = BufferFlags.GET_SRC | BufferFlags.PUT_DST | BufferFlags.PUT_SRC;
        array = method.isBulk() ? null : new DataArray().resize(count);
        data = method.isBulk() ? network.alloc(count * DataArray.ELEMENT_LENGTH, 1, flags) : null;
        args = new XferArgs(method == XferMethod.WRITE_ENCODE ? array : null);
        args.set(count, 0, validation);
        result = new XferValue(1, method == XferMethod.READ_ENCODE ? array : null);
    }

    void start(RpcClient client, RpcService service, int seed, long timeoutMs) {
        args.set(args.count(), seed, args.validation());
        boolean isChecked = args.validation() != Validation.NONE;
        if (method.isWrite() && (isChecked || !isFilled)) {
            DataArray.fill(memory(), 0, args.count(), seed, 0);
            isFilled = true;
            sent = checksum();
        } else if (isChecked) {
            // Not what a transfer before left, which may have had the same seed.
            memory().setMemory(0, args.count() * DataArray.ELEMENT_LENGTH, (byte) -1);
        }
        // What is wrong is in the request, too.
        client.call(rpc, service, method.opcode(), args, expected(), data, bulk(), timeoutMs);
    }

    private long bulk() {
        return data == null ? 0 : data.length();
    }

    /** Bytes of messages and bulk data, see {@link XferClient#wireLength}. */
    long wireLength(RpcService service) {
        int argsMax = service.inlineArgsMax(data != null);
        int header = service.requestLength() - service.inlineArgsMax(false);
        int handles = service.inlineArgsMax(false) - argsMax;
        int length = 2 * header + handles + args.encodedLength();
        length += args.encodedLength() >= argsMax ? BufferHandle.LENGTH_OF_ONE + 4 : 0;
        length += expected() == null ? 0 : result.encodedLength();
        return length + (long) rpc.pushCount() * PUSH_LENGTH + bulk();
    }

    private int checksum() {
        int length = args.count() * DataArray.ELEMENT_LENGTH;
        return args.validation() == Validation.CRC ? checksum.of(memory(), 0, length) : 0;
    }

    /** The array at this end. */
    public MutableDirectBuffer memory() {
        return method.isBulk() ? data.window() : array.memory();
    }

    /** The server has answered, or the transfer has failed. */
    public boolean isDone() {
        return rpc.isDone();
    }

    /**
     * Makes sure that a transfer that is done went well.
     *
     * @throws XferException saying what went wrong; the bytes may be damaged
     */
    public void check() {
        if (rpc.result() != RpcResult.OK || rpc.remoteCode() != 0) {
            boolean isDamaged = rpc.remoteCode() == XferService.DAMAGED;
            String codes = "result " + rpc.result() + ", the server's code " + rpc.remoteCode();
            boolean isGone = rpc.result() == RpcResult.EIO && rpc.remoteCode() == 0;
            codes = isGone ? "the connection to the server is lost (EIO)" : codes;
            throw failure(isDamaged ? "the server got damaged bytes" : codes);
        }
        int own = method.isWrite() ? sent : checksum();
        if (args.validation() == Validation.CRC && own != result.numbers.get(0)) {
            throw failure("the checksums at both ends differ");
        }
        if (!method.isWrite() && args.validation() == Validation.FULL) {
            int count = args.count();
            int got = array == null ? count : array.count();
            int wrong = got != count ? got : DataArray.mismatch(memory(), 0, got, args.seed(), 0);
            if (wrong >= 0) {
                throw failure("element " + wrong + " is damaged");
            }
        }
    }

    private XferException failure(String why) {
        return new XferException(
                "%s of %s elements, seed %s: %s".formatted(method, args.count(), args.seed(), why));
    }

    /** Null: no result is sent. */
    private XdrValue expected() {
        boolean isSum = args.validation() == Validation.CRC;
        return isSum || method == XferMethod.READ_ENCODE ? result : null;
    }
}
