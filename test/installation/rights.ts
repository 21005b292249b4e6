import { refusalsIn as judgedByDrill } from '../../src/drill/run/refusals.ts';
import type { ApiEvent, TraceEvent } from '../../src/laws/trace.ts';
import { CONTROLLER_ACCESS, NODE_LEASE_ACCESS } from '../../src/manifests/access.ts';
import type { Binding, Role } from '../../src/manifests/access.ts';
import { CONTROLLER_USER } from '../scenarios/witness.ts';

/** One verb on one kind, where it is granted: `cluster: patch nodes`, `nodefence-system: get secrets`. */
export type Right = string;

const EVERYWHERE = 'cluster';

interface Grant {
  right: Right;
  scope: string;
  resource: string;
  verb: string;
  names: readonly string[] | undefined;
}

/** What these roles grant, right by right. */
export function grantsOf(objects: readonly (Role | Binding)[]): Grant[] {
  return objects.flatMap((object) => ('rules' in object ? grantsOfRole(object) : []));
}

function grantsOfRole(object: Role): Grant[] {
  const scope = object.kind === 'ClusterRole' ? EVERYWHERE : (object.metadata.namespace ?? '');
  return object.rules.flatMap(({ apiGroups, resources, verbs, resourceNames: names }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((plain) => {
        const [plural = '', subresource] = plain.split('/');
        const resource = [group === '' ? plural : `${plural}.${group}`, subresource].filter((part) => part !== undefined).join('/');
        return verbs.map((verb) => ({ right: `${scope}: ${verb} ${resource}`, scope, resource, verb, names }));
      }),
    ),
  );
}

const GRANTS = grantsOf([...CONTROLLER_ACCESS, ...NODE_LEASE_ACCESS]);

/** Everything that the shipped roles grant to the controller. */
export const GRANTED = rightsOf(GRANTS);

export function rightsOf(grants: readonly Grant[]): readonly Right[] {
  return [...new Set(grants.map(({ right }) => right))].sort();
}

/** The controller's requests about objects; `/version` and the like need no role. */
function requestsOf(trace: readonly TraceEvent[]): ApiEvent[] {
  return trace.filter((event): event is ApiEvent => event.kind === 'api' && event.user === CONTROLLER_USER);
}

/** The rights that these requests needed. */
export function rightsUsed(trace: readonly TraceEvent[], grants: readonly Grant[] = GRANTS): Set<Right> {
  return new Set(requestsOf(trace).flatMap((request) => grants.filter((grant) => covers(grant, request)).map(({ right }) => right)));
}

/** Requests that were refused for want of a right, as a drill judges them. */
export function refusalsIn(trace: readonly TraceEvent[]): readonly string[] {
  return judgedByDrill(trace).refused;
}

/** The audit does not tell the field selector by which a list or a watch names its one object. */
function covers({ scope, resource, verb, names }: Grant, request: ApiEvent): boolean {
  const asked = request.subresource === undefined ? request.resource : `${request.resource}/${request.subresource}`;
  const isThere = scope === EVERYWHERE || scope === request.namespace;
  return (
    isThere && resource === asked && verb === request.verb && (names === undefined || request.name === undefined || names.includes(request.name))
  );
}
