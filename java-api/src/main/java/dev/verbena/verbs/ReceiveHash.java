package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/**
 * Which fields of a packet, and which key, make the hash that chooses a place of a {@link
 * ReceiveTable}: {@code struct ibv_rx_hash_conf}, by Toeplitz' function. Packets that are alike in
 * these fields come to the same queue, so a flow stays in order.
 */
public final class ReceiveHash {
    /** IPv4 address of the sender. */
    public static final int FROM_IPV4 = VerbsLayout.IBV_RX_HASH_SRC_IPV4;

    /** IPv4 address of the receiver. */
    public static final int TO_IPV4 = VerbsLayout.IBV_RX_HASH_DST_IPV4;

    /** IPv6 address of the sender. */
    public static final int FROM_IPV6 = VerbsLayout.IBV_RX_HASH_SRC_IPV6;

    /** IPv6 address of the receiver. */
    public static final int TO_IPV6 = VerbsLayout.IBV_RX_HASH_DST_IPV6;

    /** TCP port of the sender. */
    public static final int FROM_TCP = VerbsLayout.IBV_RX_HASH_SRC_PORT_TCP;

    /** TCP port of the receiver. */
    public static final int TO_TCP = VerbsLayout.IBV_RX_HASH_DST_PORT_TCP;

    /** UDP port of the sender. */
    public static final int FROM_UDP = VerbsLayout.IBV_RX_HASH_SRC_PORT_UDP;

    /** UDP port of the receiver. */
    public static final int TO_UDP = VerbsLayout.IBV_RX_HASH_DST_PORT_UDP;

    /** Of a packet inside a tunnel, the inner one's. */
    public static final int INNER = 1 << 31;

    private static final int KNOWN =
            FROM_IPV4 | TO_IPV4 | FROM_IPV6 | TO_IPV6 | FROM_TCP | TO_TCP | FROM_UDP | TO_UDP;

    private static final int KEY_MAX = 255;

    private final int fields;
    private final byte[] key;

    /**
     * Makes a description; immutable.
     *
     * @param fields of the above, by or; which go together is the device's business
     * @param key secret that makes the hash; NICs take 40 bytes
     * @throws IllegalArgumentException for fields that there are not, none, or a key of 0 or more
     *     than 255 bytes
     */
    public ReceiveHash(int fields, byte... key) {
        if ((fields & KNOWN) == 0 || (fields & ~(KNOWN | INNER)) != 0) {
            throw new IllegalArgumentException("hash fields 0x" + Integer.toHexString(fields));
        }
        if (key.length == 0 || key.length > KEY_MAX) {
            throw new IllegalArgumentException(
                    "a key of " + key.length + " bytes; 1 to " + KEY_MAX + ", most NICs 40");
        }
        this.fields = fields;
        this.key = key.clone();
    }

    /** Writes its part of {@code struct ibv_qp_init_attr_ex}, and the key behind it. */
    void fill(long at, long keyAt) {
        CallMemory.putBytes(keyAt, key);
        CallMemory.putByte(
                at + VerbsLayout.QP_INIT_ATTR_EX_RX_HASH_CONF_RX_HASH_FUNCTION,
                VerbsLayout.IBV_RX_HASH_FUNC_TOEPLITZ);
        CallMemory.putByte(
                at + VerbsLayout.QP_INIT_ATTR_EX_RX_HASH_CONF_RX_HASH_KEY_LEN, key.length);
        CallMemory.putLong(at + VerbsLayout.QP_INIT_ATTR_EX_RX_HASH_CONF_RX_HASH_KEY, keyAt);
        CallMemory.putLong(
                at + VerbsLayout.QP_INIT_ATTR_EX_RX_HASH_CONF_RX_HASH_FIELDS_MASK,
                fields & 0xffff_ffffL);
    }
}
