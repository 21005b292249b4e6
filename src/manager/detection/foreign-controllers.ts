import type { ForeignControllerFacts, SeenDeployment, SeenLease } from '../../config/foreign-controller.ts';
import { refusedOf } from '../../controllers/self-check/questions.ts';
import { ungranted } from '../../controllers/self-check/rights.ts';
import type { Need } from '../../controllers/self-check/rights.ts';
import { ApiClient } from '../../kube/client.ts';
import { discoveryDocument, servedBy as pluralsServedBy } from '../../kube/discovery.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import type { Cluster, Resource } from '../../ports/cluster.ts';
import type { KubeObject, Lease } from '../../ports/objects.ts';
import { LEASES } from '../../ports/resources.ts';
import { ApiServerCheck } from '../self-check/api-server.ts';

interface Deployment extends KubeObject {
  spec?: { replicas?: number };
}

interface Schema {
  properties?: Readonly<Record<string, Schema>>;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
}

interface Definition extends KubeObject {
  spec?: { versions?: readonly { name?: string; schema?: { openAPIV3Schema?: Schema } }[] };
}

const DEPLOYMENTS: Resource<Deployment> = { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', namespaced: true };
const DEFINITIONS: Resource<Definition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
/** Nothing is granted there by a role of one namespace. */
const NOWHERE = 'nodefence-self-check';
/** For one answer of the API server. */
export const DEADLINE_MS = 10_000;

/**
 * Reads what shows that another controller is at work; what the rights do not allow is no failure, but told in `unseen`. They are asked for first: what is not
 * granted is not asked of the API server, which would refuse it at each look.
 */
export class ForeignControllers {
  readonly unseen: string[] = [];
  readonly #cluster: Cluster;
  readonly #server: ApiServerCheck;
  readonly #rules = new Map<string, ReturnType<ApiServerCheck['rules']>>();

  constructor(transport: ApiTransport) {
    this.#cluster = new ApiClient({ transport, deadlineMs: DEADLINE_MS });
    this.#server = new ApiServerCheck(transport);
  }

  /** undefined: there is no such definition, or it may not be read. */
  definition(name: string): Promise<Definition | undefined> {
    const right = { group: DEFINITIONS.group, resource: DEFINITIONS.plural, verb: 'get', name };
    return this.allowed(`get customresourcedefinitions ${name}`, () => this.#cluster.get(DEFINITIONS, name), [right]);
  }

  /** Leases of these names in this namespace; undefined: in whichever. Whether they move, one look does not tell. */
  async leases(names: readonly string[], namespace?: string): Promise<SeenLease[]> {
    return (await this.#named(LEASES, names, namespace)).map(leaseFacts);
  }

  async deployments(names: readonly string[], namespace?: string): Promise<SeenDeployment[]> {
    const found = await this.#named(DEPLOYMENTS, names, namespace);
    return found.map(({ metadata, spec }) => ({ name: metadata.name, namespace: metadata.namespace ?? '', replicas: spec?.replicas ?? 1 }));
  }

  /** undefined: the right is missing. `needs`: what is to be granted, before it is asked for. */
  async allowed<T>(right: string, reading: () => Promise<T>, needs: readonly Need[]): Promise<T | undefined> {
    try {
      if (await this.#isGranted(needs)) return await reading();
      this.unseen.push(`the right to ${right} is missing`);
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiStatusError) || error.status !== 403) throw error;
      this.unseen.push(`the right to ${right} is missing`);
      return undefined;
    }
  }

  async #named<T extends KubeObject>(resource: Resource<T>, names: readonly string[], namespace: string | undefined): Promise<T[]> {
    const { group, plural } = resource;
    const place = namespace === undefined ? {} : { namespace };
    const needs = names.map((name): Need => ({ group, resource: plural, verb: 'list', name, ...place }));
    const read = async (): Promise<T[]> => {
      const found = names.map((name) => this.#cluster.list(resource, { fieldSelector: `metadata.name=${name}`, ...place }));
      return (await Promise.all(found)).flat();
    };
    return (await this.allowed(`list ${plural}`, read, needs)) ?? [];
  }

  /** Who may not ask what he may do finds it out. */
  async #isGranted(needs: readonly Need[]): Promise<boolean> {
    const [{ namespace = NOWHERE } = {}] = needs;
    const asked = this.#rules.get(namespace) ?? this.#server.rules(namespace);
    this.#rules.set(namespace, asked);
    const answer = await asked;
    if (answer === 'forbidden') return true;
    const missing = ungranted(needs, answer.rules);
    return missing.length === 0 || (!answer.isComplete && (await refusedOf(this.#server, missing)).length === 0);
  }
}

/** All that shows of another controller, by the names of its Leases and Deployments. */
export async function foreignControllerFacts(
  transport: ApiTransport,
  nowMs: number,
  names: Record<'leases' | 'deployments', readonly string[]>,
): Promise<ForeignControllerFacts> {
  const foreign = new ForeignControllers(transport);
  const [leases, deployments] = await Promise.all([foreign.leases(names.leases), foreign.deployments(names.deployments)]);
  return { nowMs, leases, deployments, unseen: foreign.unseen };
}

function leaseFacts({ metadata, spec }: Lease): SeenLease {
  const { holderIdentity = '', renewTime, leaseDurationSeconds = 15 } = spec;
  const renewedMs = Date.parse(renewTime ?? '');
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    holder: holderIdentity,
    renewedMs: Number.isNaN(renewedMs) ? undefined : renewedMs,
    durationMs: leaseDurationSeconds * 1_000,
    hasMoved: undefined,
  };
}

/** Does this version keep a field? What the schema does not name is dropped by the API server, except where it keeps what is unknown. */
export function keepsField(definition: Definition | undefined, version: string, path: readonly string[]): boolean {
  return keeps(definition?.spec?.versions?.find(({ name }) => name === version)?.schema?.openAPIV3Schema, path);
}

function keeps(schema: Schema | undefined, path: readonly string[]): boolean {
  const [first, ...rest] = path;
  if (first === undefined) return schema !== undefined;
  if (schema === undefined) return false;
  const member = schema.properties?.[first];
  return member === undefined ? schema['x-kubernetes-preserve-unknown-fields'] === true : keeps(member, rest);
}

/** A document of discovery, for which no right is needed; undefined: there is none, and the list of groups agrees. */
export async function discovered<T>(transport: ApiTransport, path: string): Promise<T | undefined> {
  return (await discoveryDocument(transport, path, { deadlineMs: DEADLINE_MS })) as T | undefined;
}

/** The plurals of what a version of a group serves; undefined: it is not served. */
export function servedBy(transport: ApiTransport, group: string, version: string): Promise<ReadonlySet<string> | undefined> {
  return pluralsServedBy(transport, group, version, { deadlineMs: DEADLINE_MS });
}
