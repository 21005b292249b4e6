import { expect } from 'vitest';
import { parse } from 'yaml';
import { ApiServerCheck } from '../../src/manager/self-check/api-server.ts';
import { installedFor } from '../../src/manager/self-check/installed.ts';
import { questionsOf, sentenceOf } from '../../src/controllers/self-check/questions.ts';
import { shippedIn } from '../../src/testbed/shipped/manifests.ts';
import type { Binding, Role } from '../../src/manifests/access.ts';
import type { CustomResourceDefinition } from '../../src/manifests/definitions.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import { NODE_FENCE_REPORTS, NODE_FENCES } from '../../src/ports/resources.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { until } from '../scenarios/waiting.ts';

/** A server on which the shipped manifests are installed: reached by whoever may do anything, and by the controller's account. */
export interface Site {
  admin: ApiTransport;
  controller: ApiTransport;
}

const DEADLINE_MS = 10_000;
const PATHS: Readonly<Record<string, string>> = {
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/NAMESPACE/roles',
};

/** All faults as one sentence; empty: there are none. */
export async function check({ controller }: Site): Promise<string> {
  const questions = questionsOf(new ApiServerCheck(controller), installedFor({ namespace: 'nodefence-system', remediation: true }));
  return sentenceOf((await Promise.all(questions.map(({ ask }) => ask()))).flat());
}

/** Writes an object over the one that is installed. */
export async function overwrite({ admin }: Site, object: KubeObject): Promise<void> {
  const collection = (PATHS[object.kind ?? ''] ?? '').replace('NAMESPACE', object.metadata.namespace ?? '');
  const path = `${collection}/${object.metadata.name}`;
  const { body } = await admin.request({ method: 'GET', path, deadlineMs: DEADLINE_MS });
  const { resourceVersion } = (body as KubeObject).metadata;
  const response = await admin.request({
    method: 'PUT',
    path,
    body: { ...object, metadata: { ...object.metadata, ...(resourceVersion !== undefined && { resourceVersion }) } },
    deadlineMs: DEADLINE_MS,
  });
  expect(response.status, JSON.stringify(response.body)).toBe(200);
}

/** Definitions of a folder are there for as long as something is looked at, and gone afterwards. */
export async function whileInstalled({ admin }: Site, folder: string, look: () => Promise<void>): Promise<void> {
  const collection = PATHS['CustomResourceDefinition'] ?? '';
  const definitions = shipped(folder);
  for (const body of definitions) {
    const response = await admin.request({ method: 'POST', path: collection, body, deadlineMs: DEADLINE_MS });
    expect(response.status, JSON.stringify(response.body)).toBe(201);
  }
  await look();
  for (const { metadata } of definitions) {
    const path = `${collection}/${metadata.name}`;
    await admin.request({ method: 'DELETE', path, deadlineMs: DEADLINE_MS });
    await until(`${metadata.name} is gone`, async () => {
      const { status } = await admin.request({ method: 'GET', path, deadlineMs: DEADLINE_MS });
      return status === 404 ? true : undefined;
    });
  }
}

/** The definition with its text changed, as another version of this program, or another reader of YAML, would have installed it. */
export function changed(definition: CustomResourceDefinition, change: (schema: unknown) => void): CustomResourceDefinition {
  const copy = structuredClone(definition);
  change(copy.spec.versions[0]?.schema.openAPIV3Schema);
  return copy;
}

/** Every object within a value that has this member. */
function having(value: unknown, name: string): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap((member) => having(member, name));
  return Object.hasOwn(value, name) ? [value as Record<string, unknown>, ...inner] : inner;
}

function shipped(folder: string): KubeObject[] {
  return shippedIn(folder).map(({ text }) => parse(text) as KubeObject);
}

/** As it is shipped. */
export const NODE_FENCE_DEFINITION = shipped('crd').find(({ metadata }) => metadata.name === 'nodefences.ha.k8s.io') as CustomResourceDefinition;

/** As a reader of YAML 1.1 takes `- on` and `- off`. */
export const TRUE_AND_FALSE = changed(NODE_FENCE_DEFINITION, (schema) => {
  for (const part of having(schema, 'enum')) {
    if (!Array.isArray(part['enum'])) continue;
    const words: Readonly<Record<string, string>> = { on: 'true', off: 'false' };
    part['enum'] = (part['enum'] as unknown[]).map((value) => words[String(value)] ?? value);
  }
});

/** As it was before a field was added. */
export const WITHOUT_OFF_SENT = changed(NODE_FENCE_DEFINITION, (schema) => {
  for (const members of having(schema, 'offSent')) Reflect.deleteProperty(members, 'offSent');
});

/** A field of the spec is missing: a dry run alone shows it. */
export const WITHOUT_ENDING = changed(NODE_FENCE_DEFINITION, (schema) => {
  for (const members of having(schema, 'requestedBy')) Reflect.deleteProperty(members, 'ending');
});

/** One of a version that knew no requests for a part of a fence. */
export const WITHOUT_PARTS = changed(NODE_FENCE_DEFINITION, (schema) => {
  for (const members of having(schema, 'requestedBy')) for (const name of ['lastStep', 'methods']) Reflect.deleteProperty(members, name);
});

/** The roles that are bound to the controller, as they are shipped. */
export const ROLES: readonly Role[] = shipped('rbac').filter(
  (object): object is Role =>
    'rules' in object && shipped('rbac').some((other) => 'roleRef' in other && (other as Binding).roleRef.name === object.metadata.name),
);

/** Each role without one of its rules, and what is missing then. */
export function narrowed(): { role: Role; missing: string; whole: Role }[] {
  return ROLES.flatMap((whole) =>
    whole.rules.map((rule, index) => {
      const [resource = '', group = ''] = [rule.resources[0], rule.apiGroups[0]];
      const [plural, subresource] = resource.split('/');
      const missing = `${plural}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
      return { whole, missing, role: { ...whole, rules: whole.rules.filter((_rule, other) => other !== index) } };
    }),
  );
}

/** A real server learns of definitions and roles by watches. */
export async function eventually(site: Site, isSo: (sentence: string) => boolean): Promise<string> {
  let last = '';
  try {
    return await until('the self-check says it', async () => {
      last = await check(site);
      return isSo(last) ? last : undefined;
    });
  } catch (error) {
    throw new Error(`it says: ${last}`, { cause: error });
  }
}

/** Nothing of what is tried stays. */
export async function expectNoTraces({ admin }: Site): Promise<void> {
  const cluster = new ApiClient({ transport: admin });
  expect(await cluster.list(NODE_FENCES)).toEqual([]);
  expect(await cluster.list(NODE_FENCE_REPORTS)).toEqual([]);
}
