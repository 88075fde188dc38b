"""Options that are misspelt, misplaced or of another program: one line says what is meant."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.told import lines


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("pack --fitler shuffle a.json", "unknown option --fitler; did you mean --filter?"),
        ("pack --records 0:1 a.json", "unknown option --records of pack; it is one of unpack"),
        (
            "inspect --trust a.json",
            "unknown option --trust of inspect; it is one of pack and unpack",
        ),
        ("pack --qqqqqq a.json", "unknown option --qqqqqq; see serialpack pack --help"),
        ("--qqqqqq a.json", "unknown option --qqqqqq; see serialpack --help"),
        ("--to csv a.json", "unknown option --to before a verb; serialpack unpack --to csv a.json"),
        ("-9 a.json", "unknown option -9 before a verb; serialpack pack -9 a.json"),
        ("-r 'a b'", "unknown option -r before a verb; serialpack VERB -r 'a b'"),
        ("pack -j 0 a.json", "--threads: 0 is not a whole number of at least 1"),
        ("pack -j x a.json", "--threads: 'x' is not a whole number of at least 1"),
        ("pack --effort 12 a.json", "--effort: 12 is not a whole number from 1 to 9"),
        ("bench --budget x a.json", "--budget: 'x' is not a number"),
        ("unpack --records 2 a.json", "--records: '2' is not A:B, like 10:20, :5 or 100:"),
        ("unpack a.json --to", "'--to' requires an argument"),
        ("pack -s zstd:19 a.json", "unknown serializer 'zstd'; zstd is a codec: -c zstd"),
        ("pack -c json a.json", "unknown codec 'json'; json is a serializer: -s json"),
        ("pack -c shuffle:4 a.json", "unknown codec 'shuffle'; shuffle is a filter: --filter"),
        ("bench --filter zstd a.json", "unknown filter 'zstd'; zstd is a codec: -c zstd"),
        ("pack -c19 a.json", "unknown codec '19'; did you mean zstd:19?"),
        ("pack -c xz-9 a.json", "unknown codec 'xz-9'; did you mean xz:9?"),
        ("pack -c 99 a.json", "unknown codec '99'; see: serialpack inspect --stages"),
        ("pack -c gzip a.json", "unknown codec 'gzip'; did you mean zlib?"),
        (
            "unpack --to csv:semicolon a.json",
            "csv:semicolon is read, not written; --to csv --out-delimiter ';'",
        ),
        ("unpack --to yaml:1.1 a.json", "yaml:1.1 is read, not written; known: json, ndjson"),
        ("unpack --lossy x a.json -t csv", "unknown loss 'x'; known: null, nan, bigint"),
        ("unpack -F csv --at a a.json", "--from and --at go with --to; --to FORMAT, -o FILE.json"),
        ("unpack --strict a.json", "--strict goes with --to; --to FORMAT, -o FILE.json"),
        ("pack --message M a.json", "a.json: only protobuf and avro take a message"),
        (
            "pack -s protobuf --message M a.json",
            "a.json: protobuf takes a schema and the name of a message of it; --schema FILE.proto",
        ),
        (
            "pack -s avro --schema b.avsc a.json",
            "b.avsc: the schema cannot be used: KeyError: 'type'",
        ),
        (
            "unpack --schema x a.json -t json -o -",
            "a.json: json takes no schema; they are for protobuf",
        ),
    ],
)
def test_an_option_that_is_wrong_is_told_in_one_line(
    run: Run, tmp_path: Path, call: str, said: str
) -> None:
    (tmp_path / "a.json").write_bytes(b'{"a": 1}')
    (tmp_path / "b.avsc").write_bytes(b'{"name": "x"}')
    (line,) = lines(run(*shlex.split(call), code=2).stderr)
    assert line.startswith(f"serialpack: {said}")


@pytest.mark.parametrize(
    ("option", "meant"),
    [
        ("-d", "unpack a.json.spk"),
        ("-x", "unpack a.json.spk"),
        ("-t", "unpack --test a.json.spk"),
        ("-l", "inspect a.json.spk"),
        ("-V", "--version"),
    ],
)
def test_an_option_of_gzip_names_the_command_and_that_works(
    run: Run, tmp_path: Path, option: str, meant: str
) -> None:
    (tmp_path / "a.json").write_bytes(b'{"a": 1}')
    run("pack", "--rm", "a.json")
    (line,) = lines(run(option, "a.json.spk", code=2).stderr)
    assert line == f"serialpack: unknown option {option}; serialpack {meant}"
    run(*shlex.split(meant))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("pack --csv a.json", "unpack takes --to csv"),
        ("unpack --level 9 a.json", "pack takes --effort"),
    ],
)
def test_an_option_of_another_program_is_one_of_another_verb(
    run: Run, call: str, said: str
) -> None:
    """The nearest by its letters was named: --recursive for --csv."""
    verb, name, *_ = shlex.split(call)
    (line,) = lines(run(*shlex.split(call), code=2).stderr)
    assert line == f"serialpack: unknown option {name} of {verb}; {said}"


def test_a_file_that_begins_with_a_dash_is_told_from_an_option(run: Run, tmp_path: Path) -> None:
    name = "-dash board.json"
    (tmp_path / name).write_bytes(b'{"a": 1}')
    (line,) = lines(run("pack", name, code=2).stderr)
    assert line == f"serialpack: {name} is read as options; './{name}' is the file"
    run("pack", f"./{name}")
    assert (tmp_path / f"{name}.spk").exists()


def test_words_that_other_programs_answer_are_options_here(run: Run) -> None:
    for word, meant in (("help", "--help"), ("version", "--version")):
        (line,) = lines(run(word, code=2).stderr)
        assert line == f"serialpack: unknown verb {word!r}; serialpack {meant}"
        run(meant)


def test_a_second_name_that_says_a_format_is_what_a_file_becomes(run: Run, tmp_path: Path) -> None:
    """Both were to be packed, the second of which is not there."""
    (tmp_path / "a.json").write_bytes(b'[{"a":1}]')
    (line,) = lines(run("a.json", "b.csv", code=2).stderr)
    command = "unpack a.json -o b.csv"
    assert line == f"serialpack: unknown verb 'a.json'; serialpack {command}"
    run(*shlex.split(command))
    (line,) = lines(run("a.json", "b.csv", code=2).stderr)  # both are there
    assert line.endswith("; serialpack pack a.json b.csv")


def test_a_default_that_is_wrong_is_told_of_what_gave_it(run: Run, tmp_path: Path) -> None:
    """It was told of an option that nobody gave."""
    (tmp_path / "a.json").write_bytes(b"1")
    for name, words in (("PACK_EFFORT", "'x' is not a whole"), ("UNPACK_TO", "unknown format 'x'")):
        verb = name.partition("_")[0].lower()
        env = {f"SERIALPACK_{name}": "x"}
        (line,) = lines(run(verb, "a.json", env=env, code=2).stderr)
        assert line.startswith(f"serialpack: SERIALPACK_{name}: {words}")
    (tmp_path / "serialpack").mkdir()
    (tmp_path / "serialpack/config.toml").write_text('[pack]\neffort = "x"\n')
    (line,) = lines(run("pack", "a.json", env={"XDG_CONFIG_HOME": str(tmp_path)}, code=2).stderr)
    assert line.startswith("serialpack: config.toml: effort: 'x' is not a whole")


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        ("unpack all.spk -C there", "unpack all.spk -o there"),
        ("unpack --directory=there all.spk", "unpack -o there all.spk"),
        ("unpack -xf all.spk", "unpack all.spk"),
        ("-xvf all.spk -C there", "unpack all.spk -o there"),
        ("unpack -l all.spk", "inspect all.spk"),
        ("-tf all.spk", "inspect all.spk"),
        ("unpack -c a.json.spk", "unpack a.json.spk -o -"),
        ("unpack -O a.json.spk", "unpack -o - a.json.spk"),
        ("unpack -t all.spk", "unpack --test all.spk"),
        ("pack -d a.json.spk", "unpack a.json.spk"),
        ("pack -czf new.spk in", "pack -r in --archive -o new.spk"),
        ("pack -zcf new.spk in", "pack -r in --archive -o new.spk"),
        ("pack -c in/b.json", "pack in/b.json -o -"),
        ("pack -T0 in/b.json", "pack in/b.json"),
        ("pack -T4 in/b.json", "pack -j 4 in/b.json"),
        ("pack -T list -o there", "pack --files-from list -o there"),
        ("pack --best in/b.json", "pack --effort 9 in/b.json"),
        ("pack --level=5 in/b.json", "pack --effort 5 in/b.json"),
        ("pack -u -r in", "pack --skip-existing -r in"),
        ("pack -n -r in", "pack --dry-run -r in"),
        ("pack --remove-source-files in/b.json", "pack --rm in/b.json"),
        ("pack -a in", "pack -r in"),
        ("unpack --pretty in/b.json --to json -o b", "unpack --indent 2 in/b.json --to json -o b"),
        ("unpack --output-format=yaml in/b.json", "unpack --to yaml in/b.json"),
        ("unpack --csv in/b.json", "unpack --to csv in/b.json"),
        ("unpack --jsonl in/b.json", "unpack --to jsonl in/b.json"),
        ("unpack --overwrite a.json.spk", "unpack -f a.json.spk"),
        ("unpack -y a.json.spk", "unpack -f a.json.spk"),
        ("unpack --columns a in/b.json --to csv", "unpack --fields a in/b.json --to csv"),
        ("unpack --limit 5 a.json.spk", "unpack --records 0:5 a.json.spk"),
        ("inspect --limit=5 in/b.json", "inspect --head 5 in/b.json"),
        ("unpack t.txt -d ';' --to json", "unpack t.txt --delimiter ';' --to json"),
        ("unpack t.txt --tab --to json", "unpack t.txt --from tab --to json"),
        ("unpack --input in/b.json -o x.csv", "unpack in/b.json -o x.csv"),
        ("unpack in/b.json --to json --compact -o x", "unpack in/b.json --to json -o x"),
        ("unpack t.txt --icsv --ojson", "unpack t.txt --from csv --to json"),
        (
            "unpack --input-format csv t.txt --output-format json",
            "unpack --from csv t.txt --to json",
        ),
        ("in/b.json -o x.csv", "unpack in/b.json -o x.csv"),
        ("-o x.csv in/b.json", "unpack -o x.csv in/b.json"),
        ("in/b.json --to csv", "unpack in/b.json --to csv"),
        ("head in/b.json", "inspect --head 10 in/b.json"),
    ],
)
def test_an_option_of_another_program_names_the_command_and_that_works(
    run: Run, tmp_path: Path, call: str, meant: str
) -> None:
    """\"--fast\" was taken for a misspelt --trust, \"--best\" for --meta; of two options of another
    program one was left, and a file with -o x.csv was to be packed under that name."""
    (tmp_path / "in").mkdir()
    for name in ("a.json", "in/b.json"):
        (tmp_path / name).write_bytes(b'{"a": 1}')
    (tmp_path / "list").write_bytes(b"in/b.json")
    (tmp_path / "t.txt").write_bytes(b"a;b\n1;2\n")
    run("pack", "--archive", "-r", "in", "-o", "all.spk")
    run("pack", "--rm", "a.json")
    (line,) = lines(run(*shlex.split(call), code=2).stderr)
    assert line.endswith(f"; serialpack {meant}")
    run(*shlex.split(meant))


@pytest.mark.parametrize("option", ["--where", "--filter", "--sort", "--rename"])
def test_what_is_done_by_values_names_who_does_it(run: Run, option: str) -> None:
    """It was said that there is no such option, or that pack has it."""
    (line,) = lines(run("unpack", "a.json", option, "a>1", code=2).stderr)
    assert line.startswith(f"serialpack: unknown option {option}; serialpack unpack FILE --to ")
    assert " | jq -c 'select(" in line


def test_the_first_records_of_what_is_converted_are_had_by_a_pipe(run: Run) -> None:
    """The hint named --records, which does not go with --to."""
    (line,) = lines(run("unpack", "a.json", "--limit", "5", "--to", "csv", code=2).stderr)
    assert line.endswith("; | head -n 5 behind --to ndjson -o - takes so many records")
    (line,) = lines(run("unpack", "a.json", "--records", "0:5", "--to", "csv", code=2).stderr)
    assert line.endswith("; a pipe of two does both, or | head -n N behind --to ndjson -o -")


@pytest.mark.parametrize("option", ["--delete", "--faster", "--xattrs"])
def test_an_option_that_is_like_none_is_taken_for_none(run: Run, option: str) -> None:
    """Least of all for one that removes files, or trusts them."""
    (line,) = lines(run("pack", option, "a.json", code=2).stderr)
    assert line == f"serialpack: unknown option {option}; see serialpack pack --help"


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        ("pack in -o there", "pack -r in -o there"),
        ("pack in --archive -o new.spk", "pack -r in --archive -o new.spk"),
        ("unpack in -o there", "unpack -r in -o there"),
        ("pack 'in/*.json' -o there", "pack -r in --include '*.json'"),
        ("pack -qr 'in/*.json' -o there", "pack -r in --include '*.json'"),
    ],
)
def test_a_folder_and_a_glob_name_the_whole_command_that_takes_them(
    run: Run, tmp_path: Path, call: str, meant: str
) -> None:
    """Without its -o it packed beside the files."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/b.json").write_bytes(b'{"a": 1}')
    (line,) = lines(run(*shlex.split(call), code=1).stderr)
    assert line.endswith(f"; serialpack {meant}")
    run(*shlex.split(meant))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            "unpack --test --skip-existing a.spk",
            "--test writes nothing: it goes without --skip-existing",
        ),
        (
            "unpack --test -N --dry-run a.spk",
            "--test writes nothing: it goes without --name and --dry-run",
        ),
        ("unpack -N a.spk -o b", "-N and -o both name the output; -o FOLDER/ says where it goes"),
        ("unpack -N a.spk -o -", "-N and -o both name the output; -o FOLDER/ says where it goes"),
        (
            "unpack a.json -o sqlite-kv://b.db --skip-existing",
            "-o STORE fills one store, anew: it goes without --skip-existing",
        ),
        (
            "unpack a.json -o sqlite-kv://b.db --journal j --include x",
            "-o STORE fills one store, anew: it goes without --journal and --include",
        ),
        (
            "unpack sqlite-kv://s.db --get 0 --dry-run -o b",
            "--get takes one value out of a store: it goes without --dry-run",
        ),
        (
            "unpack sqlite-kv://s.db --get 0 --json",
            "--get takes one value out of a store: it goes without --json",
        ),
        (
            "unpack -r a.spk --include *.json -o b",
            "--include, --exclude and --gitignore choose in folders with -r: no input is one;"
            " unpack without -r chooses in an archive",
        ),
        (
            "pack -r a.json --exclude *.json -o b",
            "--include, --exclude and --gitignore choose in folders with -r: no input is one",
        ),
        ("inspect --head 0 --blocks a.spk", "--head shows records: it goes without --blocks"),
        ("inspect --stages --head 1", "--stages lists what there is: it goes without --head"),
        ("bench --sample contacts --from csv", "--sample is no file: it goes without --from"),
        (
            "bench a.json --store sqlite-kv --line 1M",
            "--store measures its values: it goes without --line",
        ),
        (
            "bench a.json --store sqlite-kv --cold-all",
            "--store measures its values: it goes without --cold-all",
        ),
        ("bench a.json --json --format csv", "--json is a report itself: it goes without --format"),
        (
            "bench a.json --compare c --format csv",
            "--compare is told as a table or as json, not as csv",
        ),
        *(
            (f"{call} -q -v", "-q prints errors only: it goes without --verbose")
            for call in ("pack a.json", "unpack a.spk", "inspect a.spk", "bench a.json")
        ),
    ],
)
def test_options_of_which_one_would_have_no_effect_are_refused(
    run: Run, tmp_path: Path, call: str, said: str
) -> None:
    """Nothing is written, and the line names those that were typed."""
    (tmp_path / "a.json").write_bytes(b'[{"a": 1}]')
    run("pack", "a.json", "-o", "a.spk")
    run("unpack", "a.json", "-o", "sqlite-kv://s.db")
    there = set(tmp_path.iterdir())
    (line,) = lines(run(*shlex.split(call), code=2).stderr)
    assert line == f"serialpack: {said}"
    assert set(tmp_path.iterdir()) == there


def test_a_default_that_has_no_effect_beside_what_is_typed_is_let_be(
    run: Run, tmp_path: Path
) -> None:
    """It is for other calls, too, and could not be taken back by a word."""
    (tmp_path / "a.json").write_bytes(b'[{"a": 1}]')
    run("pack", "a.json")
    run("unpack", "--test", "a.json.spk", env={"SERIALPACK_UNPACK_SKIP_EXISTING": "1"})
    for typed, default, told in (("-v", "QUIET", True), ("-q", "VERBOSE", False)):
        env = {f"SERIALPACK_UNPACK_{default}": "1"}
        assert bool(run("unpack", typed, "--test", "a.json.spk", env=env).stderr) == told


def test_a_plan_draws_no_profile(run: Run, tmp_path: Path) -> None:
    """``--dry-run`` writes nothing at all."""
    (tmp_path / "a.json").write_bytes(b'[{"a": 1}]')
    plan = lines(run("pack", "a.json", "--dry-run", "--profile", "p.html", "--stats").stderr)
    assert plan == ["would pack a.json to a.json.spk as raw+zstd:3"]
    assert not (tmp_path / "p.html").exists()


def test_archives_and_entries_named_as_tar_has_them(run: Run, tmp_path: Path) -> None:
    """What was said of them named no way that works."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a b.json").write_bytes(b"[1]")
    assert lines(run("pack", "-r", "all.spk", "in", code=1).stderr) == [
        "serialpack: all.spk: cannot read: no such file; nothing was packed;"
        " --archive -o all.spk makes it"
    ]
    assert [each.name for each in (tmp_path / "in").iterdir()] == ["a b.json"]
    run("pack", "-r", "in", "--archive", "-o", "all.spk", "--rm")
    said = run("inspect", "all.spk", "in/a b.json", code=1).stderr.decode()
    assert "; of all.spk --include 'in/a b.json' takes that entry\n" in said
    assert b"1 entry" in run("inspect", "all.spk", "--include", "in/a b.json").stdout
    assert b"takes that entry" not in run("inspect", "all.spk", "gone", code=1).stderr
    assert lines(run("unpack", "gone", code=1).stderr) == [
        "serialpack: gone: cannot read: no such file or directory"
    ]
