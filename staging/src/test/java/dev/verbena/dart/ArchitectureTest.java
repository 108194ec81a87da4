package dev.verbena.dart;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.verbena.ArchitectureRules;
import dev.verbena.FieldWrites;
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
            ArchitectureRules.protocolsDependOnTheContractOnly("dev.verbena.dart..");

    @ArchTest
    @Tag("nsim-42")
    static void shouldTakeTheWorldFromTheEnvironment(JavaClasses classes) {
        ArchitectureRules.enginesTakeTheWorldFromTheEnvironment().check(classes);
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
