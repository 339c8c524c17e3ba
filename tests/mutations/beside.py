"""Programs of mutants, compiled and linked beside the build of the tree that has no patch."""

import json
import pathlib
import re
import shlex
import shutil
import subprocess

from copied_tree import BUILD, SCRATCH, TREE, run


class Built:
    """What ninja knows of the build without a patch."""

    def __init__(self, programs):
        self.commands = {entry["output"]: entry["command"]
                         for entry in json.loads(self.ask("compdb"))}
        self.reads = {}  # by file, what is made from it
        for line in self.ask("deps").splitlines():
            if not line.startswith(" "):
                output = line.split(":")[0]
            elif line.strip():
                self.reads.setdefault(line.strip(), []).append(output)
        for rule in (BUILD / "generated").glob("*.d"):  # of shaders, which ninja does not keep
            output, *files = shlex.split(rule.read_text())
            for file in files:
                self.reads.setdefault(file, []).append(str(pathlib.Path(output[:-1]).relative_to(BUILD)))
        self.links = {program: self.ask("commands", "-s", "bin/" + program) for program in programs}

    @staticmethod
    def ask(tool, *words):
        return subprocess.run(["ninja", "-C", BUILD, "--quiet", "-t", tool, *words], check=True,
                              stdout=subprocess.PIPE).stdout.decode()

    def generated(self, files):
        """The headers made from files."""
        return sorted(made for file in files for made in self.reads.get(str(file), [])
                      if not made.endswith((".o", ".pch")))

    def objects(self, mutant, files):
        """What is made from files of a mutant's program, or of the sources it names."""
        if mutant.sources:
            return [made for made in self.commands
                    if made.endswith(tuple(f"/{source}.o" for source in mutant.sources))]
        link = self.links[mutant.program]
        objects = {made for file in files for made in self.reads.get(str(file), [])
                   if made.endswith(".o")}
        return [made for made in sorted(objects) if made in link or
                f"lib{re.search('([^/]*)[.]dir/', made)[1]}.a" in link]


class Beside:
    """A folder with the files of a mutant, what is made from them, and its program."""

    def __init__(self, built, mutant):
        self.built = built
        self.mutant = mutant
        self.place = SCRATCH / "beside" / mutant.name
        self.instead = {}  # by file, the one that the compiler sees
        self.program = self.place / "bin" / (mutant.program or "")

    def patch(self):
        shutil.rmtree(self.place, ignore_errors=True)
        if any(file.startswith("shaders/") for file in self.mutant.files):
            shutil.copytree(TREE / "shaders", self.place / "tree/shaders")
        for file in self.mutant.files:
            copy = self.place / "tree" / file
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TREE / file, copy)
            self.instead[TREE / file] = copy
        return run("git", "apply", self.mutant.patch, cwd=self.place / "tree")

    def generate(self):
        for made in self.built.generated(self.instead):
            own = self.place / made
            own.parent.mkdir(parents=True, exist_ok=True)
            command = self.built.commands[made].split(" && ")[1].replace(str(BUILD / made), str(own))
            command = command.replace(str(TREE / "shaders"), str(self.place / "tree/shaders"))
            status, printed = run(*shlex.split(command))
            if status != 0:
                return status, printed
            self.instead[BUILD / made] = own
        return 0, ""

    def compile(self):
        """Returns with the status the objects by those that they replace."""
        overlay = {"version": 0, "use-external-names": False,
                   "roots": [{"type": "file", "name": str(file), "external-contents": str(own)}
                             for file, own in self.instead.items()]}
        (self.place / "overlay.json").write_text(json.dumps(overlay))
        objects = {}
        for made in self.built.objects(self.mutant, self.instead):
            objects[made] = str(self.place / f"{len(objects)}.o")
            command = shlex.split(self.built.commands[made].replace(made, objects[made]))
            if command[0].endswith("ccache"):  # does not see what the overlay shows
                del command[0]
            status, printed = run(*command, "-ivfsoverlay", self.place / "overlay.json", cwd=BUILD)
            if status != 0:
                return status, printed, objects
        return not objects, "No object is made from these files.", objects

    def link(self, objects):
        self.program.parent.mkdir()
        link = shlex.split(self.built.links[self.mutant.program].split(" && ")[1])
        link[link.index("-o") + 1] = str(self.program)
        link = [word.replace("\\$ORIGIN", str(BUILD / "bin")) for word in link]  # of libraries
        for made, own in objects.items():
            if made in link:
                link[link.index(made)] = own
            else:
                link.insert(1, own)  # before the library, which then is not asked for its own
        return run(*link, cwd=BUILD)

    def build(self):
        for step in (self.patch, self.generate):
            status, printed = step()
            if status != 0:
                return status, printed
        status, printed, objects = self.compile()
        return self.link(objects) if status == 0 and self.mutant.program else (status, printed)
