package dev.verbena.dart;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import dev.verbena.ArchitectureRules;
import dev.verbena.FieldWrites;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Tag;

/** The arrows of this module. */
@AnalyzeClasses(packages = "dev.verbena", importOptions = ArchitectureRules.ThisModule.class)
@ArchTag("once")
class ArchitectureTest {
    @ArchTest
    static final ArchRule DEPENDENCIES =
            ArchitectureRules.protocolsDependOnTheContractOnly(
                    "dev.verbena.dart..",
                    "dev.verbena.flesnet..",
                    "dev.verbena.nessie..",
                    "dev.verbena.savime..",
                    "dev.verbena.staging..",
                    "com.github.luben.zstd..",
                    "javax.lang.model");

    /** Protocols share the kit, and know nothing of one another. */
    @ArchTest
    static final ArchRule PROTOCOLS =
            slices().matching("dev.verbena.(dart|flesnet|nessie|savime)..")
                    .should()
                    .notDependOnEachOther();

    @ArchTest
    static final ArchRule ARCHIVES =
            noClasses()
                    .that()
                    .resideOutsideOfPackage("dev.verbena.flesnet.archive..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("com.github.luben.zstd..");

    @ArchTest
    static final ArchRule FLESNET_CIRCLES =
            slices().matching("dev.verbena.flesnet.(*)..").should().beFreeOfCycles();

    @ArchTest
    @Tag("nsim-42")
    static void shouldTakeTheWorldFromTheEnvironment(JavaClasses classes) {
        ArchitectureRules.enginesTakeTheWorldFromTheEnvironment().check(classes.that(not(WAITS)));
    }

    /**
     * No engines: what opens one, files, senders and sinks, whose calls may wait; futures; shared
     * memory of consumers and sources outside, which no simulation has.
     */
    private static final DescribedPredicate<JavaClass> WAITS =
            resideInAnyPackage(
                    "dev.verbena.flesnet.consume",
                    "dev.verbena.flesnet.source",
                    "dev.verbena.flesnet.stream",
                    "dev.verbena.nessie",
                    "dev.verbena.savime",
                    "dev.verbena.savime.store",
                    "dev.verbena.savime.forward",
                    "dev.verbena.savime.query",
                    "dev.verbena.staging.forward",
                    "dev.verbena.staging.sink");

    /** Of the packages of roles of the in-transit staging. */
    @ArchTest
    static final ArchRule STAGING_CIRCLES =
            slices().matching("dev.verbena.savime.(*)..").should().beFreeOfCycles();

    /** Engines do not know what opens them. */
    @ArchTest
    static final ArchRule STAGING_VALUES =
            noClasses()
                    .that()
                    .resideInAPackage("dev.verbena.savime.*..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("dev.verbena.savime");

    @ArchTest
    static final ArchRule KIT =
            noClasses()
                    .that()
                    .resideInAPackage("dev.verbena.staging..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "dev.verbena.dart..",
                            "dev.verbena.flesnet..",
                            "dev.verbena.nessie..",
                            "dev.verbena.savime..");

    /** Of Nessie: RPC stands on NNTI and XDR, the public package on all. */
    @ArchTest
    static final ArchRule NESSIE_CIRCLES =
            slices().matching("dev.verbena.nessie.(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule NNTI =
            noClasses()
                    .that()
                    .resideInAPackage("dev.verbena.nessie.nnti..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "dev.verbena.nessie",
                            "dev.verbena.nessie.rpc..",
                            "dev.verbena.nessie.xdr..");

    @ArchTest
    static final ArchRule WIRE =
            noClasses()
                    .that()
                    .resideInAPackage("dev.verbena.dart.wire..")
                    .should()
                    .dependOnClassesThat(
                            resideInAPackage("dev.verbena.dart..")
                                    .and(not(resideInAPackage("dev.verbena.dart.wire..")))
                                    .and(
                                            not(
                                                    belongToAnyOf(
                                                            DartException.class,
                                                            DartException.Code.class,
                                                            AckMode.class,
                                                            ElementType.class))));

    /** Of the kit. */
    @ArchTest
    static final ArchRule KIT_CIRCLES =
            slices().matching("dev.verbena.staging.(*)..").should().beFreeOfCycles();

    /** Of the packages of roles; all of them may use the value types of the public package. */
    @ArchTest
    static final ArchRule CIRCLES =
            slices().matching("dev.verbena.dart.(*)..").should().beFreeOfCycles();

    /** The public package opens three engines, and knows formats and settings. */
    @ArchTest
    static final ArchRule ENGINES =
            noClasses()
                    .that()
                    .resideInAPackage("dev.verbena.dart")
                    .should(dependOnMoreThanItsEngine());

    private static ArchCondition<JavaClass> dependOnMoreThanItsEngine() {
        Set<String> arrows =
                Set.of(
                        "DartClient > dev.verbena.dart.client",
                        "DartServer > dev.verbena.dart.server",
                        "DartReceiver > dev.verbena.dart.receiver");
        Set<String> below =
                Set.of("dev.verbena.dart", "dev.verbena.dart.wire", "dev.verbena.dart.config");
        return new ArchCondition<>("depend on a role other than that which it opens") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                String outer = type.getName().replaceAll(".*\\.|\\$.*", "");
                for (Dependency each : type.getDirectDependenciesFromSelf()) {
                    String target = each.getTargetClass().getPackageName();
                    if (target.startsWith("dev.verbena.dart")
                            && !below.contains(target)
                            && !arrows.contains(outer + " > " + target)) {
                        events.add(SimpleConditionEvent.satisfied(each, each.getDescription()));
                    }
                }
            }
        };
    }

    /** Engines use values of the public package, never what opens an engine. */
    @ArchTest
    static final ArchRule VALUES =
            noClasses()
                    .that()
                    .resideInAPackage("dev.verbena.dart.*..")
                    .should()
                    .dependOnClassesThat()
                    .belongToAnyOf(DartClient.class, DartReceiver.class);

    @ArchTest
    static void shouldExportPublicPackagesOnly(JavaClasses classes) throws IOException {
        try (InputStream module =
                Files.newInputStream(Path.of("target/classes/module-info.class"))) {
            assertThat(ModuleDescriptor.read(module).exports())
                    .extracting(ModuleDescriptor.Exports::source)
                    .containsExactlyInAnyOrder(
                            "dev.verbena.dart",
                            "dev.verbena.flesnet",
                            "dev.verbena.flesnet.archive",
                            "dev.verbena.flesnet.consume",
                            "dev.verbena.flesnet.dfs",
                            "dev.verbena.flesnet.source",
                            "dev.verbena.flesnet.stream",
                            "dev.verbena.nessie",
                            "dev.verbena.nessie.nnti",
                            "dev.verbena.nessie.rpc",
                            "dev.verbena.nessie.service",
                            "dev.verbena.nessie.xdr",
                            "dev.verbena.nessie.xdr.compiler",
                            "dev.verbena.nessie.xfer",
                            "dev.verbena.savime",
                            "dev.verbena.savime.query",
                            "dev.verbena.staging.exchange",
                            "dev.verbena.staging.metadata",
                            "dev.verbena.staging.sink");
        }
    }

    @ArchTest static final ArchTests FIELDS = ArchTests.in(FieldWrites.class);
}
