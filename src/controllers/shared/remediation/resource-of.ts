import type { Resource } from '../../../ports/cluster.ts';
import type { ObjectRef } from './actions.ts';

/** How an object that is only named is addressed. The plural of every kind that is remediated or told of is regular. */
export function resourceOf({ apiVersion, kind }: Pick<ObjectRef, 'apiVersion' | 'kind'>): Resource {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return { group, version, kind, plural: `${kind.toLowerCase()}s`, namespaced: kind !== 'Node' };
}
