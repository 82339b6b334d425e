"""The page where administrators say what the site is, try its mail and take a backup; and what all read."""

from pathlib import Path

from starlette.responses import Response

from silverball.kit.errors import Invalid
from silverball.kit.mail import MailFailed
from silverball.service.accounts.writes import site as site_writes
from silverball.store.database import backups
from silverball.store.database.backups import Encryption, Source
from silverball.store.database.faults import DatabaseFault
from silverball.store.database.files import CopyFailed
from silverball.store.people import audit, encryption, site_details, site_values
from silverball.store.people.site_details import SiteDetails
from silverball.web.forms import FormState
from silverball.web.page_request import PageRequest, page, redirect
from silverball.web.sign_in_throttle import too_many_attempts

PATH = "/account/site"
DETAILS, MAIL, BACKUP = "details", "mail", "backup"
NOTICES = {
    "first": "Welcome. You run this site now. Everything here can wait: it stays under Account.",
    "saved": "Saved.",
    "mailed": "The mail server took the mail. Look whether it arrives.",
    "copied": "The backup is made.",
}
# A larger one keeps a browser waiting; the command has no limit.
BYTES_MAX = 500_000_000


@page("GET", "/site", for_guests=True)
def about(request: PageRequest) -> Response:
    with request.site.store.read() as db:
        details = site_details.find_site_details(db)
    return request.render("about_site.html", details=details)


@page("GET", PATH, for_admins=True)
def site(request: PageRequest) -> Response:
    return _render(request, FormState())


@page("POST", f"{PATH}/details", for_admins=True, opens=PATH)
def save_details(request: PageRequest) -> Response:
    details = SiteDetails(**{name: request.field(name) for name in SiteDetails.__struct_fields__})
    try:
        with request.site.store.write() as transaction:
            site_writes.change_site(
                transaction.connection,
                details,
                user_id=request.account.user_id,
                now=request.site.now(),
                source=request.client_address,
            )
    except Invalid as refusal:
        return _render(request, FormState(DETAILS, request.form, refusal.text()), 422)
    return redirect(f"{PATH}?said=saved")


@page("POST", f"{PATH}/mail", for_admins=True, opens=PATH)
def try_mail(request: PageRequest) -> Response:
    """Send a mail to the administrator, and name the step that fails."""
    # Most sites send none, and would load what mails need.
    from silverball.service.accounts import mails

    site = request.site
    if site.settings.mail is None:
        return _render(request, FormState(MAIL, request.form, "This site has no mail server."), 409)
    seconds = site.mail_limiter.seconds_to_wait("site", site.now())
    if seconds:
        response = _render(request, FormState(MAIL, request.form, too_many_attempts(seconds)), 429)
        response.headers["retry-after"] = str(seconds)
        return response
    try:
        mails.try_mail(site.settings, request.account.email)
    except MailFailed as error:
        return _render(request, FormState(MAIL, request.form, f"{error.step}: {error}"), 409)
    except ValueError:
        fault = f"No mail can be sent to {request.account.email}."
        return _render(request, FormState(MAIL, request.form, fault), 409)
    return redirect(f"{PATH}?said=mailed")


@page("POST", f"{PATH}/backup", for_admins=True, opens=PATH)
def take_backup(request: PageRequest) -> Response:
    """Make a backup in the service's folder."""
    try:
        _back_up(request)
    except (CopyFailed, DatabaseFault, OSError) as error:
        fault = f"{error.filename}: {error.strerror}." if isinstance(error, OSError) else str(error)
        return _render(request, FormState(BACKUP, request.form, fault), 409)
    return redirect(f"{PATH}?said=copied")


def _back_up(request: PageRequest) -> None:
    """Copy the database and its key. Raises CopyFailed."""
    store, now = request.site.store, request.site.now()
    passphrase, encrypted = request.site.settings.backup_passphrase, None
    if passphrase:
        passphrase = backups.usable_passphrase(passphrase, "SILVERBALL_BACKUP_PASSPHRASE")
        encrypted = Encryption(passphrase=passphrase)
    file = store.file_beside("")
    if file is not None and file.stat().st_size > BYTES_MAX:
        raise CopyFailed("The database is too large for this page. Run `silverball backup` on the server.")
    folder = _folder(request)
    backups.make_folder(folder)
    ending = backups.ENDING if encrypted is None else backups.ENCRYPTED_ENDING
    target = folder / backups.backup_name(now, ending)
    if target.exists():
        return
    url = store.url.render_as_string(hide_password=False)
    source = Source(url=url, file=file, key_file=store.key_file.path)
    backups.write_backup(source, target, encrypted, with_key=True, verify=None)
    backups.note_end(store, folder, now)
    with store.write(quiet=True) as transaction:
        audit.record(
            transaction.connection,
            "backup-made",
            at=now,
            user_id=request.account.user_id,
            source=request.client_address,
        )


def _folder(request: PageRequest) -> Path:
    folder, file = Path(request.site.settings.backup_folder), request.site.store.file_beside("")
    return folder if file is None or folder.is_absolute() else file.parent / folder


def _render(request: PageRequest, form: FormState, status: int = 200) -> Response:
    with request.site.store.read() as db:
        details = site_details.find_site_details(db)
        backed_up_at = site_values.find_site_value(db, backups.BACKED_UP_AT)
        is_key_missing = encryption.missing_key(db) is not None
    return request.render(
        "account/site.html",
        status,
        details=details,
        lengths=site_writes.LENGTHS,
        form_state=form,
        notice=NOTICES.get(request.query.get("said", "")),
        has_mail=request.site.settings.mail is not None,
        backed_up_at=(backed_up_at or "")[:16].replace("T", " "),
        folder=_folder(request),
        is_encrypted=bool(request.site.settings.backup_passphrase),
        is_key_missing=is_key_missing,
    )
