import type { Need, ResourceRule } from '../../controllers/self-check/rights.ts';
import type { SchemaPart } from '../../controllers/self-check/schema-gaps.ts';
import type { CheckedServer, DryRun, ServedDefinition } from '../../controllers/self-check/server.ts';
import { apiVersionOf, pathOf } from '../../kube/resource-path.ts';
import { statusError } from '../../kube/status.ts';
import type { ApiResponse, ApiTransport } from '../../ports/api-transport.ts';
import type { Resource } from '../../ports/cluster.ts';
import { isOurs } from '../detection/is-ours.ts';

/** A webhook may take as long as the API server lets it. */
const DEADLINE_MS = 15_000;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const REVIEWS = '/apis/authorization.k8s.io/v1';
const DRY_RUN = { dryRun: 'All', fieldValidation: 'Strict' };
/** Nobody knows by these whether it would take the write: it is overloaded, starting or stopping, or the writer is not known to it yet. */
const NO_ANSWER: ReadonlySet<number> = new Set([401, 408, 409, 429]);

interface Definition {
  metadata: { name: string; labels?: Record<string, string> };
  spec?: { versions?: readonly { name?: string; served?: boolean; schema?: { openAPIV3Schema?: SchemaPart }; subresources?: { status?: object } }[] };
}

interface Rules {
  status?: { resourceRules?: readonly ResourceRule[]; incomplete?: boolean };
}

/** The API server as the self-check asks it, by any account's rights. */
export class ApiServerCheck implements CheckedServer {
  readonly #transport: ApiTransport;

  constructor(transport: ApiTransport) {
    this.#transport = transport;
  }

  async definition({ plural, group, version }: Resource): Promise<ServedDefinition | 'forbidden' | undefined> {
    const response = await this.#transport.request({ method: 'GET', path: `${DEFINITIONS}/${plural}.${group}`, deadlineMs: DEADLINE_MS });
    if (response.status === 404) return undefined;
    if (response.status === 403) return 'forbidden';
    const definition = answered('read a definition', response) as Definition;
    const served = definition.spec?.versions?.find(({ name, served: isServed }) => name === version && isServed === true);
    return { isOurs: isOurs(definition), schema: served?.schema?.openAPIV3Schema, hasStatus: served?.subresources?.status !== undefined };
  }

  async dryRun(resource: Resource, object: object): Promise<DryRun> {
    const body = { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object };
    const response = await this.#transport.request({ method: 'POST', path: pathOf(resource), query: DRY_RUN, body, deadlineMs: DEADLINE_MS });
    if (response.status < 300) return { kind: 'created', object: response.body };
    if (response.status >= 500 || NO_ANSWER.has(response.status)) throw statusError('dry run', response);
    const { message = `HTTP ${response.status}` } = response.body as { message?: string };
    // Of a webhook without `sideEffects: None`; the schema is compared in any case.
    return response.status === 400 && message.includes('does not support dry run')
      ? { kind: 'unsupported' }
      : { kind: 'refused', status: response.status, message };
  }

  async rules(namespace: string): Promise<{ rules: readonly ResourceRule[]; isComplete: boolean } | 'forbidden'> {
    const response = await this.#review('SelfSubjectRulesReview', 'selfsubjectrulesreviews', { namespace });
    if (response.status === 403) return 'forbidden';
    const { status } = answered('ask for rules', response) as Rules;
    return { rules: status?.resourceRules ?? [], isComplete: status?.incomplete !== true };
  }

  async mayDo(need: Need): Promise<boolean> {
    return this.#allowed('SelfSubjectAccessReview', 'selfsubjectaccessreviews', { resourceAttributes: attributesOf(need) });
  }

  /** The same for another account; rejects with 403 where the caller may not ask. */
  async mayOtherDo(user: string, groups: readonly string[], need: Need): Promise<boolean> {
    return this.#allowed('SubjectAccessReview', 'subjectaccessreviews', { user, groups, resourceAttributes: attributesOf(need) });
  }

  async #allowed(kind: string, plural: string, spec: object): Promise<boolean> {
    const body = answered('ask for a right', await this.#review(kind, plural, spec)) as { status?: { allowed?: boolean } };
    return body.status?.allowed === true;
  }

  #review(kind: string, plural: string, spec: object): Promise<ApiResponse> {
    const body = { apiVersion: 'authorization.k8s.io/v1', kind, metadata: {}, spec };
    return this.#transport.request({ method: 'POST', path: `${REVIEWS}/${plural}`, body, deadlineMs: DEADLINE_MS });
  }
}

function attributesOf({ namespace, group, resource, verb, name }: Need): object {
  const [plural, subresource] = resource.split('/');
  return { namespace, group, resource: plural, subresource, verb, name };
}

function answered(what: string, response: ApiResponse): unknown {
  if (response.status < 200 || response.status > 299) throw statusError(what, response);
  return response.body;
}
