package dev.verbena.staging.sink;

import static dev.verbena.staging.sink.SinkTester.doubles;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Arrays in a folder of files, and sinks by URI. */
class ArrayFilesTest {
    @TempDir Path folder;
    private SinkSession session;

    @BeforeEach
    void open() throws IOException {
        session = Sinks.of("file:" + folder.resolve("out"), null).open();
    }

    private void send(String name, int length) throws IOException {
        Path file = Files.write(folder.resolve(name), new byte[length]);
        try (FileChannel channel = FileChannel.open(file)) {
            session.transfer(new SinkDataset(name, "double", length, 8, null, false), channel);
        }
    }

    private void run(String command) throws IOException {
        assertThat(TarText.run(session, command)).isEqualTo(TarText.DONE);
    }

    @Test
    void shouldMapArraysAndTheirRegions() throws IOException {
        String create =
                "create_tar(\"vel\", \"*\", \"implicit,t,int,0,*,1 | implicit,i,int,0,2,1\", \"v,double\");";
        run(create);
        send("d0", 24);
        String load = "load_subtar(\"vel\", \"ordered,t,0,0 | ordered,i,0,2\", \"v,d0\");";
        run(load);
        assertThat(folder.resolve("out/vel.tar")).hasContent(create);
        assertThat(folder.resolve("out/vel.0-0_0-2.subtar")).hasContent(load);
        for (String wrong :
                new String[] {
                    create,
                    load,
                    load.replace("0,0", "0,5"),
                    load.replace("0,0", "1,2"),
                    load.replace("v,d0", "v,d1"),
                    load.replace("v,d0", "w,d0"),
                    load.replace("0,2", "1,3"),
                    load.replace("| ordered,i,0,2", ""),
                    load.replace("vel", "val"),
                    load.replace("vel", "../vel"),
                    load.replace("\");", ""),
                    load + "x",
                    create.replace("vel", "new").replace("\"*\"", "\"T\""),
                    create.replace("vel", "new").replace("0,*,1", "0,*,0"),
                    create.replace("vel", "new").replace("v,double", "i,double"),
                    create.replace("vel", "new").replace("v,double", "v,text"),
                    create.replace("vel", "new").replace("0,*,1", "1e300,*,1"),
                    "show();",
                }) {
            assertThatThrownBy(() -> run(wrong))
                    .as(wrong)
                    .isInstanceOf(SinkRejectedException.class);
        }
        run(load.replace("0,0", "1,1"));
        try (var files = Files.list(folder.resolve("out"))) {
            assertThat(files.filter(each -> each.toString().endsWith("tar")).count()).isEqualTo(3);
        }
    }

    /** A server that was killed before it began a transfer cannot tell. */
    @Test
    void shouldKeepAnEarlierDatasetWhenAnotherOfItsNameMayBeRepeated() throws IOException {
        SinkTester tester = new SinkTester(folder, session);
        Path raw = folder.resolve("out/d.raw");
        Path json = folder.resolve("out/d.json");
        tester.send("d", "double", 8, null, true, doubles(0, 3));
        String described = Files.readString(json);
        tester.send("d", "double", 8, null, true, doubles(0, 3));
        assertThat(raw).hasBinaryContent(doubles(0, 3).array());
        for (ByteBuffer other : List.of(doubles(1, 3), doubles(0, 4), doubles(0, 2))) {
            assertThatThrownBy(() -> tester.send("d", "double", 8, null, true, other))
                    .isInstanceOf(SinkRejectedException.class)
                    .hasMessageContaining(raw + " with other bytes");
        }
        assertThatThrownBy(() -> tester.send("d", "long", 8, null, true, doubles(0, 3)))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining(json + " of another dataset");
        assertThat(raw).hasBinaryContent(doubles(0, 3).array());
        assertThat(json).hasContent(described);
        Files.delete(json);
        tester.send("d", "double", 8, null, true, doubles(0, 3));
        assertThat(json).hasContent(described);
    }

    @Test
    void shouldNameTheArtifactThatIsMissing() {
        assertThatThrownBy(() -> Sinks.of("postgres://x/y", null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("needs the artifact dev.verbena:verbena-sink-postgres");
        assertThatThrownBy(() -> Sinks.of("nothing:x", null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no known sink")
                .hasMessageContaining("file:DIR");
        assertThatThrownBy(() -> Sinks.of("file:", null))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
