package dev.verbena.ugni;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import dev.verbena.ArchitectureRules;

/** The arrows of this module. */
@AnalyzeClasses(packages = "dev.verbena", importOptions = ArchitectureRules.ThisModule.class)
@ArchTag("once")
class ArchitectureTest {
    @ArchTest static final ArchTests PROVIDER = ArchTests.in(ArchitectureRules.Provider.class);

    @ArchTest static final ArchRule KILL_STEPS = ArchitectureRules.ordinaryBuildsHaveNoKillStep();
}
