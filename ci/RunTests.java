import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs single test methods in this JVM and says how each ended. Arguments: {@code package.Class#method}, all invocations of a
 * parameterised one, or {@code package.Class}, all its methods. JUnit's console launcher finds a method only with its parameter types, and its report does not tell a time-out
 * from any other exception.
 *
 * <p>Prints {@code result Class#method END: message}. END is {@code passed}, {@code assertion}, {@code time-out}, {@code exception TYPE},
 * {@code skipped} or {@code not found}. A test of which there is no such line ended the JVM.
 */
public final class RunTests implements TestExecutionListener {
    private record End(String how, String message) {}

    /** What befalls a class, before or after its tests, befalls each of them. */
    private static final String CLASS = "";

    /** Method to its end; of several invocations the one that says most. */
    private final Map<String, End> ends = new LinkedHashMap<>();

    public static void main(String[] tests) {
        // One request for each class: the methods that were asked for are not those of the same name elsewhere.
        Map<String, List<String>> methods = new LinkedHashMap<>();
        for (String test : tests) {
            String[] parts = test.split("#");
            List<String> asked = methods.computeIfAbsent(parts[0], k -> new ArrayList<>());
            if (parts.length > 1) {
                asked.add(parts[1]);
            }
        }
        for (Map.Entry<String, List<String>> type : methods.entrySet()) {
            RunTests listener = new RunTests();
            LauncherFactory.create().execute(request(type.getKey(), type.getValue()), listener);
            String name = type.getKey().replaceFirst(".*\\.", "");
            End ofClass = listener.ends.remove(CLASS);
            Iterable<String> asked = type.getValue().isEmpty() ? List.copyOf(listener.ends.keySet()) : type.getValue();
            if (ofClass != null && type.getValue().isEmpty()) {
                System.out.printf("result %s %s: %s%n", name, ofClass.how, ofClass.message);
            }
            for (String method : asked) {
                if (ofClass != null) {
                    listener.ends.merge(method, ofClass, RunTests::worse);
                }
                End end = listener.ends.getOrDefault(method, new End("not found", ""));
                System.out.printf("result %s#%s %s: %s%n", name, method, end.how, end.message);
            }
        }
        System.exit(0);
    }

    private static LauncherDiscoveryRequest request(String type, List<String> methods) {
        PostDiscoveryFilter isAsked = test -> FilterResult.includedIf(methods.isEmpty() || methods.contains(methodName(test.getSource().orElse(null))));
        return LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(type))
                .filters(isAsked)
                .configurationParameter("junit.jupiter.execution.timeout.default", "3 m")
                .configurationParameter("jqwik.database", "target/jqwik-" + ProcessHandle.current().pid())
                .build();
    }

    private static String methodName(TestSource source) {
        return source instanceof MethodSource method ? method.getMethodName() : CLASS;
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        add(test, "skipped", reason);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        Throwable thrown = result.getThrowable().orElse(null);
        String message = thrown == null ? "" : String.valueOf(thrown.getMessage());
        switch (result.getStatus()) {
            case SUCCESSFUL -> {
                if (test.isTest()) {
                    add(test, "passed", "");
                }
            }
            case ABORTED -> add(test, "skipped", message);
            default -> {
                thrown.printStackTrace();
                add(test, how(thrown), message);
            }
        }
    }

    private static String how(Throwable thrown) {
        // One that failed in another thread arrives as a cause.
        for (Throwable t = thrown; t != null; t = t.getCause()) {
            if (t instanceof AssertionError) {
                return "assertion";
            }
        }
        return thrown instanceof TimeoutException ? "time-out" : "exception " + thrown.getClass().getSimpleName();
    }

    private void add(TestIdentifier test, String how, String message) {
        End end = new End(how, message.lines().findFirst().orElse(""));
        ends.merge(methodName(test.getSource().orElse(null)), end, RunTests::worse);
    }

    private static End worse(End a, End b) {
        return weight(b) > weight(a) ? b : a;
    }

    private static int weight(End end) {
        return switch (end.how) {
            case "skipped" -> 0;
            case "passed" -> 1;
            case "assertion" -> 4;
            case "time-out" -> 3;
            default -> 2;
        };
    }
}
