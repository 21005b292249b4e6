import { schemaOf, type Backend, type WriteContext } from '../backend.ts';
import { seconds } from '../clock-text.ts';
import { ApiFailure } from '../failure.ts';
import { at, equal, isObject, type ApiObject, type Json, type JsonObject } from '../json.ts';
import { apiVersionOf, type Kind } from '../kinds.ts';
import { itemSchema, listShape, memberSchema } from '../schema/list-shape.ts';
import { managersOf, ownable, withManagers, type Manager } from './field-managers.ts';
import { difference, fieldChildren, fieldPaths, fieldsOf, identityOf, type FieldSet } from './field-set.ts';

/** Server-side apply: merges a manager's configuration into the live object, removes what only it owned and gave up, refuses what another owns. */
export function applyConfiguration(
  live: ApiObject | undefined,
  configuration: ApiObject,
  kind: Kind,
  backend: Backend,
  context: WriteContext,
  scope: string,
  force: boolean,
): ApiObject {
  const schema = schemaOf(kind);
  const wanted = ownable(configuration, kind, scope);
  const fields = fieldsOf(wanted, schema);
  const managers = managersOf(live);
  const isMine = (one: Manager): boolean => one.operation === 'Apply' && one.manager === context.manager && one.subresource === scope;
  const mine = managers.find(isMine);
  let others = managers.filter((one) => one !== mine);
  if (live !== undefined) {
    const contested = differing(fields, ownable(live, kind, scope), wanted, schema);
    const conflicts = others.map((one) => ({ one, paths: fieldPaths(common(contested, one.fields)) })).filter(({ paths }) => paths.length > 0);
    if (conflicts.length > 0 && !force) throw conflictOf(conflicts);
    others = others.map((one) => ({ ...one, fields: difference(one.fields, contested) }));
  }
  const givenUp = others.reduce((rest, one) => difference(rest, one.fields), difference(mine?.fields ?? {}, fields));
  const base: JsonObject = live ?? {
    apiVersion: configuration.apiVersion,
    kind: configuration.kind,
    metadata: { name: configuration.metadata.name },
  };
  const merged = mergeApplied(removed(base, givenUp, schema), wanted, schema);
  const entry: Manager = {
    manager: context.manager,
    operation: 'Apply',
    apiVersion: apiVersionOf(kind),
    subresource: scope,
    time: seconds(backend.clock.wallMs()),
    fields,
  };
  const same = mine !== undefined && equal(mine.fields, fields);
  const result = withManagers(merged as ApiObject, [...others, same ? mine : entry]);
  const precondition = { uid: configuration.metadata.uid, resourceVersion: configuration.metadata.resourceVersion };
  return {
    ...result,
    metadata: { ...result.metadata, ...Object.fromEntries(Object.entries(precondition).filter(([, value]) => value !== undefined)) },
  };
}

function conflictOf(conflicts: readonly { one: Manager; paths: readonly string[] }[]): ApiFailure {
  const count = conflicts.reduce((total, { paths }) => total + paths.length, 0);
  const parts = conflicts.map(({ one, paths }) => {
    const who = `conflict${paths.length === 1 ? '' : 's'} with ${JSON.stringify(one.manager)}${one.subresource === '' ? '' : ` with subresource ${JSON.stringify(one.subresource)}`}${one.operation === 'Update' ? ` using ${one.apiVersion}` : ''}`;
    return paths.length === 1 ? `${who}: ${paths[0] ?? ''}` : `${who}:\n${paths.map((path) => `- ${path}`).join('\n')}`;
  });
  const causes = conflicts.flatMap(({ one, paths }) =>
    paths.map((field) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${JSON.stringify(one.manager)}${one.operation === 'Update' ? ` using ${one.apiVersion}` : ''}`,
      field,
    })),
  );
  return new ApiFailure(409, 'Conflict', `Apply failed with ${String(count)} conflict${count === 1 ? '' : 's'}: ${parts.join('\n')}`, { causes });
}

/** Fields whose live value exists and is not the wanted one. */
function differing(fields: FieldSet, live: Json | undefined, wanted: Json | undefined, schema: JsonObject | undefined): FieldSet {
  const result: FieldSet = {};
  const now = fieldChildren(live, schema);
  const then = fieldChildren(wanted, schema);
  for (const [name, inner] of Object.entries(fields)) {
    const old = now.get(name);
    const fresh = then.get(name);
    if (old === undefined || fresh === undefined || !isObject(inner) || equal(old.value, fresh.value)) continue;
    if (Object.keys(inner).length === 0) result[name] = {};
    else {
      const rest = differing(inner, old.value, fresh.value, fresh.schema);
      if (Object.keys(rest).length > 0) result[name] = rest;
    }
  }
  return result;
}

function common(one: FieldSet, other: FieldSet): FieldSet {
  const result: FieldSet = {};
  for (const [name, inner] of Object.entries(one)) {
    const known = other[name];
    if (!isObject(known) || !isObject(inner)) continue;
    if (Object.keys(inner).length === 0 || Object.keys(known).length === 0) result[name] = inner;
    else {
      const rest = common(inner, known);
      if (Object.keys(rest).length > 0) result[name] = rest;
    }
  }
  return result;
}

/** The value without the fields of a set. */
function removed(value: JsonObject, set: FieldSet, schema: JsonObject | undefined): JsonObject {
  const result: JsonObject = { ...value };
  for (const [name, inner] of Object.entries(set)) {
    const field = name.slice(2);
    const child = result[field];
    if (!name.startsWith('f:') || child === undefined || !isObject(inner)) continue;
    const childSchema = memberSchema(schema, field);
    if (Object.keys(inner).length === 0) Reflect.deleteProperty(result, field);
    else if (isObject(child)) result[field] = removed(child, inner, childSchema);
    else if (Array.isArray(child)) result[field] = removedItems(child, inner, childSchema);
    const left = result[field];
    if (Object.keys(inner).length > 0 && ((isObject(left) && Object.keys(left).length === 0) || (Array.isArray(left) && left.length === 0)))
      Reflect.deleteProperty(result, field);
  }
  return result;
}

function removedItems(list: readonly Json[], set: FieldSet, schema: JsonObject | undefined): Json[] {
  const shape = listShape(schema);
  const items = itemSchema(schema);
  return list.flatMap((item): Json[] => {
    const inner = set[identityOf(item, shape, items)];
    if (!isObject(inner)) return [item];
    if (Object.keys(inner).length === 0 || at(inner, '.') !== undefined) return [];
    return [isObject(item) ? removed(item, inner, items) : item];
  });
}

function mergeApplied(live: JsonObject, wanted: JsonObject, schema: JsonObject | undefined): JsonObject {
  const result: JsonObject = { ...live };
  for (const [name, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    const known = result[name];
    const inner = memberSchema(schema, name);
    if (isObject(value) && isObject(known)) result[name] = mergeApplied(known, value, inner);
    else if (Array.isArray(value) && Array.isArray(known)) result[name] = mergeLists(known, value, inner);
    else result[name] = value;
  }
  return result;
}

function mergeLists(live: readonly Json[], wanted: readonly Json[], schema: JsonObject | undefined): Json[] {
  const shape = listShape(schema);
  const items = itemSchema(schema);
  if (shape.type === 'atomic') return [...wanted];
  const fresh = new Map(wanted.map((item) => [identityOf(item, shape, items), item]));
  const kept = live.map((item) => {
    const identity = identityOf(item, shape, items);
    const change = fresh.get(identity);
    fresh.delete(identity);
    return isObject(item) && isObject(change) ? mergeApplied(item, change, items) : item;
  });
  return [...kept, ...fresh.values()];
}
