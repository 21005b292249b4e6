import { execFileSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Folder with etcd, kube-apiserver and kube-controller-manager: the convention of envtest (sigs.k8s.io/controller-runtime). */
const ASSETS_VARIABLE = 'KUBEBUILDER_ASSETS';
/** Below the home directory: `<minor version>/bin` for each version that was built or unpacked there. */
const HOME_FOLDERS = join('.cache', 'control-plane');
const VERSION_DEADLINE_MS = 20_000;

/** One line for a person who has no such folder. */
const HOW_TO_GET_ASSETS =
  `put etcd, kube-apiserver and kube-controller-manager into ~/${HOME_FOLDERS}/<version>/bin, e.g. ~/${HOME_FOLDERS}/1.36/bin, ` +
  `or set ${ASSETS_VARIABLE} to their folder ("setup-envtest use -p path" names one, a kube-controller-manager of the same version must be added)`;

/** There is no real control plane on this machine; the message says how to get one. */
export class AssetsMissing extends Error {
  override readonly name = 'AssetsMissing';
}

export type Binary = 'etcd' | 'kube-apiserver' | 'kube-controller-manager';
type Environment = Readonly<Record<string, string | undefined>>;

const ALL: readonly Binary[] = ['etcd', 'kube-apiserver', 'kube-controller-manager'];

/**
 * The folder of a real control plane: the one that the environment names, else the newest complete one below the home directory; `undefined`
 * without either, or where the environment names the empty text. `AssetsMissing` where the one that it names lacks something.
 */
export function findAssets(environment: Environment, needed: readonly Binary[] = ALL): string | undefined {
  const named = environment[ASSETS_VARIABLE];
  if (named === undefined) return foldersBelow(environment['HOME'] ?? '').find((folder) => missingIn(folder, needed).length === 0);
  if (named === '') return undefined;
  const missing = missingIn(named, needed);
  if (missing.length > 0) throw new AssetsMissing(`${ASSETS_VARIABLE}=${named} has no executable ${missing.join(', ')}: ${HOW_TO_GET_ASSETS}`);
  return named;
}

/** The same folder for what cannot do without: `AssetsMissing` where there is none. */
export function assetsOf(environment: Environment, needed: readonly Binary[] = ALL): string {
  const folder = findAssets(environment, needed);
  if (folder === undefined) throw new AssetsMissing(`no real control plane here: ${HOW_TO_GET_ASSETS}`);
  return folder;
}

/** Which real control plane the tests run against beside the embedded API server, or that there is none, in one line. */
export function assetsLine(environment: Environment): string {
  try {
    const folder = findAssets(environment);
    if (folder === undefined) return `real control plane: none, only the embedded API server serves (${HOW_TO_GET_ASSETS})`;
    return `real control plane: ${versionOf(folder)} in ${folder}; what needs one runs against it and against the embedded API server`;
  } catch (error) {
    // Told here, it still fails every test that needs one.
    if (error instanceof AssetsMissing) return `real control plane: ${error.message}`;
    throw error;
  }
}

/** `Kubernetes v1.36.3`, as kube-apiserver says it. */
export function versionOf(folder: string): string {
  return execFileSync(join(folder, 'kube-apiserver'), ['--version'], { encoding: 'utf8', timeout: VERSION_DEADLINE_MS }).trim();
}

/** 36 of `Kubernetes v1.36.3`. */
export function minorOf(folder: string): number {
  const version = versionOf(folder);
  const minor = /v1\.(\d+)/.exec(version)?.[1];
  if (minor === undefined) throw new Error(`${folder}/kube-apiserver says that it is "${version}", which names no version 1.N of Kubernetes`);
  return Number(minor);
}

/** The newest version first. */
function foldersBelow(home: string): string[] {
  if (home === '') return [];
  const versions = namesIn(join(home, HOME_FOLDERS)).filter((name) => /^\d+\.\d+/.test(name));
  const newestFirst = versions.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  return newestFirst.map((version) => join(home, HOME_FOLDERS, version, 'bin'));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

function missingIn(folder: string, needed: readonly Binary[]): Binary[] {
  return needed.filter((name) => !isExecutable(join(folder, name)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
