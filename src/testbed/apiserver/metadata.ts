import { badRequest, invalid, type FieldCause } from './failure.ts';
import { contentOf, isObject, isString, shown, without, type ApiObject, type Json, type JsonObject, type Metadata } from './json.ts';
import { apiVersionOf, type Kind } from './kinds.ts';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const QUALIFIED_NAME = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const SUBDOMAIN_WORDS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_WORDS =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const NAME_WORDS =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/** Takes a request body as an object of a kind: type and metadata in order, or 400. */
export function asObject(body: Json | undefined, kind: Kind): ApiObject {
  if (!isObject(body))
    throw badRequest(`${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: the body must be a JSON object`);
  const expected = apiVersionOf(kind);
  const { apiVersion = expected, kind: kindName = kind.kind } = body;
  if (kindName !== kind.kind || (apiVersion !== expected && apiVersion !== '')) {
    const [group, version] = splitVersion(shown(apiVersion));
    const wanted = splitVersion(expected);
    if (kindName === kind.kind && group === wanted[0] && version !== wanted[1] && !kind.custom) return typed(body, kind, expected);
    throw badRequest(`the API version in the data (${shown(apiVersion)}) does not match the expected API version (${expected})`);
  }
  return typed(body, kind, expected);
}

function splitVersion(apiVersion: string): [string, string] {
  const [left = '', right] = apiVersion.split('/');
  return right === undefined ? ['', left] : [left, right];
}

function typed(body: JsonObject, kind: Kind, apiVersion: string): ApiObject {
  const metadata = body['metadata'] ?? {};
  const complain = (path: string, want: string): Error =>
    badRequest(
      `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: json: cannot unmarshal ${path} into Go struct field of type ${want}`,
    );
  if (!isObject(metadata)) throw complain('metadata', 'ObjectMeta');
  for (const name of ['name', 'namespace', 'uid', 'resourceVersion', 'generateName']) {
    if (metadata[name] !== undefined && metadata[name] !== null && !isString(metadata[name])) throw complain(`metadata.${name}`, 'string');
  }
  for (const name of ['labels', 'annotations']) {
    const map = metadata[name];
    if (map === undefined || map === null) continue;
    if (!isObject(map) || Object.values(map).some((value) => value !== null && !isString(value)))
      throw complain(`metadata.${name}`, 'map[string]string');
  }
  const clean: JsonObject = {};
  for (const name in metadata) if (!isEmpty(metadata[name])) clean[name] = metadata[name];
  return { ...body, apiVersion, kind: kind.kind, metadata: { ...clean, name: isString(clean['name']) ? clean['name'] : '' } };
}

/** Empty maps and lists of metadata are left out, as ObjectMeta's own encoding does. */
function isEmpty(value: Json | undefined): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value !== 'object') return false;
  return Object.keys(value).length === 0;
}

/** Name, labels, annotations and finalizers as every kind must have them. */
export function checkMetadata(metadata: Metadata, kind: Kind): void {
  const causes: FieldCause[] = [];
  const bad = (field: string, value: string, words: string): void =>
    void causes.push({ field, reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${words}` });
  if (metadata.name === '') causes.push({ field: 'metadata.name', reason: 'FieldValueRequired', message: 'name or generateName is required' });
  else if (!kind.group.startsWith('rbac.') && (!SUBDOMAIN.test(metadata.name) || metadata.name.length > 253))
    bad('metadata.name', metadata.name, SUBDOMAIN_WORDS);
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (!QUALIFIED_NAME.test(key)) bad('metadata.labels', key, NAME_WORDS);
    else if (value.length > 63) bad('metadata.labels', value, 'must be no more than 63 characters');
    else if (!LABEL_VALUE.test(value)) bad('metadata.labels', value, LABEL_WORDS);
  }
  let annotationBytes = 0;
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) {
    if (!QUALIFIED_NAME.test(key.toLowerCase())) bad('metadata.annotations', key, NAME_WORDS);
    annotationBytes += key.length + value.length;
  }
  if (annotationBytes > 262_144)
    causes.push({ field: 'metadata.annotations', reason: 'FieldValueTooLong', message: 'Too long: may not be more than 262144 bytes' });
  for (const finalizer of metadata.finalizers ?? []) if (!QUALIFIED_NAME.test(finalizer)) bad('metadata.finalizers', finalizer, NAME_WORDS);
  if (causes.length > 0) throw invalid(kind, metadata.name, causes);
}

/** The parts of an object that count as its desired state: everything but type, metadata and status. */
export function desiredState(object: ApiObject, kind: Kind): JsonObject {
  const content = contentOf(object);
  return kind.subresources.includes('status') ? without(content, 'status') : content;
}
