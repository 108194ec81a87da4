// What ForeignClientsIT lets the C++ client do.
#include "verbena_staging.hpp"

#include <cstdio>

namespace {

void say(const std::string &text)
{
    std::puts(text.c_str());
}

std::string status_of(staging::server &server, const std::string &command)
{
    try {
        server.run_savime(command);
    } catch (const staging::error &e) {
        return staging::error::name(e.status());
    }
    return "OK";
}

void datasets(staging::server &server, const std::vector<std::int64_t> &large)
{
    std::vector<std::string> texts;
    for (int i = 0; i < 5; i++) {
        texts.emplace_back(8, static_cast<char>('a' + i));
    }
    for (std::size_t i = 0; i < texts.size(); i++) {
        staging::dataset("v" + std::to_string(i), "char", server).write(texts[i].data(), 8);
    }
    staging::dataset("large", "long", server)
        .write(reinterpret_cast<const char *>(large.data()), large.size() * 8);
    const std::array<double, 3> vector{1, 2, 3};
    staging::dataset("vector", "double:3", server)
        .write(reinterpret_cast<const char *>(vector.data()), sizeof vector);
    server.sync();
    say(server.run_savime("show();"));
    say("long " + std::to_string(server.run_savime("create " + std::string(1234, 'y')).size()));
}

void refusals(staging::server &server)
{
    say("refused " + status_of(server, "nonsense"));
    // The sink has one of this name.
    server.drain(std::chrono::seconds(60));
    const std::string bytes(4096, 'x');
    staging::dataset twice("vector", "char", server);
    int count = 0;
    try {
        twice.write(bytes.data(), bytes.size());
        server.drain(std::chrono::seconds(60));
    } catch (const staging::error &e) {
        count = std::string(e.what()).find("vector") == std::string::npos ? 0 : 1;
    }
    say("refused datasets " + std::to_string(count));
    say("behind " + status_of(server, "show();"));
    server.drain(std::chrono::seconds(60));
    say("drained");
}

// Of a server that breaks the rules: what is refused, and that the connection is then lost.
void rules()
{
    for (const char *command : {"longer", "empty", "large", "negative", "legal"}) {
        staging::server server("127.0.0.1:1");
        const std::string first = status_of(server, command);
        say(std::string(command) + " " + first + " " + status_of(server, "legal"));
    }
}

} // namespace

int main(int count, char **)
{
    if (count > 1) {
        rules();
        return 0;
    }
    std::vector<std::int64_t> large(400'000);
    for (std::size_t i = 0; i < large.size(); i++) {
        large[i] = 3 * static_cast<std::int64_t>(i);
    }
    try {
        // The variable in the environment says where the server is.
        staging::server server("127.0.0.1:1");
        datasets(server, large);
        refusals(server);
        try {
            staging::dataset("a b", "char", server);
        } catch (const std::invalid_argument &) {
            say("name");
        }
        try {
            staging::dataset("odd", "double", server).write("1234567", 7);
        } catch (const std::invalid_argument &) {
            say("length");
        }
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
