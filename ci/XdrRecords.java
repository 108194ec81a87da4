import dev.verbena.nessie.xdr.compiler.XdrCompiler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Writes the records of the array service: {@code XdrRecords SOURCES FOLDER}. */
public final class XdrRecords {
    private static final String PACKAGE = "dev.verbena.nessie.service.wire";

    private XdrRecords() {}

    public static void main(String[] args) throws IOException {
        Path source = Path.of(args[0], "array.x");
        Path folder = Path.of(args[1], PACKAGE.split("\\."));
        Map<String, String> files =
                XdrCompiler.compile(
                        source.toString(),
                        Files.readString(source),
                        new XdrCompiler.Options(
                                PACKAGE,
                                XdrCompiler.LENGTH_MAX_DEFAULT,
                                XdrCompiler.DEPTH_DEFAULT));
        Files.createDirectories(folder);
        for (Map.Entry<String, String> each : files.entrySet()) {
            Files.writeString(folder.resolve(each.getKey()), each.getValue());
        }
    }
}
