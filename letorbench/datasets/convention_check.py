"""Whether a file looks like another convention's data than the one it is measured by."""

from __future__ import annotations

#: (features, largest label) of the releases, by the convention of their official tool
SHAPES: dict[str, tuple[frozenset[int], int]] = {
    "letor3": (frozenset({45, 64}), 2),
    "letor4": (frozenset({46}), 2),
    "mslr": (frozenset({136}), 4),
}


def check_convention(n_features: int, max_label: int, convention: str, chosen: bool = True) -> str | None:
    """One line where the convention looks wrong for such data, None where it may be right.

    n_features, max_label: of the file, labels counted from 0.
    chosen: whether the user named the convention; `standard` is doubted only where not.
    """
    like = next(
        (
            name
            for name, (features, largest) in SHAPES.items()
            if n_features in features and 0 < max_label <= largest
        ),
        None,
    )
    found = f"{n_features} features and labels up to {max_label}"
    if like is not None and like != convention and not (convention == "standard" and chosen):
        return f"found {found}, as {like}'s data sets have; --convention {like} may be meant"
    if convention not in SHAPES:
        return None
    largest = SHAPES[convention][1]
    if max_label > largest:
        return (
            f"found labels up to {max_label}, where {convention}'s data sets have 0 to {largest}; "
            "--convention mslr or standard may be meant"
        )
    if convention == "mslr" and 0 < max_label < 3:
        return (
            f"found labels up to {max_label}, where mslr's data sets have 0 to 4 and relevant "
            "is from 2 on; --convention letor4 or standard may be meant"
        )
    return None
