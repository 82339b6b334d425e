"""Ratings before and after a rebuild, person by person."""

from collections.abc import Sequence

from msgspec import Struct

from silverball.rules.ratings.standing import CurrentRating

# Differences below are noise of the last decimals: files and pages show two.
SHOWN_FROM = 0.005


class RatingDifference(Struct, frozen=True):
    """A rating that is another one now; None where there was or is no rating."""

    rating_id: int
    before: CurrentRating | None
    after: CurrentRating | None

    @property
    def change(self) -> float:
        """Points gained, negative when lost; 0 for a rating that appeared or went."""
        if self.before is None or self.after is None:
            return 0.0
        return self.after.rating - self.before.rating

    @property
    def is_shown(self) -> bool:
        """Whether rating or RD differ in the decimals that are shown."""
        if self.before is None or self.after is None:
            return True
        return max(abs(self.change), abs(self.after.rd - self.before.rd)) >= SHOWN_FROM


def compare_ratings(
    before: Sequence[CurrentRating], after: Sequence[CurrentRating]
) -> list[RatingDifference]:
    """The ratings that differ, the largest change first. Takes the ratings of the same day."""
    ratings_before = {rating.rating_id: rating for rating in before}
    ratings_after = {rating.rating_id: rating for rating in after}
    differences = [
        RatingDifference(rating_id, ratings_before.get(rating_id), ratings_after.get(rating_id))
        for rating_id in sorted({*ratings_before, *ratings_after})
    ]
    return sorted(
        (difference for difference in differences if difference.is_shown),
        key=lambda difference: (-abs(difference.change), difference.rating_id),
    )
