// A file system for SQLite on top of its own: https://www.sqlite.org/vfs.html, and the shims that
// come with SQLite (test_vfs.c, test_devsym.c).
#include <cstdlib>
#include <new>

#include <sqlite3.h>

#include "tests/profile_faults/injector.h"

namespace reprise::test {
namespace {

struct File {
  sqlite3_file base;
  sqlite3_file* real;  // lies behind this
};

sqlite3_vfs*& real_files() {
  static sqlite3_vfs* files = nullptr;
  return files;
}

sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real; }

/// `call` unless this one fails, with `error`.
template <class Call>
int unless_failing(int error, Call&& call) {
  return failing_files().fails() ? error : call();
}

int or_full(int error) { return failing_files().calls() % 2 == 0 ? SQLITE_FULL : error; }

int read(sqlite3_file* file, void* to, int bytes, sqlite3_int64 at) {
  return unless_failing(SQLITE_IOERR_READ,
                        [&] { return real(file)->pMethods->xRead(real(file), to, bytes, at); });
}

int write(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 at) {
  const auto write_first = [&](int first) {
    return real(file)->pMethods->xWrite(real(file), from, first, at);
  };
  if (failing_files().fails()) {
    write_first(bytes / 2);
    return or_full(SQLITE_IOERR_WRITE);
  }
  return write_first(bytes);
}

int truncate(sqlite3_file* file, sqlite3_int64 bytes) {
  return unless_failing(SQLITE_IOERR_TRUNCATE,
                        [&] { return real(file)->pMethods->xTruncate(real(file), bytes); });
}

int sync(sqlite3_file*, int) {
  return failing_files().fails() ? or_full(SQLITE_IOERR_FSYNC) : SQLITE_OK;
}

int size(sqlite3_file* file, sqlite3_int64* bytes) {
  return unless_failing(SQLITE_IOERR_FSTAT,
                        [&] { return real(file)->pMethods->xFileSize(real(file), bytes); });
}

int lock(sqlite3_file* file, int level) {
  return unless_failing(SQLITE_IOERR_LOCK,
                        [&] { return real(file)->pMethods->xLock(real(file), level); });
}

int map_shared(sqlite3_file* file, int region, int bytes, int extend, void volatile** to) {
  return unless_failing(SQLITE_IOERR_SHMMAP, [&] {
    return real(file)->pMethods->xShmMap(real(file), region, bytes, extend, to);
  });
}

int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  const auto call = [&] {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
  };
  // Giving a lock back cannot fail.
  return (flags & SQLITE_SHM_UNLOCK) != 0 ? call() : unless_failing(SQLITE_IOERR_SHMLOCK, call);
}

constexpr sqlite3_io_methods kMethods{
    .iVersion = 3,
    .xClose = [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); },
    .xRead = read,
    .xWrite = write,
    .xTruncate = truncate,
    .xSync = sync,
    .xFileSize = size,
    .xLock = lock,
    .xUnlock = [](sqlite3_file* f,
                  int level) { return real(f)->pMethods->xUnlock(real(f), level); },
    .xCheckReservedLock =
        [](sqlite3_file* f, int* out) {
          return real(f)->pMethods->xCheckReservedLock(real(f), out);
        },
    .xFileControl =
        [](sqlite3_file* f, int op, void* argument) {
          return real(f)->pMethods->xFileControl(real(f), op, argument);
        },
    .xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); },
    .xDeviceCharacteristics =
        [](sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); },
    .xShmMap = map_shared,
    .xShmLock = lock_shared,
    .xShmBarrier = [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); },
    .xShmUnmap = [](sqlite3_file* f,
                    int remove) { return real(f)->pMethods->xShmUnmap(real(f), remove); },
    .xFetch = [](sqlite3_file* f, sqlite3_int64 at, int bytes,
                 void** out) { return real(f)->pMethods->xFetch(real(f), at, bytes, out); },
    .xUnfetch = [](sqlite3_file* f, sqlite3_int64 at,
                   void* page) { return real(f)->pMethods->xUnfetch(real(f), at, page); }};

int open(sqlite3_vfs*, const char* name, sqlite3_file* to, int flags, int* out_flags) {
  auto* file = new (to) File{};  // without methods: SQLite does not close it then
  file->real = reinterpret_cast<sqlite3_file*>(file + 1);
  const int code = unless_failing(SQLITE_CANTOPEN, [&] {
    return real_files()->xOpen(real_files(), name, file->real, flags, out_flags);
  });
  if (code == SQLITE_OK) {
    file->base.pMethods = &kMethods;
  }
  return code;
}

int remove(sqlite3_vfs*, const char* name, int sync_folder) {
  return unless_failing(SQLITE_IOERR_DELETE,
                        [&] { return real_files()->xDelete(real_files(), name, sync_folder); });
}

int access(sqlite3_vfs*, const char* name, int flags, int* out) {
  return unless_failing(SQLITE_IOERR_ACCESS,
                        [&] { return real_files()->xAccess(real_files(), name, flags, out); });
}

}  // namespace

void install_failing_files() {
  real_files() = sqlite3_vfs_find(nullptr);
  static sqlite3_vfs files = *real_files();
  files.zName = "failing";
  files.szOsFile += static_cast<int>(sizeof(File));
  files.xOpen = open;
  files.xDelete = remove;
  files.xAccess = access;
  if (sqlite3_vfs_register(&files, 1) != SQLITE_OK) {
    std::abort();
  }
}

}  // namespace reprise::test
