// Client of Verbena's staging server: protocol STG/1 over TCP, in C++17 with POSIX sockets alone.
//
// staging::server connects; staging::dataset::write returns at once, and the bytes must not change
// until server::sync has returned. One thread of the server object owns the connection. All members
// but the destructors may be called on any thread. Failures are staging::error. A lost connection
// is not made again: what was not done fails.
//
// Link with -pthread. The environment variable VERBENA_STAGING_ADDRESS replaces the address that a
// program gives, so that a program need not be compiled for each host.
#ifndef VERBENA_STAGING_HPP
#define VERBENA_STAGING_HPP

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace staging {

// What the server, the sink or the connection refused.
class error : public std::runtime_error {
  public:
    // Statuses of STG/1 that have a meaning of their own here.
    static constexpr std::uint32_t sink_rejected = 15;
    static constexpr std::uint32_t predecessor_failed = 16;
    static constexpr std::uint32_t timeout = 18;
    static constexpr std::uint32_t server_lost = 100;

    error(std::uint32_t code, const std::string &text)
        : std::runtime_error(name(code) + (text.empty() ? "" : ": " + text)), code_(code) {}

    std::uint32_t status() const { return code_; }

    static std::string name(std::uint32_t code) {
        static const char *const names[] = {"OK",
                                            "BAD_MESSAGE",
                                            "BAD_VERSION",
                                            "AUTH_FAILED",
                                            "BAD_NAME",
                                            "DUPLICATE",
                                            "BAD_SIZE",
                                            "NO_SPACE",
                                            "NO_SUCH_DATASET",
                                            "BAD_RANGE",
                                            "PIN_LIMIT",
                                            "IO_ERROR",
                                            "CHECKSUM",
                                            "CANCELLED",
                                            "SINK_DOWN",
                                            "SINK_REJECTED",
                                            "PREDECESSOR_FAILED",
                                            "SHUTTING_DOWN",
                                            "TIMEOUT",
                                            "TOO_MANY",
                                            "PARTIAL"};
        if (code == server_lost) {
            return "SERVER_LOST";
        }
        return code < std::size(names) ? names[code] : "status " + std::to_string(code);
    }

  private:
    std::uint32_t code_;
};

namespace detail {

enum type : std::uint8_t {
    hello = 0x01,
    hello_ack = 0x02,
    dataset_open = 0x03,
    dataset_opened = 0x04,
    block_request = 0x05,
    block_grant = 0x06,
    block_release = 0x07,
    dataset_sync = 0x08,
    dataset_done = 0x09,
    dataset_abort = 0x0A,
    run = 0x0B,
    run_result = 0x0C,
    heartbeat = 0x0F,
    bye = 0x10,
    dataset_event = 0x11,
    block_data = 0x20
};

constexpr std::size_t header_length = 32;
constexpr std::size_t length_max = 1024;
constexpr std::size_t text_max = length_max - 40;
constexpr std::uint64_t result_max = 1U << 28;
constexpr std::uint32_t block_alignment = 4096;
constexpr std::uint32_t pin_limit = 10;
constexpr std::uint16_t flag_immediate = 1;
constexpr std::uint16_t flag_even_if_failed = 2;
constexpr std::uint16_t flag_text_is_dataset = 4;
constexpr std::uint16_t flag_more = 2;
constexpr std::uint8_t state_forwarded = 4;
constexpr std::uint8_t state_aborted = 5;
constexpr std::uint8_t state_failed = 6;

// A message of up to 1,024 bytes, little-endian whatever the processor is.
class message {
  public:
    message() = default;

    message(type kind, std::size_t length, std::uint64_t session, std::uint64_t request) {
        put(0, 0x31475453, 4);
        put(4, 1, 1);
        put(5, kind, 1);
        put(8, length, 4);
        put(16, session, 8);
        put(24, request, 8);
    }

    void put(std::size_t at, std::uint64_t value, std::size_t count) {
        for (std::size_t i = 0; i < count; i++) {
            bytes_[at + i] = static_cast<unsigned char>(value >> (8 * i));
        }
    }

    std::uint64_t get(std::size_t at, std::size_t count) const {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < count; i++) {
            value |= static_cast<std::uint64_t>(bytes_[at + i]) << (8 * i);
        }
        return value;
    }

    void text(std::size_t at, const std::string &value) {
        std::memcpy(bytes_.data() + at, value.data(), value.size());
    }

    // Throws if the text is not within the message.
    std::string text(std::size_t at, std::size_t count) const {
        if (at + count > length()) {
            throw error(error::server_lost, "a text is not within its message");
        }
        return {reinterpret_cast<const char *>(bytes_.data()) + at, count};
    }

    std::uint8_t kind() const { return static_cast<std::uint8_t>(get(5, 1)); }
    std::uint16_t flags() const { return static_cast<std::uint16_t>(get(6, 2)); }
    std::size_t length() const { return get(8, 4); }
    std::uint32_t status() const { return static_cast<std::uint32_t>(get(12, 4)); }
    std::uint64_t session() const { return get(16, 8); }
    std::uint64_t request() const { return get(24, 8); }
    unsigned char *data() { return bytes_.data(); }
    const unsigned char *data() const { return bytes_.data(); }

  private:
    std::array<unsigned char, length_max> bytes_{};
};

// A file descriptor that is closed once.
class descriptor {
  public:
    explicit descriptor(int number = -1) : number_(number) {}
    descriptor(const descriptor &) = delete;
    descriptor &operator=(const descriptor &) = delete;
    descriptor(descriptor &&other) noexcept : number_(other.number_) { other.number_ = -1; }
    ~descriptor() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }

    int number() const { return number_; }

  private:
    int number_;
};

inline descriptor connect_to(const std::string &address) {
    const std::size_t colon = address.rfind(':');
    if (colon == std::string::npos || colon == 0) {
        throw std::invalid_argument("'" + address + "' is not HOST:PORT");
    }
    const std::string host = address.substr(0, colon);
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo *found = nullptr;
    const int code = ::getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &found);
    if (code != 0) {
        throw error(error::server_lost, address + ": " + ::gai_strerror(code));
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo *)> owner(found, ::freeaddrinfo);
    int why = 0;
    for (const addrinfo *each = found; each != nullptr; each = each->ai_next) {
        descriptor socket(::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, 0));
        if (socket.number() >= 0 &&
            ::connect(socket.number(), each->ai_addr, each->ai_addrlen) == 0) {
            const int yes = 1;
            ::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
            return socket;
        }
        why = errno;
    }
    throw error(error::server_lost, "no connection to " + address + ": " + std::strerror(why));
}

inline std::size_t scalar_size(const std::string &name) {
    static const std::map<std::string, std::size_t> sizes = {
        {"char", 1}, {"int", 4},   {"int32", 4}, {"long", 8},
        {"int64", 8}, {"float", 4}, {"double", 8}};
    const auto found = sizes.find(name);
    if (found == sizes.end()) {
        throw std::invalid_argument("type '" + name + "'");
    }
    return found->second;
}

// Bytes of an element of this type, "double:3" for example.
inline std::size_t element_size(const std::string &type) {
    const std::size_t colon = type.find(':');
    const std::size_t scalar = scalar_size(type.substr(0, colon));
    if (colon == std::string::npos) {
        return scalar;
    }
    const std::string digits = type.substr(colon + 1);
    const bool is_number = !digits.empty() && digits.size() <= 5 &&
                           digits.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || std::stoul(digits) < 1 || std::stoul(digits) > 65536) {
        throw std::invalid_argument("type '" + type + "'");
    }
    return scalar * std::stoul(digits);
}

inline void require_name(const std::string &name) {
    static const std::string letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    const bool is_legal = !name.empty() && name.size() <= 63 &&
                          name.find_first_not_of(letters) == std::string::npos &&
                          !(name[0] >= '0' && name[0] <= '9');
    if (!is_legal) {
        throw std::invalid_argument(
            "name '" + name + "' is not 1 to 63 letters, digits or underscores, no digit first");
    }
}

struct upload {
    std::string name;
    std::string type;
    std::size_t element_size = 0;
    const char *bytes = nullptr;
    std::size_t length = 0;
};

} // namespace detail

// How to connect.
struct options {
    std::uint32_t block_size = 64U << 20;     // bytes, a multiple of 4,096
    std::array<unsigned char, 16> token = {}; // that the server was given
};

// A connection to a staging server.
class server {
  public:
    // Connects and greets; throws error. The second argument is the paper's and must be 1.
    explicit server(const std::string &address, int io_threads = 1, const options &how = {})
        : socket_(detail::connect_to(replaced(address))), options_(how) {
        if (io_threads != 1 || how.block_size < detail::block_alignment ||
            how.block_size % detail::block_alignment != 0) {
            throw std::invalid_argument("io_threads is not 1, or block_size no multiple of 4096");
        }
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
            throw error(error::server_lost, std::string("pipe: ") + std::strerror(errno));
        }
        wake_in_ = std::make_unique<detail::descriptor>(ends[0]);
        wake_out_ = std::make_unique<detail::descriptor>(ends[1]);
        greet();
        thread_ = std::thread([this] { work(); });
    }

    server(const server &) = delete;
    server &operator=(const server &) = delete;

    // Waits for what was written, and says goodbye.
    ~server() {
        wait_for_writes();
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            is_closing_ = true;
        }
        wake();
        thread_.join();
    }

    // Waits until all that was written before is in the server. Throws an error that names each
    // dataset that failed since the last call.
    void sync() {
        wait_for_writes();
        throw_if_any("not staged: ", failures_);
    }

    // As sync, then waits until the sink has it all. Throws an error also where it never will.
    void drain(std::chrono::milliseconds limit) {
        const auto end = std::chrono::steady_clock::now() + limit;
        sync();
        {
            std::unique_lock<std::mutex> lock(mutex_);
            if (!changed_.wait_until(lock, end, [this] { return owed_.empty(); })) {
                throw error(error::timeout, "the sink does not have everything yet");
            }
        }
        throw_if_any("not in the sink: ", lost_);
    }

    // Runs a command of the sink after everything that was written and run before; its answer.
    std::string run_savime(const std::string &command) { return run(command, 0); }

    // As above, before everything that waits at the server.
    std::string run_immediately(const std::string &command) {
        return run(command, detail::flag_immediate);
    }

    // As run_savime, also after a dataset that failed.
    std::string run_even_if_failed(const std::string &command) {
        return run(command, detail::flag_even_if_failed);
    }

  private:
    friend class dataset;
    using message = detail::message;

    struct command {
        std::uint16_t flags;
        std::string text;
        std::promise<std::string> answer;
    };

    struct task {
        detail::upload data;
        std::unique_ptr<command> run;
    };

    struct answering {
        std::unique_ptr<command> run;
        bool is_begun = false;
        std::uint64_t total = 0; // bytes of the text, as its first message announces
        std::string text;
    };

    detail::descriptor socket_;
    options options_;
    std::unique_ptr<detail::descriptor> wake_in_;
    std::unique_ptr<detail::descriptor> wake_out_;

    // Of all threads.
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<task> tasks_;
    std::uint64_t queued_ = 0;
    std::uint64_t done_ = 0;
    std::vector<std::string> failures_;
    std::vector<std::string> lost_;
    std::map<std::uint64_t, std::string> owed_;
    bool is_closing_ = false;
    std::string why_lost_;

    // Of the thread that owns the connection.
    std::thread thread_;
    std::uint64_t session_ = 0;
    std::uint64_t request_ = 0;
    std::uint32_t block_max_ = 0;
    int heartbeat_ms_ = 1000;
    static constexpr int silences_max_ = 10;
    int silences_ = 0;
    std::chrono::steady_clock::time_point sent_;
    std::map<std::uint64_t, answering> running_;
    std::uint64_t aborted_ = 0;
    std::uint32_t abort_status_ = 0;

    static std::string replaced(const std::string &address) {
        const char *other = std::getenv("VERBENA_STAGING_ADDRESS");
        return other == nullptr || *other == 0 ? address : other;
    }

    void write(detail::upload data) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            queued_++;
            if (!why_lost_.empty()) {
                done_++;
                failures_.push_back(data.name + ": " + why_lost_);
                return;
            }
            tasks_.push_back({std::move(data), nullptr});
        }
        wake();
    }

    std::string run(const std::string &text, std::uint16_t flags) {
        auto next = std::make_unique<command>(command{flags, text, {}});
        std::future<std::string> answer = next->answer.get_future();
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (!why_lost_.empty()) {
                throw error(error::server_lost, why_lost_);
            }
            const bool is_first = (flags & detail::flag_immediate) != 0;
            task added{{}, std::move(next)};
            tasks_.insert(is_first ? tasks_.begin() : tasks_.end(), std::move(added));
        }
        wake();
        return answer.get();
    }

    void wake() const {
        const char one = 1;
        // A full pipe wakes as well.
        const ssize_t ignored = ::write(wake_out_->number(), &one, 1);
        static_cast<void>(ignored);
    }

    void wait_for_writes() {
        std::unique_lock<std::mutex> lock(mutex_);
        const std::uint64_t last = queued_;
        changed_.wait(lock, [&] { return done_ >= last; });
    }

    void throw_if_any(const std::string &what, std::vector<std::string> &failures) {
        std::string text;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            for (const std::string &each : failures) {
                text += (text.empty() ? what : "; ") + each;
            }
            failures.clear();
        }
        if (!text.empty()) {
            throw error(13, text);
        }
    }

    // ---- the thread of the connection

    void work() {
        try {
            while (true) {
                task next;
                {
                    const std::lock_guard<std::mutex> lock(mutex_);
                    if (!tasks_.empty()) {
                        next = std::move(tasks_.front());
                        tasks_.pop_front();
                    } else if (is_closing_) {
                        break;
                    }
                }
                if (next.run != nullptr) {
                    begin(std::move(next.run));
                } else if (next.data.bytes != nullptr) {
                    stage(next.data);
                } else {
                    take(true);
                }
            }
            send(message(detail::bye, detail::header_length, session_, ++request_));
        } catch (const std::exception &e) {
            lose(e.what());
        }
    }

    // A write that fails at the server leaves the connection as it is.
    void stage(const detail::upload &data) {
        std::uint64_t id = 0;
        std::string why;
        bool is_lost = false;
        std::string given = data.name;
        try {
            id = move(data, given);
        } catch (const error &e) {
            why = e.what();
            is_lost = e.status() == error::server_lost;
        }
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            done_++;
            if (why.empty()) {
                owed_[id] = given;
            } else {
                failures_.push_back(data.name + ": " + why);
            }
        }
        changed_.notify_all();
        if (is_lost) {
            throw error(error::server_lost, why);
        }
    }

    void lose(const std::string &why) {
        std::deque<task> left;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            why_lost_ = why.empty() ? "lost" : why;
            left.swap(tasks_);
            for (const auto &each : owed_) {
                lost_.push_back(each.second + ": " + why);
            }
            owed_.clear();
        }
        for (auto &each : running_) {
            fail(*each.second.run, error::server_lost, why);
        }
        running_.clear();
        for (task &each : left) {
            if (each.run != nullptr) {
                fail(*each.run, error::server_lost, why);
            }
        }
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            for (const task &each : left) {
                if (each.run == nullptr) {
                    done_++;
                    failures_.push_back(each.data.name + ": " + why);
                }
            }
        }
        changed_.notify_all();
    }

    static void fail(command &run, std::uint32_t status, const std::string &why) {
        run.answer.set_exception(std::make_exception_ptr(error(status, why)));
    }

    void greet() {
        message out(detail::hello, 68, 0, ++request_);
        out.put(32, options_.block_size, 4);
        out.put(36, 1, 2);
        out.put(38, 1, 2);
        std::random_device random;
        out.put(40, (static_cast<std::uint64_t>(random()) << 32) | random(), 8);
        std::memcpy(out.data() + 48, options_.token.data(), options_.token.size());
        out.put(64, 4, 4);
        send(out);
        const message in = await(detail::hello_ack);
        session_ = in.session();
        block_max_ = static_cast<std::uint32_t>(in.get(32, 4));
        heartbeat_ms_ = static_cast<int>(std::clamp<std::uint64_t>(in.get(56, 4), 1, 60'000));
        if (block_max_ < detail::block_alignment) {
            throw error(error::server_lost, "the server allows blocks of no use");
        }
    }

    // ---- commands

    void begin(std::unique_ptr<command> run) {
        try {
            if (run->text.size() > detail::text_max) {
                begin_long(*run);
            } else {
                message out(detail::run, 40 + run->text.size(), session_, ++request_);
                out.put(6, run->flags, 2);
                out.put(32, run->text.size(), 4);
                out.text(40, run->text);
                send(out);
            }
        } catch (const error &e) {
            fail(*run, e.status(), e.what());
            if (e.status() == error::server_lost) {
                throw;
            }
            return;
        }
        running_[request_].run = std::move(run);
    }

    // A text that no message has room for travels as a dataset.
    void begin_long(const command &run) {
        std::string name = "command_" + std::to_string(session_) + "_" + std::to_string(request_);
        const std::uint64_t id =
            move({name, "command", 1, run.text.data(), run.text.size()}, name);
        message out(detail::run, 48, session_, ++request_);
        out.put(6, run.flags | detail::flag_text_is_dataset, 2);
        out.put(40, id, 8);
        send(out);
    }

    void on_result(const message &in) {
        const auto found = running_.find(in.request());
        if (found == running_.end()) {
            return;
        }
        answering &answer = found->second;
        const bool has_more = (in.flags() & detail::flag_more) != 0;
        add(answer, in, has_more);
        if (has_more) {
            return;
        }
        if (in.status() == 0) {
            answer.run->answer.set_value(answer.text);
        } else {
            fail(*answer.run, in.status(), answer.text);
        }
        running_.erase(found);
    }

    // A server could send for ever.
    static void add(answering &answer, const message &in, bool has_more) {
        const std::string part = in.text(40, in.get(32, 4));
        if (!answer.is_begun) {
            answer.is_begun = true;
            answer.total = in.get(36, 4);
        }
        if (answer.total > detail::result_max) {
            throw error(error::server_lost,
                        "a result of " + std::to_string(answer.total) + " bytes");
        }
        if (part.size() > answer.total - answer.text.size()) {
            throw error(error::server_lost, "a result is longer than announced");
        }
        if (has_more && part.empty()) {
            throw error(error::server_lost, "a part of a result is empty");
        }
        answer.text += part;
    }

    // ---- datasets

    std::uint64_t move(const detail::upload &data, std::string &given) {
        open(data);
        const message opened = await(detail::dataset_opened);
        const std::uint64_t id = opened.get(32, 8);
        given = opened.text(58, opened.get(56, 2));
        std::uint32_t block = std::min(block_max_, options_.block_size);
        block -= block % detail::block_alignment;
        std::uint32_t number = 0;
        for (std::size_t at = 0; at < data.length;) {
            const auto length =
                static_cast<std::uint32_t>(std::min<std::size_t>(block, data.length - at));
            const std::uint32_t granted = ask(id, at, length, number);
            if (granted < length) {
                block = granted;
                continue;
            }
            put(id, at, length, number++, data.bytes + at);
            at += length;
        }
        message out(detail::dataset_sync, 56, session_, ++request_);
        out.put(32, id, 8);
        out.put(40, data.length, 8);
        out.put(52, number, 4);
        send(out);
        await(detail::dataset_done, id);
        return id;
    }

    void open(const detail::upload &data) {
        const std::size_t length = 56 + data.name.size() + data.type.size();
        message out(detail::dataset_open, length, session_, ++request_);
        out.put(32, data.length, 8);
        out.put(40, data.element_size, 4);
        out.put(44, data.name.size(), 2);
        out.put(46, data.type.size(), 2);
        out.text(56, data.name);
        out.text(56 + data.name.size(), data.type);
        send(out);
    }

    // Asks for a block; its length, or a shorter one that the server can grant.
    std::uint32_t ask(std::uint64_t id, std::uint64_t at, std::uint32_t length, std::uint32_t no) {
        message out(detail::block_request, 56, session_, ++request_);
        out.put(32, id, 8);
        out.put(40, at, 8);
        out.put(48, length, 4);
        out.put(52, no, 4);
        send(out);
        const message in = await(detail::block_grant, id, detail::pin_limit);
        if (in.status() == 0) {
            return length;
        }
        auto shorter = static_cast<std::uint32_t>(in.get(48, 4));
        shorter -= shorter % detail::block_alignment;
        if (shorter == 0 || shorter >= length) {
            throw error(detail::pin_limit, "no block can be granted");
        }
        return shorter;
    }

    void put(std::uint64_t id, std::uint64_t at, std::uint32_t length, std::uint32_t no,
             const char *bytes) {
        message out(detail::block_data, 56, session_, ++request_);
        out.put(8, 56 + std::uint64_t{length}, 4);
        out.put(32, id, 8);
        out.put(40, at, 8);
        out.put(48, length, 4);
        out.put(52, no, 4);
        send(out.data(), 56);
        send(bytes, length);
        message release(detail::block_release, 48, session_, ++request_);
        release.put(32, id, 8);
        release.put(40, no, 4);
        send(release);
    }

    // ---- the wire

    void send(const message &out) { send(out.data(), out.length()); }

    void send(const void *bytes, std::size_t length) {
        const char *from = static_cast<const char *>(bytes);
        while (length > 0) {
            const ssize_t count = ::send(socket_.number(), from, length, MSG_NOSIGNAL);
            if (count < 0 && errno == EINTR) {
                continue;
            }
            if (count <= 0) {
                throw error(error::server_lost, std::string("send: ") + std::strerror(errno));
            }
            sent_ = std::chrono::steady_clock::now();
            from += count;
            length -= static_cast<std::size_t>(count);
        }
    }

    void receive(unsigned char *to, std::size_t length) {
        while (length > 0) {
            const ssize_t count = ::recv(socket_.number(), to, length, 0);
            if (count < 0 && errno == EINTR) {
                continue;
            }
            if (count <= 0) {
                const char *why = count == 0 ? "the server ended it" : std::strerror(errno);
                throw error(error::server_lost, why);
            }
            to += count;
            length -= static_cast<std::size_t>(count);
        }
    }

    // The answer to the last request. Throws its status unless that is 0 or the accepted one, and
    // the reason if the server gives the dataset up.
    message await(detail::type kind, std::uint64_t id = 0, std::uint32_t accepted = 0) {
        while (true) {
            const message in = take(false);
            if (id != 0 && aborted_ == id) {
                throw error(abort_status_, "");
            }
            if (in.kind() == kind && in.request() == request_) {
                if (in.status() != 0 && in.status() != accepted) {
                    throw error(in.status(), "");
                }
                return in;
            }
        }
    }

    // The next message; with a wakeup an empty one. Asks the server whether it lives.
    message take(bool ends_by_wakeup) {
        const auto silent = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::chrono::steady_clock::now() - sent_);
        if (session_ != 0 && silent.count() >= heartbeat_ms_) {
            // Its own number: it answers no other request.
            send(message(detail::heartbeat, detail::header_length, session_, 0));
        }
        pollfd waits[2] = {{socket_.number(), POLLIN, 0},
                           {ends_by_wakeup ? wake_in_->number() : -1, POLLIN, 0}};
        const int count = ::poll(waits, 2, heartbeat_ms_);
        if (count < 0 && errno != EINTR) {
            throw error(error::server_lost, std::string("poll: ") + std::strerror(errno));
        }
        if (waits[1].revents != 0) {
            char unread[64];
            while (::read(wake_in_->number(), unread, sizeof unread) > 0) {
            }
        }
        if (waits[0].revents != 0) {
            silences_ = 0;
            return read();
        }
        if (count == 0 && ++silences_ > silences_max_) {
            throw error(error::server_lost, "the server does not answer");
        }
        return {};
    }

    message read() {
        message in;
        receive(in.data(), detail::header_length);
        const std::size_t length = in.length();
        if (in.get(0, 4) != 0x31475453 || in.get(4, 1) != 1 || length < detail::header_length ||
            length > detail::length_max) {
            throw error(error::server_lost, "what came is no STG/1 message");
        }
        receive(in.data() + detail::header_length, length - detail::header_length);
        switch (in.kind()) {
        case detail::run_result:
            on_result(in);
            break;
        case detail::dataset_event:
            on_event(in);
            break;
        case detail::dataset_abort:
            aborted_ = in.get(32, 8);
            abort_status_ = in.status();
            break;
        default:
            break;
        }
        return in;
    }

    void on_event(const message &in) {
        const std::uint64_t state = in.get(40, 1);
        const bool is_failure = state == detail::state_failed || state == detail::state_aborted;
        if (!is_failure && state != detail::state_forwarded) {
            return;
        }
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            const auto found = owed_.find(in.get(32, 8));
            if (found == owed_.end()) {
                return;
            }
            if (is_failure) {
                lost_.push_back(found->second + ": " + in.text(50, in.get(48, 2)));
            }
            owed_.erase(found);
        }
        changed_.notify_all();
    }
};

// A dataset to be written: a name, an element type of SAVIME's, "double" or "double:3".
class dataset {
  public:
    // Throws std::invalid_argument for a name or a type that SAVIME would not take.
    dataset(const std::string &name, const std::string &type, server &at)
        : name_(name), type_(type), element_size_(detail::element_size(type)), server_(at) {
        detail::require_name(name);
    }

    // Queues a write and returns at once. The bytes must not change before server::sync returned.
    void write(const char *bytes, std::size_t length) {
        if (bytes == nullptr || length == 0 || length % element_size_ != 0) {
            throw std::invalid_argument(std::to_string(length) + " bytes are not elements of " +
                                        std::to_string(element_size_));
        }
        server_.write({name_, type_, element_size_, bytes, length});
    }

  private:
    std::string name_;
    std::string type_;
    std::size_t element_size_;
    server &server_;
};

} // namespace staging

#endif
