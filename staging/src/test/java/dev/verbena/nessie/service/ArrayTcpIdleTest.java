package dev.verbena.nessie.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.agent.Await;
import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.nessie.service.wire.ArrayRequest;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** As many clients over TCP as there may be, all of them idle, and one more. */
@Timeout(120)
class ArrayTcpIdleTest {
    private static final int ALL = 128;

    private static final String PROGRAM =
            """
            import sys, verbena
            with verbena.arrays(sys.argv[1], timeout=60) as service:
                print(list(service.versions("t")), flush=True)
                sys.stdin.readline()
                print(list(service.versions("t")))
            """;

    @TempDir Path directory;

    private final List<Socket> sockets = new ArrayList<>();
    private ArrayServers servers;

    @BeforeEach
    void start() {
        ArrayServerOptions options = ArrayServerOptions.DEFAULT.withDoor("127.0.0.1", 0);
        servers = new ArrayServers(directory, 1, options);
    }

    @AfterEach
    void end() throws Exception {
        CloseHelper.closeAll(sockets);
        servers.close();
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), servers.servers.get(0).port());
        sockets.add(socket);
        socket.setSoTimeout(30_000);
        new DataOutputStream(socket.getOutputStream()).writeInt(ArrayConstants.TCP_MAGIC);
        return socket;
    }

    static void ask(Socket socket, long waitMs) throws IOException {
        ArrayRequest request = new ArrayRequest().places(1).number(-1).waitMs(waitMs);
        request.name().text("t");
        byte[] bytes = new byte[request.encodedLength()];
        request.encode(new UnsafeBuffer(bytes), 0);
        DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        out.writeInt(ArrayConstants.VERSIONS);
        out.writeInt(bytes.length);
        out.writeLong(0);
        out.write(bytes);
    }

    /** An answer of no versions. */
    private static void requireAnswer(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        assertThat(in.readInt()).isEqualTo(ArrayConstants.TCP_ANSWER);
        in.readFully(new byte[in.readInt()]);
    }

    @Test
    void shouldCutTheLongestIdleOneOffForANewcomer() throws IOException {
        for (int i = 0; i < ALL; i++) {
            connect();
            ask(sockets.get(i), 0);
            requireAnswer(sockets.get(i));
        }
        ask(sockets.get(0), 0);
        requireAnswer(sockets.get(0));
        Socket newcomer = connect();
        ask(newcomer, 0);
        requireAnswer(newcomer);
        assertThat(sockets.get(1).getInputStream().read()).as("idle longest").isEqualTo(-1);
        for (int i : new int[] {0, 2, ALL - 1}) {
            ask(sockets.get(i), 0);
            requireAnswer(sockets.get(i));
        }
        assertThat(servers.errors)
                .singleElement()
                .asString()
                .contains("128 clients are connected over TCP: the longest idle one was cut off");
    }

    /** It does not notice. */
    @Test
    void shouldServeAPythonProgramThatWasCutOff() throws Exception {
        String python = "/usr/bin/python3";
        assumeTrue(ArrayTcpTest.hasNumPy(python), "no Python with NumPy (Debian: python3-numpy)");
        String address = "127.0.0.1:" + servers.servers.get(0).port();
        ProcessBuilder builder =
                new ProcessBuilder(python, "-B", "-c", PROGRAM, address).redirectErrorStream(true);
        builder.environment().put("PYTHONPATH", "../clients/python");
        Process process = builder.start();
        try (BufferedReader out = process.inputReader()) {
            assertThat(out.readLine()).isEqualTo("[]");
            for (int i = 0; i < ALL; i++) {
                ask(connect(), 0);
                requireAnswer(sockets.get(i));
            }
            assertThat(servers.errors).hasSize(1);
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
            assertThat(out.readLine()).isEqualTo("[]");
        } finally {
            process.destroyForcibly();
        }
    }

    /** Those who wait for an answer, too, need not say so. */
    @Test
    void shouldForgetClientsThatAreGone() throws Exception {
        for (int i = 0; i < ALL; i++) {
            ask(connect(), 600_000);
        }
        CloseHelper.closeAll(sockets);
        Await.until("the server has noticed", this::isServed);
        for (int i = 1; i < ALL; i++) {
            assertThat(isServed()).isTrue();
        }
    }

    /** Whether there is room for a newcomer. */
    private boolean isServed() {
        try {
            Socket next = connect();
            ask(next, 0);
            requireAnswer(next);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void shouldCutNobodyOffWhoWaitsForAnAnswer() throws IOException {
        for (int i = 0; i < ALL; i++) {
            ask(connect(), 600_000);
        }
        ask(connect(), 600_000); // has to wait for its turn to be refused
        assertThat(sockets.get(ALL).getInputStream().read()).as("refused").isEqualTo(-1);
        assertThat(servers.errors)
                .singleElement()
                .asString()
                .contains("128 clients are connected over TCP: another one was refused");
    }
}
