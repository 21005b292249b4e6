import type { AskedMethods } from '../domain/node-fence.ts';
import { switchesOff } from '../domain/plan.ts';
import type { ResolvedLevel } from './plan-checks.ts';
import { resolveMethod } from './plan-method.ts';
import type { MethodContext, ResolvedMethod } from './plan-method.ts';
import { Problems } from './problems.ts';
import { openWayWords, waysLeftOpen } from './storage-ways.ts';
import type { OtherNodes } from './storage-ways.ts';

/** What a request may name; longer words are told in short. */
const NAME_SHOWN = 60;

type Steps = Record<'isolation' | 'power-management', ResolvedLevel[]>;

/** The steps of a fence that is asked for by its methods: those of power agents are its power-management, all others its isolation. What is wrong with one spoils both. `isolation`: the methods that each of its levels lists. */
export function askedSteps(
  { lookup, secretKeys }: Pick<MethodContext, 'lookup' | 'secretKeys'>,
  { methods, lastStep }: AskedMethods,
  { isolation, others, problems }: { isolation: readonly (readonly string[])[]; others: OtherNodes; problems: Problems },
): Steps {
  const own = new Problems();
  const listedIn = `NodeFence node-fence-${lookup.node.name}, spec.methods`;
  const repeated = methods.find((name, index) => methods.indexOf(name) !== index);
  if (methods.length === 0) own.error(listedIn, 'names no method: name those of the node, or take it out');
  if (repeated !== undefined) own.error(listedIn, `names method ${repeated.slice(0, NAME_SHOWN)} twice`);
  const resolved = [...new Set(methods)].flatMap((name) => resolveMethod({ lookup, listedIn, secretKeys, problems: own }, name));
  const power = resolved.filter(({ kind }) => kind === 'power');
  const isolating = resolved.filter(({ kind }) => kind !== 'power');
  const isSwitchedOff = power.some(switchesOff);
  if (lastStep === undefined && !isSwitchedOff && own.all().every(({ severity }) => severity !== 'error'))
    own.error(listedIn, `none of ${methods.join(', ')} switches the node off: write spec.lastStep: isolation beside it, or name a method that does`);
  const storages = new Set(resolved.flatMap((method) => (isClosing(method) ? (method.storage ?? []) : [])));
  for (const way of waysLeftOpen(lookup, { asked: new Set(methods), storages, levels: isolation }, others)) own.error(listedIn, openWayWords(way));
  problems.takeFor(['isolation', 'power-management'], own.all());
  return { isolation: levelOf(isolating), 'power-management': levelOf(power) };
}

function isClosing({ kind, action }: ResolvedMethod): boolean {
  return kind === 'fabric' && action === 'off';
}

function levelOf(methods: ResolvedLevel['methods']): ResolvedLevel[] {
  return methods.length === 0 ? [] : [{ level: 1, methods }];
}
