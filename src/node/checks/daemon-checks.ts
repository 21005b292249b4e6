import { join } from 'node:path';
import type { Clock } from '../../ports/clock.ts';
import type { CheckFound, CheckName, NodeCheck } from '../../ports/node-checks.ts';
import { checkBmc } from './bmc.ts';
import { checkInChild } from './child-check.ts';
import type { Children } from './children.ts';
import { checkFileSystems } from './file-systems.ts';
import { checkStorage, judgeStorage, reachOf } from './storage.ts';
import { probeTarget } from './storage-probe.ts';
import type { StorageTarget } from './storage-probe.ts';

export interface DaemonChecksPorts {
  root: string;
  /** A pod has a file system of its own: what is not in that says nothing of the node. */
  seesFiles: boolean;
  clock: Clock;
  children: Pick<Children, 'run'>;
  /** Of named storage only: what hangs elsewhere must not keep them from being probed. */
  probes: Pick<Children, 'run'>;
  /** What a check must know in its next run: in /run, and what outlives the boot. */
  runFolder: string;
  stateFolder: string;
  /** Absent: conditions of others are not looked at. */
  fileSystems?: VerifiedFileSystems | undefined;
}

export interface VerifiedFileSystems {
  /** Of the daemon itself. */
  ownFolder: string;
  /** Folders of the node that are written to beside it. */
  written: readonly string[];
  /** Mount points of the node that are read-only by design. */
  byDesign: readonly string[];
}

const MINUTE_MS = 60_000;
const FILES_DEADLINE_MS = 15_000;
const PROBE_MS = 5_000;
const BMC_MS = 20_000;
/** What a child needs to be killed, and what was killed to be told. */
const SLACK_MS = 3_000;
const PROBER = '-daemon';

/** The checks that the daemon runs by itself. Nothing that may hang in the kernel is done in its own process. */
export function daemonChecks(ports: DaemonChecksPorts, targets: readonly StorageTarget[]): NodeCheck[] {
  const { root, children, clock, seesFiles, fileSystems } = ports;
  const named: NodeCheck = { name: 'storage', intervalMs: MINUTE_MS / 2, deadlineMs: PROBE_MS + SLACK_MS, run: async () => probed(ports, targets) };
  return [
    ...(targets.length === 0 ? [] : [named]),
    {
      name: 'multipath',
      intervalMs: MINUTE_MS,
      deadlineMs: PROBE_MS + SLACK_MS,
      run: async () => checkStorage({ root, children }, { targets: [], deadlineMs: PROBE_MS }),
    },
    fileCheck(ports, 'watchdog', 2 * MINUTE_MS),
    {
      name: 'bmc',
      intervalMs: 5 * MINUTE_MS,
      deadlineMs: BMC_MS + SLACK_MS,
      run: async () => checkBmc({ root, clock, children }, { deadlineMs: BMC_MS }),
    },
    fileCheck(ports, 'hardware', 5 * MINUTE_MS),
    ...(seesFiles ? [fileCheck(ports, 'kdump', 5 * MINUTE_MS), fileCheck(ports, 'previous-boot', 60 * MINUTE_MS)] : []),
    ...(seesFiles && fileSystems !== undefined ? [fileSystemsCheck(ports, fileSystems)] : []),
  ];
}

async function probed({ root, probes: children }: DaemonChecksPorts, targets: readonly StorageTarget[]): Promise<CheckFound> {
  const readings = await Promise.all(targets.map(async (target) => probeTarget({ root, children, prober: PROBER }, target, PROBE_MS)));
  const { health, sentence } = judgeStorage(readings, {});
  return { health, sentence, targets: readings.map((reading) => ({ path: reading.path, reach: reachOf(reading) })) };
}

function fileCheck({ root, children, runFolder, stateFolder }: DaemonChecksPorts, name: CheckName, intervalMs: number): NodeCheck {
  const folder = name === 'previous-boot' ? stateFolder : runFolder;
  const run = async (): Promise<CheckFound> => checkInChild(children, [name, root, folder], FILES_DEADLINE_MS);
  return { name, intervalMs, deadlineMs: FILES_DEADLINE_MS + SLACK_MS, run };
}

/** Of the daemon's own folder, which lies on a file system of the node in a pod too, and of those that are named. */
function fileSystemsCheck({ root, children }: DaemonChecksPorts, { ownFolder, written, byDesign }: VerifiedFileSystems): NodeCheck {
  const folders = [ownFolder, ...written.map((path) => join(root, path))];
  const run = async (): Promise<CheckFound> => checkFileSystems({ root, children }, { folders, byDesign, prober: PROBER, deadlineMs: PROBE_MS });
  return { name: 'file-systems', intervalMs: MINUTE_MS, deadlineMs: 2 * (PROBE_MS + SLACK_MS), run };
}
