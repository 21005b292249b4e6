import { badRequest } from '../failure.ts';
import { at, copy, equal, isObject, isString, listAt, type Json, type JsonObject } from '../json.ts';
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
    throw badRequest(`unable to find api field in patch: unknown patch type: ${String(directive)}`);
  const result: JsonObject = retained(original, patch);
  for (const [name, change] of Object.entries(patch)) {
    if (change === undefined || name === DIRECTIVE || name === RETAIN_KEYS || name.startsWith(ELEMENT_ORDER) || name.startsWith(DELETE_FROM))
      continue;
    if (change === null) Reflect.deleteProperty(result, name);
    else result[name] = mergedMember(result[name], change, memberSchema(schema, name), patch[ELEMENT_ORDER + name]);
  }
  for (const [name, change] of Object.entries(patch)) {
    if (name.startsWith(DELETE_FROM) && Array.isArray(change)) {
      const member = name.slice(DELETE_FROM.length);
      result[member] = listAt(result, member).filter((item) => !change.some((gone) => equal(gone, item)));
    } else if (name.startsWith(ELEMENT_ORDER) && Array.isArray(change)) {
      const member = name.slice(ELEMENT_ORDER.length);
      const list = result[member];
      if (Array.isArray(list)) result[member] = ordered(list, change, memberSchema(schema, member));
    }
  }
  return result;
}

function retained(original: JsonObject, patch: JsonObject): JsonObject {
  const keep = patch[RETAIN_KEYS];
  if (!Array.isArray(keep)) return { ...original };
  return Object.fromEntries(Object.entries(original).filter(([name]) => keep.includes(name)));
}

function mergedMember(value: Json | undefined, change: Json, schema: JsonObject | undefined, order: Json | undefined): Json {
  if (isObject(change)) return applyStrategicPatch(isObject(value) ? value : {}, change, schema);
  if (!Array.isArray(change)) return change;
  const shape = patchShape(schema);
  const before = Array.isArray(value) ? value : [];
  switch (shape.type) {
    case 'atomic':
      return copy(change);
    case 'set':
      return [...before, ...change.filter((item) => !before.some((known) => equal(known, item)))];
    case 'map':
      return mergedItems(before, change, shape.keys[0] ?? '', itemSchema(schema), order);
  }
}

function mergedItems(before: readonly Json[], change: readonly Json[], key: string, schema: JsonObject | undefined, order: Json | undefined): Json[] {
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
  return Array.isArray(order) ? result : result.filter((item) => item !== null);
}

/** Items that the patch names come in its order; those it does not name keep their place after the item they stood behind. */
function ordered(list: readonly Json[], order: readonly Json[], schema: JsonObject | undefined): Json[] {
  const shape = patchShape(schema);
  const key = shape.type === 'map' ? shape.keys[0] : undefined;
  const rank = (item: Json): number => order.findIndex((one) => (key === undefined ? equal(one, item) : equal(at(one, key), at(item, key))));
  const named = list.filter((item) => rank(item) >= 0).sort((one, other) => rank(one) - rank(other));
  const result: Json[] = [...named];
  list.forEach((item, index) => {
    if (rank(item) >= 0) return;
    const before = list[index - 1];
    result.splice(before === undefined ? 0 : result.indexOf(before) + 1, 0, item);
  });
  return result;
}

function withoutDirectives(value: JsonObject): JsonObject {
  const members = Object.entries(value).filter(([name, member]) => isString(name) && !name.startsWith('$') && member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, isObject(member) ? withoutDirectives(member) : copy(member)]));
}
