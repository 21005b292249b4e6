import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { withoutServices } from './service-policy.ts';

const POLICY = '/usr/sbin/policy-rc.d';

/** Programs that some tests start, and the Debian package that brings each. */
interface TestProgram {
  command: string;
  package: string;
  /** What the package would run as a service from the next boot on; the tests start the program themselves. */
  services?: readonly string[];
}
export const TEST_PROGRAMS: readonly TestProgram[] = [
  { command: 'git', package: 'git' },
  { command: 'openssl', package: 'openssl' },
  { command: 'ipmitool', package: 'ipmitool' },
  { command: 'ipmi_sim', package: 'openipmi' },
  { command: 'ipmipower', package: 'freeipmi-tools' },
  { command: 'fakebmc', package: 'python3-pyghmi' },
  { command: 'fence_ipmilan', package: 'fence-agents' },
  { command: 'xmllint', package: 'libxml2-utils' },
  { command: 'pacemakerd', package: 'pacemaker', services: ['pacemaker.service', 'corosync.service'] },
  { command: 'stonith_admin', package: 'pacemaker-cli-utils' },
  { command: 'sshd', package: 'openssh-server', services: ['ssh.service', 'ssh.socket'] },
  { command: 'snmpd', package: 'snmpd', services: ['snmpd.service'] },
  { command: 'snmpget', package: 'snmp' },
  { command: 'snmpsimd', package: 'snmpsim' },
  { command: 'strace', package: 'strace' },
  { command: 'promtool', package: 'prometheus', services: ['prometheus.service'] },
  { command: 'chromium', package: 'chromium' },
  { command: 'cockpit-bridge', package: 'cockpit-bridge' },
  { command: '/usr/lib/cockpit/cockpit-ws', package: 'cockpit-ws', services: ['cockpit.socket'] },
];

export interface Machine {
  isRoot: boolean;
  isDebian: boolean;
  has(command: string): boolean;
  /** `services` of the packages are not to run, now or after the next boot. */
  install(packages: readonly string[], services: readonly string[]): void;
}

/**
 * Installs what is missing where that needs nobody's leave (root on Debian), else says which one line does it. Returns the packages that
 * are still missing; under continuous integration each counts as a failed test.
 */
export function setUpPackages(programs: readonly TestProgram[], machine: Machine, say: (line: string) => void): string[] {
  const absent = programs.filter(({ command }) => !machine.has(command));
  const missing = (): string[] => programs.filter(({ command }) => !machine.has(command)).map((program) => program.package);
  const wanted = absent.map((program) => program.package);
  if (wanted.length === 0) return [];
  const line = `apt-get install -y --no-install-recommends ${wanted.join(' ')}`;
  if (machine.isRoot && machine.isDebian) {
    try {
      machine.install(
        wanted,
        absent.flatMap(({ services = [] }) => services),
      );
    } catch (error) {
      say(`${line} failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const left = missing();
  if (left.length > 0) say(`some tests need programs that this machine lacks; this installs them: sudo ${line}`);
  return left;
}

export function thisMachine(): Machine {
  return {
    isRoot: process.getuid?.() === 0,
    isDebian: existsSync('/etc/debian_version'),
    has: (command) =>
      isAbsolute(command)
        ? isExecutable(command)
        : (process.env['PATH'] ?? '').split(delimiter).some((folder) => isExecutable(join(folder, command))),
    install(packages, services) {
      const options = { stdio: ['ignore', 2, 2] as ['ignore', number, number], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
      // A fresh machine may know no package at all.
      execFileSync('apt-get', ['update', '-q'], options);
      withoutServices(POLICY, () => execFileSync('apt-get', ['install', '-y', '--no-install-recommends', ...packages], options));
      // Nothing to disable where no systemd is, or the package has no such unit.
      if (services.length > 0 && this.has('systemctl')) spawnSync('systemctl', ['disable', '--quiet', ...services], options);
    },
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
