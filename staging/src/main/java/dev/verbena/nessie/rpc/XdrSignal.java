package dev.verbena.nessie.rpc;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.nessie.xdr.XdrValue;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** The argument of {@link Opcode#KILL_SERVICE}. */
final class XdrSignal implements XdrValue {
    private int signal;

    XdrSignal(int signal) {
        this.signal = signal;
    }

    int signal() {
        return signal;
    }

    @Override
    public int encodedLength() {
        return Integer.BYTES;
    }

    @Override
    public int encode(MutableDirectBuffer buffer, int index) {
        buffer.putInt(index, signal, BIG_ENDIAN);
        return Integer.BYTES;
    }

    @Override
    public int decode(DirectBuffer buffer, int index, int limit) {
        if (limit - index < Integer.BYTES) {
            throw new XdrException("a signal of " + (limit - index) + " bytes");
        }
        signal = buffer.getInt(index, BIG_ENDIAN);
        return Integer.BYTES;
    }
}
