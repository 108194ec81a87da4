package dev.verbena.examples.transit;

/** A drawing of who does what. */
final class Roles {
    private Roles() {}

    static String svg(RunInfo info) {
        StringBuilder out = new StringBuilder(2048);
        out.append("<svg class=\"roles\" viewBox=\"0 0 960 150\" role=\"img\" aria-label=\"");
        out.append("Compute processes, service processes, receiver\"><defs><marker id=\"tip\" ");
        out.append(
                "viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" ");
        out.append("orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>");
        box(
                out,
                10,
                info.processCount() + " compute",
                "simulate; hand over their",
                "state and go on");
        arrow(out, 250, "reads their memory", "(" + info.transport() + ": put and get)");
        box(
                out,
                370,
                info.serverCount() + " service",
                info.serverCount() > 1 ? "master and slave: pull the" : "master: pulls the",
                "states, pass them on");
        arrow(out, 610, "streams", "(TCP)");
        box(out, 730, "1 receiver", "stores, checks, analyses;", "wrote this report");
        return out.append("</svg>\n").toString();
    }

    private static void box(StringBuilder out, int x, String title, String one, String two) {
        out.append(
                String.format(
                        "<rect class=\"box\" x=\"%d\" y=\"22\" width=\"220\" height=\"104\" rx=\"12\"/>"
                                + "<text class=\"big\" x=\"%d\" y=\"56\" text-anchor=\"middle\">%s</text>"
                                + "<text x=\"%d\" y=\"82\" text-anchor=\"middle\">%s</text>"
                                + "<text x=\"%d\" y=\"102\" text-anchor=\"middle\">%s</text>",
                        x,
                        x + 110,
                        Html.escape(title),
                        x + 110,
                        Html.escape(one),
                        x + 110,
                        Html.escape(two)));
    }

    private static void arrow(StringBuilder out, int x, String above, String below) {
        out.append(
                String.format(
                        "<path class=\"arrow\" d=\"M%d 74H%d\"/><text x=\"%d\" y=\"62\""
                                + " text-anchor=\"middle\" style=\"font-size:11px\">%s</text>"
                                + "<text x=\"%d\" y=\"94\" text-anchor=\"middle\""
                                + " style=\"font-size:10px\">%s</text>",
                        x - 12, x + 108, x + 50, Html.escape(above), x + 50, Html.escape(below)));
    }
}
