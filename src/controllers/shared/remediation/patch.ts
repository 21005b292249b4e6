import type { KubeObject } from '../../../ports/objects.ts';
import { Conflict } from '../conflict.ts';
import type { Change } from './actions.ts';
import type { ConditionFact, MachineReport } from './owner-machine.ts';

/** The identity and version under which a merge patch is refused once somebody else has written. */
export function precondition({ metadata }: KubeObject): { uid: string | undefined; resourceVersion: string | undefined } {
  return { uid: metadata.uid, resourceVersion: metadata.resourceVersion };
}

/** RFC 7386. Throws `Conflict` where an annotation no longer says what the decision read. */
export function annotationsPatch(object: KubeObject, changes: readonly Change[]): object {
  const marks = object.metadata.annotations ?? {};
  const changed = changes.find(({ key, was }) => marks[key] !== was);
  if (changed !== undefined) throw new Conflict(`annotation ${changed.key} of ${object.metadata.name} was changed meanwhile`);
  return { metadata: { ...precondition(object), annotations: Object.fromEntries(changes.map(({ key, to }) => [key, to ?? null])) } };
}

/** RFC 7386, of the status: each condition takes the place of that of its type in its list, and the others stay. */
export function conditionsPatch(object: KubeObject, lists: MachineReport['lists']): object {
  const patch = { metadata: precondition(object) };
  for (const { path, condition } of lists) put(patch, path, upserted(listAt(object, path), condition));
  return patch;
}

function upserted(standing: readonly ConditionFact[], condition: ConditionFact): ConditionFact[] {
  const before = standing.find(({ type }) => type === condition.type);
  const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
  const dated = { ...condition, ...(since !== undefined && { lastTransitionTime: since }) };
  return [...standing.filter(({ type }) => type !== condition.type), dated];
}

function listAt(object: object, path: readonly string[]): readonly ConditionFact[] {
  const found = path.reduce<unknown>((at, name) => memberOf(at, name), object);
  return Array.isArray(found) ? (found as ConditionFact[]) : [];
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function put(root: object, path: readonly string[], value: unknown): void {
  let at = root as Record<string, unknown>;
  for (const name of path.slice(0, -1)) {
    at[name] ??= {};
    at = at[name] as Record<string, unknown>;
  }
  at[path.at(-1) ?? ''] = value;
}
