"""The time limit of one training."""

from __future__ import annotations

import time
from dataclasses import dataclass

from letorbench.errors import UsageError
from letorbench.threads import cancelled


@dataclass(frozen=True)
class Deadline:
    """When a training must end.

    A solver looks at it once a round or an iteration. The training may so take longer than the
    limit, by one round at most and by what comes before the first one.

    Parameters
    ----------
    end : float
        On the clock of `time.monotonic`; infinity is never.

    Examples
    --------
    >>> Deadline.after(None).passed, Deadline.after(1e-9).passed
    (False, True)
    """

    end: float = float("inf")

    @staticmethod
    def after(seconds: float | None) -> Deadline:
        """Return the deadline so many seconds from now; None is never."""
        if seconds is None:
            return NEVER
        if not seconds > 0.0:
            raise UsageError(f"found time_limit={seconds}, expected more than 0 seconds")
        return Deadline(time.monotonic() + seconds)

    @property
    def passed(self) -> bool:
        """Whether the time is over, or nobody will see the model; see `cancelled`."""
        return time.monotonic() >= self.end or cancelled()


#: the deadline of a training without a time limit
NEVER = Deadline()
