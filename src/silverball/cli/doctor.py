"""silverball doctor: look for what is wrong with an installation, and change nothing."""

import click
import msgspec

from silverball import settings
from silverball.cli import columns, database, doctor_database, doctor_machine
from silverball.cli.doctor_machine import Finding
from silverball.settings import SettingError, Settings
from silverball.store.engine import SECRET_FILE_ENDING

# The exit code is that of the worst finding.
EXIT_CODES = {"ok": 0, "warning": 1, "error": 2}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON for programs.")
def doctor(*, as_json: bool) -> None:
    """Look for what is wrong with the installation, as the user and with the settings of the server.

    Looks at settings, database, clock, files and their permissions, disk, key for secrets, Redis, the
    folder of bulk files, base URL and proxies. The exit code is 0 when all is well, 1 for warnings and 2
    for errors.
    """
    findings = examine()
    if as_json:
        columns.print_json([msgspec.structs.asdict(finding) for finding in findings])
    else:
        for finding in findings:
            click.echo(f"{finding.status.upper():8} {finding.check}: {finding.sentence}")
    raise SystemExit(max(EXIT_CODES[finding.status] for finding in findings))


def examine() -> list[Finding]:
    """Look at everything; returns the findings in the order of the causes."""
    names = settings.unknown_names()
    findings = [
        Finding("settings", "warning", settings.unknown_name_sentence(name, meant))
        for name, meant in names.items()
    ]
    try:
        loaded, url = settings.load(), database.database_url()
    except SettingError as error:
        return [*findings, Finding("settings", "error", str(error))]
    if not findings:
        findings.append(Finding("settings", "ok", "All are known and valid."))
    return [*findings, *_examine_installation(loaded, url)]


def _examine_installation(loaded: Settings, url: str) -> list[Finding]:
    file = database.sqlite_file(url)
    key_file = database.secret_file()
    if key_file is None and file is not None:
        key_file = file.with_name(f"{file.name}{SECRET_FILE_ENDING}")
    findings = doctor_machine.base_url_findings(loaded)
    # Before the database is opened, which takes its files away from others.
    findings += doctor_machine.permission_findings(file, key_file)
    if file is not None:
        findings += doctor_machine.disk_findings(file)
    findings += doctor_database.database_findings(url, key_file)
    findings += doctor_machine.redis_findings(loaded)
    return findings + doctor_machine.exports_findings(loaded)
