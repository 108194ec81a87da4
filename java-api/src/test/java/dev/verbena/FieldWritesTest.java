package dev.verbena;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.awt.GridBagConstraints;
import java.awt.Point;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whose fields are written by whom. */
@Tag("once")
class FieldWritesTest {
    private final JavaClasses classes =
            new ClassFileImporter().importClasses(FieldWritesTest.class, Writer.class);

    private int own;

    /** One with the class that it is nested in; inherits the fields of another. */
    private static final class Writer extends Point {
        private static final long serialVersionUID = 1L;

        void write(FieldWritesTest test, GridBagConstraints constraints) {
            test.own = constraints.fill;
            constraints.fill = test.own;
            constraints.ipadx += 2;
            y = 3;
        }
    }

    @Test
    void shouldCountWritesByOthersOnly() {
        assertThatCode(() -> FieldWrites.requireOnly(classes, "GridBagConstraints 2\nPoint 1\n"))
                .doesNotThrowAnyException();
    }

    @Test
    void shouldNameEachWriteThatIsNotKnown() {
        assertThatThrownBy(
                        () -> FieldWrites.requireOnly(classes, "GridBagConstraints 1\nPoint 1\n"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("fields of GridBagConstraints 2 times, known are 1")
                .hasMessageContaining("GridBagConstraints.ipadx")
                .hasMessageNotContaining("Point ");
        assertThatThrownBy(() -> FieldWrites.requireOnly(classes, "GridBagConstraints 2\n"))
                .hasMessageContaining("fields of Point 1 times, known are 0");
    }

    @Test
    void shouldRefuseATableThatListsTooMany() {
        assertThatThrownBy(
                        () ->
                                FieldWrites.requireOnly(
                                        classes, "GridBagConstraints 3\nPoint 1\nGone 1\n"))
                .hasMessageContaining("fields of Gone 0 times only")
                .hasMessageContaining("fields of GridBagConstraints 2 times only")
                .hasMessageContaining("where it says 3");
    }
}
