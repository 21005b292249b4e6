import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../ports/clock.ts';
import type { CheckFound, CheckName, NodeCheck } from '../../ports/node-checks.ts';
import { checkBmc } from './bmc.ts';
import { whyNothing } from './children.ts';
import type { Children } from './children.ts';
import { checkStorage, judgeStorage, reachOf } from './storage.ts';
import { probeTarget } from './storage-probe.ts';
import type { StorageTarget } from './storage-probe.ts';
import { unknown } from './verdict.ts';

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
}

/** Compiled, it has the other extension. */
const CHILD = fileURLToPath(new URL(`./check-child${extname(import.meta.url)}`, import.meta.url));
const MINUTE_MS = 60_000;
const FILES_DEADLINE_MS = 15_000;
const PROBE_MS = 5_000;
const BMC_MS = 20_000;
/** What a child needs to be killed, and what was killed to be told. */
const SLACK_MS = 3_000;
const PROBER = '-daemon';
const SENTENCE_MAX = 1_000;

/** The checks that the daemon runs by itself. Nothing that may hang in the kernel is done in its own process. */
export function daemonChecks(ports: DaemonChecksPorts, targets: readonly StorageTarget[]): NodeCheck[] {
  const { root, children, clock, seesFiles } = ports;
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
  ];
}

async function probed({ root, probes: children }: DaemonChecksPorts, targets: readonly StorageTarget[]): Promise<CheckFound> {
  const readings = await Promise.all(targets.map(async (target) => probeTarget({ root, children, prober: PROBER }, target, PROBE_MS)));
  const { health, sentence } = judgeStorage(readings, {});
  return { health, sentence, targets: readings.map((reading) => ({ path: reading.path, reach: reachOf(reading) })) };
}

function fileCheck({ root, children, runFolder, stateFolder }: DaemonChecksPorts, name: CheckName, intervalMs: number): NodeCheck {
  const folder = name === 'previous-boot' ? stateFolder : runFolder;
  const run = async (): Promise<CheckFound> => {
    const result = await children.run(`check ${name}`, process.execPath, [CHILD, name, root, folder], FILES_DEADLINE_MS);
    const why = whyNothing('check', result);
    const found = result.kind === 'ended' ? foundIn(result.output) : undefined;
    return found ?? unknown(why ?? 'the check ended without a word');
  };
  return { name, intervalMs, deadlineMs: FILES_DEADLINE_MS + SLACK_MS, run };
}

/** Undefined: nothing that a check says. */
function foundIn(output: string): CheckFound | undefined {
  try {
    const found = JSON.parse(output) as CheckFound;
    const isWhole = ['ok', 'problem', 'unknown'].includes(found.health) && typeof found.sentence === 'string';
    return isWhole && found.sentence.length <= SENTENCE_MAX ? found : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
