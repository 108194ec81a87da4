package dev.verbena;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import dev.verbena.agent.internal.KillSteps;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Rules that several modules share; each module's {@code ArchitectureTest} runs them on its own
 * classes.
 */
public final class ArchitectureRules {
    private ArchitectureRules() {}

    /** Main classes of the module whose tests run, without what JMH generates. */
    public static final class ThisModule implements ImportOption {
        private static final String MAIN = Path.of("target/classes").toAbsolutePath() + "/";

        @Override
        public boolean includes(Location location) {
            return location.contains(MAIN) && !location.contains("/jmh_generated/");
        }
    }

    /** A module with a transport and the interface below it. */
    public static final class Provider {
        @ArchTest static final ArchRule SIGNATURES = publicSignaturesAreFreeOfJavaCpp();

        @ArchTest static final ArchRule NO_CIRCLE = packagesHaveNoCircle();

        @ArchTest static final ArchTests FIELDS = ArchTests.in(FieldWrites.class);

        @ArchTest
        static final ArchRule NOTHING_POINTS_UP =
                noClasses()
                        .should()
                        .dependOnClassesThat()
                        .resideInAnyPackage(
                                "dev.verbena.dart..",
                                "dev.verbena.examples..",
                                "dev.verbena.cli..");

        private Provider() {}
    }

    /** A module with a sink: of the staging it uses the interface of sinks only. */
    public static final class Sink {
        @ArchTest static final ArchTests FIELDS = ArchTests.in(FieldWrites.class);

        @ArchTest
        static final ArchRule SINK =
                noClasses()
                        .should()
                        .dependOnClassesThat()
                        .resideInAnyPackage(
                                "dev.verbena.savime..",
                                "dev.verbena.dart..",
                                "dev.verbena.transport..");

        private Sink() {}
    }

    /** Generated bindings stay below; nothing of JavaCPP is seen by users. */
    public static ArchRule publicSignaturesAreFreeOfJavaCpp() {
        return methods()
                .that()
                .arePublic()
                .and()
                .areDeclaredInClassesThat()
                .arePublic()
                .and()
                .areDeclaredInClassesThat()
                .resideOutsideOfPackages("..bindings..", "..presets..")
                .should(notMentionJavaCpp())
                .as("no public method outside the bindings mentions a JavaCPP type")
                .allowEmptyShould(true);
    }

    /** Whoever reads a package can understand it without those that use it. */
    public static ArchRule packagesHaveNoCircle() {
        return SlicesRuleDefinition.slices()
                .matching("dev.verbena.(**)")
                .should()
                .beFreeOfCycles()
                .as("packages depend on one another in one direction");
    }

    /** javac drops the steps only where {@link KillSteps#ENABLED} guards them. */
    public static ArchRule ordinaryBuildsHaveNoKillStep() {
        return noClasses()
                .should()
                .callMethod(KillSteps.class, "step", String.class)
                .as("ordinary builds have no labelled step");
    }

    /**
     * Protocols know the contract, memory and agents; no provider, no binding, no other library.
     */
    public static ArchRule protocolsDependOnTheContractOnly(String... own) {
        String[] allowed =
                Stream.concat(
                                Stream.of(own),
                                Stream.of(
                                        "java..",
                                        "javax.crypto..",
                                        "org.agrona..",
                                        "dev.verbena.transport..",
                                        "dev.verbena.memory..",
                                        "dev.verbena.agent.."))
                        .toArray(String[]::new);
        return noClasses()
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages(allowed)
                .as("protocols depend on the contract, memory and agents only");
    }

    /** Everything that an engine touches comes from its environment. */
    public static ArchRule enginesTakeTheWorldFromTheEnvironment() {
        return noClasses()
                .should(useTheWorld())
                .as("engines use no socket, file, thread, clock or chance but the environment's");
    }

    private static ArchCondition<JavaMethod> notMentionJavaCpp() {
        return new ArchCondition<>("not mention JavaCPP") {
            @Override
            public void check(JavaMethod method, ConditionEvents events) {
                Stream.concat(
                                Stream.of(method.getRawReturnType()),
                                method.getRawParameterTypes().stream())
                        .filter(t -> t.getPackageName().startsWith("org.bytedeco"))
                        .map(t -> method.getFullName() + " mentions " + t.getName())
                        .forEach(m -> events.add(SimpleConditionEvent.violated(method, m)));
            }
        };
    }

    private static ArchCondition<JavaClass> useTheWorld() {
        return new ArchCondition<>("use the world directly") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                type.getDirectDependenciesFromSelf().stream()
                        .filter(d -> isWorld(d.getTargetClass()))
                        .forEach(
                                d ->
                                        events.add(
                                                SimpleConditionEvent.satisfied(
                                                        d, d.getDescription())));
                type.getMethodCallsFromSelf().stream()
                        .filter(c -> isWorldCall(c.getTargetOwner().getName(), c.getName()))
                        .forEach(
                                c ->
                                        events.add(
                                                SimpleConditionEvent.satisfied(
                                                        c, c.getDescription())));
            }
        };
    }

    private static boolean isWorld(JavaClass target) {
        String name = target.getName();
        String inPackage = target.getPackageName();
        return inPackage.equals("java.net") && !name.startsWith("java.net.URI")
                || inPackage.startsWith("java.nio.channels")
                || inPackage.startsWith("java.nio.file")
                || inPackage.equals("java.io") && name.contains("File")
                || inPackage.equals("java.util.concurrent")
                || inPackage.startsWith("java.util.concurrent.locks")
                || name.equals("java.lang.Thread")
                || name.equals("java.util.Random")
                || name.equals("java.util.concurrent.ThreadLocalRandom")
                || name.equals("java.util.Timer");
    }

    private static boolean isWorldCall(String owner, String method) {
        return switch (owner) {
            case "java.lang.System" ->
                    method.equals("nanoTime")
                            || method.equals("currentTimeMillis")
                            || method.equals("getenv")
                            || method.equals("getProperty");
            case "java.util.UUID" -> method.equals("randomUUID");
            case "java.lang.Math" -> method.equals("random");
            case "java.time.Instant", "java.time.LocalDateTime" -> method.equals("now");
            default -> false;
        };
    }
}
