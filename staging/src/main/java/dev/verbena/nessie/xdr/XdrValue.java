package dev.verbena.nessie.xdr;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** A value that can be encoded as XDR (RFC 4506), and can take the place of a decoded one. */
public interface XdrValue {
    /** Bytes that {@link #encode} writes; a multiple of 4. */
    int encodedLength();

    /**
     * Writes the value. The buffer is borrowed for the call.
     *
     * @return bytes written
     * @throws IndexOutOfBoundsException if the buffer has too little room; nothing was written
     */
    int encode(MutableDirectBuffer buffer, int index);

    /**
     * Replaces this value by an encoded one. The buffer is borrowed for the call.
     *
     * @param limit first index that does not belong to the encoded bytes
     * @return bytes that the value took; there may be more before the limit
     * @throws XdrException if the bytes are malformed, exceed a bound or end early; the value is
     *     then any value of its type
     */
    int decode(DirectBuffer buffer, int index, int limit);
}
