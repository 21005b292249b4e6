import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { pause } from '../../src/drill/run/pause.ts';
import type { NodeSandbox } from './node.ts';
import type { AttestedNode, KubeletPlane } from './plane.ts';

const LOOK_MS = 1_000;
const ATTESTED_MS = 300_000;
const OF_DAEMON = '-n nodefence-system -l app.kubernetes.io/component=node';

/** What is not as it must be: the case ends there. */
export class Wrong extends Error {}

/** A node, its cluster, and what is asked of both. */
export interface Stage {
  node: NodeSandbox;
  plane: KubeletPlane;
  /** A folder for what a case writes. */
  work: string;
  tell: (line: string) => void;
}

interface Security {
  hostPID?: boolean;
  hostNetwork?: boolean;
  hostIPC?: boolean;
  containers: { securityContext?: Readonly<Record<string, unknown>> }[];
}

export interface DaemonPod {
  metadata: { name: string; uid: string; deletionTimestamp?: string };
  spec: Security;
}

/** What `nodefence node status --output json` promises. */
export interface DaemonStatus {
  grantedSecondsAgo?: number;
  watchdog: { state: string };
  checks: { name: string; health: string; sentence: string }[];
  problems: string[];
}

export async function until<T>({ node }: Stage, what: string, withinMs: number, look: () => Promise<T | undefined>): Promise<T> {
  const endsAtMs = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > endsAtMs) throw new Wrong(`${what}: not within ${seconds(withinMs)}\n${node.lastWords}`);
    await pause(LOOK_MS);
  }
}

/** The API server has been told what `isWanted`. */
export async function attested(stage: Stage, what: string, isWanted: (said: AttestedNode) => boolean): Promise<AttestedNode> {
  let last: AttestedNode | undefined;
  const said = async (): Promise<AttestedNode | undefined> => {
    last = await stage.plane.attestation();
    return last !== undefined && isWanted(last) ? last : undefined;
  };
  return until(stage, `the attestation says ${what}`, ATTESTED_MS, said).catch((error: unknown) => {
    throw new Wrong(`${String(error)}\nit says ${JSON.stringify(last)}`);
  });
}

/** The pod of the daemon that is not being deleted; undefined: there is none. */
export async function daemonPod({ plane }: Stage): Promise<DaemonPod | undefined> {
  const { items } = JSON.parse(await plane.kubectl(`get pods ${OF_DAEMON} -o json`)) as { items: DaemonPod[] };
  return items.find(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** Nothing has added to what the folder says, or taken from it. What the kernel says of the process. */
export async function securityAsShipped(stage: Stage, folder: string): Promise<string> {
  const built = parseAll(await stage.plane.kubectl(`kustomize ${folder}`)).find(({ kind }) => kind === 'DaemonSet');
  if (built?.spec === undefined) throw new Wrong(`${folder} has no DaemonSet`);
  const wanted = privilegesOf(built.spec.template.spec);
  const pod = await daemonPod(stage);
  if (pod === undefined) throw new Wrong('there is no pod of the daemon');
  const has = privilegesOf(pod.spec);
  if (!isDeepStrictEqual(has, wanted)) throw new Wrong(`the pod runs with ${JSON.stringify(has)} in place of ${JSON.stringify(wanted)}`);
  const isDaemon = `tr '\\0' ' ' < $p/cmdline | grep -q -- '^node --lite-mode /app/dist/src/main.js node '`;
  const status = await stage.node.sh(
    `for p in /proc/[0-9]*; do ${isDaemon} && grep -E '^(Uid|CapEff|NoNewPrivs|Seccomp):' $p/status; done 2>/dev/null; true`,
  );
  stage.tell(`the pod has ${JSON.stringify(has)}; the kernel says of its process: ${status.replaceAll(/\s+/gu, ' ')}`);
  return status;
}

/** By the command that docs/node-daemon.md gives for it. */
export async function statusOfDaemon(stage: Stage): Promise<DaemonStatus> {
  const pod = await daemonPod(stage);
  if (pod === undefined) throw new Wrong('there is no pod of the daemon');
  const command = `-n nodefence-system exec ${pod.metadata.name} -- node /app/dist/src/main.js node status --output json`;
  return JSON.parse(await stage.plane.kubectl(command)) as DaemonStatus;
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function privilegesOf({ hostPID = false, hostNetwork = false, hostIPC = false, containers }: Security): object {
  return { hostPID, hostNetwork, hostIPC, containers: containers.map(({ securityContext }) => securityContext) };
}

function parseAll(text: string): { kind: string; spec?: { template: { spec: Security } } }[] {
  return text.split(/^---$/mu).map((document) => parse(document) as { kind: string });
}
