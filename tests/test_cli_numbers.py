"""Files as people have them: decimal commas, marks between thousands, exports of spreadsheets, wide tables, ids."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

from spectraplex.cli import store
from spectraplex.cli.app import app
from spectraplex.tables.digits import POINT, Digits, almost_number, remedy

PEOPLE = ("ann", "ben", "eva", "zoe")
VALUES = {(who, what): 10.0 * k + 1234.5 * (j + 1) for k, who in enumerate(PEOPLE) for j, what in enumerate("xyz")}


def run(*words: object, code: int = 0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    assert "Traceback" not in done.output
    return done


def written(path: Path, number, delimiter: str = ";", encoding: str = "utf-8") -> Path:
    lines = [delimiter.join(("who", "what", "sales"))]
    for (who, what), value in VALUES.items():
        lines.append(delimiter.join((who, what, number(value))))
    path.write_bytes(("\r\n".join(lines) + "\r\n").encode(encoding))
    return path


def german(value: float) -> str:
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def french(value: float) -> str:
    return f"{value:,.1f}".replace(",", "\u202f").replace(".", ",")


def fitted(file: Path, *words: object) -> dict:
    out = file.with_name("model")
    run("complete", file, "-o", out, "--radius", 9, "--no-report", "--force", *words)
    seen = store.read(out).model
    held = seen.observations_
    rows, cols = seen.row_labels_.values[held.rows], seen.column_labels_.values[held.cols]
    return dict(zip(zip(rows, cols, strict=True), held.values, strict=True))


@pytest.mark.parametrize(
    ("number", "options", "delimiter", "encoding"),
    [
        (lambda value: f"{value:.1f}".replace(".", ","), (), ";", "utf-8-sig"),
        (lambda value: f"{value:.1f}".replace(".", ","), ("--decimal", ","), ";", "utf-16"),
        (lambda value: f'"{value:.1f}"'.replace(".", ","), (), ",", "utf-8"),
        (german, ("--decimal", ",", "--thousands", "."), ";", "utf-8"),
        (german, ("--thousands", "point"), "\t", "utf-8"),
        (german, (), ";", "utf-8"),
        (lambda value: f'"{value:,.1f}"', (), ",", "utf-8"),
        (lambda value: f'"{value:,.1f}"', ("--thousands", ","), ",", "utf-8"),
        (lambda value: f"{value:,.1f}".replace(",", "'"), ("--thousands", "apostrophe"), ";", "utf-8"),
        (french, ("--decimal", "comma", "--thousands", "blank"), ";", "utf-8"),
        (lambda value: f"{value:,.1f}".replace(",", " "), ("--thousands", " "), "|", "utf-8"),
    ],
)  # fmt: skip
def test_numbers_as_they_are_written_elsewhere(number, options, delimiter, encoding, tmp_path):
    file = written(tmp_path / "sales.csv", number, delimiter, encoding)
    assert fitted(file, *options) == VALUES
    run("verify", tmp_path / "model", file)  # read the same way again


def test_what_was_guessed_is_said(tmp_path):
    file = written(tmp_path / "sales.csv", lambda value: f"{value:.1f}".replace(".", ","))
    done = run("complete", file, "-o", tmp_path / "m", "--radius", 9, "--no-report")
    assert "with a header, decimal commas; rows from 'who', columns from 'what', values from 'sales'" in done.stderr


def test_the_guess_stands_above_an_error(tmp_path):
    file = tmp_path / "sales.csv"
    body = "".join(f"2024-01-{k + 1:02d},s{k % 3},p{k},{k},{k + 5}\n" for k in range(25))
    file.write_text(f"date,shop,product,qty,sales\n{body}2024-02-03,s1,p2,many,6\n")
    said = run("complete", file, "-o", tmp_path / "m", code=2).stderr.splitlines()
    assert said[0].endswith("rows from 'shop', columns from 'product', values from 'qty'.")
    assert "line 27: the value 'many' is not a number (column 'qty'; --value names another)" in said[1]
    assert len(said) == 2 and not (tmp_path / "m").exists()
    quiet = run("complete", file, "-o", tmp_path / "m", "-q", code=2).stderr.splitlines()
    assert quiet == said[1:]
    file.write_text("who,what,stars\na,x,5\na,x,4\nb,y,3\n")
    said = run("complete", file, "-o", tmp_path / "m", code=2).stderr.splitlines()
    assert "rows from 'who'" in said[0] and "was there already" in said[1]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (("--decimal", ",", "--thousands", ","), "must be different marks"),
        (("--decimal", "xx"), "--decimal 'xx' must be one mark"),
        (("--decimal", "1"), "--decimal '1' must be one mark"),
        (("--thousands", "-"), "--thousands '-' must be one mark"),
        (("--decimal", "none"), "must be different marks"),
    ],
)
def test_marks_that_cannot_be(options, wanted, tmp_path):
    file = written(tmp_path / "sales.csv", str)
    assert wanted in run("complete", file, "-o", tmp_path / "m", *options, code=2).stderr
    assert wanted in run("impute", file, *options, code=2).stderr


def test_digits():
    both = Digits(",", ".")
    for field, number in (
        ("1.234,5", 1234.5),
        ("-7", -7.0),
        (" 3,25 ", 3.25),
        ("1.000.000", 1e6),
        (",5", 0.5),
        ("2e3", 2e3),
    ):
        assert float(both.plain(field)) == number
    for field in ("1.23", "1,2,3", "12.34.567", "", "x", "inf", "1_000", "3.5"):
        assert both.plain(field) is None
    assert POINT.plain("3.5") == "3.5" and POINT.plain("3,5") is None
    assert both.words == ", decimal commas, thousands marked by '.'" and POINT.words == ""
    wanted = {
        "3,5": "--decimal ,",
        "1.234,56": "--decimal , --thousands .",
        "1'000": "--thousands apostrophe",
        "1 000": "--thousands blank",
        "1.000.000": "--thousands . --decimal ,",
        "50%": "leave the mark % away",
    }
    for field, words in wanted.items():
        assert almost_number(field) and remedy(field).endswith(words)


# ------------------------------------------------------------------------------------------------------ wide tables

WIDE = "plant,height,leaves,weight\nfern,12.5,30,1.10\nmoss,2.0,,0.21\nrose,,25,0.96\nsage,6.5,16,\nreed,20.0,48,1.8\n"


def test_a_wide_table_is_pointed_out(tmp_path):
    file = tmp_path / "plants.csv"
    file.write_text(WIDE)
    assert "give --matrix" in CliRunner().invoke(app, ["complete", str(file), "-o", str(tmp_path / "m")]).stderr
    file.write_text("user,item,rating,timestamp\n1,10,5,978300760\n2,11,4,978300761\n3,10,3,978300762\n2,10,3,9\n")
    assert "--matrix" not in run("complete", file, "-o", tmp_path / "m", "--radius", 1, "--no-report").stderr


def test_impute_leaves_ids_alone_and_counts_what_stays_empty(tmp_path):
    file, out = tmp_path / "t.csv", tmp_path / "full.csv"
    lines = ["patient_id;name;note;a;b;c"]
    for k in range(12):
        note = "fine" if k % 3 else ""
        lines.append(
            f"{1000 + 7 * k};p{k};{note};{k + 0.5};{'' if k == 4 else 2 * k};{3 * k if k != 7 else ''}".replace(
                ".", ","
            )
        )
    file.write_text("\n".join(lines) + "\n")
    done = run("impute", file, "-o", out)
    assert "being labels (--row none takes them as numbers): 'patient_id'" in done.stderr
    assert "being no numbers: 'name', 'note'" in done.stderr
    assert (
        "left empty: 4 in 'note'" in done.stderr and "2 of 36 numbers were missing and are filled, 4 are" in done.stderr
    )
    full = list(csv.reader(io.StringIO(out.read_text()), delimiter=";"))
    before = [line.split(";") for line in lines]
    changed = [(i, j) for i, line in enumerate(full) for j, field in enumerate(line) if field != before[i][j]]
    assert changed == [(5, 4), (8, 5)] and "." not in full[5][4]
    assert json.loads(run("impute", file, "-o", out, "--json").stdout)["left_empty"] == 4
    taken = run("impute", file, "-o", out, "--row", "none").stderr
    assert "of 48 numbers were missing" in taken and "being labels" not in taken


def test_impute_leaves_a_counter_in_front_alone_but_not_a_year(tmp_path):
    file = tmp_path / "t.csv"
    for word, left in (("line", True), ("year", False)):
        body = "".join(f"{2000 + k},{k + 0.5},{'' if k == 4 else 2 * k}\n" for k in range(9))
        file.write_text(f"{word},a,b\n{body}")
        assert ("being labels" in run("impute", file, "-o", tmp_path / "o.csv").stderr) == left


# --------------------------------------------------------------------------------------------- what spreadsheets write

LONG = [f"u{i},p{j},{i + j}" for i in range(5) for j in range(4)]


@pytest.mark.parametrize(
    "text",
    [
        "user,item,rating,,\n" + "".join(f"{line},,\n" for line in LONG) + ",,,,\n,,,,\n",
        "sep=;\r\nuser;item;rating\r\n" + "".join(line.replace(",", ";") + "\r\n" for line in LONG),
        '"sep=,"\nuser,item,rating\n' + "".join(f"{line}\n" for line in LONG),
        "rating,item,user\n" + "".join(",".join(reversed(line.split(","))) + "\n" for line in LONG),
        "\n\nuser,item,rating\n" + "\n\n".join(LONG) + "\n\n",
    ],
)
def test_exports_of_spreadsheets(text, tmp_path):
    file = tmp_path / "r.csv"
    file.write_text(text, newline="")
    wanted = {tuple(line.split(",")[:2]): float(line.split(",")[2]) for line in LONG}
    assert fitted(file) == wanted


def test_lines_are_counted_with_the_mark_of_a_spreadsheet(tmp_path):
    file = tmp_path / "r.csv"
    file.write_text("sep=;\nuser;item;rating\nu1;p1;5\nu2;p2;many\n")
    assert "line 4: the value 'many'" in run("complete", file, "-o", tmp_path / "m", code=2).stderr


def test_a_number_with_a_point_is_no_date(tmp_path):
    file = tmp_path / "r.csv"
    file.write_text(
        "who,what,paid\n" + "".join(f"u{i},p{j},{1000 + 10 * i + j}.5\n" for i in range(5) for j in range(4))
    )
    assert fitted(file)[("u1", "p2")] == 1012.5


def test_marks_that_contradict_each_other_are_not_guessed():
    from spectraplex.tables.digits import asked_for

    assert asked_for(None, None, [("3,5", "1.5")]) == POINT
    assert asked_for(None, None, [("3,5", "1.234,5")]) == Digits(",", ".")
    assert asked_for(None, None, [("1,234", "7")]) == POINT
    assert asked_for(None, None, [("1,234.5", "7.25")]) == Digits(".", ",")
    assert asked_for(None, None, [("1,234.5", "1.234,5")]) == POINT
    assert asked_for(None, None, [("31.12.2024", "x")]) == POINT


def test_pairs_the_other_way_round_are_noticed(tmp_path):
    file, pairs = tmp_path / "r.csv", tmp_path / "pairs.csv"
    file.write_text("who,what,stars\n" + "\n".join(LONG) + "\n")
    fitted(file)
    pairs.write_text("product,customer\np1,u2\np3,u1\n")
    done = run("predict", tmp_path / "model", pairs, "--header", "--json")
    right = run("predict", tmp_path / "model", pairs, "--header", "--row", 2, "--column", 1, "--json")
    assert "they are the other way round: so they were taken" in done.stderr and done.stdout == right.stdout
    wrong = run("predict", tmp_path / "model", pairs, "--header", "--row", 1, "--column", 2, code=2)
    assert "exchange --row and --column" in wrong.stderr
    assert "row 'U1 ' (is 'u1' meant?)" in run("recommend", tmp_path / "model", "--row", "U1 ").stderr
    assert "column 'P1' (is 'p1' meant?)" in run("similar", tmp_path / "model", "--column", "P1", code=2).stderr


def test_a_table_with_numbers_and_names_of_its_lines(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("Nr;Name;a;b;c\n1;A;1,8;80,5;30\n2;B;1,7;;25\n3;C;;60,2;41\n4;D;1,6;55,0;\n5;E;1,9;95,1;50\n")
    said = run("complete", file, "-o", tmp_path / "m", code=2).stderr
    assert "give --matrix" in said
    said = run("complete", file, "-o", tmp_path / "m", "--matrix", code=2).stderr
    assert "'A' in column 'Name' is not a number (they are read with decimal commas)" in said
    assert "leave the column out" in said
    assert (
        "a wide table, separated by semicolons, with a header, decimal commas; 5 columns." in run("impute", file).stderr
    )
    file.write_text("a,b\nx,1\n2,3\n4,5\n6,7\n")
    said = run("impute", file, code=2).stderr.splitlines()
    assert said[0].endswith("2 columns.") and "line 2: 'x' in column 'a' is not a number" in said[1]


def test_what_the_data_tell_is_said_plainly(tmp_path):
    file = tmp_path / "r.csv"
    file.write_text("user,item,rating\na,x,1\nb,y,2\nc,x,3\n")
    said = run("complete", file, "-o", tmp_path / "m", "--radius", 1, "--no-report").stderr
    assert "\nAbout the data: " in said and "MatrixCompletion" not in said


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (lambda value: f'"{value:,.0f}"', "if its marks are between thousands, give --thousands ,."),
        (lambda value: f"${value:.2f}", "leave the mark $ away."),
        (lambda value: f"{value:.0f} €", "leave the mark € away."),
        (lambda value: f"{value:.1f}%", "leave the mark % away."),
        (lambda value: str(value > 2000.0), "write 1 and 0."),
    ],
)
def test_amounts_as_people_write_them_are_the_values(number, said, tmp_path):
    """Whatever their column is called, it is not taken for labels; and the message says what to do about them."""
    path = tmp_path / "people.csv"
    lines = ["what,much,who"]
    lines += [f"{what},{number(value)},{who}" for (who, what), value in VALUES.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    asked = ("--value", "much") if said.startswith("write") else ()  # a word may be a label
    done = run("complete", path, "-o", tmp_path / "model", *asked, code=2)
    assert "values from 'much'" in done.stderr and said in done.stderr


def test_a_wide_table_with_holes_in_its_first_column_is_pointed_out(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("y1,y2,y3,y4\n1.5,2.5,,4.5\n,2.25,3.5,4.25\n,2.75,3.25,\n1.25,,3.75,4.75\n")
    assert "give --matrix" in run("complete", path, "-o", tmp_path / "model", code=2).stderr
