package dev.verbena.cli.experiment;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What one measurement gave.
 *
 * @param point what was measured
 * @param samples costs of the calls
 * @param perClient time on the servers of each logical process
 * @param seconds from the first step that counts to the moment when the last message had left its
 *     process
 * @param pulledBytes by all servers
 * @param pullNs time of all pulls, per piece of a buffer; 0 without a service
 * @param queueNs time that pieces waited
 * @param streamNs time until pieces were acknowledged
 * @param pieces number of pieces
 * @param streamedSeconds from the first step that counts to the receiver's confirmation of the last
 *     message
 */
record ExperimentResult(
        ExperimentPoint point,
        ExperimentSamples samples,
        ClientTime[] perClient,
        double seconds,
        long pulledBytes,
        long pullNs,
        long queueNs,
        long streamNs,
        long pieces,
        double streamedSeconds) {

    /** Time of one process' data on its server, ns, all pieces together. */
    record ClientTime(int server, long pullNs, long queueNs, long streamNs) {
        long allNs() {
            return pullNs + queueNs + streamNs;
        }
    }

    /** Mean of a field of {@link ExperimentSamples} in the steady state, ns. */
    double mean(int field) {
        return samples.mean(field, point.load().warmUp());
    }

    long percentile(int field, double share) {
        return samples.percentile(field, point.load().warmUp(), share);
    }

    /** Seconds that a process spent in a field in the steady state. */
    double sum(int rank, int field) {
        return samples.sum(rank, field, point.load().warmUp()) / 1e9;
    }

    /** The part that a field has in a step: the field and computing. */
    double share(int field) {
        return mean(field) / (mean(field) + point.load().computeNs());
    }

    /** Bytes of the pulls over their time, MB/s: the rate of one transfer, as figure 6 has it. */
    double transferRate() {
        return pullNs == 0 ? 0 : pulledBytes * 1e3 / pullNs;
    }

    /** Bytes over the whole time, MB/s. */
    double overallRate() {
        return seconds == 0 ? 0 : point.countedBytes() / 1e6 / seconds;
    }

    /** Bytes over the time until all are confirmed by the receiver, MB/s. */
    double streamedRate() {
        return streamedSeconds == 0 ? 0 : point.countedBytes() / 1e6 / streamedSeconds;
    }

    /** For JSON. */
    Map<String, Object> fields() {
        ExperimentPoint.Load load = point.load();
        ExperimentPoint.Service service = point.service();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("manner", point.manner().toString());
        fields.put("clients", load.clients());
        fields.put("bytes", point.isRestartFile() ? RestartItems.LENGTH : load.size());
        fields.put("compute_ms", load.computeNs() / 1e6);
        fields.put("knee_ms", point.kneeNs() / 1e6);
        fields.put("rate_MBps", service.rate() < 0 ? "discard" : service.rate() / 1e6);
        fields.put("steps", load.steps());
        fields.put("warm_up_steps", load.warmUp());
        fields.put("servers", service.servers());
        fields.put("buffers", service.buffers());
        fields.put("buffer_bytes", service.bufferSize());
        fields.put("busy_cores", point.busyCores());
        fields.put("in_flight", load.inFlight());
        fields.put("seconds", seconds);
        fields.put("th_us", distribution(ExperimentSamples.HEADER));
        fields.put("tw_us", distribution(ExperimentSamples.WAIT));
        fields.put("tt_us", distribution(ExperimentSamples.TOTAL));
        if (point.manner().isServed()) {
            fields.put("pulled_MBps", overallRate());
            fields.put("streamed_MBps", streamedRate());
            fields.put("transfer_MBps", transferRate());
            fields.put("server_pull_ms", pullNs / 1e6 / Math.max(1, pieces));
            fields.put("server_queue_ms", queueNs / 1e6 / Math.max(1, pieces));
            fields.put("server_stream_ms", streamNs / 1e6 / Math.max(1, pieces));
        }
        return fields;
    }

    private Map<String, Object> distribution(int field) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("mean", mean(field) / 1e3);
        fields.put("p50", percentile(field, 50) / 1e3);
        fields.put("p90", percentile(field, 90) / 1e3);
        fields.put("p99", percentile(field, 99) / 1e3);
        fields.put("max", percentile(field, 100) / 1e3);
        return fields;
    }
}
