"""Commands of the sandbox's programs, with Java, jars, and options: servers, formatter, tools."""

from __future__ import annotations

import base64
import os
import re
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kgroups.class_archive import ClassArchive
from kgroups.errors import SandboxError

from .java import SHORT_RUN, compile_source, run
from .process import spawn
from .settings import write_logging
from .state import Broker, State

# The options of Kafka's shell scripts (kafka-run-class.sh), for measurements.
_AS_SHIPPED: Final = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
)


def new_id() -> str:
    """Return a random ID in the form of Kafka's IDs of clusters and folders."""
    # The prefix prevents a dash as the first character, which command lines would treat as an option.
    return "k" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")[1:]


def mark_of(folder: Path) -> str:
    """Return the mark of a sandbox's processes, which the command line of each contains."""
    # With the slash: the mark of a sandbox named "a" must not match the command lines of one named "ab".
    return f"{folder}/"


class Programs:
    def __init__(
        self, folder: Path, java: str, jars: Path, options: Sequence[str] = (), *, tools: Path | None = None
    ) -> None:
        """Set the folders of the programs.

        :param options: further options of every JVM.
        :param tools: the jars of tools and clients, if they differ from the broker's jars.
        """
        self.folder = folder
        self.java = java
        self.jars = jars
        self.tools = tools or jars
        self._options = tuple(options)

    @classmethod
    def of(cls, folder: Path, state: State) -> Programs:
        tools = Path(state.tools) if state.tools else None
        return cls(folder, state.java, Path(state.jars), state.options, tools=tools)

    @property
    def _archive(self) -> ClassArchive:
        return ClassArchive(self.java, self.jars)

    def archive_classes(self) -> None:
        """Start to archive the classes that the servers have loaded, unless that is done."""
        self._archive.make(self.folder)

    def settings(self, server: str) -> Path:
        return self.folder / server / "server.properties"

    def data(self, server: str) -> Path:
        return self.folder / server / "data"

    def log(self, program: str) -> Path:
        return self.folder / "logs" / f"{program}.log"

    def tool(
        self,
        program: str | Path,
        args: Sequence[str],
        *,
        heap: str = "256m",
        as_shipped: bool = False,
        more_jars: Sequence[Path] = (),
        tools: Path | None = None,
    ) -> list[str]:
        """Return the command that runs a program with the tools' jars; it logs warnings to stderr.

        :param program: the name of a class, or the path of a source file.
        :param more_jars: folders with further jars.
        :param tools: the jars of another version's tools.
        :raises SandboxError: when a source file cannot be compiled.
        """
        # The archive's jars come first: Java ignores the archive of a class path that does not begin with them.
        tools = tools or self.tools
        jars = [tools, *more_jars]
        if isinstance(program, Path):
            jars.append(compile_source(self.java, program, jars))
        class_name = program.stem if isinstance(program, Path) else program
        options = _AS_SHIPPED if as_shipped else (*SHORT_RUN, *ClassArchive(self.java, tools).use())
        return self._command(class_name, args, heap=heap, level="WARN", options=options, jars=jars)

    def spawn_broker(self, number: int) -> int:
        """Start a broker, and return its PID without waiting until it is ready.

        :raises SandboxError: when Java cannot be executed.
        """
        return self._spawn_server(f"broker-{number}", "kafka.Kafka", heap="512m")

    def spawn_zookeeper(self) -> int:
        return self._spawn_server("zookeeper", "org.apache.zookeeper.server.quorum.QuorumPeerMain", heap="256m")

    def format(self, brokers: Sequence[Broker], cluster_id: str) -> None:
        """Format the data folders for KRaft.

        :raises SandboxError: when Kafka rejects a broker's settings, or does not end.
        """
        first, *others = (f"broker-{broker.id}" for broker in brokers)
        args = ["format", "--cluster-id", cluster_id, "--config", str(self.settings(first))]
        done = run(self._storage_tool(args))
        if done.returncode:
            output = (done.stdout + done.stderr).splitlines()
            raise SandboxError("\n".join(["Kafka rejects the broker's settings:", *output[-8:]]))
        # Only the IDs of the others differ. Running the tool for each would take a quarter of the whole start.
        for broker, server in zip(brokers[1:], others, strict=True):
            shutil.copytree(self.data(first), self.data(server))
            meta = self.data(server) / "meta.properties"
            text = re.sub(r"(?m)^node\.id=.*$", f"node.id={broker.id}", meta.read_text())
            meta.write_text(re.sub(r"(?m)^directory\.id=.*$", f"directory.id={new_id()}", text))

    def _storage_tool(self, args: Sequence[str]) -> list[str]:
        # From the broker's jars: it writes the broker's metadata version.
        options = (*SHORT_RUN, *self._archive.use_or_record(self.folder, "format"))
        return self._command(
            "kafka.tools.StorageTool", args, heap="256m", level="WARN", options=options, jars=(self.jars,)
        )

    def _spawn_server(self, server: str, class_name: str, *, heap: str) -> int:
        args = [str(self.settings(server))]
        options = (*SHORT_RUN, *self._archive.use_or_record(self.folder, server))
        command = self._command(class_name, args, heap=heap, level="INFO", options=options, jars=(self.jars,))
        return spawn(command, self.log(server))

    def _command(
        self,
        class_name: str,
        args: Sequence[str],
        *,
        heap: str,
        level: str,
        options: Sequence[str],
        jars: Sequence[Path],
    ) -> list[str]:
        return [
            self.java,
            f"-Xmx{heap}",
            *options,
            *self._options,
            "-Djava.awt.headless=true",
            f"-Dkgroups.sandbox={mark_of(self.folder)}",
            *write_logging(self.folder, level),
            "-cp",
            os.pathsep.join(f"{folder}/*" for folder in jars),
            class_name,
            *args,
        ]
