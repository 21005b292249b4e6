import { readYaml } from '../src/testbed/apiserver/yaml-body.ts';
import { shippedIn } from '../src/testbed/shipped/manifests.ts';
import type { KubeObject } from '../src/ports/objects.ts';

/** What the files of a folder of config/ say, as kubectl reads them. */
export function shippedObjects(folder: string): KubeObject[] {
  return shippedIn(folder).map(({ text }) => readYaml(text) as unknown as KubeObject);
}

/** The same definitions as somebody else brought them: nothing tells that they are ours. */
export function definitionsOfOthers(folder: string): KubeObject[] {
  return shippedObjects(folder).map((object) => ({ ...object, metadata: { name: object.metadata.name } }));
}
