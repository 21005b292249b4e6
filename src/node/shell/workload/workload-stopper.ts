import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../ports/clock.ts';
import type { DaemonLog, WorkloadStopper } from '../../../ports/node-daemon.ts';
import { linkedAbort } from '../../../runtime/linked-abort.ts';
import { messageOf } from '../../core/message-of.ts';
import { codeOf } from '../file-errors.ts';
import { heldBy, killAll, podCgroups } from './cgroups.ts';
import type { Tree } from './cgroups.ts';
import { CriRuntime } from './cri.ts';
import type { Container, PodSandbox } from './cri.ts';

export interface StopperOptions {
  /** `/`, and a tree of files in tests. */
  root: string;
  clock: Clock;
  log: DaemonLog;
  /** Sockets of container runtimes; those that are not there are passed over. */
  criSockets?: readonly string[];
  /** Whose pods these are: it must not start anew what was stopped. */
  ownerProgram?: string;
}

export const CRI_SOCKETS = ['/run/containerd/containerd.sock', '/run/crio/crio.sock', '/run/cri-dockerd.sock', '/run/k3s/containerd/containerd.sock'];
/** Force has at least a third of the time. */
const GENTLE_SHARE = 2 / 3;
const ROUND_MS = 100;
/** Those of a usual node at once: the last pod is asked no later than the first. */
const TOGETHER_MAX = 128;
/** As Kubernetes has it for a pod that says nothing. */
const USUAL_GRACE_SECONDS = 30;
/** A container that does not end by itself is killed that long before force begins: its runtime takes the pod down meanwhile. */
const KILL_SECONDS = 2;

/** Stops the pods by the container runtime, and what is left by killing the processes of their cgroups. Only cgroups that read empty count as stopped. */
export class PodStopper implements WorkloadStopper {
  readonly #options: StopperOptions;

  constructor(options: StopperOptions) {
    this.#options = options;
  }

  async stop(deadlineMs: number, signal: AbortSignal): Promise<'stopped' | 'running'> {
    const { clock, log } = this.#options;
    const endsAtMs = clock.monotonicMs() + deadlineMs;
    const linked = linkedAbort([signal], { clock, delayMs: deadlineMs, reason: () => new Error('the time for stopping pods is over') });
    const over = new Promise<'running'>((resolve) => {
      linked.signal.addEventListener('abort', () => resolve('running'), { once: true });
      if (linked.signal.aborted) resolve('running');
    });
    const stopping = this.#stop(deadlineMs, endsAtMs, linked.signal).catch((error: unknown) => {
      log.error('the pods could not be stopped', { error: messageOf(error) });
      return 'running' as const;
    });
    // A file system that hangs must not hold this up either.
    return Promise.race([stopping, over]).finally(() => linked.release());
  }

  async #stop(deadlineMs: number, endsAtMs: number, signal: AbortSignal): Promise<'stopped' | 'running'> {
    const { root, clock, log } = this.#options;
    await this.#haltOwner();
    const tree = await podCgroups(root, process.pid);
    if (tree.roots.length === 0) throw new Error('there is no cgroup of pods, so nothing says whether any runs');
    // Where not all processes can be seen, the daemon's own pod cannot be told from the others.
    const held = await heldBy(tree);
    if (held.hasUnseen) throw new Error('the pods hold processes of another PID namespace: the daemon must run with hostPID');
    if (held.pids.length > 0) await this.#stopGently(deadlineMs * GENTLE_SHARE, tree, signal);
    let said = '';
    for (let empty = 0; clock.monotonicMs() < endsAtMs && !signal.aborted;) {
      const { pids } = await heldBy(tree);
      empty = pids.length === 0 ? empty + 1 : 0;
      // Twice: a process may have been about to start another one in a cgroup that was read before.
      if (empty === 2) return 'stopped';
      if (pids.length > 0) {
        const problems = (await killAll(tree, process.pid)).join('; ');
        if (problems !== '' && problems !== said) log.error('some processes of pods cannot be killed', { error: problems });
        said = problems;
      }
      await clock.sleep(ROUND_MS);
    }
    return 'running';
  }

  async #stopGently(withinMs: number, tree: Tree, signal: AbortSignal): Promise<void> {
    const { root, clock, log, criSockets = CRI_SOCKETS } = this.#options;
    const linked = linkedAbort([signal], { clock, delayMs: withinMs, reason: () => new Error('the time for stopping pods gently is over') });
    const graceMaxSeconds = Math.max(0, Math.floor(withinMs / 1_000) - KILL_SECONDS);
    try {
      const problems = await Promise.all(criSockets.map((path) => stopAllOf(join(root, path), tree, graceMaxSeconds, linked.signal)));
      for (const error of problems.flat()) log.warn('pods could not be stopped gently', { error });
    } finally {
      linked.release();
    }
  }

  /** Stopped by a signal, not ended: whoever supervises it would start it anew. */
  async #haltOwner(): Promise<void> {
    const { root, log, ownerProgram = 'kubelet' } = this.#options;
    for (const name of await readdir(join(root, 'proc'))) {
      if (!/^\d+$/.test(name) || (await programOf(join(root, 'proc', name, 'comm'))) !== ownerProgram) continue;
      try {
        process.kill(Number(name), 'SIGSTOP');
      } catch (error) {
        log.warn('the kubelet could not be halted, and may start pods anew', { error: messageOf(error) });
      }
    }
  }
}

/** What went wrong, in words. The pods of one runtime: each is asked to end, then taken down, which by itself kills without asking. */
async function stopAllOf(socket: string, { own }: Tree, graceMaxSeconds: number, signal: AbortSignal): Promise<string[]> {
  const problems: string[] = [];
  const runtime = new CriRuntime(socket);
  const hear = (what: string, deed: Promise<void>): Promise<unknown> => deed.catch((error: unknown) => problems.push(`${what}: ${messageOf(error)}`));
  try {
    const waiting = (await runtime.podSandboxes(signal)).filter((sandbox) => !isOwn(sandbox, own));
    const containers = await runtime.containers(signal).catch((error: unknown) => {
      problems.push(`${socket}: ${messageOf(error)}`);
      return [];
    });
    const stopped = async ({ id, namespace, name }: PodSandbox): Promise<void> => {
      const asked = containers.filter(({ sandboxID }) => sandboxID === id);
      const grace = ({ graceSeconds = USUAL_GRACE_SECONDS }: Container): number => Math.min(graceSeconds, graceMaxSeconds);
      await Promise.all(asked.map((one) => hear(`${namespace}/${name}`, runtime.stopContainer(one.id, grace(one), signal))));
      await hear(`${namespace}/${name}`, runtime.stopPodSandbox(id, signal));
    };
    const worker = async (): Promise<void> => {
      for (let sandbox = waiting.shift(); sandbox !== undefined; sandbox = waiting.shift()) await stopped(sandbox);
    };
    await Promise.all(Array.from({ length: TOGETHER_MAX }, worker));
  } catch (error) {
    if (!isAbsent(error)) problems.push(`${socket}: ${messageOf(error)}`);
  } finally {
    runtime.close();
  }
  return problems;
}

/** The daemon's own pod, by the uid that its cgroup is called after. */
function isOwn({ uid }: PodSandbox, own: readonly string[]): boolean {
  return uid !== '' && own.some((path) => path.includes(uid) || path.includes(uid.replaceAll('-', '_')));
}

/** There is no such runtime on this node. */
function isAbsent(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || (error instanceof Error && error.cause !== undefined && isAbsent(error.cause));
}

/** Undefined: it has ended. */
async function programOf(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return undefined;
    throw error;
  }
}
