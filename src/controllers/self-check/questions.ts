import type { Resource } from '../../ports/cluster.ts';
import { describeRight, ungranted } from './rights.ts';
import type { Need } from './rights.ts';
import { changedIn, samplesOf } from './samples.ts';
import { schemaGaps } from './schema-gaps.ts';
import type { SchemaPart } from './schema-gaps.ts';
import type { CheckedServer, DryRun } from './server.ts';

/** One thing that is wrong with the installation, and the command that mends it. */
export interface Fault {
  part: 'definitions' | 'rights' | 'installation';
  message: string;
  remedy: string;
}

/** A kind of ours, with the schema that this program writes by. */
export interface OwnKind {
  resource: Resource;
  schema: SchemaPart;
  /** Objects of it are made by the controllers. */
  isCreated: boolean;
}

/** Kinds and rights that are installed together. */
export interface Installed {
  kinds: readonly OwnKind[];
  needs: readonly Need[];
  /** Checked only where its first kind is served by a definition of ours. */
  isOptional: boolean;
  /** Mends a definition. */
  definitionRemedy: string;
  /** Mends a right. */
  rightRemedy: string;
}

/** Asked by itself, and asked again by itself where there was no answer: then it rejects. */
export interface Question {
  /** In words, for the log. */
  name: string;
  ask: () => Promise<Fault[]>;
}

/** Nothing is granted there by a role of one namespace. */
const NOWHERE = 'nodefence-self-check';
/** Node names and namespaces of this name there are none. */
const SAMPLE = 'nodefence-self-check';
const NAMED_MAX = 3;
const BASIC_USER = 'kubectl create clusterrolebinding basic-user --clusterrole=system:basic-user --group=system:authenticated';

/** Everything that an installation must be asked. */
export function questionsOf(server: CheckedServer, installed: readonly Installed[]): Question[] {
  return installed.flatMap((part): Question[] => {
    const isThere = presence(server, part);
    const only = (ask: () => Promise<Fault[]>) => async () => ((await isThere()) ? ask() : []);
    const ofKinds = part.kinds.flatMap((kind): Question[] => [
      { name: `definition of ${kind.resource.kind}`, ask: only(() => definitionFaults(server, kind, part)) },
      ...(kind.isCreated ? [{ name: `dry run of a ${kind.resource.kind}`, ask: only(() => dryRunFaults(server, kind, part)) }] : []),
    ]);
    const places = [...new Set(part.needs.map(({ namespace }) => namespace))];
    const ofRights = places.map((namespace) => ({
      name: `rights ${namespace === undefined ? 'in the cluster' : `in namespace ${namespace}`}`,
      ask: only(() => rightFaults(server, namespace, part)),
    }));
    return [...ofKinds, ...ofRights];
  });
}

/** What is not installed is not asked about. */
function presence(server: CheckedServer, { isOptional, kinds: [first] }: Installed): () => Promise<boolean> {
  if (!isOptional || first === undefined) return () => Promise.resolve(true);
  return async () => isInstalled(await server.definition(first.resource));
}

/** Two shapes of an optional definition may have one name: a version that is not served is one that was not chosen. */
function isInstalled(found: Awaited<ReturnType<CheckedServer['definition']>>): boolean {
  return found !== undefined && found !== 'forbidden' && found.isOurs && found.schema !== undefined;
}

/** Also for who looks with rights of his own: what the definition of a kind would refuse or drop. */
export async function definitionFaults(server: Pick<CheckedServer, 'definition'>, kind: OwnKind, part: Installed): Promise<Fault[]> {
  const { resource, schema } = kind;
  const name = `${resource.plural}.${resource.group}`;
  const found = await server.definition(resource);
  const fault = (message: string): Fault => ({ part: 'definitions', message, remedy: part.definitionRemedy });
  // The right to read it is among those that are asked for.
  if (found === 'forbidden' || (part.isOptional && !isInstalled(found))) return [];
  if (found?.schema === undefined) return [fault(`${name} is not served in version ${resource.version}`)];
  if (schema.properties?.['status'] !== undefined && !found.hasStatus) return [fault(`the definition of ${name} has no status`)];
  const gaps = ['spec', 'status'].flatMap((member) => {
    const ours = schema.properties?.[member];
    if (ours === undefined) return [];
    const served = found.schema?.properties?.[member];
    return served === undefined ? [`it drops ${member}`] : schemaGaps(ours, served, member);
  });
  return gaps.length === 0 ? [] : [fault(`the definition of ${name} is not this program's: ${named(gaps, ', ')}`)];
}

async function dryRunFaults(server: CheckedServer, { resource, schema }: OwnKind, part: Installed): Promise<Fault[]> {
  const fault = (message: string): Fault => ({ part: 'definitions', message, remedy: part.definitionRemedy });
  const { spec, status } = schema.properties ?? {};
  const [ofStatus] = status === undefined ? [] : samplesOf(status);
  for (const sample of spec === undefined ? [{}] : samplesOf(spec)) {
    const object = { metadata: { name: SAMPLE }, spec: sample };
    // The status of a new object is dropped, and unknown members of it are refused all the same.
    const done = await server.dryRun(resource, { ...object, ...(ofStatus !== undefined && { status: ofStatus }) });
    if (done.kind === 'refused') return refusedDryRun(resource, done, part);
    const changed = done.kind === 'created' ? changedIn(object.spec, (done.object as { spec?: unknown }).spec, 'spec') : [];
    if (changed.length > 0) return [fault(`of a ${resource.kind} the API server does not keep ${named(changed, ', ')}`)];
  }
  return [];
}

function refusedDryRun({ kind }: Resource, { status, message }: Extract<DryRun, { kind: 'refused' }>, part: Installed): Fault[] {
  const isRight = status === 403;
  const remedy = isRight ? part.rightRemedy : part.definitionRemedy;
  return [{ part: isRight ? 'rights' : 'definitions', message: `the API server refuses a ${kind}: ${message}`, remedy }];
}

async function rightFaults(server: CheckedServer, namespace: string | undefined, part: Installed): Promise<Fault[]> {
  const needs = part.needs.filter((need) => need.namespace === namespace);
  const answer = await server.rules(namespace ?? NOWHERE);
  if (answer === 'forbidden') return [{ part: 'rights', message: 'the account may not ask what it may do', remedy: BASIC_USER }];
  const missing = ungranted(needs, answer.rules);
  // An authorizer that cannot tell its rules is asked for each thing that the others do not grant.
  const refused = answer.isComplete ? missing : await refusedOf(server, missing);
  return missingRights(refused, part);
}

/** The faults of an account that may not do these things. */
export function missingRights(needs: readonly Need[], part: Installed): Fault[] {
  if (needs.length === 0) return [];
  return [{ part: 'rights', message: `the controller's account may not ${named(describeRight(needs), '; ')}`, remedy: part.rightRemedy }];
}

/** Those of the needs that are not allowed. */
export async function refusedOf(server: Pick<CheckedServer, 'mayDo'>, needs: readonly Need[]): Promise<Need[]> {
  const answers = await Promise.all(needs.map(async (need) => ({ need, isAllowed: await server.mayDo(need) })));
  return answers.flatMap(({ need, isAllowed }) => (isAllowed ? [] : [need]));
}

/** One sentence for all that is wrong, with the command behind what it mends. */
export function sentenceOf(faults: readonly Fault[]): string {
  const byRemedy = new Map<string, string[]>();
  for (const { message, remedy } of faults) byRemedy.set(remedy, [...(byRemedy.get(remedy) ?? []), message]);
  return [...byRemedy].map(([remedy, messages]) => `${named(messages, '; ')} (mend it: ${remedy})`).join('; ');
}

function named(all: readonly string[], between: string): string {
  const first = [...new Set(all)];
  const more = first.length > NAMED_MAX ? ` and ${first.length - NAMED_MAX} more` : '';
  return first.slice(0, NAMED_MAX).join(between) + more;
}
