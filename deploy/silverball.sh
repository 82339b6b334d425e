#!/bin/sh
# /usr/local/bin/silverball: a command as the user of the service, with the settings of the service.
set -eu
if [ "$(id -u)" -ne 0 ] && [ "$(id -un)" != silverball ]; then
    echo "Run this as root or as silverball: sudo silverball $*" >&2
    exit 1
fi
set -a
. /etc/silverball/silverball.env
set +a
umask 077
# cron knows fewer folders of programs.
PATH=$PATH:/usr/sbin:/sbin
cd /var/lib/silverball
if [ "$(id -un)" = silverball ]; then
    exec /opt/silverball/bin/silverball "$@"
fi
exec runuser --user silverball -- /opt/silverball/bin/silverball "$@"
