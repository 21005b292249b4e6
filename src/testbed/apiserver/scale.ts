import { need, type Backend, type WriteContext } from './backend.ts';
import { badRequest, methodNotAllowed } from './failure.ts';
import { at, isObject, shown, textAt, type ApiObject, type Json, type JsonObject } from './json.ts';
import type { Kind } from './kinds.ts';
import { applyMergePatch } from './patches/merge-patch.ts';
import { update } from './writes.ts';

/** The scale subresource: the number of replicas as an object of its own. */
export function scale(
  backend: Backend,
  kind: Kind,
  namespace: string,
  name: string,
  method: string,
  body: Json | undefined,
  context: WriteContext,
): JsonObject {
  const object = need(backend, kind, namespace, name);
  if (method === 'GET') return scaleOf(object);
  if (method !== 'PUT' && method !== 'PATCH') throw methodNotAllowed();
  if (!isObject(body)) throw badRequest('the body must be a Scale');
  const wanted = method === 'PUT' ? body : applyMergePatch(scaleOf(object), body);
  const replicas = at(wanted, 'spec', 'replicas') ?? 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0)
    throw badRequest(`spec.replicas must be a number of 0 or more: ${JSON.stringify(replicas)}`);
  const spec = isObject(object['spec']) ? object['spec'] : {};
  const version = textAt(wanted, 'metadata', 'resourceVersion');
  const metadata = { ...object.metadata, resourceVersion: version === '' ? (object.metadata.resourceVersion ?? '') : version };
  return scaleOf(update(backend, kind, object, { ...object, metadata, spec: { ...spec, replicas } }, '', context));
}

function scaleOf(object: ApiObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: at(object, 'spec', 'replicas') ?? 0 },
    status: { replicas: at(object, 'status', 'replicas') ?? 0, selector: selectorText(at(object, 'spec', 'selector', 'matchLabels')) },
  };
}

function selectorText(labels: Json | undefined): string {
  return isObject(labels)
    ? Object.entries(labels)
        .map(([key, value]) => `${key}=${shown(value)}`)
        .join(',')
    : '';
}
