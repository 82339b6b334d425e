"""Parquet files, where pyarrow is installed: `pip install 'silverball[bulk]'`."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from silverball.service.bulk.reads.sheets import BulkTable

MODULE = "pyarrow"
# Zstandard is in every build of pyarrow, DuckDB and pandas.
COMPRESSION = "zstd"


def is_available() -> bool:
    """Whether pyarrow is installed. It is imported when a file is written."""
    return find_spec(MODULE) is not None


class ParquetFile:
    """A Parquet file of a table that is written batch by batch."""

    def __init__(self, table: BulkTable, path: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        types: dict[str, Callable[[], Any]] = {
            "integer": pa.int64,
            "number": pa.float64,
            "points": pa.float64,
            "text": pa.string,
            "flag": pa.bool_,
            "moment": lambda: pa.timestamp("us", tz="UTC"),
        }
        self._make_batch = pa.RecordBatch.from_arrays
        self._make_array = pa.array
        self._schema = pa.schema([(column.name, types[column.kind]()) for column in table.columns])
        self._writer = parquet.ParquetWriter(path, self._schema, compression=COMPRESSION)

    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        """Add rows, given column by column."""
        arrays = [
            self._make_array(values, field.type) for values, field in zip(columns, self._schema, strict=True)
        ]
        self._writer.write_batch(self._make_batch(arrays, schema=self._schema))

    def close(self) -> None:
        """Write the end of the file."""
        self._writer.close()
