package dev.verbena.jmh.peers;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.openucx.jucx.UcxCallback;
import org.openucx.jucx.UcxUtils;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpMemMapParams;
import org.openucx.jucx.ucp.UcpMemory;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpRemoteKey;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;

/**
 * What a jucx user gets: a ping-pong of implicit puts between two processes, each spinning on its
 * own memory. Prints one JSON line with half the median round trip. Arguments: length, round trips,
 * two processors. Needs libucp on the machine; UCX_TLS chooses how it travels. Between two hosts
 * ({@code ci/two-hosts}): length, round trips, "host", and on the side that measures the address of
 * the other.
 */
public final class JucxPutPeer {
    private static final int BATCH = 1000;
    private static final int REGION_LENGTH = 1 << 20;
    private static final UcxCallback NOTHING = new UcxCallback() {};

    private final UcpWorker worker;
    private final UcpEndpoint endpoint;
    private final UcpRemoteKey key;
    private final UnsafeBuffer region = new UnsafeBuffer(0, 0);
    private final long sourceAddress;
    private final long remoteAddress;
    private final int length;
    private long rounds;

    private JucxPutPeer(Socket socket, int length) throws IOException {
        this.length = length;
        DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        DataInputStream in = new DataInputStream(socket.getInputStream());
        UcpContext context = new UcpContext(new UcpParams().requestRmaFeature());
        removeUnpacked();
        worker = context.newWorker(new UcpWorkerParams());
        UcpMemory memory =
                context.memoryMap(new UcpMemMapParams().allocate().setLength(2L * REGION_LENGTH));
        ByteBuffer view = UcxUtils.getByteBufferView(memory.getAddress(), 2L * REGION_LENGTH);
        region.wrap(view.order(ByteOrder.nativeOrder()));
        sourceAddress = memory.getAddress() + REGION_LENGTH;
        write(out, worker.getAddress());
        write(out, memory.getRemoteKeyBuffer());
        out.writeLong(memory.getAddress());
        endpoint = worker.newEndpoint(new UcpEndpointParams().setUcpAddress(read(in)));
        key = endpoint.unpackRemoteKey(read(in));
        remoteAddress = in.readLong();
        out.writeByte(1);
        in.readByte();
    }

    /** jucx has unpacked its library into a folder, which a JVM that halts leaves behind. */
    private static void removeUnpacked() throws IOException {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            Optional<String> map = maps.filter(line -> line.endsWith("/libjucx.so")).findFirst();
            if (map.isPresent()) {
                Path library = Path.of(map.get().substring(map.get().indexOf('/')));
                Files.delete(library);
                Files.delete(library.getParent());
            }
        }
    }

    private static void write(DataOutputStream out, ByteBuffer buffer) throws IOException {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static ByteBuffer read(DataInputStream in) throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }

    private void put(long round) throws Exception {
        region.putLong(REGION_LENGTH + length - Long.BYTES, round);
        endpoint.putNonBlockingImplicit(sourceAddress, length, remoteAddress, key);
        worker.progress();
    }

    private void await(long round) throws Exception {
        while (region.getLongVolatile(length - Long.BYTES) != round) {
            worker.progress();
        }
    }

    private void echo(PingPong pingPong) throws Exception {
        for (long round = 1; round <= pingPong.roundTrips(); round++) {
            await(round);
            put(round);
        }
        endpoint.flushNonBlocking(NOTHING);
        worker.progress();
    }

    private void roundTrip() throws Exception {
        put(++rounds);
        await(rounds);
    }

    private static void measure(Socket socket, int length, PingPong pingPong) throws Exception {
        JucxPutPeer side = new JucxPutPeer(socket, length);
        pingPong.measure("jucx_put_lat", length, side::roundTrip);
    }

    private static void runOneSide(int length, PingPong pingPong, String host) throws Exception {
        try (SocketChannel channel = TwoHosts.join(host)) {
            if (host == null) {
                new JucxPutPeer(channel.socket(), length).echo(pingPong);
                channel.socket().getInputStream().read(); // the other side has measured
            } else {
                measure(channel.socket(), length, pingPong);
            }
        }
    }

    /** Runs both ends: this process, and a child that it starts. */
    public static void main(String[] arguments) throws Exception {
        int length = Integer.parseInt(arguments[0]);
        PingPong pingPong = new PingPong(Integer.parseInt(arguments[1]) / BATCH, BATCH);
        if (arguments[2].equals("host")) {
            String host = arguments.length > 3 ? arguments[3] : null;
            runOneSide(length, pingPong, host);
            Runtime.getRuntime().halt(0);
        }
        InetAddress loopback = InetAddress.getLoopbackAddress();
        if (arguments.length > 3) {
            try (Socket socket = new Socket(loopback, Integer.parseInt(arguments[3]))) {
                new JucxPutPeer(socket, length).echo(pingPong);
            }
            // UCX's own exit handlers wait for peers that are gone.
            Runtime.getRuntime().halt(0);
        }
        try (ServerSocket listener = new ServerSocket(0, 1, loopback)) {
            List<String> command = new ArrayList<>(List.of("taskset", "-c", arguments[2]));
            command.add(System.getProperty("java.home") + "/bin/java");
            command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
            command.addAll(List.of("-cp", System.getProperty("java.class.path")));
            command.add(JucxPutPeer.class.getName());
            command.addAll(List.of(arguments));
            command.add(Integer.toString(listener.getLocalPort()));
            Process child =
                    new ProcessBuilder(command)
                            .redirectOutput(Redirect.DISCARD)
                            .redirectError(Redirect.INHERIT)
                            .start();
            try (Socket socket = listener.accept()) {
                measure(socket, length, pingPong);
            } finally {
                child.destroy();
            }
        }
        Runtime.getRuntime().halt(0);
    }
}
