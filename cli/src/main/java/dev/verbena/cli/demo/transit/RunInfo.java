package dev.verbena.cli.demo.transit;

import dev.verbena.cli.terminal.ThisMachine;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a report says about the run besides physics and staging.
 *
 * @param transport scheme of the transport used
 * @param serverCount service processes
 * @param processCount compute processes
 * @param buffered whether restart files were sent as one message each
 * @param stepCount steps of the run
 * @param environment where it ran, name to value, in order
 */
public record RunInfo(
        String transport,
        int serverCount,
        int processCount,
        boolean buffered,
        long stepCount,
        Map<String, String> environment) {

    /** This machine and this JVM. */
    public static Map<String, String> thisMachine() {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("Processor", ThisMachine.processor());
        values.put("Processors used", Integer.toString(Runtime.getRuntime().availableProcessors()));
        values.put(
                "System",
                "%s %s, %s"
                        .formatted(
                                System.getProperty("os.name"),
                                System.getProperty("os.version"),
                                System.getProperty("os.arch")));
        values.put(
                "Java",
                System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
        return values;
    }
}
