import type { Backend } from './backend.ts';
import { seconds } from './clock-text.ts';
import { invalid, type FieldCause } from './failure.ts';
import { at, isObject, isString, listAt, objectsAt, textAt, type ApiObject, type Json, type JsonObject } from './json.ts';
import { printerColumns } from './columns.ts';
import type { Kind } from './kinds.ts';
import { validate } from './schema/validate.ts';

const CRD = { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions', kind: 'CustomResourceDefinition' };
export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';
const PROTECTED = /(^|\.)(k8s\.io|kubernetes\.io)$/;
const APPROVED = 'api-approved.kubernetes.io';

type Complain = (field: string, reason: FieldCause['reason'], message: string) => void;

/** What a CustomResourceDefinition must be beyond its types. */
export function checkDefinition(definition: ApiObject, before: ApiObject | undefined): void {
  const causes: FieldCause[] = [];
  const complain: Complain = (field, reason, message) => void causes.push({ field, reason, message });
  const group = textAt(definition, 'spec', 'group');
  const plural = textAt(definition, 'spec', 'names', 'plural');
  if (definition.metadata.name !== `${plural}.${group}`) {
    complain(
      'metadata.name',
      'FieldValueInvalid',
      `Invalid value: ${JSON.stringify(definition.metadata.name)}: must be spec.names.plural+"."+spec.group`,
    );
  }
  checkApproval(definition, group, complain);
  const versions = objectsAt(definition, 'spec', 'versions');
  if (versions.filter((version) => version['storage'] === true).length !== 1) {
    complain(
      'spec.versions',
      'FieldValueInvalid',
      `Invalid value: ${JSON.stringify(versions.map((one) => one['name']))}: must have exactly one version marked as storage version`,
    );
  }
  const scope = textAt(definition, 'spec', 'scope');
  if (!['Cluster', 'Namespaced'].includes(scope))
    complain('spec.scope', 'FieldValueNotSupported', `Unsupported value: ${JSON.stringify(scope)}: supported values: "Cluster", "Namespaced"`);
  if (before !== undefined && textAt(before, 'spec', 'scope') !== scope)
    complain('spec.scope', 'FieldValueInvalid', `Invalid value: ${JSON.stringify(scope)}: field is immutable`);
  versions.forEach((version, index) => {
    const schema = at(version, 'schema', 'openAPIV3Schema');
    const field = `spec.versions[${String(index)}].schema.openAPIV3Schema`;
    if (isObject(schema)) checkStructural(schema, field, complain);
    else complain(field, 'FieldValueRequired', 'Required value: schemas are required');
  });
  if (causes.length > 0) throw invalid(CRD, definition.metadata.name, causes);
}

function checkApproval(definition: ApiObject, group: string, complain: Complain): void {
  if (!PROTECTED.test(group)) return;
  const approval = definition.metadata.annotations?.[APPROVED];
  const link = 'https://github.com/kubernetes/enhancements/pull/1111';
  if (approval === undefined) {
    complain(
      `metadata.annotations[${APPROVED}]`,
      'FieldValueRequired',
      `Required value: protected groups must have approval annotation "${APPROVED}", see ${link}`,
    );
  } else if (!approval.startsWith('unapproved') && !URL.canParse(approval)) {
    complain(
      `metadata.annotations[${APPROVED}]`,
      'FieldValueInvalid',
      `Invalid value: ${JSON.stringify(approval)}: protected groups must have approval annotation "${APPROVED}" with either a URL or a reason starting with "unapproved", see ${link}`,
    );
  }
}

/** The rules of structural schemas: every value has a type, lists their items, map lists their keys, defaults are what they stand for. */
function checkStructural(schema: JsonObject, field: string, complain: Complain): void {
  const standard = schema['default'];
  if (standard !== undefined) for (const cause of validate(standard, schema, `${field}.default`)) complain(cause.field, cause.reason, cause.message);
  const open = schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const type = textAt(schema, 'type');
  if (type === '' && !open) complain(`${field}.type`, 'FieldValueRequired', 'Required value: must not be empty for specified object fields');
  if (type === 'array') {
    const items = schema['items'];
    if (isObject(items)) checkStructural(items, `${field}.items`, complain);
    else complain(`${field}.items`, 'FieldValueRequired', 'Required value: must be specified');
    if (schema['x-kubernetes-list-type'] === 'map' && listAt(schema, 'x-kubernetes-list-map-keys').length === 0) {
      complain(`${field}.x-kubernetes-list-map-keys`, 'FieldValueRequired', 'Required value: must not be empty if x-kubernetes-list-type is map');
    }
    for (const key of listAt(schema, 'x-kubernetes-list-map-keys').filter(isString)) {
      if (at(items, 'properties', key, 'nullable') !== true) continue;
      const message = 'Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable';
      complain(`${field}.items.properties[${key}].nullable`, 'FieldValueForbidden', message);
    }
  }
  const properties = schema['properties'];
  if (isObject(properties) && isObject(schema['additionalProperties'])) {
    complain(`${field}.additionalProperties`, 'FieldValueForbidden', 'Forbidden: additionalProperties and properties are mutual exclusive');
  }
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
    if (isObject(property)) checkStructural(property, `${field}.properties[${name}]`, complain);
  }
  const others = schema['additionalProperties'];
  if (isObject(others)) checkStructural(others, `${field}.additionalProperties`, complain);
}

/** The kinds that a definition serves, one a version. */
export function kindsOf(definition: ApiObject): Kind[] {
  const names = at(definition, 'spec', 'names');
  const group = textAt(definition, 'spec', 'group');
  const plural = textAt(names, 'plural');
  return objectsAt(definition, 'spec', 'versions')
    .filter((version) => version['served'] === true)
    .map((version) => {
      const subresources = at(version, 'subresources');
      const schema = at(version, 'schema', 'openAPIV3Schema');
      const columns = printerColumns(version);
      return {
        ...(columns === undefined ? {} : { columns }),
        group,
        version: textAt(version, 'name'),
        kind: textAt(names, 'kind'),
        plural,
        singular: textAt(names, 'singular') || textAt(names, 'kind').toLowerCase(),
        shortNames: listAt(names, 'shortNames').filter(isString),
        categories: listAt(names, 'categories').filter(isString),
        namespaced: at(definition, 'spec', 'scope') === 'Namespaced',
        subresources: isObject(subresources) ? ['status', 'scale'].filter((name) => subresources[name] !== undefined) : [],
        selectable: objectsAt(version, 'selectableFields').map((field) => textAt(field, 'jsonPath').replace(/^\./, '')),
        generation: true,
        virtual: false,
        storage: `${plural}.${group}`,
        schema: isObject(schema) ? withObjectType(schema) : undefined,
        custom: true,
      };
    });
}

/** Type and metadata belong to every root schema, named there or not. */
function withObjectType(schema: JsonObject): JsonObject {
  const known = Object.isFrozen(schema) ? typed.get(schema) : undefined;
  const result = known ?? addObjectType(schema);
  if (known === undefined && Object.isFrozen(schema)) typed.set(schema, result);
  return result;
}

/** By the frozen schema of a stored definition: whatever is remembered of a schema holds for every server that is given the same one. */
const typed = new WeakMap<JsonObject, JsonObject>();

function addObjectType(schema: JsonObject): JsonObject {
  const properties = schema['properties'];
  return {
    ...schema,
    properties: {
      ...(isObject(properties) ? properties : {}),
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  };
}

/** The status that the server's own controllers give a new definition: names accepted, established at once. */
export function establishedStatus(definition: ApiObject, backend: Backend): JsonObject {
  const now = seconds(backend.clock.wallMs());
  const names = at(definition, 'spec', 'names');
  const accepted: JsonObject = {
    ...(isObject(names) ? names : {}),
    singular: textAt(names, 'singular') || textAt(names, 'kind').toLowerCase(),
    listKind: textAt(names, 'listKind') || `${textAt(names, 'kind')}List`,
  };
  const condition = (type: string, reason: string, message: string): JsonObject => ({
    type,
    status: 'True',
    lastTransitionTime: now,
    reason,
    message,
  });
  const stored = objectsAt(definition, 'spec', 'versions').find((version) => version['storage'] === true);
  const before = objectsAt(definition, 'status', 'conditions');
  return {
    acceptedNames: accepted,
    conditions:
      before.length > 0
        ? before
        : [
            condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
            condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
          ],
    storedVersions: [...new Set([...listAt(definition, 'status', 'storedVersions').filter(isString), textAt(stored, 'name')])],
  };
}

/** The definition with the names that are filled in by default. */
export function withDefaultNames(body: Json | undefined): Json | undefined {
  if (!isObject(body) || !isObject(body['spec']) || !isObject(body['spec']['names'])) return body;
  const { names } = body['spec'];
  if (!isObject(names)) return body;
  const kind = textAt(names, 'kind');
  return {
    ...body,
    spec: { conversion: { strategy: 'None' }, ...body['spec'], names: { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names } },
  };
}

/** Serves what the store's definitions say, after one of them changed. */
export function serveDefinition(backend: Backend, definition: ApiObject, gone: boolean): void {
  const kinds = gone ? [] : kindsOf(definition);
  backend.registry.removeCustom(
    textAt(definition, 'spec', 'group'),
    textAt(definition, 'spec', 'names', 'plural'),
    kinds.map((kind) => kind.version),
  );
  for (const kind of kinds) backend.registry.add(kind);
}
