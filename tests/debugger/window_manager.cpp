// window_manager picture|iconify|restore|close WINDOW
// Does to a window what a window manager does, on an X server that has none; `picture` prints a
// number that changes with what the window shows.
#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <array>
#include <cstdint>
#include <iostream>
#include <string>

namespace {

void set_state(Display* display, Window window, long state) {
  const Atom name = XInternAtom(display, "WM_STATE", False);
  const std::array<long, 2> value{state, 0};  // Xlib takes longs for values of 32 bits
  XChangeProperty(display, window, name, name, 32, PropModeReplace,
                  reinterpret_cast<const unsigned char*>(value.data()), 2);
}

void close(Display* display, Window window) {
  XEvent event{};
  event.xclient.type = ClientMessage;
  event.xclient.window = window;
  event.xclient.message_type = XInternAtom(display, "WM_PROTOCOLS", False);
  event.xclient.format = 32;
  event.xclient.data.l[0] = static_cast<long>(XInternAtom(display, "WM_DELETE_WINDOW", False));
  XSendEvent(display, window, False, NoEventMask, &event);
}

/// FNV-1a.
std::uint64_t hash_of_picture(Display* display, Window window) {
  XWindowAttributes is{};
  XGetWindowAttributes(display, window, &is);
  XImage* image = XGetImage(display, window, 0, 0, static_cast<unsigned int>(is.width),
                            static_cast<unsigned int>(is.height), AllPlanes, ZPixmap);
  std::uint64_t hash = 14695981039346656037U;
  for (int y = 0; y < is.height; ++y) {
    for (int x = 0; x < is.width; ++x) {
      hash = (hash ^ XGetPixel(image, x, y)) * 1099511628211U;
    }
  }
  XDestroyImage(image);
  return hash;
}

}  // namespace

int main(int argc, char** argv) {
  Display* display = XOpenDisplay(nullptr);
  if (argc != 3 || display == nullptr) {
    std::cerr << "usage: window_manager picture|iconify|restore|close WINDOW, on an X server\n";
    return 2;
  }
  const std::string action = argv[1];
  const Window window = std::stoul(argv[2]);
  if (action == "picture") {
    std::cout << hash_of_picture(display, window) << '\n';
  } else if (action == "iconify") {
    set_state(display, window, IconicState);
    XUnmapWindow(display, window);
  } else if (action == "restore") {
    set_state(display, window, NormalState);
    XMapWindow(display, window);
  } else if (action == "close") {
    close(display, window);
  }
  XCloseDisplay(display);
}
