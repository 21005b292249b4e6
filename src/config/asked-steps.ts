import type { AskedMethods } from '../domain/node-fence.ts';
import { switchesOff } from '../domain/plan.ts';
import { definedMethodNames } from './method-body.ts';
import type { ResolvedLevel } from './plan-checks.ts';
import { resolveMethod } from './plan-method.ts';
import type { MethodContext, ResolvedMethod } from './plan-method.ts';
import { Problems } from './problems.ts';

/** What a request may name; longer words are told in short. */
const NAME_SHOWN = 60;

type Steps = Record<'isolation' | 'power-management', ResolvedLevel[]>;

/** The steps of a fence that is asked for by its methods: those of power agents are its power-management, all others its isolation. What is wrong with one spoils both. `isolation`: as it is configured. */
export function askedSteps(
  { lookup, secretKeys }: Pick<MethodContext, 'lookup' | 'secretKeys'>,
  { methods, lastStep }: AskedMethods,
  { isolation, problems }: { isolation: readonly ResolvedLevel[]; problems: Problems },
): Steps {
  const own = new Problems();
  const listedIn = `NodeFence node-fence-${lookup.node.name}, spec.methods`;
  const repeated = methods.find((name, index) => methods.indexOf(name) !== index);
  if (methods.length === 0) own.error(listedIn, 'names no method: name those of the node, or take it out');
  if (repeated !== undefined) own.error(listedIn, `names method ${repeated.slice(0, NAME_SHOWN)} twice`);
  const resolved = [...new Set(methods)].flatMap((name) => resolveMethod({ lookup, listedIn, secretKeys, problems: own }, name));
  const power = resolved.filter(({ kind }) => kind === 'power');
  const others = resolved.filter(({ kind }) => kind !== 'power');
  const isSwitchedOff = power.some(switchesOff);
  if (lastStep === undefined && !isSwitchedOff && own.all().every(({ severity }) => severity !== 'error'))
    own.error(listedIn, `none of ${methods.join(', ')} switches the node off: write spec.lastStep: isolation beside it, or name a method that does`);
  const defined = (): ResolvedMethod[] =>
    definedMethodNames(lookup).flatMap((name) => resolveMethod({ lookup, listedIn, secretKeys, problems: new Problems() }, name));
  for (const { storage, missing } of waysLeftOpen(resolved, isolation, defined))
    own.error(listedIn, `${missing} closes another way to storage ${storage}: name it too, for one way that stays open leaves it writable`);
  problems.takeFor(['isolation', 'power-management'], own.all());
  return { isolation: levelOf(others), 'power-management': levelOf(power) };
}

/** P1: a storage is revoked by all that one level of the node closes to it, or, where no level lists any, by all that the node defines. */
function waysLeftOpen(
  asked: readonly ResolvedMethod[],
  isolation: readonly ResolvedLevel[],
  defined: () => readonly ResolvedMethod[],
): { storage: string; missing: string }[] {
  const names = new Set(asked.map(({ name }) => name));
  return [...new Set(asked.flatMap((method) => (isClosing(method) ? (method.storage ?? []) : [])))].flatMap((storage) => {
    const closing = ({ methods }: Pick<ResolvedLevel, 'methods'>): ResolvedMethod[] =>
      methods.filter((method) => isClosing(method) && method.storage === storage);
    const listed = isolation.map(closing).filter((ways) => ways.length > 0);
    const ways = listed.length > 0 ? listed : [closing({ methods: defined() })];
    const left = ways.map((level) => level.find(({ name }) => !names.has(name)));
    return left.includes(undefined) ? [] : [{ storage, missing: left[0]?.name ?? '' }];
  });
}

function isClosing({ kind, action }: ResolvedMethod): boolean {
  return kind === 'fabric' && action === 'off';
}

function levelOf(methods: ResolvedLevel['methods']): ResolvedLevel[] {
  return methods.length === 0 ? [] : [{ level: 1, methods }];
}
