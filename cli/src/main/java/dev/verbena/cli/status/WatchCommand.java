package dev.verbena.cli.status;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.HostPort;
import dev.verbena.cli.terminal.Termination;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code verbena watch}. */
@Command(
        name = "watch",
        description = {
            "Show the running processes of staging jobs on a local web page: rates, queues, stalls,"
                    + " lost and spilled, distinct errors, pictures of the newest fields.",
            "Prints the page's address, which holds a token; who has it can read and nothing more."
                    + " The page needs no network but this address. Reads shared memory only; the"
                    + " processes do not notice. Ends at Ctrl-C."
        })
public final class WatchCommand extends CliCommand {
    @Mixin private JobOption of;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:0",
            converter = HostPort.Converter.class,
            description = "Address of the page; port 0: any. Default: 127.0.0.1:0.")
    private HostPort listen;

    @Option(
            names = "--interval",
            paramLabel = "SECONDS",
            description = "Time between two looks, 0.1 to 60. Default: 1.")
    private double interval = 1;

    @Override
    public Integer call() throws IOException, InterruptedException {
        inRange("--interval", interval, 0.1, 60);
        InetAddress address = InetAddress.getByName(listen.host());
        WatchFeed feed = new WatchFeed();
        WatchPictures pictures = new WatchPictures();
        try (Termination termination = new Termination(2_000);
                WatchServer server =
                        new WatchServer(
                                new InetSocketAddress(address, listen.port()), feed, pictures)) {
            say("watching" + Jobs.named(of.job()) + " on " + server.address(listen.host()));
            if (!address.isLoopbackAddress()) {
                say("Who has this address can read it; it travels unencrypted.");
            }
            do {
                feed.publish(WatchSample.json(of.job(), interval, pictures));
            } while (!termination.await((long) (interval * 1e3)));
        } finally {
            feed.close();
        }
        return 0;
    }
}
