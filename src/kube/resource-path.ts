import type { Resource } from '../ports/cluster.ts';
import type { KubeObject } from '../ports/objects.ts';

export interface Address {
  namespace?: string | undefined;
  name?: string;
  subresource?: string;
}

/** `v1`, `apps/v1`. */
export function apiVersionOf(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** The absolute URL path of a collection or, with `name`, of one object. */
export function pathOf(resource: Resource, address: Address = {}): string {
  const parts = [resource.group === '' ? '/api' : '/apis', apiVersionOf(resource)];
  if (resource.namespaced && address.namespace !== undefined) {
    parts.push('namespaces', encodeURIComponent(address.namespace));
  } else if (resource.namespaced && address.name !== undefined) {
    throw new Error(`${resource.kind} ${address.name}: a namespace is needed to address it`);
  }
  parts.push(resource.plural);
  if (address.name !== undefined) {
    if (address.name === '' || address.name === '.' || address.name === '..') {
      throw new Error(`${resource.kind} "${address.name}": not a name`);
    }
    parts.push(encodeURIComponent(address.name));
  }
  if (address.subresource !== undefined) {
    parts.push(address.subresource);
  }
  return parts.join('/');
}

/** `name`, or `namespace/name` for a namespaced object. Joined: what is put together with `+` holds its parts for as long as it is held itself. */
export function keyOf(object: KubeObject): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? name : [namespace, name].join('/');
}
