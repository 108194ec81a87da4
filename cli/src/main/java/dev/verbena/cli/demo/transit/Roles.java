package dev.verbena.cli.demo.transit;

import dev.verbena.cli.report.Html;

/** A drawing of who does what; from left to right, or downwards on a narrow window. */
final class Roles {
    private Roles() {}

    static String html(RunInfo info) {
        StringBuilder out = new StringBuilder(1024);
        out.append("<div class=\"roles\">");
        box(
                out,
                info.processCount() + " compute",
                "simulate; leave their results in memory that others may read, and go on");
        arrow(out, "reads their memory, without their help");
        box(
                out,
                info.serverCount() + " service",
                "fetch the results, hold them, pass them on at the receiver's pace");
        arrow(out, "streams over the network");
        box(out, "1 receiver", "stores, checks, analyses; wrote this report");
        return out.append("</div>\n").toString();
    }

    private static void box(StringBuilder out, String title, String text) {
        out.append("<div class=\"box\"><b>").append(Html.escape(title)).append("</b><span>");
        out.append(Html.escape(text)).append("</span></div>");
    }

    private static void arrow(StringBuilder out, String text) {
        out.append("<div class=\"arrow\"><span>").append(Html.escape(text));
        out.append("</span></div>");
    }
}
