// Drops a file on a window, as a file manager does (XDND 5: what a source of text/uri-list sends):
// drop_file WINDOW URI. Ends when the window has taken it, and with 1 if it does not want it.
#include <X11/Xlib.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

using Words = std::array<long, 5>;

class Source {
 public:
  Source(Window target, std::string uri) : target_(target), uri_(std::move(uri) + "\r\n") {
    if (display_ == nullptr) {
      throw std::runtime_error("No X server answers.");
    }
    own_ =
        XCreateSimpleWindow(display_.get(), DefaultRootWindow(display_.get()), 0, 0, 1, 1, 0, 0, 0);
    XSetSelectionOwner(display_.get(), atom("XdndSelection"), own_, CurrentTime);
  }

  void drop() {
    constexpr long kVersion = 5;
    send("XdndEnter", {window(), kVersion << 24, static_cast<long>(atom("text/uri-list")), 0, 0});
    send("XdndPosition",
         {window(), 0, middle(), CurrentTime, static_cast<long>(atom("XdndActionCopy"))});
    if ((wait_for("XdndStatus")[1] & 1) == 0) {
      throw std::runtime_error("The window does not take a file.");
    }
    send("XdndDrop", {window(), 0, CurrentTime, 0, 0});
    wait_for("XdndFinished");
  }

 private:
  struct Close {
    void operator()(Display* display) const { XCloseDisplay(display); }
  };

  Atom atom(const char* name) { return XInternAtom(display_.get(), name, False); }
  long window() const { return static_cast<long>(own_); }

  /// The middle of the target, as XdndPosition wants it.
  long middle() {
    XWindowAttributes size;
    XGetWindowAttributes(display_.get(), target_, &size);
    int x = 0, y = 0;
    Window child = 0;
    XTranslateCoordinates(display_.get(), target_, size.root, size.width / 2, size.height / 2, &x,
                          &y, &child);
    return (static_cast<long>(x) << 16) | y;
  }

  void send(const char* name, const Words& words) {
    XEvent event{};
    event.xclient = {.type = ClientMessage,
                     .serial = 0,
                     .send_event = True,
                     .display = display_.get(),
                     .window = target_,
                     .message_type = atom(name),
                     .format = 32,
                     .data = {}};
    std::copy(words.begin(), words.end(), event.xclient.data.l);
    XSendEvent(display_.get(), target_, False, NoEventMask, &event);
  }

  /// The words of the target's message of that name; meanwhile it may ask for the path.
  Words wait_for(const char* name) {
    for (XEvent event;;) {
      XNextEvent(display_.get(), &event);
      if (event.type == SelectionRequest) {
        hand_over(event.xselectionrequest);
      } else if (event.type == ClientMessage && event.xclient.message_type == atom(name)) {
        return std::to_array(event.xclient.data.l);
      }
    }
  }

  void hand_over(const XSelectionRequestEvent& request) {
    XChangeProperty(display_.get(), request.requestor, request.property, request.target, 8,
                    PropModeReplace, reinterpret_cast<const unsigned char*>(uri_.data()),
                    static_cast<int>(uri_.size()));
    XEvent event{};
    event.xselection = {.type = SelectionNotify,
                        .serial = 0,
                        .send_event = True,
                        .display = display_.get(),
                        .requestor = request.requestor,
                        .selection = request.selection,
                        .target = request.target,
                        .property = request.property,
                        .time = request.time};
    XSendEvent(display_.get(), request.requestor, False, NoEventMask, &event);
  }

  std::unique_ptr<Display, Close> display_{XOpenDisplay(nullptr)};
  Window target_;
  Window own_ = 0;
  std::string uri_;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    throw std::runtime_error("usage: drop_file WINDOW URI");
  }
  Source(std::strtoul(argv[1], nullptr, 0), argv[2]).drop();
  return 0;
} catch (const std::exception& e) {
  std::cerr << "error: " << e.what() << '\n';
  return 1;
}
