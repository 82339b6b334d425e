"""Files that a page offers, which no browser keeps."""

from starlette.responses import Response

from silverball.kit.http.endpoints import FileDownload


def file_response(file: FileDownload) -> Response:
    """The file as a download."""
    headers = {
        "cache-control": "no-store",
        "content-disposition": f'attachment; filename="{file.name}"',
        "content-type": file.content_type,
    }
    return Response(file.body, headers=headers)
