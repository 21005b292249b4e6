import { columnsOf } from './columns.ts';
import type { ApiObject, JsonObject } from './json.ts';
import type { Column, Kind } from './kinds.ts';

/** Objects as rows of a `meta.k8s.io/v1` Table, as `kubectl get` prints them. */
export function tableOf(kind: Kind, objects: readonly ApiObject[], nowMs: number, withColumns: boolean, metadata: JsonObject): JsonObject {
  const columns = columnsOf(kind);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: withColumns ? columns.map(definitionOf) : null,
    rows: objects.map((object) => ({
      cells: columns.map((column) => column.value(object, nowMs)),
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata },
    })),
  };
}

function definitionOf({ name, type, format, description, priority }: Column): JsonObject {
  return { name, type, format: format ?? '', description, priority };
}
