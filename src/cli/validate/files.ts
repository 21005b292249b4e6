import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { decoded } from '../../config/manifests/decode.ts';
import { Manifests } from '../../config/manifests/manifests.ts';
import type { ManifestFile } from '../../config/manifests/manifests.ts';
import { wholeObject } from '../../kube/whole.ts';
import { NODES } from '../../ports/resources.ts';
import { CommandFailure, EXIT } from '../commands/failure.ts';
import type { Input } from './input.ts';

const ENDINGS = new Set(['.yaml', '.yml', '.json']);

/** ConfigMaps, Secrets and Nodes of files and folders; `-` is stdin. Throws `CommandFailure` for what cannot be read. */
export function inputFromFiles(paths: readonly string[], namespace: string): Input {
  const files = paths.flatMap(filesAt);
  const manifests = new Manifests(files, namespace);
  const isEmpty = manifests.problems.length === 0 && manifests.configMaps.length === 0;
  const named = files.length > 1 ? files.filter(({ path }) => paths.includes(path) && !manifests.understood.has(path)) : [];
  const strange = named.map(({ path }) => ({
    file: path,
    line: undefined,
    message: 'nothing in it was understood: it holds no ConfigMap, Secret or Node',
  }));
  return {
    isOfFiles: true,
    source: files.length === 1 ? (files[0]?.path ?? '') : `${files.length} files`,
    configMaps: manifests.configMaps.map(({ metadata, data = {} }) => ({ name: metadata.name, data, labels: metadata.labels })),
    secrets: new Map(manifests.secrets.map((secret) => [secret.metadata.name, decoded(secret)])),
    nodes: manifests.nodes.length === 0 ? undefined : manifests.nodes.map((node) => wholeObject(NODES, node)),
    recordedUUIDs: new Map(),
    problems: isEmpty
      ? [{ file: paths.join(', '), line: undefined, message: 'holds no ConfigMap: name the files or folders of your fence configuration' }]
      : [...manifests.problems, ...strange],
    notes: manifests.notes,
    locate: (where) => manifests.locate(where),
  };
}

/** The YAML and JSON files of a folder (not of folders in it), or the one file. */
function filesAt(path: string): ManifestFile[] {
  try {
    if (path === '-') return [{ path: 'stdin', text: readFileSync(0, 'utf8') }];
    if (!statSync(path).isDirectory()) return [{ path, text: readFileSync(path, 'utf8') }];
    const names = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isFile() || entry.isSymbolicLink());
    const wanted = names.map(({ name }) => name).filter((name) => ENDINGS.has(extname(name)));
    if (wanted.length === 0) throw new CommandFailure(`${path}: the folder holds no .yaml, .yml or .json file; name the one that does`, EXIT.usage);
    return wanted.sort().map((name) => ({ path: join(path, name), text: readFileSync(join(path, name), 'utf8') }));
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new CommandFailure(`${path}: cannot be read (${code}): name a file, a folder, or - for stdin`, EXIT.usage);
  }
}
