"""Methods that can be called on a class as well."""

from __future__ import annotations

from typing import Any


class EitherWay:
    """A method that makes an estimator with default settings when it is called on the class."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance: Any, owner: type) -> Any:
        return self.function.__get__(owner() if instance is None else instance, owner)
