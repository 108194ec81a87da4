package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which packets a {@link FlowRule} is about, and what becomes of them: {@code struct ibv_flow_attr}
 * and the specifications behind it. A field that is not named is not looked at. Layers go together
 * as they do in packets: ports need TCP or UDP, and these come over one kind of IP.
 */
public final class FlowContext {
    private static final int MAC_LENGTH = 6;
    private static final int PORT_MAX = 65_535;
    private static final int IPV4 = VerbsLayout.IBV_FLOW_SPEC_IPV4_EXT;
    private static final int IPV6 = VerbsLayout.IBV_FLOW_SPEC_IPV6;
    private static final int TCP = VerbsLayout.IBV_FLOW_SPEC_TCP;
    private static final int UDP = VerbsLayout.IBV_FLOW_SPEC_UDP;
    private static final int TUNNEL = VerbsLayout.IBV_FLOW_SPEC_VXLAN_TUNNEL;
    private static final int TAG = VerbsLayout.IBV_FLOW_SPEC_ACTION_TAG;
    private static final int DROP = VerbsLayout.IBV_FLOW_SPEC_ACTION_DROP;

    private FlowType type = FlowType.NORMAL;
    private int priority;
    private int port = 1;
    private int flags;

    /**
     * By kind; the numbers of the kinds ascend from outer layers to inner ones, then to actions.
     */
    private final TreeMap<Integer, byte[]> specifications = new TreeMap<>();

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
        return ethernet(field, mac, all);
    }

    /** Kind of what the frame carries, for example 0x0800 for IPv4. */
    public FlowContext etherType(int etherType) {
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
        return ethernet(
                VerbsLayout.FLOW_ETH_FILTER_VLAN_TAG,
                two(check("vlan", vlan, PORT_MAX)),
                two(check("mask", mask, PORT_MAX)));
    }

    private FlowContext ethernet(int field, byte[] value, byte[] mask) {
        byte[] body = body(VerbsLayout.IBV_FLOW_SPEC_ETH, VerbsLayout.FLOW_SPEC_ETH_SIZEOF);
        put(body, VerbsLayout.FLOW_SPEC_ETH_VAL + field, value);
        put(body, VerbsLayout.FLOW_SPEC_ETH_MASK + field, mask);
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
            byte[] body = body(IPV4, VerbsLayout.FLOW_SPEC_IPV4_EXT_SIZEOF);
            put(body, VerbsLayout.FLOW_SPEC_IPV4_EXT_VAL + fieldV4, value);
            put(body, VerbsLayout.FLOW_SPEC_IPV4_EXT_MASK + fieldV4, mask);
        } else if (address instanceof Inet6Address) {
            byte[] body = body(IPV6, VerbsLayout.FLOW_SPEC_IPV6_SIZEOF);
            put(body, VerbsLayout.FLOW_SPEC_IPV6_VAL + fieldV6, value);
            put(body, VerbsLayout.FLOW_SPEC_IPV6_MASK + fieldV6, mask);
        }
        return this;
    }

    /** UDP, with these ports; -1: any. */
    public FlowContext udp(int fromPort, int toPort) {
        return ports(UDP, TCP, fromPort, toPort);
    }

    /** TCP, with these ports; -1: any. */
    public FlowContext tcp(int fromPort, int toPort) {
        return ports(TCP, UDP, fromPort, toPort);
    }

    private FlowContext ports(int kind, int instead, int fromPort, int toPort) {
        specifications.remove(instead);
        byte[] body = body(kind, VerbsLayout.FLOW_SPEC_TCP_UDP_SIZEOF);
        port(body, VerbsLayout.FLOW_TCP_UDP_FILTER_SRC_PORT, fromPort);
        port(body, VerbsLayout.FLOW_TCP_UDP_FILTER_DST_PORT, toPort);
        return this;
    }

    private static void port(byte[] body, int field, int number) {
        byte[] value = number == -1 ? two(0) : two(check("port", number, PORT_MAX));
        put(body, VerbsLayout.FLOW_SPEC_TCP_UDP_VAL + field, value);
        put(body, VerbsLayout.FLOW_SPEC_TCP_UDP_MASK + field, two(number == -1 ? 0 : PORT_MAX));
    }

    /** Inside a VXLAN tunnel of this number, 24 bits, over {@link #udp}. */
    public FlowContext vxlan(int number) {
        check("vxlan", number, 0xffffff);
        byte[] body = body(TUNNEL, VerbsLayout.FLOW_SPEC_TUNNEL_SIZEOF);
        put(body, VerbsLayout.FLOW_SPEC_TUNNEL_VAL, four(number));
        put(body, VerbsLayout.FLOW_SPEC_TUNNEL_MASK, four(0xffffff));
        return this;
    }

    /** Completions of such packets have this flow tag ({@link CompletionDetails}). */
    public FlowContext tag(int tag) {
        byte[] body = body(TAG, VerbsLayout.FLOW_SPEC_ACTION_TAG_SIZEOF);
        ByteBuffer.wrap(body)
                .order(ByteOrder.nativeOrder())
                .putInt(VerbsLayout.FLOW_SPEC_ACTION_TAG_TAG_ID, tag);
        return this;
    }

    /** Such packets are dropped. */
    public FlowContext isDropping(boolean isDropping) {
        if (isDropping) {
            body(DROP, VerbsLayout.FLOW_SPEC_ACTION_DROP_SIZEOF);
        } else {
            specifications.remove(DROP);
        }
        return this;
    }

    /** What the specification of this kind has so far. */
    private byte[] body(int kind, int length) {
        return specifications.computeIfAbsent(kind, none -> new byte[length]);
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
        return ByteBuffer.allocate(Short.BYTES).putShort((short) value).array();
    }

    private static byte[] four(int value) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(value).array();
    }

    /** Refuses what contradicts itself, before it is tried. */
    private void conclude() {
        if (specifications.containsKey(IPV4) && specifications.containsKey(IPV6)) {
            throw new IllegalArgumentException("a rule is about IPv4 or IPv6, not both");
        }
        if (specifications.containsKey(TUNNEL) && !specifications.containsKey(UDP)) {
            throw new IllegalArgumentException("vxlan comes over udp; name its ports, or -1");
        }
        boolean isDescribed = !specifications.headMap(TAG).isEmpty();
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
        for (Map.Entry<Integer, byte[]> specification : specifications.entrySet()) {
            byte[] body = specification.getValue();
            CallMemory.putBytes(next, body);
            CallMemory.putInt(next + VerbsLayout.FLOW_SPEC_ETH_TYPE, specification.getKey());
            CallMemory.putShort(next + VerbsLayout.FLOW_SPEC_ETH_SIZE, body.length);
            next += body.length;
        }
        CallMemory.putInt(at + VerbsLayout.FLOW_ATTR_TYPE, type.code());
        CallMemory.putShort(at + VerbsLayout.FLOW_ATTR_SIZE, (int) (next - at));
        CallMemory.putShort(at + VerbsLayout.FLOW_ATTR_PRIORITY, priority);
        CallMemory.putByte(at + VerbsLayout.FLOW_ATTR_NUM_OF_SPECS, specifications.size());
        CallMemory.putByte(at + VerbsLayout.FLOW_ATTR_PORT, port);
        CallMemory.putInt(at + VerbsLayout.FLOW_ATTR_FLAGS, flags);
    }
}
