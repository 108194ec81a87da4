package dev.verbena.staging.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.agent.DurableStore;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ForwardingEnvironment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.agent.RealEnvironment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ServiceFileTest {
    private static final ServiceAddress ADDRESS =
            new ServiceAddress("stg/1", new UUID(1, 2), 1234, URI.create("shm://job/name?i=1"));

    @TempDir Path directory;
    private RealEnvironment environment;
    private Path path;
    private ServiceFile service;
    private ServiceFile client;

    @BeforeEach
    void open() {
        environment = RealEnvironment.create();
        path = directory.resolve("service");
        service = new ServiceFile(environment, path.toString(), ServiceAddress.LENGTH_MAX);
        client = new ServiceFile(environment, path.toString(), ServiceAddress.LENGTH_MAX);
    }

    @AfterEach
    void close() {
        service.close();
        client.close();
        environment.close();
    }

    private static void publish(ServiceFile by, String text) {
        by.publish(text, "x");
        Await.until(
                "published",
                () -> {
                    by.publishStep();
                    return by.isPublished();
                });
    }

    @Test
    void shouldShowClientsWhatALivingServicePublished() {
        assertThat(client.readCurrent()).isNull();
        assertThat(client.whyNot()).contains("there is no file " + path);
        assertThat(service.claim(0)).isTrue();
        assertThat(client.isServed()).isTrue();
        assertThat(client.isClaimed(0)).isTrue();
        assertThat(client.isClaimed(1)).isFalse();
        assertThat(client.isPublisherAlive()).isFalse();
        publish(service, ADDRESS.encode());
        assertThat(ServiceAddress.parse(client.readCurrent(), "stg/1")).isEqualTo(ADDRESS);
    }

    /** A client that looks whether somebody has the lock has it itself for a moment. */
    @Test
    void shouldTakeTheLockOfThePublisherWhenAClientHasLooked() throws Exception {
        service.claim(0);
        service.publish(ADDRESS.encode(), "x");
        try (DurableStore store = environment.store(directory.toString())) {
            AutoCloseable look = store.tryLock("service.lock", 1L << 32);
            Await.until(
                    "the file is there",
                    () -> {
                        service.publishStep();
                        return ADDRESS.encode().equals(client.read());
                    });
            service.publishStep();
            assertThat(service.isPublished()).isFalse();
            look.close();
        }
        Await.until(
                "published",
                () -> {
                    service.publishStep();
                    return service.isPublished();
                });
        assertThat(client.isPublisherAlive()).isTrue();
    }

    @Test
    void shouldLetOneServiceClaimTheFile() {
        assertThat(service.claim(0)).isTrue();
        assertThat(service.claim(0)).isTrue();
        assertThat(client.claim(0)).isFalse();
        assertThat(client.claim(1)).isTrue();
        service.close();
        try (ServiceFile next = new ServiceFile(environment, path.toString(), 100)) {
            assertThat(next.claim(0)).isTrue();
        }
    }

    @Test
    void shouldRefuseAFileThatWasLeftOver() {
        service.claim(0);
        publish(service, ADDRESS.encode());
        service.close();
        assertThat(client.read()).isEqualTo(ADDRESS.encode());
        assertThat(client.readCurrent()).isNull();
        assertThat(client.whyNot()).contains("stale");
    }

    @Test
    void shouldNotTakeTheFileOfTheServiceBeforeForThatOfOneThatOnlyBegins() throws IOException {
        Files.writeString(path, ADDRESS.encode());
        assertThat(service.claim(0)).isTrue();
        assertThat(client.readCurrent()).isNull();
    }

    @Test
    void shouldReadNoMoreThanTheLongestFile() throws IOException {
        service.claim(0);
        publish(service, ADDRESS.encode());
        Files.writeString(path, "x".repeat(1 << 20));
        assertThat(client.readCurrent()).hasSize(ServiceAddress.LENGTH_MAX);
    }

    @Test
    void shouldRefuseForeignAndDamagedFiles() {
        String text = ADDRESS.encode();
        assertThatThrownBy(() -> ServiceAddress.parse(text, "stg/2"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'stg/1', not stg/2");
        for (int at = 0; at < text.length(); at++) {
            String damaged = text.substring(0, at) + '#' + text.substring(at + 1);
            assertThatThrownBy(() -> ServiceAddress.parse(damaged, "stg/1"))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        for (String url : new String[] {"no-scheme", "shm://a b"}) {
            String wrong = text.substring(0, text.indexOf("url=")) + "url=" + url + "\n";
            assertThatThrownBy(
                            () ->
                                    ServiceAddress.parse(
                                            dev.verbena.staging.file.CheckedLines.encode(wrong),
                                            "stg/1"))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldWithdrawItsOwnFileOnly() throws IOException {
        try (ServicePublisher publisher =
                new ServicePublisher(environment, path.toString(), "stg/1")) {
            Await.until(
                    "published",
                    () -> {
                        publisher.doWork(ADDRESS.url());
                        return publisher.isPublished();
                    });
            Files.writeString(path, "of another service");
        }
        assertThat(path).hasContent("of another service");
    }

    @Test
    void shouldSayWhyItCannotPublish() throws IOException {
        Files.createDirectory(directory.resolve("service.tmp-x"));
        assertThatThrownBy(() -> publish(service, "text"))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("cannot publish " + path);
        assertThat(service.publishStep()).isZero();
    }

    @Test
    void shouldPublishTheAddressAgainWhenItCouldNotOnce() throws IOException {
        Files.createDirectory(directory.resolve("refused"));
        try (ServicePublisher publisher =
                new ServicePublisher(refusing(environment), path.toString(), "stg/1")) {
            AtomicInteger failures = new AtomicInteger();
            Await.until(
                    "published",
                    () -> {
                        try {
                            publisher.doWork(ADDRESS.url());
                        } catch (UncheckedIOException e) {
                            assertThat(e).hasMessageContaining("cannot publish " + path);
                            failures.incrementAndGet();
                            assertThat(publisher.nextDeadlineNs())
                                    .isLessThan(ProtocolAgent.NO_DEADLINE);
                        }
                        return publisher.isPublished();
                    });
            assertThat(failures).hasValue(1);
            assertThat(ServiceAddress.parse(service.readCurrent(), "stg/1").url())
                    .isEqualTo(ADDRESS.url());
        }
    }

    /** Its stores do not write the first file that they are asked to write. */
    private static Environment refusing(Environment environment) {
        return new ForwardingEnvironment(environment) {
            @Override
            public DurableStore store(String path) {
                DurableStore store = super.store(path);
                AtomicInteger written = new AtomicInteger();
                return (DurableStore)
                        Proxy.newProxyInstance(
                                DurableStore.class.getClassLoader(),
                                new Class<?>[] {DurableStore.class},
                                (proxy, method, arguments) -> {
                                    if (method.getName().equals("append")
                                            && written.getAndIncrement() == 0) {
                                        arguments[0] = "refused";
                                    }
                                    return method.invoke(store, arguments);
                                });
            }
        };
    }

    @Test
    void shouldPublishTheAddressAsSoonAsTheFileIsFree() {
        assertThat(client.claim(0)).isTrue();
        try (ServicePublisher publisher =
                new ServicePublisher(environment, path.toString(), "stg/1")) {
            assertThat(publisher.doWork(ADDRESS.url())).isZero();
            client.close();
            Await.until(
                    "published",
                    () -> {
                        publisher.doWork(ADDRESS.url());
                        return publisher.isPublished();
                    });
            ServiceAddress found = ServiceAddress.parse(service.readCurrent(), "stg/1");
            assertThat(found.url()).isEqualTo(ADDRESS.url());
        }
        Await.until("withdrawn", () -> !Files.exists(path));
    }
}
