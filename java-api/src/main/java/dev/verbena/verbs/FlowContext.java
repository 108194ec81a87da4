package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Arrays;

/**
 * Which packets a {@link FlowRule} is about, and what becomes of them: {@code struct ibv_flow_attr}
 * and the specifications behind it. A field that is not named is not looked at. Layers go together
 * as they do in packets: ports need TCP or UDP, and these come over one kind of IP.
 */
public final class FlowContext {
    private static final int MAC_LENGTH = 6;
    private static final int PORT_MAX = 65_535;

    private FlowType type = FlowType.NORMAL;
    private int priority;
    private int port = 1;
    private int flags;
    private final byte[] ethernet = new byte[VerbsLayout.FLOW_SPEC_ETH_SIZEOF];
    private final byte[] ipv4 = new byte[VerbsLayout.FLOW_SPEC_IPV4_EXT_SIZEOF];
    private final byte[] ipv6 = new byte[VerbsLayout.FLOW_SPEC_IPV6_SIZEOF];
    private final byte[] ports = new byte[VerbsLayout.FLOW_SPEC_TCP_UDP_SIZEOF];
    private final byte[] tunnel = new byte[VerbsLayout.FLOW_SPEC_TUNNEL_SIZEOF];
    private boolean hasEthernet;
    private boolean hasIpv4;
    private boolean hasIpv6;
    private boolean hasTunnel;
    private boolean isDropping;
    private Integer tag;
    private int transport;

    /** All packets of port 1; a normal rule needs a description. */
    public FlowContext() {}

    /** Kind; default {@link FlowType#NORMAL}. */
    public FlowContext type(FlowType type) {
        this.type = type;
        return this;
    }

    /** 0 to 65535; of two rules that fit, the one of the lower number counts. Default 0. */
    public FlowContext priority(int priority) {
        this.priority = check("priority", priority, PORT_MAX);
        return this;
    }

    /** Of the device, from 1; default 1. */
    public FlowContext port(int port) {
        this.port = check("port", port, 255);
        return this;
    }

    /** Rules of lower priority get a copy, too. */
    public FlowContext isPassedOn(boolean isPassedOn) {
        flags = flag(VerbsLayout.IBV_FLOW_ATTR_FLAGS_DONT_TRAP, isPassedOn);
        return this;
    }

    /** About packets that leave; otherwise about those that come. */
    public FlowContext isOutgoing(boolean isOutgoing) {
        flags = flag(VerbsLayout.IBV_FLOW_ATTR_FLAGS_EGRESS, isOutgoing);
        return this;
    }

    private int flag(int bit, boolean isOn) {
        return isOn ? flags | bit : flags & ~bit;
    }

    /**
     * Ethernet address of the receiver.
     *
     * @param mac 6 bytes
     * @throws IllegalArgumentException for another length
     */
    public FlowContext toMac(byte[] mac) {
        return mac(VerbsLayout.FLOW_ETH_FILTER_DST_MAC, mac);
    }

    /**
     * Ethernet address of the sender.
     *
     * @param mac 6 bytes
     * @throws IllegalArgumentException for another length
     */
    public FlowContext fromMac(byte[] mac) {
        return mac(VerbsLayout.FLOW_ETH_FILTER_SRC_MAC, mac);
    }

    private FlowContext mac(int field, byte[] mac) {
        if (mac.length != MAC_LENGTH) {
            throw new IllegalArgumentException(
                    "an Ethernet address has 6 bytes: " + Arrays.toString(mac));
        }
        byte[] all = {-1, -1, -1, -1, -1, -1};
        hasEthernet = true;
        return ethernet(field, mac, all);
    }

    /** Kind of what the frame carries, for example 0x0800 for IPv4. */
    public FlowContext etherType(int etherType) {
        hasEthernet = true;
        return ethernet(
                VerbsLayout.FLOW_ETH_FILTER_ETHER_TYPE,
                two(check("etherType", etherType, PORT_MAX)),
                two(PORT_MAX));
    }

    /**
     * Tag of a virtual LAN: 3 bits of priority, one, 12 of its number.
     *
     * @param mask bits that are looked at
     */
    public FlowContext vlan(int vlan, int mask) {
        hasEthernet = true;
        return ethernet(
                VerbsLayout.FLOW_ETH_FILTER_VLAN_TAG,
                two(check("vlan", vlan, PORT_MAX)),
                two(check("mask", mask, PORT_MAX)));
    }

    private FlowContext ethernet(int field, byte[] value, byte[] mask) {
        put(ethernet, VerbsLayout.FLOW_SPEC_ETH_VAL + field, value);
        put(ethernet, VerbsLayout.FLOW_SPEC_ETH_MASK + field, mask);
        return this;
    }

    /**
     * IP address of the sender.
     *
     * @param prefix bits of it that are looked at, 0 to 32 or 128
     */
    public FlowContext from(InetAddress address, int prefix) {
        return address(
                address,
                prefix,
                VerbsLayout.FLOW_IPV4_EXT_FILTER_SRC_IP,
                VerbsLayout.FLOW_IPV6_FILTER_SRC_IP);
    }

    /**
     * IP address of the receiver.
     *
     * @param prefix bits of it that are looked at, 0 to 32 or 128
     */
    public FlowContext to(InetAddress address, int prefix) {
        return address(
                address,
                prefix,
                VerbsLayout.FLOW_IPV4_EXT_FILTER_DST_IP,
                VerbsLayout.FLOW_IPV6_FILTER_DST_IP);
    }

    private FlowContext address(InetAddress address, int prefix, int fieldV4, int fieldV6) {
        byte[] value = address.getAddress();
        check("prefix", prefix, value.length * Byte.SIZE);
        byte[] mask = new byte[value.length];
        for (int bit = 0; bit < prefix; bit++) {
            mask[bit / Byte.SIZE] |= (byte) (0x80 >> bit % Byte.SIZE);
        }
        if (address instanceof Inet4Address) {
            hasIpv4 = true;
            put(ipv4, VerbsLayout.FLOW_SPEC_IPV4_EXT_VAL + fieldV4, value);
            put(ipv4, VerbsLayout.FLOW_SPEC_IPV4_EXT_MASK + fieldV4, mask);
        } else if (address instanceof Inet6Address) {
            hasIpv6 = true;
            put(ipv6, VerbsLayout.FLOW_SPEC_IPV6_VAL + fieldV6, value);
            put(ipv6, VerbsLayout.FLOW_SPEC_IPV6_MASK + fieldV6, mask);
        }
        return this;
    }

    /** UDP, with these ports; -1: any. */
    public FlowContext udp(int fromPort, int toPort) {
        return ports(VerbsLayout.IBV_FLOW_SPEC_UDP, fromPort, toPort);
    }

    /** TCP, with these ports; -1: any. */
    public FlowContext tcp(int fromPort, int toPort) {
        return ports(VerbsLayout.IBV_FLOW_SPEC_TCP, fromPort, toPort);
    }

    private FlowContext ports(int kind, int fromPort, int toPort) {
        transport = kind;
        port(VerbsLayout.FLOW_TCP_UDP_FILTER_SRC_PORT, fromPort);
        port(VerbsLayout.FLOW_TCP_UDP_FILTER_DST_PORT, toPort);
        return this;
    }

    private void port(int field, int number) {
        byte[] value = number == -1 ? two(0) : two(check("port", number, PORT_MAX));
        put(ports, VerbsLayout.FLOW_SPEC_TCP_UDP_VAL + field, value);
        put(ports, VerbsLayout.FLOW_SPEC_TCP_UDP_MASK + field, two(number == -1 ? 0 : PORT_MAX));
    }

    /** Inside a VXLAN tunnel of this number, 24 bits, over {@link #udp}. */
    public FlowContext vxlan(int number) {
        check("vxlan", number, 0xffffff);
        hasTunnel = true;
        put(tunnel, VerbsLayout.FLOW_SPEC_TUNNEL_VAL, four(number));
        put(tunnel, VerbsLayout.FLOW_SPEC_TUNNEL_MASK, four(0xffffff));
        return this;
    }

    /** Completions of such packets have this flow tag ({@link CompletionDetails}). */
    public FlowContext tag(int tag) {
        this.tag = tag;
        return this;
    }

    /** Such packets are dropped. */
    public FlowContext isDropping(boolean isDropping) {
        this.isDropping = isDropping;
        return this;
    }

    private static int check(String what, int value, int most) {
        if (value < 0 || value > most) {
            throw new IllegalArgumentException(what + " " + value + " is outside 0 to " + most);
        }
        return value;
    }

    private static void put(byte[] to, int at, byte[] bytes) {
        System.arraycopy(bytes, 0, to, at, bytes.length);
    }

    private static byte[] two(int value) {
        return new byte[] {(byte) (value >> 8), (byte) value};
    }

    private static byte[] four(int value) {
        return new byte[] {
            (byte) (value >> 24), (byte) (value >> 16), (byte) (value >> 8), (byte) value
        };
    }

    /** Refuses what contradicts itself, before it is tried. */
    private void conclude() {
        if (hasIpv4 && hasIpv6) {
            throw new IllegalArgumentException("a rule is about IPv4 or IPv6, not both");
        }
        if (hasTunnel && transport != VerbsLayout.IBV_FLOW_SPEC_UDP) {
            throw new IllegalArgumentException("vxlan comes over udp; name its ports, or -1");
        }
        boolean isDescribed = hasEthernet || hasIpv4 || hasIpv6 || transport != 0;
        if (type == FlowType.NORMAL && !isDescribed) {
            throw new IllegalArgumentException(
                    "a normal rule says which packets; for all take another type");
        }
        if (type != FlowType.NORMAL && isDescribed) {
            throw new IllegalArgumentException("a rule of type " + type + " describes no packets");
        }
    }

    /** Writes the structure and what follows it; 0 bytes are there. */
    synchronized void fill(long at) {
        conclude();
        long next = at + VerbsLayout.FLOW_ATTR_SIZEOF;
        int count = 0;
        int[] kinds = {
            hasEthernet ? VerbsLayout.IBV_FLOW_SPEC_ETH : 0,
            hasIpv4 ? VerbsLayout.IBV_FLOW_SPEC_IPV4_EXT : 0,
            hasIpv6 ? VerbsLayout.IBV_FLOW_SPEC_IPV6 : 0,
            transport,
            hasTunnel ? VerbsLayout.IBV_FLOW_SPEC_VXLAN_TUNNEL : 0,
            tag == null ? 0 : VerbsLayout.IBV_FLOW_SPEC_ACTION_TAG,
            isDropping ? VerbsLayout.IBV_FLOW_SPEC_ACTION_DROP : 0,
        };
        byte[] marked = new byte[VerbsLayout.FLOW_SPEC_ACTION_TAG_SIZEOF];
        byte[][] bodies = {
            ethernet,
            ipv4,
            ipv6,
            ports,
            tunnel,
            marked,
            new byte[VerbsLayout.FLOW_SPEC_ACTION_DROP_SIZEOF]
        };
        for (int i = 0; i < kinds.length; i++) {
            if (kinds[i] != 0) {
                CallMemory.putBytes(next, bodies[i]);
                CallMemory.putInt(next + VerbsLayout.FLOW_SPEC_ETH_TYPE, kinds[i]);
                CallMemory.putShort(next + VerbsLayout.FLOW_SPEC_ETH_SIZE, bodies[i].length);
                if (bodies[i] == marked) {
                    CallMemory.putInt(next + VerbsLayout.FLOW_SPEC_ACTION_TAG_TAG_ID, tag);
                }
                next += bodies[i].length;
                count++;
            }
        }
        CallMemory.putInt(at + VerbsLayout.FLOW_ATTR_TYPE, type.code());
        CallMemory.putShort(at + VerbsLayout.FLOW_ATTR_SIZE, (int) (next - at));
        CallMemory.putShort(at + VerbsLayout.FLOW_ATTR_PRIORITY, priority);
        CallMemory.putByte(at + VerbsLayout.FLOW_ATTR_NUM_OF_SPECS, count);
        CallMemory.putByte(at + VerbsLayout.FLOW_ATTR_PORT, port);
        CallMemory.putInt(at + VerbsLayout.FLOW_ATTR_FLAGS, flags);
    }
}
