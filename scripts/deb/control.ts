/** Text files of a Debian package that are no files of the program. */
export interface Choice {
  version: string;
  /** As dpkg names it: amd64, arm64. */
  architecture: string;
  description: string;
  installedKilobytes: number;
}

export function control({ version, architecture, description, installedKilobytes }: Choice): string {
  const fields = {
    Package: 'nodefence',
    Version: version,
    Architecture: architecture,
    Maintainer: 'nodefence maintainers <maintainers@nodefence.invalid>',
    'Installed-Size': String(installedKilobytes),
    // The pinned Node comes along: it is what the tests run under, and Debian 12 has an older one.
    Depends: 'libc6 (>= 2.28), libstdc++6 (>= 9), passwd',
    Recommends: 'systemd, ipmitool',
    Section: 'admin',
    Priority: 'optional',
    Description: `fence controller and node daemon for Kubernetes\n ${description}`,
  };
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');
}

/** Its own user; nothing is enabled or started: first somebody says where the cluster is. */
export const POSTINST = `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  if command -v systemd-sysusers >/dev/null; then
    systemd-sysusers nodefence.conf
  elif ! getent passwd nodefence >/dev/null; then
    useradd --system --user-group --no-create-home --home-dir / --shell /usr/sbin/nologin nodefence
  fi
  if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
fi
`;

/** What systemd/ has: the controller, the daemon, and what renews their tokens. */
export const UNITS: readonly string[] = [
  'nodefence-controller.service',
  'nodefence-node-token.service',
  'nodefence-node-token.timer',
  'nodefence-node.service',
  'nodefence-token.service',
  'nodefence-token.timer',
];

/** A removed program must not run on. In an upgrade nothing is stopped: an armed watchdog waits for its daemon; \`systemctl restart\` is yours. */
export const PRERM = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl disable --now ${UNITS.join(' ')} || true
fi
`;

/** Where the files of systemd/ expect the program, and where the package has it. */
const MOVED: readonly (readonly [string, string])[] = [
  ['/opt/nodefence/node_modules/.bin/node', '/usr/lib/nodefence/node'],
  ['/opt/nodefence/node_modules/nodefence/docs', '/usr/share/doc/nodefence'],
  ['/opt/nodefence/node_modules/nodefence/systemd', '/usr/share/doc/nodefence/systemd'],
  ['/opt/nodefence/node_modules/nodefence', '/usr/lib/nodefence'],
];

/** A unit of systemd/ for the places of the package. */
export function unitOf(text: string): string {
  const moved = MOVED.reduce((unit, [from, to]) => unit.replaceAll(from, to), text);
  if (/\/opt\/nodefence\//.test(moved)) throw new Error('a unit names a file under /opt/nodefence that the package has elsewhere');
  return moved;
}

export const WRAPPER = '#!/bin/sh\nexec /usr/lib/nodefence/node --max-semi-space-size=2 /usr/lib/nodefence/dist/src/main.js "$@"\n';

export const COPYRIGHT = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: nodefence
Files: *
Copyright: the authors of nodefence
License: Apache-2.0
Comment: The packages below /usr/lib/nodefence/node_modules bring their own licences; licences.md lists them.
License: Apache-2.0
 The text of the licence stands in /usr/share/common-licenses/Apache-2.0.
`;
