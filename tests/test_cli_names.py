"""Titles beside ids, and what else stands in a file of pairs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

from spectraplex.cli.app import app
from spectraplex.cli.tell import as_texts
from spectraplex.datasets import ratings_like


def run(*words: object, code: int = 0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    assert "Traceback" not in done.output
    return done


def rows_of(text: str, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text), delimiter=delimiter))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    room = tmp_path_factory.mktemp("names")
    table = ratings_like(25, 12, 160, seed=1)
    lines = [f"{r + 1},{c + 101},{v}" for r, c, v in zip(table.rows, table.cols, table.values, strict=True)]
    (room / "ratings.csv").write_text("\n".join(["userId,movieId,rating", *lines]) + "\n")
    films = [f'{c + 101},"Film {c}, the {c % 2}. part",Drama|War' for c in range(11)]
    (room / "movies.csv").write_text("\n".join(["movieId,title,genres", *films]) + "\n", encoding="utf-8-sig")
    run("complete", room / "ratings.csv", "-o", room / "m", "--radius", 9, "--no-report")
    return room


def test_recommendations_similar_columns_and_predictions_have_titles(folder, tmp_path):
    done = run("recommend", folder / "m", "--row", 3, "-n", 4, "--names", folder / "movies.csv")
    assert "titles of 11 of 12 columns, ids from column 1, titles from column 2" in done.stderr
    lines = rows_of(done.stdout)
    assert lines[0] == ["userId", "place", "movieId", "title", "prediction"]
    for line in lines[1:]:
        number = int(line[2]) - 101
        assert line[3] == (f"Film {number}, the {number % 2}. part" if number < 11 else "")
    like = json.loads(run("similar", folder / "m", "--column", 103, "--names", folder / "movies.csv", "--json").stdout)
    assert all(
        line["title"].startswith(f"Film {int(line['similar']) - 101},") for line in like if line["similar"] != "112"
    )
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("userId,movieId\n3,101\n3,112\n3,new\n")
    told = rows_of(run("predict", folder / "m", pairs, "--names", folder / "movies.csv", "-q").stdout)
    assert [line[2] for line in told] == ["title", "Film 0, the 0. part", "", ""]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("".join(f"{c + 101}|Café {c} (1995)|01-Jan-1995||http://x|0|1\n" for c in range(12)), "latin-1"),
        ("".join(f"{c + 101}::Café {c} (1995)::Drama|War\n" for c in range(12)), "utf-8"),
        ("".join(f"Café {c} (1995)\t{c + 101}\n" for c in range(12)), "utf-8"),
        ("year;titel;nr\n" + "".join(f"1995;Café {c} (1995);{c + 101}\n" for c in range(12)), "cp1252"),
    ],
)
def test_files_with_titles_are_laid_out_in_many_ways(text, encoding, folder, tmp_path):
    (tmp_path / "names").write_text(text, encoding=encoding)
    lines = rows_of(run("recommend", folder / "m", "--row", 3, "--names", tmp_path / "names", "-q").stdout)
    assert all(line[3] == f"Café {int(line[2]) - 101} (1995)" for line in lines[1:])


def test_titles_of_words_without_a_header_and_of_rows(tmp_path):
    (tmp_path / "r.csv").write_text(
        "who,what,stars\n" + "".join(f"p{i},t{j},{i + j}\n" for i in range(4) for j in range(3))
    )
    run("complete", tmp_path / "r.csv", "-o", tmp_path / "m", "--radius", 2, "--no-report")
    (tmp_path / "people.csv").write_text("p0,Anna\np1,Ben\np2,Eva\np3,Zoe\n")
    lines = rows_of(
        run("recommend", tmp_path / "m", "--row", "p0", "--include-seen", "--names", tmp_path / "people.csv").stdout
    )
    assert lines[0][3] == "name" and {line[3] for line in lines[1:]} == {"Anna"}


def test_ids_that_rows_and_columns_share_are_those_of_columns_unless_the_header_says_otherwise(tmp_path):
    lines = [f"{i},{j},{i + j}" for i in range(4) for j in range(9)]
    (tmp_path / "r.csv").write_text("\n".join(["who,what,stars", *lines]) + "\n")
    run("complete", tmp_path / "r.csv", "-o", tmp_path / "m", "--radius", 2, "--no-report")
    for header, title in (("id", "title"), ("what", "title"), ("who", "name")):
        (tmp_path / "n.csv").write_text(f"{header},called\n" + "".join(f"{k},Name {k}\n" for k in range(4)))
        words = ("--row", "0", "--include-seen", "--names", tmp_path / "n.csv")
        lines = rows_of(run("recommend", tmp_path / "m", *words).stdout)
        assert lines[0][3] == title
        place = 2 if title == "title" else 0
        assert all(line[3] == (f"Name {line[place]}" if int(line[place]) < 4 else "") for line in lines[1:])


def test_the_report_has_titles(folder, tmp_path):
    pytest.importorskip("jinja2")
    words = ("--radius", 9, "--test", folder / "ratings.csv", "--names", folder / "movies.csv")
    run("complete", folder / "ratings.csv", "-o", tmp_path / "m", *words)
    page = (tmp_path / "m" / "report.html").read_text(encoding="utf-8")
    assert "Film 3, the 1. part" in page
    assert "103" in run("similar", tmp_path / "m", "--column", 103, "--json").stdout  # the model keeps its ids


def test_names_that_are_of_no_use_are_told_before_the_fit(folder, tmp_path):
    def refused(*words: object) -> str:
        return run(*words, code=2).stderr

    wrong = tmp_path / "wrong.csv"
    wrong.write_text("id,title\na,Alien\nb,Heat\n")
    assert "no id in it is a label of the model, whose columns are '101'" in refused(
        "recommend", folder / "m", "--row", 3, "--names", wrong
    )
    for command in (
        ("complete", folder / "ratings.csv", "-o", tmp_path / "m"),
        ("recommend", folder / "m", "--row", 3),
        ("similar", folder / "m", "--column", 103),
        ("predict", folder / "m", folder / "ratings.csv"),
    ):
        assert "does not exist" in refused(*command, "--names", tmp_path / "nothing.csv")
        wrong.write_text("")
        assert "is empty" in refused(*command, "--names", wrong)
        wrong.write_text("101\n102\n")
        assert "needs two columns" in refused(*command, "--names", wrong)
    assert not (tmp_path / "m").exists()


def test_predict_keeps_what_else_stands_in_the_file(folder, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text('when;movieId;prediction;userId;"a note"\n2024;101;x;3;"so; so"\n;102;;4\n', encoding="utf-8-sig")
    told = rows_of(run("predict", folder / "m", pairs).stdout)
    assert told[0] == ["when", "movieId", "prediction", "userId", "a note", "prediction_2"]
    assert told[1][:5] == ["2024", "101", "x", "3", "so; so"] and told[2][:5] == ["", "102", "", "4", ""]
    assert len(told[1][5].partition(".")[2]) == 5
    comma = rows_of(run("predict", folder / "m", pairs, "--decimal", ",").stdout, ";")
    assert comma[1][5] == told[1][5].replace(".", ",") and comma[1][:5] == told[1][:5]
    pairs.write_text("3,101,first\n4,102,second\n")
    told = rows_of(run("predict", folder / "m", pairs, "--no-header").stdout)
    assert told[0] == ["userId", "movieId", "3", "prediction"] and [line[2] for line in told[1:]] == ["first", "second"]
    pairs.write_text("userId,movieId\n3,101,5,6\n")
    assert "line 2: 4 columns where the first line has 2" in run("predict", folder / "m", pairs, code=2).stderr


def test_parquet_keeps_what_else_is_there(folder, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"note": [1.5, None, float("nan")], "movieId": ["101", "102", "103"], "userId": ["3", "4", "5"]}
    pq.write_table(pa.table(columns), tmp_path / "pairs.parquet")
    told = rows_of(run("predict", folder / "m", tmp_path / "pairs.parquet").stdout)
    assert told[0] == ["note", "movieId", "userId", "prediction"] and [line[0] for line in told[1:3]] == ["1.5", ""]
    assert json.loads(run("predict", folder / "m", tmp_path / "pairs.parquet", "--json").stdout)[2]["note"] is None


def test_numbers_have_as_many_digits_as_are_worth_reading():
    assert as_texts([3.14159265, -1.0], (1.0, 5.0)) == ["3.14159", "-1.00000"]
    assert as_texts([123456.789], (0.0, 250_000.0)) == ["123457"]
    assert as_texts([0.000123456789], (0.0, 2e-4)) == ["0.000123457"]
    assert as_texts([1e15], (0.0, 1e16)) == ["1e+15"]
