package dev.verbena.jmh.peers;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * What a gRPC user gets between two processes of one machine: blocking unary calls whose request
 * and answer are bytes, without encryption. Prints one JSON line with half the median round trip.
 * Arguments: length, calls, {@code default} or {@code direct} (handlers and callbacks run on the
 * network's threads).
 */
public final class GrpcPeer {
    private static final int BATCH = 500;
    private static final String SERVICE = "verbena.Bench";

    private static final MethodDescriptor<byte[], byte[]> ECHO =
            MethodDescriptor.<byte[], byte[]>newBuilder()
                    .setType(MethodDescriptor.MethodType.UNARY)
                    .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "Echo"))
                    .setRequestMarshaller(new Bytes())
                    .setResponseMarshaller(new Bytes())
                    .build();

    private GrpcPeer() {}

    /** Bytes as they are. */
    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new java.io.ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Runs. */
    public static void main(String[] arguments) throws Exception {
        boolean isDirect = arguments[2].equals("direct");
        if (arguments.length > 3) {
            serve(isDirect);
            return;
        }
        Process server =
                new ProcessBuilder(
                                List.of(
                                        System.getProperty("java.home") + "/bin/java",
                                        "-XX:+UseSerialGC",
                                        "-cp",
                                        System.getProperty("java.class.path"),
                                        GrpcPeer.class.getName(),
                                        arguments[0],
                                        arguments[1],
                                        arguments[2],
                                        "server"))
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        try (BufferedReader out = server.inputReader()) {
            int port = Integer.parseInt(out.readLine());
            measure(port, Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]), isDirect);
        } finally {
            server.destroyForcibly().waitFor();
        }
    }

    /** Until its standard input ends, with its parent. */
    private static void serve(boolean isDirect) throws IOException {
        ServerServiceDefinition echo =
                ServerServiceDefinition.builder(SERVICE)
                        .addMethod(
                                ECHO,
                                ServerCalls.asyncUnaryCall(
                                        (request, answer) -> {
                                            answer.onNext(request);
                                            answer.onCompleted();
                                        }))
                        .build();
        NettyServerBuilder builder =
                NettyServerBuilder.forAddress(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Server server =
                (isDirect ? builder.directExecutor() : builder).addService(echo).build().start();
        System.out.println(server.getPort());
        while (System.in.read() >= 0) {
            continue;
        }
        server.shutdownNow();
    }

    private static void measure(int port, int length, int calls, boolean isDirect)
            throws Exception {
        NettyChannelBuilder builder =
                NettyChannelBuilder.forAddress(
                                new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                        .usePlaintext();
        ManagedChannel channel = (isDirect ? builder.directExecutor() : builder).build();
        byte[] request = new byte[length];
        new PingPong(calls / BATCH, BATCH)
                .measure(
                        "grpc_unary",
                        length,
                        () ->
                                ClientCalls.blockingUnaryCall(
                                        channel, ECHO, CallOptions.DEFAULT, request));
        channel.shutdownNow();
    }
}
