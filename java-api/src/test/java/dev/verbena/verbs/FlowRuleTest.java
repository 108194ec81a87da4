package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Flow steering and what drivers agree upon, over the recording libibverbs. The layouts are written
 * here as the man page and the header have them, not by the offsets that the code uses.
 */
@Timeout(120)
class FlowRuleTest {
    private static final byte[] MAC = {2, 0x11, 0x22, 0x33, 0x44, 0x55};
    private static final byte[] ALL = {-1, -1, -1, -1, -1, -1};

    private final StubPair pair = new StubPair(QueuePairType.RC);
    private final QueuePair raw =
            pair.domain.createQueuePair(
                    new QueuePairContext()
                            .type(QueuePairType.RAW_PACKET)
                            .completions(pair.completions)
                            .segmentsMax(2, 1));

    @AfterEach
    void close() {
        raw.close();
        pair.close();
    }

    private byte[] given(int length) {
        return pair.stub.bytesArgument(0, length);
    }

    private static ByteBuffer header(
            int type, int size, int priority, int count, int port, int flags) {
        return ByteBuffer.allocate(size)
                .order(ByteOrder.nativeOrder())
                .putInt(0)
                .putInt(type)
                .putShort((short) size)
                .putShort((short) priority)
                .put((byte) count)
                .put((byte) port)
                .putShort((short) 0) // padding
                .putInt(flags);
    }

    @Test
    void shouldDescribeEveryLayer() throws Exception {
        FlowContext flow =
                new FlowContext()
                        .priority(3)
                        .port(2)
                        .isPassedOn(true)
                        .toMac(MAC)
                        .etherType(0x0800)
                        .vlan(0x0123, 0x0fff)
                        .from(InetAddress.getByName("10.99.0.0"), 19)
                        .to(InetAddress.getByName("10.99.0.1"), 32)
                        .udp(-1, 4789)
                        .vxlan(0xabcdef)
                        .tag(0x1234567)
                        .isDropping(true);
        try (FlowRule rule = raw.createFlow(flow)) {
            int size = 20 + 40 + 32 + 16 + 16 + 12 + 8;
            ByteBuffer expected = header(0, size, 3, 6, 2, 2);
            expected.putInt(0x20).putShort((short) 40);
            expected.put(MAC).put(new byte[6]).put(new byte[] {8, 0, 1, 0x23});
            expected.put(ALL).put(new byte[6]).put(new byte[] {-1, -1, 0x0f, -1});
            expected.putShort((short) 0); // padding
            expected.putInt(0x32).putShort((short) 32).putShort((short) 0);
            expected.put(new byte[] {10, 99, 0, 0, 10, 99, 0, 1, 0, 0, 0, 0});
            expected.put(new byte[] {-1, -1, (byte) 0xe0, 0, -1, -1, -1, -1, 0, 0, 0, 0});
            expected.putInt(0x41).putShort((short) 16);
            expected.put(new byte[] {0x12, (byte) 0xb5, 0, 0, -1, -1, 0, 0, 0, 0});
            expected.putInt(0x50).putShort((short) 16).putShort((short) 0);
            expected.put(new byte[] {0, (byte) 0xab, (byte) 0xcd, (byte) 0xef, 0, -1, -1, -1});
            expected.putInt(0x1000).putShort((short) 12).putShort((short) 0).putInt(0x1234567);
            expected.putInt(0x1001).putShort((short) 8).putShort((short) 0);
            assertThat(given(size)).containsExactly(expected.array());
            assertThatThrownBy(raw::close).hasMessageContaining(rule.toString());
        }
        assertThat(pair.stub.call()).isEqualTo("ibv_destroy_flow");
    }

    @Test
    void shouldDescribeTcpOverIpv6() throws Exception {
        FlowContext flow =
                new FlowContext()
                        .fromMac(MAC)
                        .to(InetAddress.getByName("2001:db8::7"), 127)
                        .tcp(80, -1);
        raw.createFlow(flow).close();
        int size = 20 + 40 + 88 + 16;
        ByteBuffer expected = header(0, size, 0, 3, 1, 0);
        expected.putInt(0x20).putShort((short) 40).put(new byte[6]).put(MAC).put(new byte[4]);
        expected.put(new byte[6]).put(ALL).put(new byte[4]).putShort((short) 0);
        expected.putInt(0x31).putShort((short) 88).putShort((short) 0);
        byte[] mask = new byte[16];
        Arrays.fill(mask, (byte) -1);
        mask[15] = -2;
        byte[] address = InetAddress.getByName("2001:db8::7").getAddress();
        expected.put(new byte[16]).put(address).put(new byte[8]);
        expected.put(new byte[16]).put(mask).put(new byte[8]);
        expected.putInt(0x40).putShort((short) 16);
        expected.put(new byte[] {0, 0, 0, 80, 0, 0, -1, -1, 0, 0});
        assertThat(given(size)).containsExactly(expected.array());
    }

    @Test
    void shouldSteerTheRest() {
        for (FlowType type :
                new FlowType[] {
                    FlowType.ALL_DEFAULT, FlowType.MULTICAST_DEFAULT, FlowType.SNIFFER
                }) {
            raw.createFlow(new FlowContext().type(type).isOutgoing(true)).close();
            assertThat(given(20)).containsExactly(header(type.ordinal(), 20, 0, 0, 1, 4).array());
        }
    }

    @Test
    void shouldRefuseWhatContradictsItself() throws Exception {
        InetAddress address = InetAddress.getByName("10.0.0.1");
        assertThatThrownBy(() -> raw.createFlow(new FlowContext())).hasMessageContaining("normal");
        assertThatThrownBy(
                        () ->
                                raw.createFlow(
                                        new FlowContext()
                                                .from(address, 32)
                                                .to(InetAddress.getByName("::1"), 128)))
                .hasMessageContaining("not both");
        assertThatThrownBy(() -> raw.createFlow(new FlowContext().type(FlowType.SNIFFER).tcp(1, 2)))
                .hasMessageContaining("describes no packets");
        assertThatThrownBy(() -> raw.createFlow(new FlowContext().toMac(MAC).vxlan(1)))
                .hasMessageContaining("over udp");
        assertThatThrownBy(() -> new FlowContext().toMac(new byte[5]))
                .hasMessageContaining("6 bytes");
        assertThatThrownBy(() -> new FlowContext().from(address, 33))
                .hasMessageContaining("prefix 33 is outside 0 to 32");
        assertThatThrownBy(() -> new FlowContext().udp(65536, 1))
                .hasMessageContaining("port 65536");
        assertThatThrownBy(() -> new FlowContext().vxlan(1 << 24)).hasMessageContaining("vxlan");
        FlowContext flow = new FlowContext().tcp(1, 2);
        assertThatThrownBy(() -> pair.queue.createFlow(flow))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has no flow steering");
        pair.stub.fail("ibv_create_flow", 1);
        assertThatThrownBy(() -> raw.createFlow(flow))
                .hasMessageContaining("EPERM (1)")
                .hasMessageContaining("CAP_NET_RAW");
    }

    @Test
    void shouldTellAndTakeExtendedCapabilities() {
        ExtendedCapabilities offered = pair.queue.extendedCapabilities();
        assertThat(offered).isEqualTo(new ExtendedCapabilities(0x15b3, 0x80000001));
        pair.queue.extendedCapabilities(offered);
        assertThat(pair.stub.argument(0)).isEqualTo(0x15b3);
        assertThat(pair.stub.argument(1)).isEqualTo(0x80000001L);
        assertThat(pair.stub.argument(2)).isZero();
        pair.stub.fail("ibv_set_ece", 95);
        assertThatThrownBy(() -> pair.queue.extendedCapabilities(offered))
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.isUnsupported()).isTrue());
    }
}
