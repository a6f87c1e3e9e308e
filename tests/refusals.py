"""How the tests of bad input are written: a table of calls, the error each must raise, and words of its message."""

import pytest


def refused(*rows):
    """Parameters (id, call, error, words of the message); each becomes one test."""
    cases = [pytest.param(call, error, words, id=name) for name, call, error, words in rows]
    return pytest.mark.parametrize(("call", "error", "words"), cases)


def check(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert str(caught.value).rstrip().endswith("."), "the message is a sentence"
