import { badRequest } from '../failure.ts';
import { at, copy, equal, isObject, isString, listAt, shown, type Json, type JsonObject } from '../json.ts';
import { itemSchema, memberSchema, patchShape } from '../schema/list-shape.ts';

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const ELEMENT_ORDER = '$setElementOrder/';
const DELETE_FROM = '$deleteFromPrimitiveList/';

/** Kubernetes' strategic merge patch: lists with a merge key are merged item by item, all others (node taints among them) are replaced whole. */
export function applyStrategicPatch(original: JsonObject, patch: JsonObject, schema: JsonObject | undefined): JsonObject {
  const directive = patch[DIRECTIVE];
  if (directive === 'replace') return withoutDirectives(patch);
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge')
    throw badRequest(`unable to find api field in patch: unknown patch type: ${shown(directive)}`);
  const result: JsonObject = retained(original, patch);
  for (const [name, change] of Object.entries(patch)) {
    if (change === undefined || name === DIRECTIVE || name === RETAIN_KEYS || name.startsWith(ELEMENT_ORDER) || name.startsWith(DELETE_FROM))
      continue;
    if (change === null) Reflect.deleteProperty(result, name);
    else result[name] = mergedMember(result[name], change, memberSchema(schema, name));
  }
  for (const [name, change] of Object.entries(patch)) {
    if (name.startsWith(DELETE_FROM) && Array.isArray(change)) {
      const member = name.slice(DELETE_FROM.length);
      result[member] = listAt(result, member).filter((item) => !change.some((gone) => equal(gone, item)));
    } else if (name.startsWith(ELEMENT_ORDER) && Array.isArray(change)) {
      const member = name.slice(ELEMENT_ORDER.length);
      const list = result[member];
      if (Array.isArray(list)) result[member] = ordered(list, change, listAt(original, member), keyOf(memberSchema(schema, member)));
    }
  }
  return result;
}

function retained(original: JsonObject, patch: JsonObject): JsonObject {
  const keep = patch[RETAIN_KEYS];
  if (!Array.isArray(keep)) return { ...original };
  return Object.fromEntries(Object.entries(original).filter(([name]) => keep.includes(name)));
}

function keyOf(schema: JsonObject | undefined): string | undefined {
  const shape = patchShape(schema);
  return shape.type === 'map' ? shape.keys[0] : undefined;
}

function mergedMember(value: Json | undefined, change: Json, schema: JsonObject | undefined): Json {
  if (isObject(change)) return applyStrategicPatch(isObject(value) ? value : {}, change, schema);
  if (!Array.isArray(change)) return change;
  const shape = patchShape(schema);
  const before = Array.isArray(value) ? value : [];
  switch (shape.type) {
    case 'atomic':
      return copy(change);
    case 'set':
      return ordered([...before, ...change.filter((item) => !before.some((known) => equal(known, item)))], change, before, undefined);
    case 'map':
      return mergedItems(before, change, shape.keys[0] ?? '', itemSchema(schema));
  }
}

function mergedItems(before: readonly Json[], change: readonly Json[], key: string, schema: JsonObject | undefined): Json[] {
  const items = change.filter(isObject);
  if (items.some((item) => item[DIRECTIVE] === 'replace')) {
    return items.filter((item) => Object.keys(item).some((name) => name !== DIRECTIVE)).map(withoutDirectives);
  }
  let result = [...before];
  for (const item of items) {
    const identity = item[key];
    if (identity === undefined) throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
    const found = result.findIndex((known) => equal(at(known, key), identity));
    if (item[DIRECTIVE] === 'delete') {
      result = result.filter((known) => !equal(at(known, key), identity));
    } else if (found < 0) {
      result.push(applyStrategicPatch({}, item, schema));
    } else {
      const known = result[found];
      result[found] = applyStrategicPatch(isObject(known) ? known : {}, item, schema);
    }
  }
  return ordered(
    result,
    items.filter((item) => item[DIRECTIVE] === undefined),
    before,
    key,
  );
}

/**
 * The order after a merge: items that the patch names (or `$setElementOrder`) in its order; the server's own items keep theirs and stand before the
 * first named item that they preceded.
 */
function ordered(list: readonly Json[], order: readonly Json[], before: readonly Json[], key: string | undefined): Json[] {
  const indexIn = (items: readonly Json[], item: Json): number =>
    items.findIndex((one) => (key === undefined ? equal(one, item) : equal(at(one, key), at(item, key))));
  const named = list.filter((item) => indexIn(order, item) >= 0).sort((one, other) => indexIn(order, one) - indexIn(order, other));
  const own = list.filter((item) => indexIn(order, item) < 0);
  const result: Json[] = [];
  for (let next = named.shift(); next !== undefined; next = named.shift()) {
    const place = indexIn(before, next);
    while (own[0] !== undefined && place >= 0 && indexIn(before, own[0]) < place) result.push(...own.splice(0, 1));
    result.push(next);
  }
  return [...result, ...own];
}

function withoutDirectives(value: JsonObject): JsonObject {
  const members = Object.entries(value).filter(([name, member]) => isString(name) && !name.startsWith('$') && member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, isObject(member) ? withoutDirectives(member) : copy(member)]));
}
