import { ApiFailure, badRequest } from '../failure.ts';
import { equal, isObject, shown, thaw, type Json, type JsonObject } from '../json.ts';

const OPERATIONS_MAX = 10_000;

/** RFC 6902. Refusals carry the status and words of a real server. */
export function applyJsonPatch(original: JsonObject, patch: Json | undefined): JsonObject {
  if (!Array.isArray(patch)) throw badRequest('error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch');
  if (patch.length > OPERATIONS_MAX) {
    throw new ApiFailure(
      413,
      'RequestEntityTooLarge',
      `The allowed maximum operations in a JSON patch is ${String(OPERATIONS_MAX)}, got ${String(patch.length)}`,
    );
  }
  const holder: JsonObject = { root: thaw(original) };
  for (const operation of patch) {
    if (!isObject(operation)) throw badRequest('error decoding patch: an operation must be an object');
    applyOperation(holder, operation);
  }
  const result = holder['root'];
  if (!isObject(result)) throw refused('the document is no object any more');
  return result;
}

function refused(why: string): ApiFailure {
  return new ApiFailure(422, 'Invalid', 'the server rejected our request due to an error in our request', { causes: [{ message: why }] });
}

function applyOperation(holder: JsonObject, operation: JsonObject): void {
  const path = pointer(operation['path']);
  switch (operation['op']) {
    case 'add':
      add(holder, path, thaw(operation['value'] ?? null));
      return;
    case 'remove':
      remove(holder, path);
      return;
    case 'replace':
      replace(holder, path, thaw(operation['value'] ?? null));
      return;
    case 'move': {
      const moved = remove(holder, pointer(operation['from']));
      add(holder, path, moved);
      return;
    }
    case 'copy':
      add(holder, path, thaw(read(holder, pointer(operation['from']))));
      return;
    case 'test':
      if (!equal(readOrNull(holder, path), operation['value'] ?? null))
        throw refused(`testing value ${shown(operation['path'])} failed: test failed`);
      return;
    default:
      throw refused(`unexpected kind: ${shown(operation['op'])}`);
  }
}

/** The pointer's steps below the holder's `root`. */
function pointer(text: Json | undefined): string[] {
  if (typeof text !== 'string' || (text !== '' && !text.startsWith('/'))) throw refused(`no such path: ${shown(text)}`);
  return text === ''
    ? ['root']
    : [
        'root',
        ...text
          .slice(1)
          .split('/')
          .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')),
      ];
}

function parentOf(holder: JsonObject, path: readonly string[]): Json[] | JsonObject {
  const parent = path.slice(0, -1).reduce<Json | undefined>(step, holder);
  if (typeof parent !== 'object' || parent === null) throw refused(`doc is missing path: /${path.slice(1).join('/')}: missing value`);
  return parent;
}

function step(value: Json | undefined, name: string): Json | undefined {
  if (Array.isArray(value)) return value[position(value, name)];
  return isObject(value) ? value[name] : undefined;
}

function position(list: readonly Json[], name: string): number {
  if (name === '-') return list.length;
  const index = /^(0|[1-9]\d*)$/.test(name) ? Number(name) : Number.NaN;
  if (!(index >= 0 && index <= list.length)) throw refused(`Unable to access invalid index: ${name}: invalid index referenced`);
  return index;
}

function read(holder: JsonObject, path: readonly string[]): Json {
  const found = path.reduce<Json | undefined>(step, holder);
  if (found === undefined) throw refused(`doc is missing path: /${path.slice(1).join('/')}: missing value`);
  return found;
}

function readOrNull(holder: JsonObject, path: readonly string[]): Json {
  return step(parentOf(holder, path), path.at(-1) ?? '') ?? null;
}

function add(holder: JsonObject, path: readonly string[], value: Json): void {
  const parent = parentOf(holder, path);
  const last = path.at(-1) ?? '';
  if (Array.isArray(parent)) parent.splice(position(parent, last), 0, value);
  else parent[last] = value;
}

function remove(holder: JsonObject, path: readonly string[]): Json {
  const parent = parentOf(holder, path);
  const last = path.at(-1) ?? '';
  const value = read(holder, path);
  if (Array.isArray(parent)) parent.splice(position(parent, last), 1);
  else Reflect.deleteProperty(parent, last);
  return value;
}

function replace(holder: JsonObject, path: readonly string[], value: Json): void {
  read(holder, path);
  const parent = parentOf(holder, path);
  const last = path.at(-1) ?? '';
  if (Array.isArray(parent)) parent[position(parent, last)] = value;
  else parent[last] = value;
}
