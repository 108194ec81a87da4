package dev.verbena.cli.doctor;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.transfer.PerfEndpoint;
import dev.verbena.cli.transfer.PerfPeer;
import dev.verbena.transport.TransportProvider;
import dev.verbena.transport.Transports;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Tries every transport between two real processes: put, get, compare. */
final class DoctorTransports {
    private static final int LENGTH = 100_000;
    private static final int START_SECONDS = 30;
    private static final long END_MS = 2_000;

    private final List<String> working = new ArrayList<>();
    private String provider = "";

    /** Schemes of which the trial succeeded, once {@link #findings} has run. */
    List<String> working() {
        return working;
    }

    List<Finding> findings() {
        List<Finding> findings = new ArrayList<>();
        for (TransportProvider provider : Transports.providers()) {
            findings.addAll(of(provider));
        }
        return findings;
    }

    private List<Finding> of(TransportProvider provider) {
        String name = provider.scheme() + "://";
        String cause = provider.unavailabilityCause();
        if (cause != null && provider.scheme().equals("verbs")) {
            return List.of(
                    Finding.note(
                            name,
                            "no RDMA device that can be used",
                            "nothing between hosts that ofi:// and TCP join; they are slower",
                            "./verbena devices says why; ./verbena rdma-vm has a software one"));
        }
        if (cause != null && provider.scheme().equals("ofi")) {
            return List.of(
                    Finding.note(
                            name,
                            cause,
                            "between hosts there is verbs:// only",
                            "apt-get install libfabric1 as root"));
        }
        if (cause != null) {
            return List.of(Finding.wrong(name, "cannot work", cause, "see native library"));
        }
        this.provider = "";
        String failure = attempt(provider.scheme(), false);
        if (failure != null) {
            return List.of(
                    Finding.wrong(
                            name,
                            "put and get between two processes failed",
                            failure,
                            "./verbena --verbose lat --transport " + provider.scheme()));
        }
        working.add(provider.scheme());
        List<Finding> findings = new ArrayList<>();
        findings.add(
                Finding.ok(
                        name, "put and get between two processes, bytes compared" + this.provider));
        String foreign = attempt(provider.scheme(), true);
        String title = name + " attach";
        findings.add(
                foreign == null
                        ? Finding.ok(
                                title, "reads and writes memory that the toolkit did not allocate")
                        : Finding.warning(
                                title,
                                "memory that the toolkit did not allocate cannot be registered",
                                foreign,
                                "sysctl -w kernel.yama.ptrace_scope=0 as root; in a container"
                                        + " --cap-add=SYS_PTRACE; or the option foreignMemory=bounce"));
        return findings;
    }

    /** Which of libfabric's providers is used, of an explanation that begins with it. */
    static String providerIn(String explanation) {
        return explanation.startsWith("libfabric ")
                ? "; " + explanation.replaceFirst("(?s): .*", "")
                : "";
    }

    /** Why it does not work; null if it does. */
    private String attempt(String scheme, boolean isForeign) {
        PerfEndpoint.Settings manner = PerfEndpoint.Settings.small(isForeign);
        CompletableFuture<String> uri = new CompletableFuture<>();
        ChildProcess child = null;
        try (PerfEndpoint endpoint = new PerfEndpoint(scheme, LENGTH, manner)) {
            child =
                    ChildProcess.start(
                            "other process",
                            null,
                            Map.of(),
                            List.of("-Xmx64m", "-XX:TieredStopAtLevel=1"),
                            PerfPeer.arguments(scheme, LENGTH, manner),
                            message -> uri.complete(message.substring("uri ".length())));
            ChildProcess watched = child;
            watched.process().onExit().thenRun(() -> uri.complete(""));
            String address = uri.get(START_SECONDS, TimeUnit.SECONDS);
            if (address.isEmpty()) {
                watched.waitFor(0);
                return watched.exitSummary();
            }
            endpoint.connect(java.net.URI.create(address));
            provider = providerIn(endpoint.explain());
            return endpoint.roundTrip(LENGTH)
                    ? null
                    : "the bytes that came back differ from those that were put";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "interrupted";
        } catch (TimeoutException e) {
            return "the other process does not come up within " + START_SECONDS + " s";
        } catch (Exception e) {
            return Messages.of(e);
        } finally {
            if (child != null) {
                child.end(END_MS);
            }
        }
    }
}
