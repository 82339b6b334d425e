"""An invented record with a value in every field."""

from datetime import UTC, datetime

from silverball.service.outlook.writes import NewRecord

ADA = NewRecord(
    ifpa_id=101,
    name="Ada Quill",
    rank=12,
    womens_rank=3,
    rating=1712.5,
    rating_rank=40,
    total_events=77,
    initials="AQ",
    city="Harbour Town",
    state="NV",
    country_code="US",
    country_name="United States",
    updated_at=datetime(2024, 1, 4, 6, 16, 55, tzinfo=UTC),
)
