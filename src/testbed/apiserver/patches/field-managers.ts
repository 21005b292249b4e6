import { schemaOf, type Backend, type WriteContext } from '../backend.ts';
import { seconds } from '../clock-text.ts';
import { contentOf, isObject, metadataWithout, textAt, type ApiObject, type Json, type JsonObject } from '../json.ts';
import { apiVersionOf, type Kind } from '../kinds.ts';
import { changedFields, difference, existing, fieldsOf, union, type FieldSet } from './field-set.ts';

/** Who owns which fields, one entry a manager, operation and subresource. */
export interface Manager {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  subresource: string;
  time: string;
  fields: FieldSet;
}

const SERVER_OWNED = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'managedFields',
  'generateName',
];

export function managersOf(object: ApiObject | undefined): Manager[] {
  return (object?.metadata.managedFields ?? []).map((entry) => ({
    manager: textAt(entry, 'manager'),
    operation: entry['operation'] === 'Apply' ? 'Apply' : 'Update',
    apiVersion: textAt(entry, 'apiVersion'),
    subresource: textAt(entry, 'subresource'),
    time: textAt(entry, 'time'),
    fields: isObject(entry['fieldsV1']) ? entry['fieldsV1'] : {},
  }));
}

export function withManagers(object: ApiObject, managers: readonly Manager[]): ApiObject {
  const entries: JsonObject[] = managers
    .filter((one) => Object.keys(one.fields).length > 0)
    .map((one) => ({
      manager: one.manager,
      operation: one.operation,
      apiVersion: one.apiVersion,
      time: one.time,
      fieldsType: 'FieldsV1',
      fieldsV1: one.fields,
      ...(one.subresource === '' ? {} : { subresource: one.subresource }),
    }));
  const metadata = metadataWithout(object.metadata, 'managedFields');
  return { ...object, metadata: entries.length === 0 ? metadata : { ...metadata, managedFields: entries } };
}

/** The part of an object that managers can own: everything but type, identity and the server's own fields. */
export function ownable(object: ApiObject, kind: Kind, scope: string): JsonObject {
  const { metadata } = object;
  const rest = contentOf(object);
  const own = Object.fromEntries(Object.entries(metadata).filter(([name]) => !SERVER_OWNED.includes(name)));
  const result: JsonObject = { ...rest };
  if (kind.subresources.includes('status') && scope === '') Reflect.deleteProperty(result, 'status');
  if (scope === 'status' && kind.custom) return { status: rest['status'] };
  return Object.keys(own).length === 0 ? result : { metadata: own, ...result };
}

/** The object after a create, PUT or patch with its managers brought up to date: the writer owns what changed, others lose it. */
export function trackUpdate(
  object: ApiObject,
  before: ApiObject | undefined,
  kind: Kind,
  backend: Backend,
  context: WriteContext,
  scope: string,
): ApiObject {
  if (context.applied === true) return object;
  const kept = before?.metadata.managedFields;
  const cleared =
    object.metadata.managedFields !== undefined && (object.metadata.managedFields.length === 0 || isCleared(object.metadata.managedFields));
  if (backend.managedFields === 'applied' && kept === undefined)
    return object.metadata.managedFields === undefined ? object : withManagers(object, []);
  if (cleared && before !== undefined) return withManagers(object, []);
  const schema = schemaOf(kind);
  const after: Json = ownable(object, kind, scope);
  const changed = before === undefined ? fieldsOf(after, schema) : changedFields(ownable(before, kind, scope), after, schema);
  let managers = managersOf(before).map((one) => ({
    ...one,
    fields: one.subresource === scope || scope === '' ? existing(one.fields, object, schema) : one.fields,
  }));
  if (changed !== undefined && Object.keys(changed).length > 0) {
    managers = managers.map((one) => (isWriter(one, context, kind, scope) ? one : { ...one, fields: difference(one.fields, changed) }));
    const mine = managers.find((one) => isWriter(one, context, kind, scope));
    const time = seconds(backend.clock.wallMs());
    const entry: Manager = {
      manager: context.manager,
      operation: 'Update',
      apiVersion: apiVersionOf(kind),
      subresource: scope,
      time,
      fields: union(mine?.fields ?? {}, changed),
    };
    managers = [...managers.filter((one) => one !== mine), entry];
  }
  return withManagers(object, managers);
}

function isCleared(entries: readonly JsonObject[]): boolean {
  return entries.length === 1 && Object.keys(entries[0] ?? {}).length === 0;
}

function isWriter(one: Manager, context: WriteContext, kind: Kind, scope: string): boolean {
  return one.operation === 'Update' && one.manager === context.manager && one.subresource === scope && one.apiVersion === apiVersionOf(kind);
}
