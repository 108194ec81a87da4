package dev.verbena.cli.stage.experiment;

import dev.verbena.cli.terminal.Messages;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * OpenSSH's server on a free port of loopback with keys and settings of its own, as a user without
 * rights: root starts it as {@code nobody}, whose password is locked, which only PAM overlooks.
 * Nothing of the user's own ssh is read or written. What is started here ends when the thread that
 * starts it ends, even if that is killed; what a server has started for a client ends with the
 * client. One thread.
 */
final class Sshd implements AutoCloseable {
    private static final boolean IS_ROOT = System.getProperty("user.name").equals("root");
    private static final String USER = IS_ROOT ? "nobody" : System.getProperty("user.name");
    private static final Path PROGRAM = Path.of("/usr/sbin/sshd");
    private static final String LOOPBACK = "127.0.0.1";
    private static final int ATTEMPTS = 3;
    private static final long PATIENCE_MS = 30_000;
    private static final long LOOK_MS = 10;
    private static final List<String> END_WITH_PARENT = List.of("setpriv", "--pdeathsig=TERM");

    private final Path folder;
    private final Path log;
    private final int port;
    private final Process process;

    /**
     * Started, and listening.
     *
     * @param folder of its own, new; others may enter it
     */
    Sshd(Path folder) throws IOException, InterruptedException {
        this.folder = folder;
        log = folder.resolve("sshd.log");
        makeKey("host_key");
        makeKey("user_key");
        Files.copy(folder.resolve("user_key.pub"), folder.resolve("authorized"));
        give(folder.resolve("host_key"));
        Process started = null;
        int chosen = 0;
        // Somebody may take the port between choosing and listening.
        for (int i = 0; i < ATTEMPTS && started == null; i++) {
            chosen = freePort();
            started = start(chosen);
        }
        if (started == null) {
            throw new Messages.Failure(
                    "sshd does not listen on " + LOOPBACK + ": " + Files.readString(log).strip());
        }
        process = started;
        port = chosen;
        String key = Files.readString(folder.resolve("host_key.pub")).strip();
        Files.writeString(known(), "[" + LOOPBACK + "]:" + port + " " + key + "\n");
    }

    /** What is missing for it, for people; null: nothing. */
    static String missing() {
        List<String> absent = new ArrayList<>();
        if (!Files.isExecutable(PROGRAM)) {
            absent.add("openssh-server");
        }
        if (!Files.isExecutable(Path.of("/usr/bin/scp"))) {
            absent.add("openssh-client");
        }
        return absent.isEmpty() ? null : String.join(" ", absent);
    }

    /** Lets the server's user own a file or folder. */
    static void give(Path path) throws IOException {
        if (IS_ROOT) {
            Files.setOwner(
                    path,
                    path.getFileSystem()
                            .getUserPrincipalLookupService()
                            .lookupPrincipalByName(USER));
        }
    }

    private void makeKey(String name) throws IOException, InterruptedException {
        Path file = folder.resolve(name);
        Process made =
                new ProcessBuilder(
                                "ssh-keygen",
                                "-q",
                                "-t",
                                "ed25519",
                                "-N",
                                "",
                                "-C",
                                "experiment",
                                "-f",
                                file.toString())
                        .redirectErrorStream(true)
                        .start();
        String said = new String(made.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (made.waitFor() != 0) {
            throw new Messages.Failure("ssh-keygen: " + said.strip());
        }
    }

    /** A port that was free just now. */
    static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    private Process start(int onPort) throws IOException, InterruptedException {
        Path settings = folder.resolve("sshd_config");
        Files.writeString(
                settings,
                """
                ListenAddress %s
                Port %s
                HostKey %s
                AuthorizedKeysFile %s
                PidFile none
                UsePAM yes
                StrictModes no
                PasswordAuthentication no
                KbdInteractiveAuthentication no
                AllowTcpForwarding local
                AllowAgentForwarding no
                X11Forwarding no
                PermitTTY no
                PrintMotd no
                Subsystem sftp internal-sftp
                LogLevel ERROR
                """
                        .formatted(
                                LOOPBACK,
                                onPort,
                                folder.resolve("host_key"),
                                folder.resolve("authorized")));
        List<String> command = new ArrayList<>(END_WITH_PARENT);
        if (IS_ROOT) {
            command.addAll(List.of("--reuid=" + USER, "--regid=nogroup", "--clear-groups"));
        }
        command.addAll(List.of(PROGRAM.toString(), "-D", "-e", "-f", settings.toString()));
        Process started = start(command, log);
        if (isListening(started, onPort)) {
            return started;
        }
        end(started);
        return null;
    }

    private static Process start(List<String> command, Path output) throws IOException {
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
    }

    /** Waits until a process listens on a port; false if it has ended, or does not in time. */
    static boolean isListening(Process listener, int onPort) throws InterruptedException {
        for (long waited = 0; waited < PATIENCE_MS && listener.isAlive(); waited += LOOK_MS) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(LOOPBACK, onPort), 1000);
                return true;
            } catch (IOException e) {
                Thread.sleep(LOOK_MS);
            }
        }
        return false;
    }

    private Path known() {
        return folder.resolve("known_hosts");
    }

    private List<String> options(String program, String portOption) {
        List<String> command = new ArrayList<>(END_WITH_PARENT);
        command.addAll(List.of(program, "-q", "-F", "none"));
        command.addAll(List.of(portOption, Integer.toString(port)));
        command.addAll(List.of("-i", folder.resolve("user_key").toString()));
        for (String each :
                List.of(
                        "IdentitiesOnly=yes",
                        "BatchMode=yes",
                        "StrictHostKeyChecking=yes",
                        "GlobalKnownHostsFile=none",
                        "UserKnownHostsFile=" + known(),
                        "Compression=no")) {
            command.addAll(List.of("-o", each));
        }
        return command;
    }

    /** Starts a copy of files into a folder that the server's user can write. */
    Process copy(List<Path> files, Path target) throws IOException {
        List<String> command = options("scp", "-P");
        files.forEach(file -> command.add(file.toString()));
        command.add(USER + "@" + LOOPBACK + ":" + target + "/");
        return start(command, clientLog());
    }

    /** Starts a tunnel from a port of loopback through the server to another, and waits for it. */
    Process tunnel(int from, int to) throws IOException, InterruptedException {
        List<String> command = options("ssh", "-p");
        command.addAll(List.of("-N", "-o", "ExitOnForwardFailure=yes"));
        command.addAll(List.of("-L", LOOPBACK + ":" + from + ":" + LOOPBACK + ":" + to));
        command.add(USER + "@" + LOOPBACK);
        Process started = start(command, clientLog());
        if (!isListening(started, from)) {
            end(started);
            throw new Messages.Failure("ssh -L: " + clientSaid());
        }
        return started;
    }

    private Path clientLog() {
        return folder.resolve("client.log");
    }

    /** What the last client printed. */
    String clientSaid() throws IOException {
        String said = Files.readString(clientLog()) + Files.readString(log);
        return said.isBlank() ? "it ended without a word" : said.strip();
    }

    /** Ends a process, and waits. */
    static void end(Process process) {
        process.descendants().forEach(ProcessHandle::destroy);
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        end(process);
    }
}
