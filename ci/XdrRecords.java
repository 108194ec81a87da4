import dev.verbena.nessie.xdr.compiler.XdrCompiler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Writes the records of a module's .x files: {@code XdrRecords SOURCES FOLDER}. */
public final class XdrRecords {
    private static final Map<String, String> PACKAGES =
            Map.of(
                    "rpc.x", "dev.verbena.nessie.rpc.wire",
                    "array.x", "dev.verbena.nessie.service.wire",
                    "series.x", "dev.verbena.examples.rpc.wire");

    private XdrRecords() {}

    public static void main(String[] args) throws IOException {
        for (Map.Entry<String, String> each : PACKAGES.entrySet()) {
            Path source = Path.of(args[0], each.getKey());
            if (Files.exists(source)) {
                write(source, each.getValue(), args[1]);
            }
        }
    }

    private static void write(Path source, String itsPackage, String made) throws IOException {
        Path folder = Path.of(made, itsPackage.split("\\."));
        Map<String, String> files =
                XdrCompiler.compile(
                        source.toString(),
                        Files.readString(source),
                        new XdrCompiler.Options(
                                itsPackage,
                                XdrCompiler.LENGTH_MAX_DEFAULT,
                                XdrCompiler.DEPTH_DEFAULT));
        Files.createDirectories(folder);
        for (Map.Entry<String, String> file : files.entrySet()) {
            Files.writeString(folder.resolve(file.getKey()), file.getValue());
        }
    }
}
