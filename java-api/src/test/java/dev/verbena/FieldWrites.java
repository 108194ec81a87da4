package dev.verbena;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaFieldAccess;
import com.tngtech.archunit.core.domain.JavaFieldAccess.AccessType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A class writes its own fields only. Where others still write them a table says how often; it may
 * only shrink. A class and those nested in it are one.
 */
public final class FieldWrites {
    private FieldWrites() {}

    /**
     * Compares the writes that there are with a table of those that are known.
     *
     * @param known a line for each class: its simple name and the number of writes by others
     * @throws AssertionError naming the classes that are written more often, or less often, than
     *     their lines say
     */
    public static void requireOnly(Iterable<JavaClass> classes, String known) {
        Map<String, Integer> expected = new TreeMap<>();
        known.lines()
                .map(line -> line.split(" "))
                .forEach(words -> expected.put(words[0], Integer.valueOf(words[1])));
        Map<String, Set<String>> found = find(classes);
        Collection<String> names = new TreeSet<>(expected.keySet());
        names.addAll(found.keySet());
        List<String> wrong = new ArrayList<>();
        for (String name : names) {
            Set<String> writes = found.getOrDefault(name, Set.of());
            int allowed = expected.getOrDefault(name, 0);
            if (writes.size() > allowed) {
                wrong.add(
                        "others write fields of "
                                + name
                                + " "
                                + writes.size()
                                + " times, known are "
                                + allowed
                                + "; give it a method that says what happens:\n  "
                                + String.join("\n  ", writes));
            } else if (writes.size() < allowed) {
                wrong.add(
                        "others write fields of "
                                + name
                                + " "
                                + writes.size()
                                + " times only; write that in the table, where it says "
                                + allowed);
            }
        }
        if (!wrong.isEmpty()) {
            throw new AssertionError(String.join("\n", wrong));
        }
    }

    /** Writes by others, for each class that has such fields. */
    private static Map<String, Set<String>> find(Iterable<JavaClass> classes) {
        Map<String, Set<String>> found = new TreeMap<>();
        for (JavaClass writer : classes) {
            for (JavaFieldAccess access : writer.getFieldAccessesFromSelf()) {
                JavaClass owner = outermost(owner(access));
                if (access.getAccessType() == AccessType.SET && !owner.equals(outermost(writer))) {
                    found.computeIfAbsent(owner.getSimpleName(), key -> new TreeSet<>())
                            .add(access.getDescription());
                }
            }
        }
        return found;
    }

    private static JavaClass owner(JavaFieldAccess access) {
        return access.getTarget()
                .resolveMember()
                .map(JavaField::getOwner)
                .orElse(access.getTargetOwner());
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(FieldWrites::outermost).orElse(type);
    }
}
