"""Which columns of a file are rows, columns and values when nobody says so."""

from __future__ import annotations

import pytest

from spectraplex.tables.layout import Asked, chosen, guessed

FILES = {
    "a sales file": (
        "date,shop,product,qty,sales\n2024-01-02,north,apples,3,4.5\n2024-01-02,south,pears,1,2.0\n2024-01-03,north,pears,2,4\n",
        ["shop", "product", "qty"],
    ),
    "a number for every line": (
        "id,customer,isbn,rating,timestamp\n1,a,x,3,99\n2,b,y,4,98\n3,a,y,5,97\n4,c,x,1,96\n",
        ["customer", "isbn", "rating"],
    ),
    "films": (
        "userId,movieId,rating,timestamp\n1,1,4.0,964982703\n1,3,4.0,964981247\n",
        ["userId", "movieId", "rating"],
    ),
    "no header": ("1,1,4.0,964982703\n1,3,4.0,964981247\n1,6,4.0,964982224\n", ["1", "2", "3"]),
    "no header, users in turn": ("1,5,3\n2,5,4\n3,5,4\n4,5,1\n5,5,2\n", ["1", "2", "3"]),
    "dates of another country": (
        "order,bought,branch,article,revenue\n17,01.02.2024,x,hat,3.5\n18,01.02.2024,y,hat,4.5\n19,02.02.2024,x,cap,1.5\n"
        "20,02.02.2024,x,cap,1.5\n",
        ["branch", "article", "revenue"],
    ),
    "a date is all there is": (
        "station,day,temperature\nA,2024-01-01,3.4\nB,2024-01-01,3.9\n",
        ["station", "day", "temperature"],
    ),
    "an id is all there is": ("id,item,score\n1,a,3\n2,b,4\n3,c,4\n4,d,1\n", ["id", "item", "score"]),
    "values before labels": ("price,town,fruit\n3.5,Bonn,apple\n4.5,Kiel,plum\n", ["town", "fruit", "price"]),
}


@pytest.mark.parametrize("what", FILES)
def test_columns_are_guessed_by_name_and_by_content(what):
    text, expected = FILES[what]
    layout = guessed("file", text.splitlines(True), Asked())
    assert [layout.names[k] for k in chosen("file", layout, Asked())] == expected


def test_what_is_said_goes_first():
    text, _ = FILES["a sales file"]
    layout = guessed("file", text.splitlines(True), Asked())
    asked = Asked(row="date", value="sales")
    assert [layout.names[k] for k in chosen("file", layout, asked)] == ["date", "product", "sales"]
