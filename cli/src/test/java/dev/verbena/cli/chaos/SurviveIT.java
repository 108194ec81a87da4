package dev.verbena.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code dart send} and {@code dart receive} go on when what they talk to is killed or nonsense.
 */
@Timeout(240)
class SurviveIT {
    private static final int LONG = (64 << 20) + 77_777;

    @TempDir private Path folder;

    private void shouldEndWell(ChaosProcess send, Path source, Path arrived) throws Exception {
        assertThat(send.awaitEnd(120)).as("%s", send.out()).isTrue();
        assertThat(send.exitCode()).as("%s", send.out()).isZero();
        assertThat(send.out()).contains("confirmed by the receiver").doesNotContain("\tat ");
        assertThat(Staging.differences(source, arrived)).isEmpty();
    }

    @Test
    void shouldSendAgainWhatAKilledServerHad() throws Exception {
        Path source = Staging.files(folder.resolve("source"), 5_000_000, 0, LONG, 3_000_000, 1);
        Path arrived = folder.resolve("arrived");
        try (Staging staging = new Staging(folder)) {
            staging.receiver(arrived, List.of());
            ChaosProcess master = staging.master();
            staging.proxy.stallAfter(20_000_000, 20_000);
            ChaosProcess send = staging.send(source);
            staging.proxy.awaitStall();
            master.kill();
            staging.proxy.heal();
            staging.proxy.cut();
            staging.master();
            shouldEndWell(send, source, arrived);
            assertThat(send.out()).contains("connecting again");
        }
    }

    @Test
    void shouldGoOnWhenTheReceiverWasKilled() throws Exception {
        Path source = Staging.files(folder.resolve("source"), 5_000_000, 0, LONG, 3_000_000, 1);
        Path arrived = folder.resolve("arrived");
        try (Staging staging = new Staging(folder)) {
            ChaosProcess receiver = staging.receiver(arrived, List.of());
            staging.master();
            staging.proxy.stallAfter(20_000_000, 20_000);
            ChaosProcess send = staging.send(source);
            staging.proxy.awaitStall();
            receiver.kill();
            staging.receiver(arrived, List.of());
            staging.proxy.heal();
            staging.proxy.cut();
            shouldEndWell(send, source, arrived);
        }
    }

    @Test
    void shouldServeThoughItsPortIsFullOfStrangers() throws Exception {
        Path source = Staging.files(folder.resolve("source"), 100_000, 200_000);
        Path arrived = folder.resolve("arrived");
        List<Socket> strangers = new ArrayList<>();
        try (Staging staging = new Staging(folder)) {
            ChaosProcess receiver = staging.receiver(arrived, List.of());
            String address = receiver.awaitLine("listening on");
            int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
            Random random = new Random(5);
            for (int i = 0; i < 200; i++) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                strangers.add(socket);
                byte[] nonsense = new byte[i % 3 == 0 ? 0 : random.nextInt(200)];
                random.nextBytes(nonsense);
                try {
                    socket.getOutputStream().write(nonsense);
                } catch (java.net.SocketException e) {
                    // Refused already, as it may be.
                }
            }
            staging.master();
            shouldEndWell(staging.send(source), source, arrived);
            assertThat(receiver.isAlive()).isTrue();
        } finally {
            for (Socket socket : strangers) {
                socket.close();
            }
        }
    }
}
