"""Files of counts as laboratories write them: every form gives the same counts, what cannot be read gets a sentence."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from scipy.io import savemat

import tomograms as sim
from spectraplex.estimators.tomography.counts import collect
from spectraplex.estimators.tomography.fitting import Scheme
from spectraplex.tables.tomogram import Asked, read_tomogram

WORDS = sim.all_settings(2)
COUNTS = sim.counted(sim.noisy(sim.w_state(2), 0.1), WORDS, 50, np.random.default_rng(0))
SHARES = COUNTS / 50
BITS, IONS = ["00", "01", "10", "11"], ["DD", "DS", "SD", "SS"]
LONG = [(w, b, int(n)) for w, row in zip(WORDS, COUNTS, strict=True) for b, n in zip(BITS, row, strict=True)]
HELD = {w: dict(zip(BITS, row.tolist(), strict=True)) for w, row in zip(WORDS, COUNTS, strict=True)}


def _lines(rows, mark):
    return "\n".join(mark.join(map(str, row)) for row in rows) + "\n"


def _wide(rows, *head, mark=","):
    return _lines([*([head] if head else []), *((w, *row) for w, row in zip(WORDS, rows, strict=True))], mark)


def _digits(word, order):
    return [order.index(letter) for letter in word]


def _each(write, mark=","):
    return _lines([write(w, b, n) for w, b, n in LONG], mark)


FORMS = {
    "ions.csv": _wide(COUNTS, "setting", *IONS),
    "ions_share.csv": _lines(
        [("Basis", *[f"P({b})" for b in IONS], "shots"), *((w, *r, 50) for w, r in zip(WORDS, SHARES, strict=True))],
        ";",
    ),
    "comma.csv": _wide([[str(p).replace(".", ",") for p in row] for row in SHARES], "setting", *BITS, mark=";"),
    "remarks.txt": "# ions\n% 50 shots\n// x\n" + _wide(SHARES, mark="\t"),
    "head_in_remark.txt": "# setting SS SD DS DD\n" + _wide(COUNTS[:, ::-1], mark=" "),
    "per_cent.txt": _wide(100 * SHARES, mark="  "),
    "title.csv": "a title,,,,\n" + _wide(COUNTS),
    "index.csv": _wide(COUNTS, "", *BITS),
    "date.csv": _lines([("date", "setting", *BITS), *(("1-1", w, *HELD[w].values()) for w in WORDS)], ","),
    "turned.csv": _lines([("outcome", *WORDS), *((b, *COUNTS[:, i]) for i, b in enumerate(BITS))], ","),
    "sigma.csv": _lines([(f"σ{w[0].lower()}σ{w[1].lower()}", *HELD[w].values()) for w in WORDS], ","),
    "apart.txt": _lines([(*w.lower(), *HELD[w].values()) for w in WORDS], " "),
    "apart_long.txt": _each(lambda w, b, n: (*w, *b, n), " "),
    "apart_named.csv": _lines([("q1", "q2", *BITS), *((*w, *HELD[w].values()) for w in WORDS)], ","),
    "numbered.csv": "basis_0,basis_1,outcome_0,outcome_1,counts\n" + _each(lambda w, b, n: (*w, *b, n)),
    "kets.txt": _each(lambda w, b, n: (w, f"|{b}⟩", n), " "),
    "kets.csv": "setting,outcome,count\n" + _each(lambda w, b, n: (w, f"|{b[0]}>|{b[1]}>", n)),
    "arrows.csv": _each(lambda w, b, n: (w, "".join("↑↓"[int(x)] for x in b), n)),
    "signs.csv": _each(lambda w, b, n: (w, "".join("+-"[int(x)] for x in b), n)),
    "spins.csv": _each(lambda w, b, n: (w, f"({1 - 2 * int(b[0])}, {1 - 2 * int(b[1])})", n), ";"),
    "tuples.csv": _each(lambda w, b, n: (f"('{w[0]}', '{w[1]}')", f"({b[0]}, {b[1]})", n)),
    "share.csv": "setting,outcome,frequency,shots\n" + _each(lambda w, b, n: (w, b, n / 50, 50)),
    "matrix.txt": _lines(COUNTS, "  "),
    "column.txt": _lines([(n,) for n in COUNTS.reshape(-1)], ""),
    "digits.csv": _lines(
        [("setting", *BITS), *(("".join(map(str, _digits(w, "XYZ"))), *HELD[w].values()) for w in WORDS)], ","
    ),
    "digits.txt": _lines([(*_digits(w, "XYZ"), *HELD[w].values()) for w in WORDS], " "),
    "counters.txt": _lines([(Counter(HELD[w]),) for w in WORDS], ""),
    "named_counters.txt": _lines([(f"{w}: {HELD[w]}",) for w in WORDS], ""),
    "printed.txt": str({tuple(w): {b: np.int64(n) for b, n in HELD[w].items()} for w in WORDS}),
    "lists.json": json.dumps({"settings": WORDS, "probabilities": SHARES.tolist(), "shots": 50}),
    "records.json": json.dumps([{"setting": w, "outcome": b, "count": n} for w, b, n in LONG]),
    "held.json": json.dumps([{"basis": w, "counts": HELD[w]} for w in WORDS]),
    "columns.json": json.dumps(
        {name: [row[i] for row in LONG] for i, name in enumerate(("setting", "outcome", "count"))}
    ),
    "unnamed.json": json.dumps([{str(i): p for i, p in enumerate(row)} for row in SHARES.tolist()]),
    "lines.jsonl": _lines([(json.dumps({"setting": w, "counts": HELD[w]}),) for w in WORDS], ""),
}
ASKED = Asked(bases="XYZ", shots=50.0)


def _same(given, shots=None):
    data = collect(given.settings, given.outcomes, given.counts, Scheme(bases="XYZ").reader, given.where, shots)
    assert data.words == WORDS and np.array_equal(data.counts, COUNTS.reshape(-1))
    return data


@pytest.mark.parametrize("name", FORMS)
def test_all_forms_of_a_text_file(name, tmp_path):
    path = tmp_path / name
    path.write_text(FORMS[name], encoding="utf-8")
    given = read_tomogram(path, asked=ASKED)
    assert given.shots is None or set(given.shots.values()) == {50.0}
    data = _same(given, given.shots if given.shots is not None else 50.0 if np.mod(given.counts, 1).any() else None)
    assert bool(data.told) == (
        name.split(".")[0] in ("ions", "ions_share", "head_in_remark", "arrows", "signs", "spins")
    )
    order = name in ("matrix.txt", "column.txt", "counters.txt", "unnamed.json")
    assert ("taken as XX, XY, XZ, …, ZZ" in given.told) == order


def test_arrays(tmp_path):
    three = {name: [row[i] for row in LONG] for i, name in enumerate(("setting", "outcome", "count"))}
    np.save(tmp_path / "a.npy", COUNTS)
    np.savez(tmp_path / "b.npz", settings=WORDS, counts=COUNTS)
    np.savez(tmp_path / "c.npz", **dict(zip(WORDS, COUNTS, strict=True)))
    np.savez(tmp_path / "d.npz", settings=np.array([list(w) for w in WORDS]), frequencies=SHARES, shots=50)
    np.savez(tmp_path / "e.npz", **three)
    np.savez(tmp_path / "f.npz", bases=[_digits(w, "XYZ") for w in WORDS], counts=COUNTS.T)
    savemat(tmp_path / "g.mat", {"settings": np.array(WORDS, dtype=object), "counts": COUNTS})
    savemat(tmp_path / "h.mat", {"settings": WORDS, "P": SHARES, "shots": 50})
    for path in sorted(tmp_path.iterdir()):
        given = read_tomogram(path, asked=Asked(bases="XYZ"))
        _same(given, given.shots)


def test_settings_of_rows_in_a_file_of_their_own(tmp_path):
    path, rows = tmp_path / "counts.txt", tmp_path / "rows.txt"
    path.write_text(_lines(COUNTS[::-1], " "), encoding="utf-8")
    rows.write_text("# in the order of the rows\n" + "\n".join(WORDS[::-1]), encoding="utf-8")
    given = read_tomogram(path, asked=Asked(settings=rows))
    assert given.settings[0] == "ZZ" and "name no settings" in given.told
    rows.write_text("XX\nYY\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"rows.txt has 2 settings, .*counts.txt 9 lines"):
        read_tomogram(path, asked=Asked(settings=rows))
    rows.write_text("XX\nhello\n", encoding="utf-8")
    with pytest.raises(ValueError, match="'hello' is no setting"):
        read_tomogram(path, asked=Asked(settings=rows))


def test_z_may_come_first(tmp_path):
    path = tmp_path / "counts.txt"
    path.write_text(_lines(COUNTS, " "), encoding="utf-8")
    given = read_tomogram(path, asked=Asked(bases="ZXY"))
    assert list(dict.fromkeys(given.settings))[:4] == ["ZZ", "ZX", "ZY", "XZ"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.txt", "1 2 3 4\n" * 9, "9 lines of 4 outcomes, and nothing says which settings.*--bases XYZ"),
        ("b.txt", "1 2 3 4\n" * 5, "5 lines of 4 outcomes, and nothing says which settings"),
        ("c.csv", "setting,outcome,frequency\nXX,00,0.5\n", "'frequency' are frequencies.*--shots 100"),
        ("d.csv", "setting,outcome,p,shots\nXX,00,.5,10\nXX,11,.5,20\n", "'XX' has 10 shots on one line, 20 on"),
        ("e.csv", "setting,00,00,10,11\nXX,3,0,0,5\n", "two columns are named after the outcome '00'"),
        ("f.csv", "XX;1,500;2;3;4\nZZ;1;2;3;4\n", "columns named setting, outcome and count are needed"),
        ("g.csv", "XX,1,2,-0.3,4\n", "line 1: the count '-0.3' .* give the raw counts"),
        ("h.json", '{"settings": ["XX", "ZZ"], "counts": [[1, 2, 3, 4]]}', "there are 2 settings, but counts of 1"),
        ("i.json", '[{"setting": "XX", "outcome": "00", "count": null}]', "entry 1: the count 'None'"),
        ("j.json", '[{"setting": "XX"}]', "setting 'XX' has no counts"),
        ("k.json", '[{"setting": "XX", "outcome": "00", "p": 0.5}]', "'p' are frequencies"),
        ("l.txt", "Counter({'00': 3})\nhello\n", "line 2 has no dictionary"),
        ("m.txt", "{'XX': __import__('os')}", "a dictionary of settings is needed"),
        ("n.h5", "", "files of this kind are not read here"),
        ("o.npy", "junk", "cannot be read as npy"),
        ("p.mat", "junk", "cannot be read as mat"),
        ("q.txt", "# remarks alone\n", "the file is empty"),
        ("s.csv", "setting,00,01,1O,11\nXX,1,2,3,4\n", "names 3 of 4 outcomes, and '1O' is none"),
        ("t.csv", "q1,q2,x00,01,10,11\nX,X,1,2,3,4\n", "names 3 of 4 outcomes, and 'x00' is none"),
        ("u.csv", "setting,outcome,ratio,shots\nXX,00,.5,10\n", "columns named setting, outcome and count"),
        ("v.json", '{"setting": ["XX"], "outcome": ["00"], "how often": [7]}', "entry 1: the count 'None'"),
        ("r.csv", "prep,setting,00,01\nZ,X,1,2\n", "process tomography is not here yet"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(name, text, words, tmp_path):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=words):
        read_tomogram(path)


@pytest.mark.parametrize(
    ("held", "words"),
    [
        ({"a": np.ones((9, 4)), "b": np.ones((9, 4))}, "the file has a float64.9, 4., b float64"),
        ({"counts": np.ones((10, 27, 8))}, "the array has shape"),
        ({"settings": ["XX", "YY"], "counts": np.ones((9, 4))}, "2 settings, and a table of 9 × 4"),
        ({"settings": ["XX", "YY"], "p": np.ones((2, 4)) / 4, "shots": [1, 2, 3]}, "one for each of 2; there are 3"),
        ({"settings": ["XX", "YY"], "counts": np.full((2, 4), np.nan)}, "row 1: the count 'nan'"),
        ({"settings": ["XX", "YY"], "counts": 1j * np.ones((2, 4))}, "the file has settings"),
    ],
)
def test_arrays_that_cannot_be_read_get_a_sentence(held, words, tmp_path):
    np.savez(tmp_path / "held.npz", **held)
    with pytest.raises(ValueError, match=words):
        read_tomogram(tmp_path / "held.npz")
