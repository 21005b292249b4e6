import { UNITS } from '../../../scripts/deb/control.ts';
import type { Cluster } from '../../installation/cluster.ts';
import type { Machine } from './machine.ts';

const SOON_MS = 90_000;
const LEASE = '-n nodefence-system get lease nodefence-controller -o jsonpath={.spec.holderIdentity}';

/** Throws with what was seen when it is not as it must be; returns what is worth a line. In this order. */
type Trial = (machine: Machine, cluster: Cluster) => Promise<string>;

function mustHold(isSo: boolean, seen: unknown): void {
  if (!isSo) throw new Error(`it is not so: ${JSON.stringify(seen).slice(0, 2_000)}`);
}

function propertyOf(machine: Machine, unit: string, name: string): string {
  return machine.must('systemctl', 'show', '--value', '--property', name, unit).trim();
}

async function leads(machine: Machine, cluster: Cluster): Promise<string> {
  machine.must('systemctl', 'enable', '--quiet', 'nodefence-token.service', 'nodefence-token.timer');
  machine.must('systemctl', 'enable', '--now', '--quiet', 'nodefence-controller.service');
  await machine.until(() => (machine.journal('nodefence-controller').includes('leading') ? true : undefined), SOON_MS);
  mustHold(propertyOf(machine, 'nodefence-token.service', 'Result') === 'success', machine.journal('nodefence-token'));
  const holder = await cluster.must(LEASE);
  mustHold(holder !== '', holder);
  return `the Lease is held by ${holder}; its token was made by nodefence-token.service before`;
}

async function isInItsSandbox(machine: Machine): Promise<string> {
  const pid = propertyOf(machine, 'nodefence-controller.service', 'MainPID');
  const status = machine.must('cat', `/proc/${pid}/status`);
  const user = machine.must('id', '-u', 'nodefence').trim();
  mustHold(new RegExp(`^Uid:\\s+${user}\\s`, 'm').test(status) && /^CapEff:\s+0+$/m.test(status) && /^NoNewPrivs:\s+1$/m.test(status), status);
  mustHold(/^Seccomp:\s+2$/m.test(status), status);
  mustHold(/^Max core file size +0 +0 /m.test(machine.must('cat', `/proc/${pid}/limits`)), machine.run('cat', `/proc/${pid}/limits`));
  const written = machine.run('nsenter', '--target', pid, '--mount', 'touch', '/etc/written');
  mustHold(written.code !== 0 && written.said.includes('Read-only file system'), written);
  const token = machine.must('stat', '--format=%U:%G %a', '/run/nodefence-token/token').trim();
  mustHold(/^root:nodefence 640$/.test(token), token);
  return Promise.resolve(`user ${user}, no capability, seccomp, no core dump, nothing to write to; token ${token}`);
}

async function renewsItsToken(machine: Machine): Promise<string> {
  const before = machine.must('sha256sum', '/run/nodefence-token/token');
  machine.must('systemctl', 'start', 'nodefence-token.service');
  mustHold(machine.must('sha256sum', '/run/nodefence-token/token') !== before, before);
  machine.must('systemctl', 'start', 'nodefence-token.timer');
  mustHold(propertyOf(machine, 'nodefence-token.timer', 'ActiveState') === 'active', 'the timer is not active');
  mustHold(propertyOf(machine, 'nodefence-controller.service', 'NRestarts') === '0', 'the controller was started anew');
  return Promise.resolve('another one, and the controller runs on');
}

async function handsOver(machine: Machine, cluster: Cluster): Promise<string> {
  const beganMs = performance.now();
  machine.must('systemctl', 'stop', 'nodefence-controller.service');
  const tookMs = Math.round(performance.now() - beganMs);
  const holder = await cluster.must(LEASE);
  mustHold(holder === '' && propertyOf(machine, 'nodefence-controller.service', 'Result') === 'success', {
    holder,
    log: machine.journal('nodefence-controller'),
  });
  return `the Lease is free after ${tookMs} ms`;
}

async function attests(machine: Machine, cluster: Cluster): Promise<string> {
  machine.must('systemctl', 'start', 'nodefence-node.service');
  mustHold(propertyOf(machine, 'nodefence-node.service', 'ActiveState') === 'active', machine.run('systemctl', 'status', 'nodefence-node'));
  const status = machine.must('nodefence', 'node', 'status');
  const lease = await cluster.must('-n nodefence-system get leases -o name');
  mustHold(lease.includes('worker-1'), { lease, log: machine.journal('nodefence-node') });
  return `it told systemd that it is ready; ${status.split('\n')[0] ?? ''}`;
}

async function renewsTheTokenOfTheNode(machine: Machine): Promise<string> {
  const place = '/var/lib/nodefence-node-token/token';
  const before = machine.must('sha256sum', place);
  machine.must('systemctl', 'start', 'nodefence-node-token.service');
  mustHold(machine.must('sha256sum', place) !== before, machine.journal('nodefence-node-token'));
  mustHold(machine.must('stat', '--format=%U %a', place).trim() === 'root 600', machine.run('ls', '-l', place));
  mustHold(propertyOf(machine, 'nodefence-node.service', 'NRestarts') === '0', 'the daemon was started anew');
  return Promise.resolve(
    machine
      .journal('nodefence-node-token')
      .split('\n')
      .find((line) => line.includes('good until')) ?? '',
  );
}

async function isRated(machine: Machine): Promise<string> {
  const services = UNITS.filter((unit) => unit.endsWith('.service'));
  const rated = services.map((unit) => [
    unit,
    /level for \S+: (\S+)/.exec(machine.must('systemd-analyze', '--no-pager', 'security', unit))?.[1] ?? '?',
  ]);
  mustHold(
    rated.every(([, exposure]) => Number(exposure) < 4),
    rated,
  );
  return Promise.resolve(rated.map(([unit, exposure]) => `${unit} ${exposure}`).join(', '));
}

async function isRemoved(machine: Machine): Promise<string> {
  machine.must('dpkg', '--remove', 'nodefence');
  const active = UNITS.filter((unit) => propertyOf(machine, unit, 'ActiveState') === 'active');
  mustHold(active.length === 0, active);
  return Promise.resolve('no unit runs any more');
}

export const TRIALS: Readonly<Record<string, Trial>> = {
  'the controller leads': leads,
  'it is in the sandbox of its unit': isInItsSandbox,
  'its token is renewed while it runs': renewsItsToken,
  'a stop hands the Lease over': handsOver,
  'the node daemon attests': attests,
  'the token of the node is renewed while it runs': renewsTheTokenOfTheNode,
  'systemd rates the units': isRated,
  'the package is removed': isRemoved,
};
