"""shortened_model.py reprise-llama MODEL FOLDER: a model that is shortened while it is mapped. The
program waits in its first token, as its output is full, until the file is short."""
import fcntl
import os
import shutil
import subprocess
import sys

program, good, folder = sys.argv[1:]
model = os.path.join(folder, "shortened.gguf")
shutil.copyfile(good, model)
ours, theirs = os.pipe()
os.set_blocking(theirs, False)
try:
    while os.write(theirs, b"x" * 4096):
        pass
except BlockingIOError:
    pass
os.set_blocking(theirs, True)
child = subprocess.Popen(
    [program, "-m", model, "-p", "Once upon a time", "-n", "40", "--device", "cpu"],
    stdout=theirs, stderr=subprocess.PIPE, text=True,
    env=os.environ | {"REPRISE_PIPELINE_CACHE": ""})
os.close(theirs)
for line in child.stderr:
    if line.startswith("weights: "):
        break
os.truncate(model, 0)
with os.fdopen(ours, "rb") as output:
    while output.read(65536):
        pass
said = child.stderr.read()
if child.wait() != 1 or model not in said or "was shortened while it was read" not in said:
    sys.exit(f"status {child.returncode}, it says:\n{said}")
