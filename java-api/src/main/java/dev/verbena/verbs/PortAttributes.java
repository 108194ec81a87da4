package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/**
 * State and limits of a port: {@code struct ibv_port_attr}, a copy.
 *
 * @param state {@link #DOWN}, {@link #ACTIVE} or one between
 * @param mtuMax largest that the port can, in bytes
 * @param mtu largest that the path has now, in bytes
 * @param gidCount places in the table of addresses
 * @param pkeyCount places in the table of partition keys
 * @param messageMax bytes
 * @param capabilities {@code port_cap_flags}
 * @param lid local identifier, 0 on Ethernet
 * @param subnetManagerLid 0 on Ethernet
 * @param lidMask number of low bits of the LID that are free
 * @param activeWidth code of the specification: 1, 2, 4, 8, 16 for 1X, 4X, 8X, 12X, 2X
 * @param activeSpeed code of the specification
 * @param physicalState code of the specification; 5 is link up
 * @param lanesCode code of the specification: 1 to 5 for 1, 2, 4, 8, 15 virtual lanes; 0 on
 *     Ethernet
 * @param badPkeyCount packets with a partition key that the table has not
 * @param queueKeyCount datagrams with a wrong queue key
 * @param subnetManagerLevel service level of its packets
 * @param subnetTimeoutCode longest time to the subnet manager, 4.096 us times 2 to this
 * @param initTypeReply what the subnet manager did at the beginning, by bits
 * @param isEthernet RoCE or iWARP, and not InfiniBand
 */
public record PortAttributes(
        int state,
        int mtuMax,
        int mtu,
        int gidCount,
        int pkeyCount,
        long messageMax,
        int capabilities,
        int lid,
        int subnetManagerLid,
        int lidMask,
        int activeWidth,
        int activeSpeed,
        int physicalState,
        int lanesCode,
        int badPkeyCount,
        int queueKeyCount,
        int subnetManagerLevel,
        int subnetTimeoutCode,
        int initTypeReply,
        boolean isEthernet) {
    /** No link. */
    public static final int DOWN = VerbsLayout.IBV_PORT_DOWN;

    /** Ready. */
    public static final int ACTIVE = VerbsLayout.IBV_PORT_ACTIVE;

    static PortAttributes at(long at) {
        return new PortAttributes(
                CallMemory.getInt(at + VerbsLayout.PORT_ATTR_STATE),
                bytes(CallMemory.getInt(at + VerbsLayout.PORT_ATTR_MAX_MTU)),
                bytes(CallMemory.getInt(at + VerbsLayout.PORT_ATTR_ACTIVE_MTU)),
                CallMemory.getInt(at + VerbsLayout.PORT_ATTR_GID_TBL_LEN),
                CallMemory.getShort(at + VerbsLayout.PORT_ATTR_PKEY_TBL_LEN),
                CallMemory.getInt(at + VerbsLayout.PORT_ATTR_MAX_MSG_SZ) & 0xffff_ffffL,
                CallMemory.getInt(at + VerbsLayout.PORT_ATTR_PORT_CAP_FLAGS),
                CallMemory.getShort(at + VerbsLayout.PORT_ATTR_LID),
                CallMemory.getShort(at + VerbsLayout.PORT_ATTR_SM_LID),
                CallMemory.getByte(at + VerbsLayout.PORT_ATTR_LMC),
                CallMemory.getByte(at + VerbsLayout.PORT_ATTR_ACTIVE_WIDTH),
                CallMemory.getByte(at + VerbsLayout.PORT_ATTR_ACTIVE_SPEED),
                CallMemory.getByte(at + VerbsLayout.PORT_ATTR_PHYS_STATE),
                CallMemory.getByte(at + VerbsLayout.PORT_ATTR_MAX_VL_NUM),
                CallMemory.getInt(at + VerbsLayout.PORT_ATTR_BAD_PKEY_CNTR),
                CallMemory.getInt(at + VerbsLayout.PORT_ATTR_QKEY_VIOL_CNTR),
                CallMemory.getByte(at + VerbsLayout.PORT_ATTR_SM_SL),
                CallMemory.getByte(at + VerbsLayout.PORT_ATTR_SUBNET_TIMEOUT),
                CallMemory.getByte(at + VerbsLayout.PORT_ATTR_INIT_TYPE_REPLY),
                CallMemory.getByte(at + VerbsLayout.PORT_ATTR_LINK_LAYER)
                        == VerbsLayout.IBV_LINK_LAYER_ETHERNET);
    }

    /** Bytes of an {@code enum ibv_mtu}; 0 for none. */
    static int bytes(int mtuCode) {
        return mtuCode < VerbsLayout.IBV_MTU_256 || mtuCode > VerbsLayout.IBV_MTU_4096
                ? 0
                : 128 << mtuCode;
    }

    /** The {@code enum ibv_mtu} of 256, 512, 1024, 2048 or 4096 bytes. */
    static int mtuCode(int bytes) {
        for (int code = VerbsLayout.IBV_MTU_256; code <= VerbsLayout.IBV_MTU_4096; code++) {
            if (bytes(code) == bytes) {
                return code;
            }
        }
        throw new IllegalArgumentException(
                "an MTU is 256, 512, 1024, 2048 or 4096 bytes, not " + bytes);
    }

    /** Name of the state, as {@code ibv_devinfo} prints it. */
    public String stateName() {
        return switch (state) {
            case DOWN -> "PORT_DOWN";
            case VerbsLayout.IBV_PORT_INIT -> "PORT_INIT";
            case VerbsLayout.IBV_PORT_ARMED -> "PORT_ARMED";
            case ACTIVE -> "PORT_ACTIVE";
            case VerbsLayout.IBV_PORT_ACTIVE_DEFER -> "PORT_ACTIVE_DEFER";
            default -> "PORT_NOP";
        };
    }

    /** {@code InfiniBand} or {@code Ethernet}. */
    public String linkLayer() {
        return isEthernet ? "Ethernet" : "InfiniBand";
    }
}
