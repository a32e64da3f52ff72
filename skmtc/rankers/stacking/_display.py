"""The HTML display of a stack: its rankers side by side."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class SideBySide:
    """Estimators side by side, with the attributes that scikit-learn's display reads.

    scikit-learn asks meta-estimators for an object of a private class of its own. It reads these
    attributes alone, so that any object will do, and no private module is imported. Where a version
    should read more, it shows a stack as a single box.

    Attributes
    ----------
    estimators : list
        Estimators, or "drop".

    names : list of str
        Their names.

    name_details : list of None
        Texts to unfold below the names.

    kind : str
        How they are shown.

    dash_wrapped : bool
        Whether there is a dashed line around them.
    """

    estimators: list[Any]
    names: list[str]
    name_details: list[None] = field(init=False)
    kind: str = "parallel"
    dash_wrapped: bool = False

    def __post_init__(self) -> None:
        self.name_details = [None] * len(self.names)
