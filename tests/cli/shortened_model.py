"""shortened_model.py reprise-llama MODEL FOLDER DEVICE: a model that is shortened while it is mapped. The
program waits in its first token, as its output is full, until the file is short."""
import fcntl
import os
import shutil
import subprocess
import sys

program, good, folder, device = sys.argv[1:]
model = os.path.join(folder, f"shortened_{device}.gguf")
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
    [program, "-m", model, "-p", "Once upon a time", "-n", "40", "--device", device],
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
wanted = f"error: The file '{model}' was shortened while it was read, or its disk failed.\n"
if child.wait() != 1 or said != wanted:
    sys.exit(f"status {child.returncode}, it says:\n{said}")
