"""in_terminal.py STATUS PART PROGRAM...: runs it on a terminal. Fails if its status is another, if it
prints no PART, or if it prints what controls a terminal or the direction of writing, but for ends of
lines and tabs."""
import os
import pty
import subprocess
import sys

status, part, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
ours, theirs = pty.openpty()
child = subprocess.Popen([word.encode().decode("unicode_escape") for word in command],
                         stdin=theirs, stdout=theirs, stderr=theirs)
os.close(theirs)
printed = b""
try:
    while piece := os.read(ours, 65536):
        printed += piece
except OSError:  # the end of a terminal that nobody holds any more
    pass
text = printed.decode()  # what is not UTF-8 ends the test here
controls = [c for c in text if c not in "\r\n\t" and (
    c < " " or "\x7f" <= c <= "\x9f" or "\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069")]
problems = []
if child.wait() != status:
    problems.append(f"The status is {child.returncode} instead of {status}.")
if part not in text:
    problems.append(f"It does not print {part!r}.")
if controls:
    problems.append(f"It prints {controls}.")
if problems:
    sys.exit("\n".join([*problems, repr(text)]))
