"""Run the demo and the quicker tests with each Python on this machine, and the lowest versions.

`make versions`: every Python from 3.11 on that is on the path or under pyenv, with the newest
packages; then the oldest of them with the lowest versions that setup.cfg names. Each has an
environment of its own in build/versions. The last lines say how each went.
"""

import os
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
QUICK = ["tests/datasets", "tests/measures", "tests/models", "tests/results"]


def interpreters() -> dict[tuple[int, ...], str]:
    """Return the first interpreter that runs of each minor version from 3.11 on, oldest first."""
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    folders = [*map(Path, os.get_exec_path()), *pyenv.glob("versions/*/bin")]
    named = [path for folder in folders for path in folder.glob("python3.*")]
    found: dict[tuple[int, ...], str] = {}
    for path in [sys.executable, *(path for path in named if path.name[8:].isdecimal())]:
        asked = [path, "-c", "import sys; print(*sys.version_info[:3])"]
        answer = subprocess.run(asked, capture_output=True, text=True).stdout
        version = tuple(map(int, answer.split()))
        if version >= (3, 11) and version[:2] not in {each[:2] for each in found}:
            found[version] = str(path)
    return dict(sorted(found.items()))


def lowest() -> list[str]:
    """Return a line `name==version` for each requirement of the package and of its tests."""
    facts = ConfigParser()
    facts.read(ROOT / "setup.cfg")
    lines = facts["options"]["install_requires"] + facts["options.extras_require"]["test"]
    return [line.replace(">=", "==") for line in lines.split()]


def trial(python: str, place: Path, required: list[str]) -> str:
    """Install in an environment of its own, run the demo and the tests; return how it went."""
    shutil.rmtree(place, ignore_errors=True)
    bin_ = place / "bin"
    pip = [bin_ / "python", "-m", "pip"]
    steps: list[tuple[str, list[str | Path]]] = [
        ("environment", [python, "-m", "venv", place]),
        ("install", [*pip, "install", "--quiet", "--editable", f"{ROOT}[test]", *required]),
        ("list", [*pip, "list"]),
        ("demo", [bin_ / "letorbench", "run", "--dataset", "DEMO", "--algo",
            "regression,ndcgboost", "--data-dir", place / "data", "--out", place / "results"]),
        ("tests", [bin_ / "python", "-m", "pytest", *QUICK]),
    ]  # fmt: skip
    own = {"NUMBA_CACHE_DIR": str(place / "kernels"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    for name, command in steps:
        if subprocess.run(command, cwd=ROOT, env={**os.environ, **own}).returncode:
            return f"{name} FAILED"
    return "passed"


def main() -> int:
    """Try them all and print a line each; 1 if one failed."""
    found = {".".join(map(str, version)): path for version, path in interpreters().items()}
    oldest, path = next(iter(found.items()))
    lines, lowered = {}, (f"{oldest}-lowest", path, lowest())
    for name, path, required in (*((name, path, []) for name, path in found.items()), lowered):
        print(f"== {name}: {path}", flush=True)
        lines[name] = trial(path, ROOT / "build" / "versions" / name, required)
    for name, line in lines.items():
        print(f"{name}: {line}")
    return any("FAILED" in line for line in lines.values())


if __name__ == "__main__":
    sys.exit(main())
