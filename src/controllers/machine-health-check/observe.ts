import { asDated } from '../shared/sights.ts';
import type { Subject } from './evaluate.ts';
import { isTarget } from './evaluate.ts';
import { keyOf } from './snapshot.ts';
import type { ClusterFacts, ClusterSnapshot, FoundTemplate, HealthCheck, MachineFacts, ReadCheck, RequestFacts } from './snapshot.ts';
import type { IntOrPercent } from './threshold.ts';

/** A machine that a check selects, with all that is decided from. */
export interface ObservedMachine {
  subject: Subject;
  /** The object that has the name of its request. */
  request: RequestFacts | undefined;
  /** Of several checks that select one machine the first has it, and the others only count it: the one that has it, where it is another. */
  otherCheck: string | undefined;
  /** Who has its node. */
  holder: string | undefined;
  /** What the API server said to the last try to create its request. */
  refusal: string | undefined;
}

/** All that is decided from about one check. */
export interface Observation extends ReadCheck {
  cluster: ClusterFacts | 'missing' | undefined;
  template: FoundTemplate;
  /** All that it selects, by name. */
  machines: readonly ObservedMachine[];
  maxInFlight: IntOrPercent | undefined;
  /** Why the Nodes of its machines can not be read, as far as that is known. */
  whyUnknown: string | undefined;
}

export function observe(snapshot: ClusterSnapshot, { check, problems }: ReadCheck): Observation {
  const cluster = check.clusterName === undefined ? undefined : snapshot.cluster(`${check.namespace}/${check.clusterName}`);
  const earlier = earlierThan(check, snapshot.checks());
  const targets = snapshot.candidatesOf(check).filter((machine) => isTarget(check, machine));
  const machines = targets.map((machine) => {
    const otherCheck = earlier.find((other) => isTarget(other, machine));
    const place = snapshot.placeOf(machine);
    const node = nodeOf(snapshot, machine, place);
    return {
      subject: {
        machine,
        node,
        freshSinceMs: snapshot.freshSinceMs(place),
        seen: {
          machine: snapshot.sightOf(machine),
          node: typeof node === 'object' ? snapshot.sightOf(node) : asDated,
          cluster: typeof cluster === 'object' ? snapshot.sightOf(cluster) : asDated,
        },
        ...(typeof cluster === 'object' && { cluster }),
      },
      request: snapshot.requestOf(check, machine),
      otherCheck: otherCheck === undefined ? undefined : keyOf(otherCheck),
      holder: snapshot.holderOf(machine),
      refusal: snapshot.refusalOf(machine),
    };
  });
  const unknown = machines.find(({ subject }) => subject.node === 'unknown');
  return {
    check,
    problems,
    cluster,
    template: snapshot.templateOf(check),
    machines,
    maxInFlight: check.maxInFlight ?? snapshot.maxInFlight,
    whyUnknown: unknown && snapshot.whyUnknown(snapshot.placeOf(unknown.subject.machine)),
  };
}

/** Where the Machine is; undefined: it is on no node. missing: there is no such node. disputed: another names it as well. */
function nodeOf(snapshot: ClusterSnapshot, machine: MachineFacts, place: string): Subject['node'] {
  if (machine.nodeName === undefined) return undefined;
  const node = snapshot.node(place, machine.nodeName);
  return node !== 'unknown' && isDisputed(machine, snapshot.machinesOn(place, machine.nodeName)) ? 'disputed' : node;
}

/** Another names its node as well. A machine that is being deleted leaves its node to one that is not. */
export function isDisputed(machine: MachineFacts, onItsNode: readonly MachineFacts[]): boolean {
  return onItsNode.some((other) => other !== machine && (machine.isDeleting || !other.isDeleting));
}

/** Two checks that may select one machine. */
export function mayOverlap(one: HealthCheck, other: HealthCheck): boolean {
  if (one.namespace !== other.namespace) return false;
  if (one.clusterName !== undefined && other.clusterName !== undefined && one.clusterName !== other.clusterName) return false;
  return Object.entries(one.matchLabels).every(([key, value]) => (other.matchLabels[key] ?? value) === value);
}

/** Checks that come before this one where both select a machine: those that were there first, the first of them first. */
function earlierThan(check: HealthCheck, all: Iterable<ReadCheck>): HealthCheck[] {
  const earlier: HealthCheck[] = [];
  for (const { check: other, problems } of all) {
    if (other !== check && problems.length === 0 && !other.isDeleting && byAge(other, check) < 0 && mayOverlap(other, check)) earlier.push(other);
  }
  return earlier.sort(byAge);
}

function byAge(one: HealthCheck, other: HealthCheck): number {
  return one.createdMs - other.createdMs || (one.name < other.name ? -1 : one.name === other.name ? 0 : 1);
}
