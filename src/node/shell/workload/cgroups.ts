import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../core/message-of.ts';
import { codeOf } from '../file-errors.ts';

/** `kubepods`, `kubepods.slice`, `kubelet-kubepods.slice`. */
const PODS = /^(?:[\w-]+-)?kubepods(?:\.slice)?$/;
const POD = /pod[0-9a-f]{8}[_-]?[0-9a-f]{4}/;
/** How deep the pods' cgroup lies below its hierarchy at most. */
const DEPTH_MAX = 3;

export interface Tree {
  /** Of the pods of this node, in each hierarchy. */
  roots: string[];
  /** Of the daemon itself: its pod, or what is its own of one. Empty: it is no pod. */
  own: string[];
}

/** What the pods' cgroups hold, and whether all of it could be seen. */
export interface Held {
  pids: number[];
  /** Processes that this process cannot see: it is not in the machine's own PID namespace. */
  hasUnseen: boolean;
}

/** The cgroups of the pods, of version 1, 2 or both. `root`: `/`, and a tree of files in tests. */
export async function podCgroups(root: string, ownPid: number): Promise<Tree> {
  const hierarchies = await hierarchiesUnder(join(root, 'sys/fs/cgroup'));
  const roots = (await Promise.all(hierarchies.map((hierarchy) => podRoots(hierarchy, DEPTH_MAX)))).flat();
  const own: string[] = [];
  for (const podRoot of roots)
    for (const path of await foldersUnder(podRoot)) if ((await pidsIn(path)).includes(ownPid)) own.push(podOf(podRoot, path));
  return { roots, own };
}

/** Of all pods but the daemon's. */
export async function heldBy({ roots, own }: Tree): Promise<Held> {
  const pids = new Set<number>();
  for (const path of (await Promise.all(roots.map((root) => foldersUnder(root, own)))).flat()) for (const pid of await pidsIn(path)) pids.add(pid);
  const hasUnseen = pids.delete(0);
  return { pids: [...pids], hasUnseen };
}

/** One round by force; what is left is to be read afterwards. Returns what went wrong, in words. */
export async function killAll(tree: Tree, ownPid: number): Promise<string[]> {
  const problems: string[] = [];
  const hear = async (what: string, deed: Promise<unknown>): Promise<void> => {
    await deed.catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENODEV') problems.push(`${what}: ${messageOf(error)}`);
    });
  };
  for (const root of tree.roots) {
    for (const path of await killable(root, tree.own))
      if (await exists(join(path, 'cgroup.kill'))) await hear(path, writeFile(join(path, 'cgroup.kill'), '1'));
    // What is frozen dies only when it goes on.
    for (const path of await foldersUnder(root, tree.own))
      if (await exists(join(path, 'freezer.state'))) await hear(path, writeFile(join(path, 'freezer.state'), 'THAWED'));
  }
  const { pids } = await heldBy(tree);
  for (const pid of pids) {
    // 1 is the init of the machine, whatever a broken tree says.
    if (pid <= 1 || pid === ownPid) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (codeOf(error) !== 'ESRCH') problems.push(`process ${pid}: ${messageOf(error)}`);
    }
  }
  return problems;
}

/** The largest cgroups that do not hold the daemon. */
async function killable(path: string, own: readonly string[]): Promise<string[]> {
  if (own.includes(path)) return [];
  if (!own.some((spared) => spared.startsWith(`${path}/`))) return [path];
  const below = await foldersIn(path);
  return (await Promise.all(below.map((folder) => killable(folder, own)))).flat();
}

/** Version 2 is one hierarchy; of version 1 each controller has one, and version 2 may stand beside them. */
async function hierarchiesUnder(mount: string): Promise<string[]> {
  return (await exists(join(mount, 'cgroup.controllers'))) ? [mount] : await foldersIn(mount);
}

async function podRoots(folder: string, depth: number): Promise<string[]> {
  const below = await foldersIn(folder);
  const found = below.filter((path) => PODS.test(nameOf(path)));
  if (found.length > 0 || depth === 1) return found;
  return (await Promise.all(below.map((path) => podRoots(path, depth - 1)))).flat();
}

/** The daemon's whole pod: its pause container and its siblings are no workload. */
function podOf(podRoot: string, path: string): string {
  const names = path.slice(podRoot.length + 1).split('/');
  const index = names.findIndex((name) => POD.test(name));
  return index === -1 ? path : join(podRoot, ...names.slice(0, index + 1));
}

/** With the folder itself, without what is spared. */
async function foldersUnder(folder: string, spared: readonly string[] = []): Promise<string[]> {
  if (spared.includes(folder)) return [];
  const below = await foldersIn(folder);
  return [folder, ...(await Promise.all(below.map((path) => foldersUnder(path, spared)))).flat()];
}

async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name));
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/** Processes of a threaded cgroup are listed where its domain is. */
async function pidsIn(path: string): Promise<number[]> {
  try {
    const text = await readFile(join(path, 'cgroup.procs'), 'utf8');
    return text.split('\n').flatMap((line) => (line === '' ? [] : [Number(line)]));
  } catch (error) {
    if (isGone(error) || codeOf(error) === 'EOPNOTSUPP' || codeOf(error) === 'ENOTSUP') return [];
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENODEV';
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
