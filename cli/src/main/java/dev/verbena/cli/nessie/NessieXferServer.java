package dev.verbena.cli.nessie;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.nessie.NessieServer;
import dev.verbena.nessie.xfer.XferService;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code nessie xfer-server}. */
@Command(
        name = "xfer-server",
        description = "Serve transfers of arrays until a client ends each server.",
        sortOptions = false)
public final class NessieXferServer extends ServerCommand {
    private static final long TRACE_LENGTH_MAX = 64 << 20;

    @Mixin private XferOptions options;

    @Override
    public Integer call() throws Exception {
        options.check(spec);
        return run(options.job, options.servers);
    }

    @Override
    Served start(RealEnvironment environment, int place) {
        NessieServer.Builder builder =
                NessieServer.builder(environment, options.open(options.job))
                        .options(options.ofServer());
        if (options.traces != null) {
            Path own = options.traces.resolve("server" + place);
            builder.traces(own.toString(), TRACE_LENGTH_MAX);
        }
        NessieServer server = XferService.serve(builder).start();
        return new Served(server.url(), server::exitCode, server);
    }
}
