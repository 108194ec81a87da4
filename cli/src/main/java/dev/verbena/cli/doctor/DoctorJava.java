package dev.verbena.cli.doctor;

import dev.verbena.cli.terminal.ByteSize;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.softnic.NativeAccess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;

/** The JVM, the toolkit's native library, TCP on this host. */
final class DoctorJava {
    private static final int CONNECT_MS = 2_000;
    private static final int FIRST_WITH_WARNING = 24;
    private static final int OLDEST = 17;

    List<Finding> findings() {
        return List.of(jdk(), nativeLibrary(), loopback());
    }

    Finding jdk() {
        int version = Runtime.version().feature();
        String found =
                "%s %s, %s, heap at most %s"
                        .formatted(
                                System.getProperty("java.vendor"),
                                Runtime.version(),
                                System.getProperty("os.arch"),
                                ByteSize.text(Runtime.getRuntime().maxMemory()));
        if (version < OLDEST) {
            return Finding.wrong(
                    "JDK", found, "17 or newer is needed", "install openjdk-17-jdk-headless");
        }
        return version < FIRST_WITH_WARNING
                ? Finding.ok("JDK", found)
                : Finding.note(
                        "JDK",
                        found,
                        "it warns about native access at the start; later ones may refuse it",
                        "java --enable-native-access=ALL-UNNAMED");
    }

    Finding nativeLibrary() {
        String cause = NativeAccess.unavailabilityCause();
        return cause == null
                ? Finding.ok("native library", "loads")
                : Finding.wrong(
                        "native library",
                        cause,
                        "no transport works",
                        "read the message; HOME or -Dorg.bytedeco.javacpp.cachedir must be writable");
    }

    Finding loopback() {
        InetAddress host = InetAddress.getLoopbackAddress();
        try (ServerSocket server = new ServerSocket(0, 1, host);
                Socket client = new Socket()) {
            client.connect(new InetSocketAddress(host, server.getLocalPort()), CONNECT_MS);
            return Finding.ok("TCP on loopback", host.getHostAddress() + " connects");
        } catch (IOException e) {
            return Finding.wrong(
                    "TCP on loopback",
                    Messages.of(e),
                    "servers cannot stream to a receiver on this host",
                    "as root: ip link set lo up");
        }
    }
}
