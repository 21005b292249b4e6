import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMap, parseAllDocuments } from 'yaml';

/** `config` of the checkout, or of the package, whose built program stands in `dist/src`. */
const CONFIG = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../../../config/' : '../../config/', import.meta.url));
/** Of definitions that others may have brought: created where they are absent, never applied over theirs. */
const CREATED_ONLY = /-crd$/;

/** One object of a shipped file, as its text stands there. */
export interface ShippedObject {
  text: string;
  kind: string;
  name: string;
  namespace: string | undefined;
}

const known = new Map<string, readonly ShippedObject[]>();

/** What `kubectl apply -k config/<folder>` installs, in the order of its files. */
export function shippedIn(folder: string): readonly ShippedObject[] {
  const found = known.get(folder) ?? resourcesOf(folder).flatMap((resource) => objectsIn(posix.join(folder, resource)));
  known.set(folder, found);
  return found;
}

/** As the pages say: `kubectl create -k` for some folders, for all others `kubectl apply -k`. */
export function verbFor(folder: string): 'apply' | 'create' {
  return CREATED_ONLY.test(folder) ? 'create' : 'apply';
}

/** Where the folder is, for kubectl. */
export function placeOf(folder: string): string {
  return `${CONFIG}${folder}`;
}

function resourcesOf(folder: string): readonly string[] {
  const [kustomization] = parseAllDocuments(read(`${folder}/kustomization.yaml`));
  return (kustomization?.toJS() as { resources: readonly string[] } | undefined)?.resources ?? [];
}

function objectsIn(path: string): readonly ShippedObject[] {
  if (!path.endsWith('.yaml')) return shippedIn(path);
  const text = read(path);
  return parseAllDocuments(text).map((document) => {
    if (!isMap(document.contents)) throw new Error(`config/${path}: a document that is no object`);
    const place = (...names: readonly string[]): string | undefined => document.getIn(names) as string | undefined;
    const [from, , to] = document.range;
    return {
      text: text.slice(from, to).replace(/^---$|^\.\.\.$/gm, ''),
      kind: place('kind') ?? '',
      name: place('metadata', 'name') ?? '',
      namespace: place('metadata', 'namespace'),
    };
  });
}

function read(path: string): string {
  if (!existsSync(CONFIG)) throw new Error(`the manifests are not there: ${CONFIG}; run this from a checkout or from the npm package`);
  return readFileSync(`${CONFIG}${path}`, 'utf8');
}
