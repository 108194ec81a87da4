package dev.verbena.sinks.postgres;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import dev.verbena.ArchitectureRules;

/** The arrows of this module. */
@AnalyzeClasses(packages = "dev.verbena", importOptions = ArchitectureRules.ThisModule.class)
@ArchTag("once")
class ArchitectureTest {
    @ArchTest static final ArchTests SINK = ArchTests.in(ArchitectureRules.Sink.class);
}
