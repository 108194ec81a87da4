package dev.verbena.cli.status;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Names of counters as Prometheus has them. */
@Timeout(60)
class PrometheusEndpointTest {
    @Test
    void shouldNameAsPrometheusDoes() {
        assertThat(PrometheusEndpoint.name("dart master headers"))
                .isEqualTo("verbena_dart_master_headers");
        assertThat(PrometheusEndpoint.name("dart receiver held by bytesMax"))
                .isEqualTo("verbena_dart_receiver_held_by_bytes_max");
        assertThat(PrometheusEndpoint.name("flesnet input blocked for data ns"))
                .isEqualTo("verbena_flesnet_input_blocked_for_data_seconds");
        assertThat(PrometheusEndpoint.name("odd  (name): total")).isEqualTo("verbena_odd_name");
    }
}
