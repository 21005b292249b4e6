import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Folder with etcd, kube-apiserver and kube-controller-manager: the convention of envtest (sigs.k8s.io/controller-runtime). */
export const ASSETS_VARIABLE = 'KUBEBUILDER_ASSETS';

/** One line for a person who has no such folder. */
export const HOW_TO_GET_ASSETS = `set ${ASSETS_VARIABLE} to a folder with etcd, kube-apiserver and kube-controller-manager, e.g. by "setup-envtest use -p path" and a kube-controller-manager of the same version`;

/** There is no real control plane on this machine; the message says how to get one. */
export class AssetsMissing extends Error {
  override readonly name = 'AssetsMissing';
}

export type Binary = 'etcd' | 'kube-apiserver' | 'kube-controller-manager';

/** The folder that the environment names (`AssetsMissing` when it names none or a binary is missing). */
export function assetsOf(environment: Readonly<Record<string, string | undefined>>, needed: readonly Binary[]): string {
  const folder = environment[ASSETS_VARIABLE] ?? '';
  if (folder === '') throw new AssetsMissing(`a real control plane needs binaries: ${HOW_TO_GET_ASSETS}`);
  const missing = needed.filter((name) => !isExecutable(join(folder, name)));
  if (missing.length > 0) throw new AssetsMissing(`${ASSETS_VARIABLE}=${folder} has no executable ${missing.join(', ')}: ${HOW_TO_GET_ASSETS}`);
  return folder;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
