package dev.verbena.dart;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.verbena.ArchitectureRules;
import dev.verbena.FieldWrites;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;

/** The arrows of this module. */
@AnalyzeClasses(packages = "dev.verbena", importOptions = ArchitectureTest.ThisModule.class)
class ArchitectureTest {
    /** Main classes of this module only. */
    static final class ThisModule implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return location.contains("/staging/target/classes/");
        }
    }

    @ArchTest
    static final ArchRule DEPENDENCIES =
            ArchitectureRules.protocolsDependOnTheContractOnly(
                    "dev.verbena.dart..", "dev.verbena.staging..");

    @ArchTest
    @Tag("nsim-42")
    static void shouldTakeTheWorldFromTheEnvironment(JavaClasses classes) {
        ArchitectureRules.enginesTakeTheWorldFromTheEnvironment().check(classes);
    }

    @ArchTest
    static final ArchRule KIT =
            noClasses()
                    .that()
                    .resideInAPackage("dev.verbena.staging..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("dev.verbena.dart..");

    @ArchTest
    static final ArchRule WIRE =
            noClasses()
                    .that()
                    .resideInAPackage("dev.verbena.dart.wire..")
                    .should()
                    .dependOnClassesThat(
                            resideInAPackage("dev.verbena.dart..")
                                    .and(not(resideInAPackage("dev.verbena.dart.wire..")))
                                    .and(not(belongToAnyOf(DartException.class, AckMode.class))));

    /** Of the packages of roles; the public package, where engines remain, is not one of them. */
    @ArchTest
    static final ArchRule CIRCLES =
            slices().matching("dev.verbena.dart.(*)..").should().beFreeOfCycles();

    @ArchTest
    static void shouldExportThePublicPackageOnly(JavaClasses classes) throws IOException {
        try (InputStream module =
                Files.newInputStream(Path.of("target/classes/module-info.class"))) {
            assertThat(ModuleDescriptor.read(module).exports())
                    .extracting(ModuleDescriptor.Exports::source)
                    .containsExactly("dev.verbena.dart");
        }
    }

    @ArchTest static final ArchRule SWITCHES = ArchitectureRules.ordinaryBuildsHaveNoSwitch();

    @ArchTest
    static void shouldWriteOwnFieldsOnly(JavaClasses classes) {
        FieldWrites.requireOnly(
                classes,
                """
                InboundStream 35
                ServerShared 20
                ServerPeer 19
                DartMetadata 14
                PullMessage 14
                ReceiverShared 13
                InboxState 8
                ReverseDestination 8
                DartStatistics 6
                OpenStep 6
                ReversePiece 6
                InboundSession 3
                CopyBuffers 2
                DartTicket 2
                DeliveredNumbers 2
                StepGroup 2
                ServerBarrier 1
                """);
    }
}
