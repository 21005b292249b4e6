import type { KubeObject } from '../ports/objects.ts';
import { OPTIONAL_FILES } from './installation.ts';

interface Kustomization {
  resources: readonly string[];
}

/** Folders of definitions that are to be created, never applied: over those of others they would drop what those say. */
const CREATED_ONLY = /-crd$/;
const KUSTOMIZATION = '/kustomization.yaml';

/** Part of every installation but that by OLM. */
const ELSEWHERE = 'other-namespaces';

/** Folders under config/ that nothing else includes, by their names: what may be installed beside the controller. */
export const OVERLAYS: readonly string[] = folders().filter((name) => !CREATED_ONLY.test(name) && name !== ELSEWHERE);
/** And what may be installed by itself. */
export const SEPARATE: readonly string[] = [ELSEWHERE, ...OVERLAYS];
/** And those of definitions alone, for clusters that have none. */
export const DEFINITION_FOLDERS: readonly string[] = folders().filter((name) => CREATED_ONLY.test(name));

function folders(): string[] {
  return OPTIONAL_FILES.flatMap(({ path }) => (path.endsWith(KUSTOMIZATION) ? [path.slice(0, -KUSTOMIZATION.length)] : []));
}

/** What `kubectl apply -k config/<name>` would install, each object once. */
export function overlayObjects(names: readonly string[]): KubeObject[] {
  return [...new Set(names.flatMap(objectsIn))];
}

function objectsIn(name: string): readonly KubeObject[] {
  const kustomization = OPTIONAL_FILES.find(({ path }) => path === name + KUSTOMIZATION)?.objects[0] as Kustomization | undefined;
  if (kustomization === undefined) throw new Error(`there is no folder config/${name}`);
  return kustomization.resources.flatMap((resource) =>
    resource.startsWith('../') ? objectsIn(resource.slice('../'.length)) : fileIn(name, resource),
  );
}

function fileIn(folder: string, file: string): readonly KubeObject[] {
  return (OPTIONAL_FILES.find(({ path }) => path === `${folder}/${file}`)?.objects ?? []) as readonly KubeObject[];
}
