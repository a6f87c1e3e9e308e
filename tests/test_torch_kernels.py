"""The Triton kernels, run by Triton's interpreter on this processor, beside what they are to compute."""

import os
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
if "triton" in sys.modules or torch.cuda.is_available():
    pytest.skip("Kernels are compiled here, or will be.", allow_module_level=True)
os.environ["TRITON_INTERPRET"] = "1"  # while Triton sees its own functions and the kernels, and while they run
try:
    import triton  # noqa: F401
except ImportError:
    del os.environ["TRITON_INTERPRET"]
    pytest.skip("Triton is not installed.", allow_module_level=True)

import spectraplex.places.triton as compiled  # noqa: E402
from spectraplex.places import torch_deck, triton_device  # noqa: E402
from spectraplex.places.torch_array import TorchArray  # noqa: E402
from spectraplex.places.torch_deck import TorchDeck  # noqa: E402
from spectraplex.places.torch_pattern import TorchPattern  # noqa: E402
from spectraplex.places.triton_device import Fused, Kernels  # noqa: E402
from spectraplex.places.triton_passes import Passes  # noqa: E402

del os.environ["TRITON_INTERPRET"]


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")


HALF = {torch.float32: 2.0**-24, torch.float64: 2.0**-53}


def drawn(m, n, share, seed=0):
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((m, n)) < share, rng.standard_normal((m, n)), 0.0)
    rows, cols = np.nonzero(dense)
    return dense, TorchPattern.from_sorted(torch.as_tensor(rows), torch.as_tensor(cols), (m, n)), dense[rows, cols]


class Counted:
    """A kernel that says when it runs."""

    def __init__(self, kernel, name, ran):
        self.kernel, self.name, self.ran = kernel, name, ran

    def __getitem__(self, grid):
        self.ran.append(self.name)
        return self.kernel[grid]


@pytest.mark.parametrize("width", [1, 3, 8, 9, 70])
@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("shape", "share", "block", "short"),
    [
        ((300, 50), 0.04, triton_device.BLOCK, True),  # a lane for every row, and more rows than one program has
        ((50, 400), 0.15, triton_device.BLOCK, False),
        ((40, 300), 0.2, 1, True),  # rows cut by blocks of the gathered side, and folded
        ((3, 1500), 0.9, triton_device.BLOCK, False),  # rows of several segments
    ],
)
def test_products(monkeypatch, shape, share, block, short, kind, width):
    """Sums of k products in the precision of the block: k + 2 roundings, of the sum of sizes."""
    monkeypatch.setattr(triton_device, "BLOCK", block)
    dense, pattern, data = drawn(*shape, share)
    kernels, ran = Kernels(pattern), []
    assert kernels.short == short
    for name in ("narrow", "multiply"):
        monkeypatch.setattr(compiled, name, Counted(getattr(compiled, name), name, ran))
    V = torch.as_tensor(np.random.default_rng(1).standard_normal((shape[1], width))).to(kind)
    found = kernels.multiply(torch.as_tensor(data), V)
    assert found.dtype == torch.float64
    wide = V.double().numpy()
    room = (np.count_nonzero(dense, axis=1).max() + 2) * HALF[kind] * (np.abs(dense) @ np.abs(wide))
    assert np.all(np.abs(found.numpy() - dense @ wide) <= room)
    assert set(ran) == {"narrow" if short and width <= 8 else "multiply"}
    assert torch.equal(found, kernels.multiply(torch.as_tensor(data), V))  # the same bits on every run


def test_few_columns_are_cut_into_longer_blocks(monkeypatch):
    """What a narrow product gathers fits the cache at once: its rows are not cut where those of a wide one are."""
    monkeypatch.setattr(triton_device, "BLOCK", 4)
    _, pattern, _ = drawn(20, 100, 0.5)
    kernels = Kernels(pattern)
    assert sum(cut.row.numel() for cut in kernels.cut(8)) == 20
    assert sum(cut.row.numel() for cut in kernels.cut(9)) > 100


@pytest.mark.parametrize("width", [1, 5, 16, 40])
def test_samples(width):
    rng = np.random.default_rng(2)
    dense, pattern, _ = drawn(40, 60, 0.3)
    U, V, s = rng.standard_normal((40, width)), rng.standard_normal((60, width)), rng.standard_normal(width)
    found = Kernels(pattern).sample(*(torch.as_tensor(each) for each in (U, V, s)))
    whole, sizes = (U * s) @ V.T, (np.abs(U) * np.abs(s)) @ np.abs(V).T
    room = (width + 3) * 2.0**-53 * sizes
    assert np.all(np.abs(found.numpy() - whole[dense != 0]) <= room[dense != 0])


@pytest.mark.parametrize("width", [7, 16])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", [0, 1, 2])
def test_fused_passes(loss, weighted, width):
    """Value, slope and product in single precision; 1e-5 of the sum of sizes is a hundred of its roundings."""
    rng = np.random.default_rng(4)
    dense, pattern, _ = drawn(30, 50, 0.4)
    there, count = dense != 0, pattern.size
    P, Q = rng.standard_normal((30, width)) / 4, rng.standard_normal((50, width))
    b = rng.standard_normal(count) if loss < 2 else np.sign(rng.standard_normal(count))
    w = rng.random(count) + 0.5 if weighted else np.ones(count)
    single = [torch.as_tensor(each, dtype=torch.float32) for each in (P, Q, b, w)]
    given = Fused(loss, 0.6, single[2], single[3] if weighted else None)
    product, value, pairing = Kernels(pattern).fused(single[0], single[1], 0.5, given, True)
    z = 0.5 * (P @ Q.T)[there]
    r = z - b
    values = (
        0.5 * r * r,
        np.where(np.abs(r) <= 0.6, 0.5 * r * r, 0.6 * (np.abs(r) - 0.3)),
        np.log1p(np.exp(-b * z)),
    )[loss]
    slopes = (r, np.clip(r, -0.6, 0.6), -b / (1.0 + np.exp(b * z)))[loss] * w
    G = np.zeros((30, 50))
    G[there] = slopes
    assert value == pytest.approx(float(w @ values), rel=1e-5)
    assert pairing == pytest.approx(float(slopes @ z), abs=1e-5 * float(np.abs(slopes) @ np.abs(z)))
    assert np.all(np.abs(product.numpy() - G @ Q) <= 1e-5 * (np.abs(G) @ np.abs(Q) + 1.0))


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_passes_of_a_descent(monkeypatch, kind):
    """The compiled passes beside Torch's, through steps that fill the pairs and go over them again."""
    torch.manual_seed(1)
    shape, history = (1100, 9), 3  # more numbers than one program takes
    Y, g, scaling = torch.randn(shape, dtype=kind), torch.randn(shape, dtype=kind), torch.rand(shape)
    decks = []
    for kernels in (None, Passes()):
        monkeypatch.setattr(torch_deck, "_kernels", lambda Y, kernels=kernels: kernels)
        decks.append(TorchDeck(TorchArray(Y.clone()), TorchArray(g.clone()), TorchArray(scaling.clone()), history))
    slots: list[int] = []
    for turn in range(5):
        free = slots.pop(0) if len(slots) == history else len(slots)
        product, a = torch.randn(shape, dtype=kind), np.linspace(0.1, 0.2, len(slots))
        found = [
            np.concatenate(
                [
                    deck.back(slots, a),
                    deck.forth(slots, 2.0 * a, 0.3, free),
                    deck.turn(slots, free, TorchArray(product.clone()), 0.05, 0.7),
                ]
            )
            for deck in decks
        ]
        # sums over 10,000 numbers of size one and of either sign, made in single precision: a hundred times that
        np.testing.assert_allclose(found[1], found[0], atol=1e-2, rtol=0.0, err_msg=str(turn))
        np.testing.assert_allclose(decks[1].here.t, decks[0].here.t, atol=1e-5)
        slots.append(free)
