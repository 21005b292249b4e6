import type { RequestFacts, TemplateFacts } from '../snapshot.ts';
import { headerOf, loosely } from './objects.ts';
import type { UntypedObject } from '../../../ports/cluster-api.ts';

export function readRequest(object: UntypedObject): RequestFacts {
  const { ownerReferences = [], deletionTimestamp } = object.metadata;
  return {
    ...headerOf(object),
    kind: object.kind ?? '',
    isDeleting: deletionTimestamp !== undefined,
    ownerUIDs: ownerReferences.map(({ uid }) => uid),
  };
}

export function readTemplate(object: UntypedObject): TemplateFacts {
  const template = loosely(object.spec).raw('template');
  const isObject = typeof template === 'object' && template !== null;
  return { ...headerOf(object), kind: object.kind ?? '', ...(isObject && { template: { ...template } }) };
}
