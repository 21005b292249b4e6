import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { NODE_NAME } from './node-files.ts';
import { attested, daemonPod, seconds, securityAsShipped, statusOfDaemon, until, Wrong } from './steps.ts';
import type { Stage } from './steps.ts';

const CONFIG = join(import.meta.dirname, '..', '..', 'config');
const FIRMWARE_UUID = '/sys/class/dmi/id/product_uuid';
const WATCHDOGS = ['/dev/watchdog', '/dev/watchdog0'];
const NAMESPACE = 'nodefence-system';
const ROLLOUT = `-n ${NAMESPACE} rollout status --timeout=10m daemonset/nodefence-node`;
const ROLLOUT_MS = 660_000;
const SHOWN_MS = 300_000;
const GRANTED_SECONDS_MAX = 60;
/** terminationGracePeriodSeconds of the DaemonSet, and what the kubelet takes beside it on a busy computer. */
const GONE_MS = 120_000;

export interface KubeletCase {
  name: string;
  play: (stage: Stage) => Promise<void>;
}

export const CASES: readonly KubeletCase[] = [
  {
    name: 'config/node-daemonset: the daemon runs in a pod with exactly the shipped privileges, attests its node and is heard',
    play: async (stage) => {
      const { plane, tell } = stage;
      // The controller stands outside, as docs/node-daemon.md has it: its image is tried in the cluster by others.
      for (const folder of ['crd', 'rbac', 'node-daemon-controller']) await plane.kubectl(`apply -k config/${folder}`);
      await plane.kubectl(`label namespace ${NAMESPACE} pod-security.kubernetes.io/enforce=privileged`);
      await plane.configure();
      await plane.startController(['--mode', 'enforce']);
      const folder = daemonFolder(stage, 'node-daemonset');
      await plane.kubectl(`apply -k ${folder}`);
      await plane.kubectl(ROLLOUT, ROLLOUT_MS);
      const kernel = await securityAsShipped(stage, folder);
      const isBare = /Uid:\s+0\s/u.test(kernel) && /CapEff:\s+0+\s/u.test(kernel) && /NoNewPrivs:\s+1/u.test(kernel) && /Seccomp:\s+2/u.test(kernel);
      if (!isBare) throw new Wrong(`the process has more than it is to have: ${kernel}`);
      const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
      tell(`it attests ${JSON.stringify(await attested(stage, `boot ${boot}`, ({ bootID }) => bootID === boot))}`);
      tell(await heard(stage));
      const status = await statusOfDaemon(stage);
      tell(`it says of itself: ${JSON.stringify(status)}`);
      if (status.grantedSecondsAgo === undefined || status.grantedSecondsAgo > GRANTED_SECONDS_MAX) throw new Wrong('no controller grants it time');
    },
  },
  {
    name: 'a pod of the daemon that is deleted ends in order, and the next one is heard',
    play: async (stage) => {
      const before = await daemonPod(stage);
      if (before === undefined) throw new Wrong('there is no pod of the daemon');
      const sinceMs = performance.now();
      await stage.plane.kubectl(`-n ${NAMESPACE} delete pod ${before.metadata.name} --wait=true --timeout=3m`, ROLLOUT_MS);
      const tookMs = performance.now() - sinceMs;
      stage.tell(`the pod was gone after ${seconds(tookMs)}`);
      if (tookMs > GONE_MS) throw new Wrong('it was killed, and did not end');
      await stage.plane.kubectl(ROLLOUT, ROLLOUT_MS);
      const after = await daemonPod(stage);
      if (after === undefined || after.metadata.uid === before.metadata.uid) throw new Wrong('there is no other pod of the daemon');
      stage.tell(await heard(stage));
    },
  },
  {
    name: 'config/node-daemonset-watchdog: the pod is privileged as it ships, and a node that has no watchdog is told',
    play: async (stage) => {
      const watchdog = WATCHDOGS.find((path) => existsSync(path));
      if (watchdog !== undefined) throw new Wrong(`not played: it would arm ${watchdog} of this computer`);
      const folder = daemonFolder(stage, 'node-daemonset-watchdog');
      await stage.plane.kubectl(`apply -k ${folder}`);
      await stage.plane.kubectl(ROLLOUT, ROLLOUT_MS);
      const kernel = await securityAsShipped(stage, folder);
      if (/CapEff:\s+0+\s/u.test(kernel)) throw new Wrong(`the process is not privileged: ${kernel}`);
      stage.tell(await heard(stage));
      const { watchdog: said, problems } = await statusOfDaemon(stage);
      stage.tell(`it says of itself: ${JSON.stringify({ watchdog: said, problems })}`);
      if (said.state === 'armed' || !problems.some((problem) => problem.includes('watchdog')))
        throw new Wrong('it does not tell that it has no watchdog');
    },
  },
];

/** On a computer without DMI with the part that such a machine needs, in a folder of one's own as docs/node-daemon.md has it. */
function daemonFolder({ work }: Stage, name: string): string {
  const base = join(CONFIG, name);
  if (existsSync(FIRMWARE_UUID)) return base;
  const own = join(work, name);
  mkdirSync(own);
  const [resources, components] = [[relative(own, base)], [relative(own, join(CONFIG, 'node-daemonset-parts/machine-id'))]];
  writeFileSync(join(own, 'kustomization.yaml'), JSON.stringify({ resources, components }));
  return own;
}

/** The line of `nodefence status` that says so. */
function heard(stage: Stage): Promise<string> {
  return until(stage, 'nodefence status shows that the daemon is heard', SHOWN_MS, async () => {
    const said = await stage.plane.nodefence(['status', '--all']);
    return said.split('\n').find((line) => line.includes(NODE_NAME) && line.includes('heard'));
  });
}
