"""The copy of the tree that patches change, and its build."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = ROOT / "build/mutants"
TREE = SCRATCH / "tree"
BUILD = SCRATCH / "dev"
# In the copy, git must not find the repository.
ENVIRONMENT = dict(os.environ, GIT_CEILING_DIRECTORIES=str(SCRATCH))


def run(*command, cwd=TREE, **environment):
    """Returns the exit status of a command and what it printed."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=ENVIRONMENT | environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode(errors="replace")


def copy_tree():
    """Makes the copy equal to the tree and touches only what differs, so that little is rebuilt."""
    TREE.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT,
                            check=True, stdout=subprocess.PIPE).stdout.decode()
    wanted = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    for file in [path for path in TREE.rglob("*") if path.is_file()]:
        if str(file.relative_to(TREE)) not in wanted and "__pycache__" not in file.parts:
            file.unlink()
    for name in wanted:
        source, copy = ROOT / name, TREE / name
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source.read_bytes())
            copy.chmod(source.stat().st_mode)
