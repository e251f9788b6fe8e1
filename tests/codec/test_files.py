"""What is no plain file is refused; what is written is whole, and stays the owner's."""

import os
import stat
import subprocess
import sys
from threading import Event, Thread

import pytest
from tests.waiting import SECONDS
from tests.wording import refuses, same_lines, same_text

import clearwood as cw
from clearwood._numeric import progress
from clearwood.codec import files
from clearwood.codec.files import check_writable, plain_file, read_bytes, write_text
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.rules import Rule, RuleList, RuleSet

posix = pytest.mark.skipif(sys.platform == "win32", reason="files of POSIX")
RULES = RuleList((), Rule((), 1.0), cw.FeatureSpace.numeric(1))


def refused(do, path):
    """Whether a reader refuses a path at once; it may not wait for anything."""
    found = []

    def attempt():
        with pytest.raises(InputError) as caught:
            do(path)
        found.append(str(caught.value))

    thread = Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(60)
    same_text(found)
    return bool(found)


def read_table(path):
    from clearwood.cli.tables.reading import read_table

    return read_table(str(path))


READERS = [cw.load, cw.check, cw.read_ensemble, RuleSet.load]


@posix
@pytest.mark.parametrize("read", [*READERS, read_table])
def test_what_has_no_end_is_refused_before_it_is_opened(read, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "PIPE_SECONDS", 0.1)
    os.mkfifo(tmp_path / "pipe")
    for name, target in [("to_pipe", "pipe"), ("zero", "/dev/zero"), ("here", ".")]:
        (tmp_path / name).symlink_to(target)
    assert refused(read, tmp_path / "pipe")
    assert refused(read, tmp_path / "to_pipe")
    assert refused(read, "/dev/zero")
    assert refused(read, tmp_path / "zero")
    assert refused(read, tmp_path / "here")
    assert refused(read, tmp_path / "gone")
    assert refused(read, f"{tmp_path}/a\0b")
    assert refused(read, tmp_path / ("x" * 5000))


def test_a_number_is_no_path():
    # To the system it is a file that some other part of the program has open.
    with pytest.raises(TypeError):
        cw.load(0)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(files.MOST_BYTES + 1)  # takes no room, but to be read it would
    found = cw.check(path)
    assert not found.sound
    same_lines(found.problem)
    with refuses(ModelFormatError):
        cw.load(path)
    path.write_bytes(b"{}")
    assert read_bytes(str(path), 2) == b"{}"
    with refuses(ModelFormatError):
        read_bytes(path, 1)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc here")
def test_a_file_that_holds_more_than_it_says_is_refused():
    with refuses(InputError):
        read_bytes("/proc/self/status")


@posix
def test_a_pipe_is_read_when_somebody_writes_however_late(
    tmp_path, monkeypatch, capsys
):
    path, reported = tmp_path / "pipe", Event()
    os.mkfifo(path)
    monkeypatch.setattr(progress, "TELL_SECONDS", 0.01)
    report = progress.Patience._report

    def note(text):
        report(text)
        reported.set()

    monkeypatch.setattr(progress.Patience, "_report", staticmethod(note))

    def write():
        with path.open("w") as file:  # waits for the reader
            file.write("a,b\n")
            file.flush()
            reported.wait(SECONDS)
            file.write("1,2\n")

    writer = Thread(target=write, daemon=True)
    writer.start()
    with plain_file(str(path)) as plain, open(plain) as file:
        assert file.read() == "a,b\n1,2\n"
    writer.join(SECONDS)
    said = capsys.readouterr().err
    assert repr(str(path)) in said
    same_lines(said)
    assert not os.path.exists(plain)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@posix
def test_permissions_are_those_of_new_files_or_of_the_file_there_was(tmp_path):
    path, before = tmp_path / "rules.json", os.umask(0o027)
    try:
        RULES.save(path)
        assert mode(path) == 0o640
        for kept in (0o600, 0o664, 0o444):
            path.chmod(kept)
            RULES.save(path, overwrite=True)
            assert mode(path) == kept
    finally:
        os.umask(before)


@posix
def test_no_other_thread_sees_another_umask(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", None)
    RULES.save(tmp_path / "rules.json")
    RULES.save(tmp_path / "rules.json", overwrite=True)


@pytest.mark.skipif(getattr(os, "geteuid", int)() != 0, reason="only root may")
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners here")
def test_a_file_stays_its_owners(tmp_path):
    path = tmp_path / "rules.json"
    RULES.save(path)
    os.chown(path, 65534, 65533)
    path.chmod(0o640)
    RULES.save(path, overwrite=True)
    assert (path.stat().st_uid, path.stat().st_gid) == (65534, 65533)
    assert mode(path) == 0o640


@pytest.mark.skipif(getattr(os, "geteuid", int)() != 0, reason="only root may")
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners here")
@pytest.mark.parametrize(
    "before, after", [(0o660, 0o600), (0o2664, 0o644), (0o644, 0o644), (0o604, 0o604)]
)
def test_a_strangers_group_gets_nothing_of_what_another_had(
    tmp_path, monkeypatch, before, after
):
    def refuse(*_):
        raise PermissionError

    path = tmp_path / "rules.json"
    RULES.save(path)
    os.chown(path, -1, 65533)
    path.chmod(before)
    monkeypatch.setattr(os, "chown", refuse)
    RULES.save(path, overwrite=True)
    assert mode(path) == after


@posix
def test_links_stay_and_what_they_point_to_is_written(tmp_path):
    (tmp_path / "folder").mkdir()
    path, link = tmp_path / "folder" / "rules.json", tmp_path / "link"
    link.symlink_to("folder/rules.json")
    # Nothing is lost where nothing is: a link to no file yet is followed.
    RULES.save(link)
    assert link.is_symlink() and cw.load(path) == RULES
    with refuses(InputError):
        RULES.save(link)
    path.write_text("old")
    RULES.save(link, overwrite=True)
    assert link.is_symlink() and cw.load(path) == RULES
    assert os.listdir(path.parent) == ["rules.json"]
    (tmp_path / "lost").symlink_to("nowhere/rules.json")
    with refuses(InputError):
        RULES.save(tmp_path / "lost")
    (tmp_path / "ring").symlink_to("ring")
    with refuses(InputError):
        RULES.save(tmp_path / "ring", overwrite=True)


def test_names_that_no_file_can_have_are_refused_before_the_work(tmp_path):
    with refuses(InputError):
        check_writable(f"{tmp_path}/a\0b")
    with refuses(InputError):
        check_writable(tmp_path / ("x" * 5000))
    with refuses(InputError):
        check_writable(tmp_path, overwrite=True)
    # As long as names may be: there is room for that of the temporary file.
    RULES.save(tmp_path / ("x" * 255))


AS_NOBODY = """
import os, sys
from clearwood.codec.files import write_text
from clearwood.exceptions import InputError
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    write_text(sys.argv[1], "new", overwrite=True)
except InputError as error:
    print(error)
"""


@posix
def test_a_folder_in_which_nothing_may_be_made_is_told_of(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    (folder / "there.txt").write_text("old")
    for part in (tmp_path, *tmp_path.parents):
        if part.owner() == folder.owner() and not mode(part) & 0o001:
            part.chmod(0o711)
    folder.chmod(0o555)
    for name in ("new.txt", "there.txt"):
        command = [sys.executable, "-c", AS_NOBODY, str(folder / name)]
        said = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=SECONDS
        )
        same_text(said.stdout)
        assert repr(str(folder / name)) in said.stdout
    assert (folder / "there.txt").read_text() == "old"


@posix
def test_a_full_disk_is_told_of_and_leaves_what_there_was(tmp_path, full_disk):
    path = tmp_path / "rules.json"
    path.write_text("old")
    with refuses(InputError, match=r"rules\.json"), full_disk():
        RULES.save(path, overwrite=True)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["rules.json"]


def test_an_interrupt_leaves_what_there_was(tmp_path, monkeypatch):
    path = tmp_path / "rules.json"
    path.write_text("old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_text(path, "new", overwrite=True)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["rules.json"]
