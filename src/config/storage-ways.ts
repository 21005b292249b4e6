import { lookup as find } from '../domain/lookup.ts';
import { METHOD_KEY, NODE_CONFIG_PREFIX, readOnlySettings, TEMPLATE_KEY } from './configuration.ts';
import type { Setting } from './configuration.ts';
import type { MachineIndex } from './machine-index.ts';
import { mergeMethod } from './merged-method.ts';
import type { MergedMethod } from './merged-method.ts';
import { filled, findBody, INLINE_PREFIX, methodNames } from './method-body.ts';
import type { MethodLookup } from './method-body.ts';
import { fillPlaceholders } from './node-groups.ts';
import { plugKey } from './plan-checks.ts';
import { ACTIONS, STORAGE_MAX } from './plan-method.ts';
import type { PlugOwners } from './plug-owners.ts';
import { Problems } from './problems.ts';
import { parseList } from './properties.ts';

/** What is known of other nodes; absent: nothing is, and what may be this node's counts as this node's. */
export interface OtherNodes {
  owners?: PlugOwners | undefined;
  machines?: Pick<MachineIndex, 'nodeOf'> | undefined;
}

/** A way to a storage that stays open. */
export interface OpenWay {
  storage: string;
  /** The method that would close it. */
  name: string;
  /** `listed`: by a level of the node; `own`: defined for this node alone; `all`: in a ConfigMap for all that may mean another node. */
  of: 'listed' | 'own' | 'all';
  isUnreadable: boolean;
}

type Way = Omit<OpenWay, 'storage'> & { storage: string | undefined };

/**
 * P1: a storage is revoked by all that one level of the node closes to it, or, where no level lists any, by all that may be the node's. A method that is
 * wrong elsewhere is a way all the same: nobody closes it. `asked`: names of methods; `levels`: those that each level of isolation lists.
 */
export function waysLeftOpen(
  lookup: MethodLookup,
  { asked, storages, levels }: { asked: ReadonlySet<string>; storages: ReadonlySet<string>; levels: readonly (readonly string[])[] },
  others: OtherNodes,
): OpenWay[] {
  if (storages.size === 0) return [];
  const listed = levels.map((names) => names.flatMap((name) => wayOf(lookup, name, 'listed')));
  return [...storages].flatMap((storage) => {
    const leadsTo = (way: Way): boolean => way.storage === storage || way.storage === undefined;
    const complete = listed.map((ways) => ways.filter(leadsTo)).filter((ways) => ways.length > 0);
    const ways = complete.length > 0 ? complete : [definedWays(lookup, others).filter(leadsTo)];
    const left = ways.map((level) => level.find(({ name }) => !asked.has(name)));
    const [first] = left;
    return first === undefined || left.includes(undefined) ? [] : [{ ...first, storage }];
  });
}

/** What a person does about it. */
export function openWayWords({ storage, name, of, isUnreadable }: OpenWay): string {
  if (isUnreadable)
    return `${name} may close another way to storage ${storage}, and cannot be read: mend it, for one way that stays open leaves it writable`;
  const open = `${name} closes another way to storage ${storage}`;
  if (of !== 'all') return `${open}: name it too, for one way that stays open leaves it writable`;
  const config = INLINE_PREFIX + name;
  return `${open}, for one way that stays open leaves it writable: if it is of another node, rename ConfigMap ${config} to ${config}-<node>, or list it there; of a machine that is gone, delete it; else name it too`;
}

function wayOf(lookup: MethodLookup, name: string, of: Way['of']): Way[] {
  const problems = new Problems();
  const merged = mergeMethod(lookup, name, '', problems);
  if (merged !== undefined) {
    const storage = merged.own.get('storage')?.value ?? '';
    return isClosing(merged) && storage !== '' ? [{ name, of, isUnreadable: false, storage: storage.slice(0, STORAGE_MAX) }] : [];
  }
  if (problems.all().every(({ severity }) => severity !== 'error')) return [];
  const storage = writtenStorage(lookup, name);
  if (storage !== undefined) return [{ name, of, isUnreadable: false, storage: storage.slice(0, STORAGE_MAX) }];
  // What a level lists, and nobody can read, may be a way to any storage; among all that is defined that would be any leftover.
  return of === 'listed' ? [{ name, of, isUnreadable: true, storage: undefined }] : [];
}

/** An action that nobody can read may be meant to close. */
function isClosing({ definition, own }: MergedMethod): boolean {
  if (definition.kind !== 'fabric' || definition.revokesNoStorage !== undefined) return false;
  return find(ACTIONS.fabric, own.get('action')?.value.toLowerCase() ?? '') !== 'on';
}

/** The storage that a method, or its template, names where nothing more of it can be used. */
function writtenStorage(lookup: MethodLookup, name: string): string | undefined {
  const ignored = new Problems();
  const settings = findBody(lookup, name, ignored)?.settings;
  const template = settings?.get('template');
  const shared = template === undefined ? undefined : lookup.configuration.configMaps.get(filled(lookup, template, ignored).value);
  const written: Setting | undefined =
    settings?.get('storage') ?? (shared === undefined ? undefined : readOnlySettings(shared, TEMPLATE_KEY, ignored)?.get('storage'));
  const value = written === undefined ? '' : filled(lookup, written, ignored).value;
  return value === '' ? undefined : value;
}

/** All that may be this node's: inline, in a ConfigMap of its own, or in one for all that is not known to mean another node. */
function definedWays(lookup: MethodLookup, others: OtherNodes): Way[] {
  const own = new Set(methodNames(lookup));
  const ofAll = new Set<string>();
  const end = `-${lookup.node.name}`;
  for (const config of lookup.configuration.configMaps.values()) {
    if (!config.name.startsWith(INLINE_PREFIX)) continue;
    const name = config.name.slice(INLINE_PREFIX.length);
    if (name.endsWith(end)) own.add(name.slice(0, -end.length));
    else if (!Object.hasOwn(config.data, METHOD_KEY) && Object.hasOwn(config.data, TEMPLATE_KEY)) continue;
    else if (!isNamedAfterAnother(lookup, name, others)) ofAll.add(name);
  }
  return [
    ...[...own].flatMap((name) => wayOf(lookup, name, 'own')),
    ...[...ofAll].filter((name) => !own.has(name) && !isOfAnother(lookup, name, others)).flatMap((name) => wayOf(lookup, name, 'all')),
  ];
}

/** `fence-method-port-node-b` is that of node-b, where there is such a node. */
function isNamedAfterAnother({ configuration, node }: MethodLookup, name: string, { machines }: OtherNodes): boolean {
  const groups = new Set(configuration.groups.map((config) => config.name));
  const ends = [...name.matchAll(/-/g)].map(({ index }) => name.slice(index + 1));
  return ends.some((end) => {
    const config = NODE_CONFIG_PREFIX + end;
    return end !== node.name && (machines?.nodeOf(end) === end || (configuration.configMaps.has(config) && !groups.has(config)));
  });
}

/** Its text has something to fill in that this node lacks, or each of its plugs is switched by the steps of other nodes and not of this one. */
function isOfAnother(lookup: MethodLookup, name: string, { owners }: OtherNodes): boolean {
  const settings = findBody(lookup, name, new Problems())?.settings;
  const isLacking = [...(settings?.values() ?? [])].some(({ value }) =>
    fillPlaceholders(value, lookup.node).unfilled.some(({ why }) => why === 'missing'),
  );
  if (isLacking) return true;
  const merged = mergeMethod(lookup, name, '', new Problems());
  if (merged === undefined || owners === undefined) return false;
  const plugs = parseList(merged.own.get('plug')?.value ?? '');
  return (plugs.length === 0 ? [''] : plugs).every((plug) => {
    const nodes = owners.get(plugKey({ agent: merged.definition.name, device: merged.device, plug, parameters: merged.shown }));
    return nodes !== undefined && nodes.size > 0 && !nodes.has(lookup.node.name);
  });
}
