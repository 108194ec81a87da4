package dev.verbena.nessie.rpc;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.nessie.xdr.XdrValue;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** What a server says of itself: longest short request and result, longest fetched arguments. */
final class ServiceDescriptor implements XdrValue {
    private static final int LENGTH = 16;
    private static final int VERSION = 1;

    private int requestLength;
    private int resultLength;
    private int argsLengthMax;

    ServiceDescriptor set(int request, int result, int args) {
        requestLength = request;
        resultLength = result;
        argsLengthMax = args;
        return this;
    }

    int requestLength() {
        return requestLength;
    }

    int resultLength() {
        return resultLength;
    }

    int argsLengthMax() {
        return argsLengthMax;
    }

    @Override
    public int encodedLength() {
        return LENGTH;
    }

    @Override
    public int encode(MutableDirectBuffer buffer, int index) {
        buffer.putInt(index, VERSION, BIG_ENDIAN);
        buffer.putInt(index + 4, requestLength, BIG_ENDIAN);
        buffer.putInt(index + 8, resultLength, BIG_ENDIAN);
        buffer.putInt(index + 12, argsLengthMax, BIG_ENDIAN);
        return LENGTH;
    }

    @Override
    public int decode(DirectBuffer buffer, int index, int limit) {
        if (limit - index < LENGTH || buffer.getInt(index, BIG_ENDIAN) != VERSION) {
            throw new XdrException("not a service descriptor of version " + VERSION);
        }
        set(
                buffer.getInt(index + 4, BIG_ENDIAN),
                buffer.getInt(index + 8, BIG_ENDIAN),
                buffer.getInt(index + 12, BIG_ENDIAN));
        if (requestLength < RpcMessage.LENGTH_MAX || resultLength < RpcMessage.LENGTH_MAX) {
            throw new XdrException("request or result length of a service is too short");
        }
        return LENGTH;
    }
}
