package dev.verbena.verbs;

/**
 * One line of a port's table of addresses: {@code struct ibv_gid_entry}.
 *
 * @param index place in the table
 * @param port port number, from 1
 * @param gid the address
 * @param type one of the constants here
 * @param interfaceIndex kernel's number of the network interface, 0 if there is none
 */
public record GidEntry(int index, int port, Gid gid, int type, int interfaceIndex) {
    /** InfiniBand, or a RoCE v1 address of a kernel that does not tell. */
    public static final int INFINIBAND = 0;

    /** RoCE v1: Ethernet frames without IP. */
    public static final int ROCE_V1 = 1;

    /** RoCE v2: UDP, so it can be routed. */
    public static final int ROCE_V2 = 2;

    /** Name of the type, as {@code ibv_devinfo} prints it. */
    public String typeName() {
        return switch (type) {
            case ROCE_V1 -> "RoCE v1";
            case ROCE_V2 -> "RoCE v2";
            default -> "IB";
        };
    }
}
