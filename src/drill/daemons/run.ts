import { judge } from '../../laws/judge.ts';
import { LEADER_LEASE } from '../../manager/composition.ts';
import { CONTROLLER_USER } from '../run/cluster-session.ts';
import { seeded } from '../run/options.ts';
import { refusalsIn } from '../run/refusals.ts';
import { DaemonCluster } from './cluster.ts';
import { DAEMON_SCRIPTS } from './faults.ts';
import type { DaemonFault } from './faults.ts';
import { lastStatus } from './fence-trace.ts';
import { cgroupProblem } from './kernel.ts';
import { Network } from './network.ts';
import type { PlayedCluster } from './played.ts';
import { SimulatedCluster } from './simulated/cluster.ts';
import type { MachineTraits } from './simulated/daemon-machine.ts';
import { DaemonStage } from './stage.ts';
import { rackOfFirst } from './times.ts';

/** As a shell has it: 128 and the number of SIGINT. */
const INTERRUPTED = 130;

export interface DaemonDrillResult {
  fault: DaemonFault;
  seed: number;
  victim: string;
  /** On one virtual clock; absent: by real processes. */
  simulated?: true;
  /** Everything went as it must. */
  expected: boolean;
  problems: readonly string[];
  /** Nodes that were reset, and why each time. */
  resets: Readonly<Record<string, readonly string[]>>;
  laws: Readonly<Record<string, { checks: number; violations: number }>>;
}

/** Why it cannot be played here, in words; undefined: it can. */
export function whyNoDaemonDrill(): string | undefined {
  return Network.problem() ?? cgroupProblem();
}

/** The first line of a simulated drill: that it is one, why, and what it leaves out. */
export function simulatedFor(reason: string): string {
  return `simulated, on a virtual clock in one process: ${reason}. Real processes need root and iproute2: they add real sockets, files, cgroups, signals and time`;
}

/** One fault of node daemons by real processes, from an empty folder to a judged result. */
export async function runDaemonDrill(fault: DaemonFault, seed: number, says: (line: string) => void): Promise<DaemonDrillResult> {
  const { fencing, storageLostMs } = DAEMON_SCRIPTS[fault];
  const cluster = new DaemonCluster(fencing, storageLostMs);
  // Namespaces and cgroups outlive this process.
  const interrupted = (): void => void cluster.stop().finally(() => process.exit(INTERRUPTED));
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, interrupted);
  try {
    return await playDaemonDrill(cluster, fault, seed, says);
  } finally {
    for (const signal of signals) process.off(signal, interrupted);
    await cluster.stop();
  }
}

/** The same fault, script and judge in a world of this process, whose time is virtual. `traits`: what is otherwise with its machines than it should be. */
export async function simulateDaemonDrill(
  fault: DaemonFault,
  seed: number,
  says: (line: string) => void,
  traits: Partial<MachineTraits> = {},
): Promise<DaemonDrillResult> {
  const { fencing, storageLostMs } = DAEMON_SCRIPTS[fault];
  const cluster = new SimulatedCluster({ seed, fencing, storageLostMs, traits });
  try {
    return { ...(await playDaemonDrill(cluster, fault, seed, says)), simulated: true };
  } finally {
    await cluster.stop();
  }
}

async function playDaemonDrill(cluster: PlayedCluster, fault: DaemonFault, seed: number, says: (line: string) => void): Promise<DaemonDrillResult> {
  const script = DAEMON_SCRIPTS[fault];
  let faultAtMs = 0;
  const tell = (line: string): void => says(faultAtMs === 0 ? line : `${((cluster.now() - faultAtMs) / 1_000).toFixed(1).padStart(7)} s  ${line}`);
  await cluster.start(tell);
  const victim = cluster.nodeNames[Math.floor(seeded(seed)() * cluster.nodeNames.length)] ?? '';
  faultAtMs = cluster.now();
  tell(`${fault} of ${victim}: ${script.says}`);
  const problems = await script.play(new DaemonStage(cluster, victim, tell));
  const down = { victim: [victim], rack: rackOfFirst(cluster.nodeNames), none: [] }[script.resets];
  if (down.length > 0) await cluster.settled().catch((error: unknown) => void problems.push(String(error)));
  const resets = Object.fromEntries(cluster.nodes.map((node) => [node.name, node.resets]));
  problems.push(...wrongResets(resets, down));
  problems.push(...refusalsIn(cluster.traces()).refused);
  const timing = lastStatus(cluster.audit(), victim)?.frozen?.plan.timing;
  const { laws } = judge(cluster.traces(), {
    controllerUser: CONTROLLER_USER,
    leaseName: LEADER_LEASE,
    secrets: cluster.secrets,
    texts: cluster.texts(),
    ...(timing === undefined ? {} : { offStableMs: timing.offStableMs, settleMs: timing.settleMs, releaseTimeoutMs: timing.releaseTimeoutMs }),
  });
  for (const [law, { violations }] of Object.entries(laws)) problems.push(...violations.map((violation) => `${law} ${violation}`));
  const counted = Object.fromEntries(
    Object.entries(laws).map(([law, { checks, violations }]) => [law, { checks, violations: violations.length }] as const),
  );
  return { fault, seed, victim, expected: problems.length === 0, problems, resets, laws: counted };
}

function wrongResets(resets: Readonly<Record<string, readonly string[]>>, down: readonly string[]): string[] {
  return Object.entries(resets).flatMap(([node, causes]) => {
    if (down.includes(node))
      return causes.length === 1 ? [] : [`${node} was reset ${String(causes.length)} times, and must be once: ${causes.join('; ')}`];
    return causes.length === 0 ? [] : [`${node} was reset, and must not be: ${causes.join('; ')}`];
  });
}

/** What a person reads at the end. */
export function daemonSummary({ fault, seed, victim, expected, problems, resets, laws, simulated }: DaemonDrillResult): string {
  const checks = Object.values(laws).reduce((sum, law) => sum + law.checks, 0);
  const violations = Object.values(laws).reduce((sum, law) => sum + law.violations, 0);
  const reset = Object.entries(resets).filter(([, causes]) => causes.length > 0);
  return [
    `${expected ? 'as it must be' : 'NOT AS IT MUST BE'}: ${fault} on ${victim} of ${String(Object.keys(resets).length)} nodes (seed ${String(seed)}${simulated === true ? ', simulated' : ''})`,
    ...problems.map((problem) => `  problem: ${problem}`),
    `  reset: ${reset.length === 0 ? 'nobody' : reset.map(([node, causes]) => `${node} (${causes.join('; ')})`).join(', ')}`,
    `  laws P1–P11, judged from outside: ${String(checks)} checks, ${String(violations)} violations`,
    '',
  ].join('\n');
}
