import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../../src/drill/run/pause.ts';
import { MACHINE_TIMES } from './plane.ts';
import { seconds, Wrong } from './stage.ts';
import type { MachineStage } from './stage.ts';

export interface MachineCase {
  name: string;
  play: (stage: MachineStage) => Promise<void>;
}

const DAEMON = 'nodefence-node';
const PAGE = join(import.meta.dirname, '..', '..', 'systemd', 'README.md');
const START_MS = 120_000;
/** Beyond what the watchdog waits: whatever would have bitten has. */
const BEYOND_MS = 15_000;
/** From the daemon's last feed to the bite, and what QEMU's own clock may be late on a busy computer. */
const LATE_MS = 5_000;
const REBOOT_MS = 120_000;
const SYSTEMD_WATCHDOG_MS = 30_000;
const EXPOSURE_BELOW = 4;

export const CASES: readonly MachineCase[] = [
  {
    name: 'both units start by the commands of systemd/README.md, and systemd has nothing to say against them',
    play: async (stage) => {
      await stage.booted();
      for (const whose of ['controller', 'daemon'] as const)
        await stage.sh(`umask 077; cat > /root/${whose}-kubeconfig`, START_MS, readFileSync(stage.plane.kubeconfig(whose), 'utf8'));
      const [controller = '', daemon = ''] = commandsOf(readFileSync(PAGE, 'utf8'));
      await stage.sh(controller.replace('YOUR-KUBECONFIG', '/root/controller-kubeconfig'), START_MS);
      await pause(BEYOND_MS);
      const state = await stage.property('nodefence-controller', 'ActiveState');
      const restarts = await stage.property('nodefence-controller', 'NRestarts');
      if (state !== 'active' || restarts !== '0') throw new Wrong(`the controller is ${state} after ${restarts} restarts\n${stage.guest.lastWords}`);
      await stage.sh('systemctl disable --now nodefence-controller', START_MS);
      // Its own duty, which a node has to be told; the rest is as it ships.
      const withSelfFence = daemon.replace('YOUR-KUBECONFIG', '/root/daemon-kubeconfig').replace(/^systemctl/mu, `${SELF_FENCE}\nsystemctl`);
      await stage.sh(withSelfFence, START_MS);
      for (const unit of [`${DAEMON}.service`, 'nodefence-controller.service']) {
        const found = await stage.sh(`systemd-analyze verify --man=no /etc/systemd/system/${unit} 2>&1 | grep nodefence || true`, START_MS);
        if (found !== '') throw new Wrong(`systemd-analyze verify: ${found}`);
        const rated = await stage.sh(`systemd-analyze security --no-pager ${unit} | tail -1`, START_MS);
        stage.tell(rated);
        const exposure = Number(/: (\d+\.\d)/u.exec(rated)?.[1] ?? '10');
        if (exposure >= EXPOSURE_BELOW) throw new Wrong(`${unit} is exposed ${exposure}`);
      }
    },
  },
  {
    name: 'a start is told by Type=notify, a stop disarms the watchdog, and nothing is reset',
    play: async (stage) => {
      const boot = await stage.bootID();
      const [type, state] = [await stage.property(DAEMON, 'Type'), await stage.property(DAEMON, 'ActiveState')];
      if (type !== 'notify' || state !== 'active') throw new Wrong(`the daemon is ${state} by Type=${type}`);
      await stage.armed();
      await attested(stage, { state: 'armed', kind: 'hardware', isPausable: false, timeoutMs: MACHINE_TIMES.watchdogMs });
      const sinceMs = stage.now();
      await stage.sh(`systemctl stop ${DAEMON}`, START_MS);
      stage.tell(`systemctl stop took ${seconds(stage.now() - sinceMs)}`);
      const left = await stage.sh('cat /sys/class/watchdog/watchdog0/state');
      if (left !== 'inactive') throw new Wrong(`the watchdog is ${left} after a clean stop`);
      await attested(stage, { state: 'disarmed' });
      await pause(MACHINE_TIMES.watchdogMs + BEYOND_MS);
      await stage.noReset(sinceMs, boot);
      await stage.sh(`systemctl start ${DAEMON}`, START_MS);
    },
  },
  {
    name: 'a daemon that is killed is started anew before its watchdog bites',
    play: async (stage) => {
      const boot = await stage.bootID();
      await stage.armed();
      const pid = await stage.property(DAEMON, 'MainPID');
      const sinceMs = stage.now();
      await stage.sh(`kill -KILL ${pid}`);
      await pause(MACHINE_TIMES.watchdogMs + 2 * BEYOND_MS);
      await stage.noReset(sinceMs, boot);
      if ((await stage.property(DAEMON, 'MainPID')) === pid) throw new Wrong('the daemon was not killed');
      await stage.armed();
    },
  },
  {
    name: 'a daemon that stands still: the watchdog resets the machine within its time',
    play: async (stage) => {
      const boot = await stage.bootID();
      await stage.armed();
      const sinceMs = stage.now();
      await stage.sh(`kill -STOP ${await stage.property(DAEMON, 'MainPID')}`);
      const bitAtMs = await stage.event('WATCHDOG', sinceMs, MACHINE_TIMES.watchdogMs + LATE_MS);
      const resetAtMs = await stage.event('RESET', sinceMs, MACHINE_TIMES.resetTimeMs);
      stage.tell(`the watchdog bit after ${seconds(bitAtMs - sinceMs)}, the reset came after ${seconds(resetAtMs - sinceMs)}`);
      await stage.booted(boot);
    },
  },
  {
    name: 'a cable that is pulled: the container stops, then the machine is reset, both in time',
    play: async (stage) => {
      const boot = await stage.bootID();
      await stage.armed();
      await stage.startPod();
      const { grantMs, isolationTimeoutMs, podStopMaxMs, watchdogMs } = MACHINE_TIMES;
      const withinMs = grantMs + isolationTimeoutMs + podStopMaxMs + watchdogMs;
      const sinceMs = stage.now();
      await stage.guest.setLink(false);
      const resetAtMs = await stage.event('RESET', sinceMs, withinMs + LATE_MS);
      const stoppedAtMs = stage.guest.counter.atMs;
      await stage.guest.setLink(true);
      stage.tell(`the container wrote last after ${seconds(stoppedAtMs - sinceMs)}, the reset came after ${seconds(resetAtMs - sinceMs)}`);
      if (stoppedAtMs > resetAtMs) throw new Wrong('the container wrote after the reset');
      if (resetAtMs - stoppedAtMs < 100) throw new Wrong('the container was ended by the reset, and not before it');
      if (resetAtMs - sinceMs > withinMs) throw new Wrong(`the reset came later than ${seconds(withinMs)}`);
      if (stoppedAtMs - sinceMs < isolationTimeoutMs) throw new Wrong('the container was stopped too early');
      await stage.booted(boot);
    },
  },
  {
    name: 'systemctl reboot: a clean stop, and no bite',
    play: async (stage) => {
      const boot = await stage.bootID();
      await stage.armed();
      const sinceMs = stage.now();
      await stage.guest.run('systemctl --no-block reboot', START_MS);
      const resetAtMs = await stage.event('RESET', sinceMs, REBOOT_MS);
      stage.tell(`the reset came after ${seconds(resetAtMs - sinceMs)}`);
      if (stage.guest.eventsOf('WATCHDOG', sinceMs).length > 0) throw new Wrong(`the watchdog bit in a clean reboot\n${stage.guest.lastWords}`);
      await attested(stage, { state: 'disarmed' }, boot);
      await stage.booted(boot);
    },
  },
  {
    name: 'systemd itself ends a daemon that stands still, where no watchdog does',
    play: async (stage) => {
      const boot = await stage.bootID();
      await stage.sh(`echo NODEFENCE_NODE_WATCHDOG=none >> /etc/nodefence/node.env; systemctl restart ${DAEMON}`, START_MS);
      const pid = await stage.property(DAEMON, 'MainPID');
      const sinceMs = stage.now();
      await stage.sh(`kill -STOP ${pid}`);
      const isReplaced = async (): Promise<true | undefined> => (!['0', pid].includes(await stage.property(DAEMON, 'MainPID')) ? true : undefined);
      await stage.until('systemd starts another daemon', SYSTEMD_WATCHDOG_MS + START_MS, isReplaced);
      stage.tell(`systemd started another daemon after ${seconds(stage.now() - sinceMs)}`);
      await stage.noReset(sinceMs, boot);
      await stage.sh(`journalctl -u ${DAEMON} --no-pager | grep -q 'Watchdog timeout'`);
    },
  },
  {
    name: 'softdog is attested as soft',
    play: async (stage) => {
      await stage.sh(
        `modprobe softdog && sed -i s,WATCHDOG=none,WATCHDOG=/dev/watchdog1, /etc/nodefence/node.env && systemctl restart ${DAEMON}`,
        START_MS,
      );
      await attested(stage, { state: 'armed', kind: 'soft' });
      await stage.sh(`systemctl stop ${DAEMON}`, START_MS);
    },
  },
];

const SELF_FENCE = 'echo NODEFENCE_NODE_SELF_FENCE=true >> /etc/nodefence/node.env';
const ATTESTED_WITHIN_MS = 120_000;

/** The API server has been told so. */
async function attested(stage: MachineStage, wanted: Readonly<Record<string, string | number | boolean>>, boot?: string): Promise<void> {
  let last: unknown;
  const isSaid = async (): Promise<true | undefined> => {
    const said = await stage.plane.attestation();
    last = said;
    if (said === undefined || (boot !== undefined && said.bootID !== boot)) return undefined;
    const watchdog: Readonly<Record<string, unknown>> = { ...said.watchdog };
    return Object.entries(wanted).every(([key, value]) => watchdog[key] === value) ? true : undefined;
  };
  await stage.until(`the attestation says ${JSON.stringify(wanted)}`, ATTESTED_WITHIN_MS, isSaid).catch((error: unknown) => {
    throw new Wrong(`${String(error)}\nit says ${JSON.stringify(last)}`);
  });
}

/** The two blocks of the page: what was done on the host is left out (npm, kubectl), and what never ends. */
function commandsOf(page: string): string[] {
  return [...page.matchAll(/```sh\n([^]*?)```/gu)].map(([, block = '']) =>
    ['set -e', ...block.split('\n').filter((line) => line !== '' && !/^(?:#|npm |kubectl |journalctl )/u.test(line))].join('\n'),
  );
}
