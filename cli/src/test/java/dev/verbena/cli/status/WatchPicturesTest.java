package dev.verbena.cli.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.CountersFile;
import dev.verbena.agent.FieldPictures;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.report.Png;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The pictures as the server gives them out, without a browser. */
@Timeout(60)
class WatchPicturesTest {
    @TempDir Path shm;

    private static byte[] picture(int height) {
        return Png.encode(2, height, (x, y) -> new int[3]);
    }

    private static HttpResponse<byte[]> get(String address, String method) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(address))
                                .method(method, HttpRequest.BodyPublishers.noBody())
                                .build(),
                        HttpResponse.BodyHandlers.ofByteArray());
    }

    private RealEnvironment environment() {
        return RealEnvironment.builder().shmDirectory(shm).errorHandler(e -> {}).build();
    }

    private static WatchServer server(WatchPictures pictures) throws Exception {
        return new WatchServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new WatchFeed(),
                pictures);
    }

    private static List<Map<String, Object>> sample(WatchPictures pictures, Path counters)
            throws Exception {
        pictures.begin();
        List<Map<String, Object>> told = pictures.take(CountersFile.read(counters));
        pictures.publish();
        return told;
    }

    @Test
    void shouldGiveOutThePicturesOfTheNewestTwoSamples() throws Exception {
        WatchPictures pictures = new WatchPictures();
        try (RealEnvironment environment = environment();
                WatchServer server = server(pictures)) {
            Path counters = environment.countersPath();
            assertThat(sample(pictures, counters)).isEmpty();
            environment.pictures().show("density", 5, picture(1));
            Map<String, Object> first = sample(pictures, counters).get(0);
            assertThat(first)
                    .containsEntry("field", "density")
                    .containsEntry("step", 5L)
                    .containsEntry("width", 2)
                    .containsEntry("height", 1);
            String root = server.address("127.0.0.1") + "pictures/";
            HttpResponse<byte[]> answer = get(root + first.get("id"), "GET");
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.headers().firstValue("Content-Type")).contains("image/png");
            assertThat(answer.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
            assertThat(answer.body()).isEqualTo(FieldPictures.read(counters).get(0).png());

            environment.pictures().show("density", 6, picture(2));
            Map<String, Object> second = sample(pictures, counters).get(0);
            assertThat(second.get("id")).isNotEqualTo(first.get("id"));
            // A page that was told of the sample before is still loading.
            assertThat(get(root + first.get("id"), "GET").statusCode()).isEqualTo(200);
            sample(pictures, counters);
            assertThat(get(root + first.get("id"), "GET").statusCode()).isEqualTo(404);
            assertThat(get(root + second.get("id"), "GET").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void shouldGiveOutNothingElse() throws Exception {
        WatchPictures pictures = new WatchPictures();
        try (RealEnvironment environment = environment();
                WatchServer server = server(pictures)) {
            environment.pictures().show("density", 5, picture(1));
            Object id = sample(pictures, environment.countersPath()).get(0).get("id");
            String root = server.address("127.0.0.1");
            String file = environment.countersPath().getFileName().toString();
            for (String rest :
                    List.of(
                            "pictures",
                            "pictures/",
                            "pictures/density.png",
                            "pictures/../pictures/" + id,
                            "pictures/%2e%2e/" + file,
                            "pictures//etc/passwd",
                            "pictures/" + id + "/",
                            "picture/" + id)) {
                assertThat(get(root + rest, "GET").statusCode()).as(rest).isEqualTo(404);
            }
            assertThat(get(root + "pictures/" + id, "POST").statusCode()).isEqualTo(405);
            String other = root.replaceFirst("/[^/]*/$", "/AAAAAAAAAAAAAAAAAAAAAA/");
            assertThat(get(other + "pictures/" + id, "GET").statusCode()).isEqualTo(404);
            assertThat(
                            get(root, "GET")
                                    .headers()
                                    .firstValue("Content-Security-Policy")
                                    .orElseThrow())
                    .contains("img-src 'self';");
        }
    }
}
