package dev.verbena.cli.sim;

import dev.verbena.cli.terminal.Text;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.network.LinkStatistics;

/**
 * Cables of a simulated machine as a map in SVG: a row for each router, a cell for each port, the
 * fuller the cable the darker. Below them nodes, 64 in a row. Large machines show their first part.
 */
final class HeatMap {
    private static final int CELL = 12;
    private static final int LEFT = 84;
    private static final int NODES_PER_ROW = 64;
    private static final int CELLS_MAX = 20_000;

    private final SimulationResult result;
    private final LinkStatistics links;
    private final StringBuilder cells = new StringBuilder();
    private int count;
    private int columns = NODES_PER_ROW;
    private int row;

    private HeatMap(SimulationResult result) {
        this.result = result;
        links = result.links();
    }

    static String of(SimulationResult result) {
        return new HeatMap(result).draw();
    }

    private String draw() {
        int router = -1;
        int column = 0;
        for (int link = 0; link < links.count() && count < CELLS_MAX; link++) {
            int from = links.from(link);
            if (from < 0) {
                int node = -1 - from;
                if (node % NODES_PER_ROW == 0) {
                    label(router >= 0 || row > 0 ? ++row : row, "nodes " + node);
                    router = -1;
                    column = 0;
                }
            } else if (from != router) {
                row += router < 0 ? 0 : 1;
                router = from;
                column = 0;
                label(row, "router " + from);
            }
            if (links.isConnected(link)) {
                cell(link, column);
            }
            columns = Math.max(columns, ++column);
        }
        int width = LEFT + columns * CELL;
        String size = "viewBox=\"0 0 " + width + " " + (row + 1) * CELL + "\"";
        String note =
                count < CELLS_MAX ? "" : "<p>The first " + CELLS_MAX + " cables are shown.</p>\n";
        return ("<div class=\"scroll\"><svg class=\"heat\" width=\"%s\" %s role=\"img\" "
                        + "aria-label=\"use of cables\">%s</svg></div>\n%s")
                .formatted(width, size, cells, note);
    }

    private void label(int at, String text) {
        cells.append(
                Text.format(
                        "<text x=\"0\" y=\"%d\" class=\"tick\">%s</text>",
                        at * CELL + CELL - 2, text));
    }

    private void cell(int link, int column) {
        double part = links.busyPs(link) / (double) Math.max(1, result.lastPs());
        count++;
        cells.append(
                Text.format(
                        "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#c22\""
                                + " fill-opacity=\"%.3f\" stroke=\"#888\" stroke-width=\"0.3\">"
                                + "<title>%s: %.1f %% busy, %d bytes</title></rect>",
                        LEFT + column * CELL,
                        row * CELL,
                        CELL,
                        CELL,
                        Math.min(1, part),
                        SimReport.name(links, link),
                        100 * part,
                        links.bytes(link)));
    }
}
