// Listing 1 of the paper (arXiv 1805.06425): sends an arbitrary buffer to SAVIME.
#include "verbena_staging.hpp"

#include <array>
#include <cstdio>

constexpr std::size_t N = 1000;

int main() {
    std::array<double, N> v;
    for (std::size_t i = 0; i < N; i++) {
        v[i] = 0.5 * static_cast<double>(i);
    }
    try {
        // clang-format off
        staging::server st{"127.0.0.1:3221"};
        st.run_savime("create_tar(...);");
        staging::dataset ds{"D", "double", st};
        ds.write((char*) v.data(),
                 N * sizeof(double));
        st.sync();
        st.run_savime("load_subtar(...);");
        // clang-format on
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
