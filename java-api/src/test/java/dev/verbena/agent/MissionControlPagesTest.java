package dev.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.ValueDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * The pages for JDK Mission Control name events and fields that there are. Names of the format are
 * those that its own {@code defaultPages.xml} and {@code ItemHandlerPage} use.
 */
@Timeout(120)
class MissionControlPagesTest {
    private static final String FACTORY = "org.openjdk.jmc.flightrecorder.ui.itemhandler";
    private static final Set<String> OF_MISSION_CONTROL =
            Set.of("itemhistogram.key", "itemhistogram.count");
    private static final String AGGREGATE = "(SUM|AVG|MIN|MAX|STDDEVP)";

    /** What Mission Control calls the content of a field with this annotation. */
    private static final Map<String, String> CONTENTS =
            Map.of("jdk.jfr.DataAmount", "memory", "jdk.jfr.Timespan", "timespan");

    @TempDir Path folder;

    private Map<String, EventType> types() {
        try (RealEnvironment environment =
                        RealEnvironment.builder()
                                .shmDirectory(folder)
                                .errorHandler(e -> {})
                                .build();
                Recording recording = new Recording()) {
            recording.start();
            StagingEvents events = environment.events();
            events.sent(1, 1, 1, 1);
            events.pulled(1, 1, 1, 1);
            events.streamed(1, 1, 1, 1, 1);
            events.spilled(1, 1, 1);
            events.received(1, 1, 1);
            events.registered(1, 1);
            events.peerLost("x", "y");
            environment.errorHandler().onError(new IOException("z"));
            return FlightRecorder.getFlightRecorder().getEventTypes().stream()
                    .filter(type -> type.getName().startsWith("dev.verbena."))
                    .collect(Collectors.toMap(EventType::getName, Function.identity()));
        }
    }

    private static Element pages() throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
        try (InputStream in =
                FlightRecorderEvents.class.getResourceAsStream("mission-control-pages.xml")) {
            return factory.newDocumentBuilder().parse(in).getDocumentElement();
        }
    }

    private static List<Element> all(Element of, String name) {
        NodeList found = of.getElementsByTagName(name);
        List<Element> all = new ArrayList<>();
        for (int i = 0; i < found.getLength(); i++) {
            all.add((Element) found.item(i));
        }
        return all;
    }

    private static Element child(Element of, String name) {
        return all(of, name).stream()
                .filter(each -> each.getParentNode() == of)
                .findFirst()
                .orElseThrow();
    }

    /** The events that a page shows. */
    private static List<String> shown(Element filter) {
        List<String> shown = new ArrayList<>();
        if (filter.getAttribute("kind").equals("TYPE")) {
            shown.add(filter.getAttribute("type"));
        } else {
            assertThat(filter.getAttribute("kind")).isEqualTo("OR");
            all(filter, "filter").forEach(each -> shown.addAll(shown(each)));
        }
        return shown;
    }

    /** "length:memory", as Mission Control names columns. */
    private static String column(ValueDescriptor field) {
        String content = CONTENTS.getOrDefault(String.valueOf(field.getContentType()), "number");
        return field.getName() + ":" + content;
    }

    @Test
    void shouldNameEventsAndFieldsThatThereAre() throws Exception {
        Map<String, EventType> types = types();
        Set<String> ids = new HashSet<>();
        Set<String> alone = new HashSet<>();
        for (Element page : all(pages(), "page")) {
            assertThat(page.getAttribute("factory")).isEqualTo(FACTORY);
            assertThat(ids.add(page.getAttribute("id"))).isTrue();
            Element state = child(page, "state");
            assertThat(state.getAttribute("name")).isNotEmpty();
            assertThat(state.getAttribute("description")).endsWith(".");
            List<String> shown = shown(child(state, "pageFilter"));
            assertThat(shown).isNotEmpty().allMatch(types::containsKey);
            if (shown.size() == 1) {
                alone.add(shown.get(0));
                shouldNameFieldsOf(types.get(shown.get(0)), child(state, "histogram"));
            } else {
                assertThat(shown).hasSameSizeAs(types.keySet()).containsAll(types.keySet());
            }
        }
        // Each event has a page of its own.
        assertThat(alone).isEqualTo(types.keySet());
    }

    private static void shouldNameFieldsOf(EventType type, Element histogram) {
        assertThat(type.getField(histogram.getAttribute("groupBy")))
                .as("%s, grouped by %s", type.getName(), histogram.getAttribute("groupBy"))
                .isNotNull();
        List<String> columns =
                type.getFields().stream().map(MissionControlPagesTest::column).toList();
        for (Element column : all(histogram, "column")) {
            String id = column.getAttribute("id");
            if (!OF_MISSION_CONTROL.contains(id)) {
                assertThat(id).matches(AGGREGATE + ".*");
                assertThat(columns).contains(id.replaceFirst("^" + AGGREGATE, ""));
            }
        }
    }

    @Test
    void shouldExplainEveryEventAndField() {
        Map<String, EventType> types = types();
        assertThat(types).hasSize(8);
        for (EventType type : types.values()) {
            assertThat(type.getLabel()).as(type.getName()).isNotEmpty();
            assertThat(type.getDescription()).as(type.getName()).isNotEmpty();
            assertThat(type.getCategoryNames()).startsWith("Verbena");
            for (ValueDescriptor field : type.getFields()) {
                assertThat(field.getLabel())
                        .as("%s.%s", type.getName(), field.getName())
                        .isNotEmpty();
            }
        }
    }
}
