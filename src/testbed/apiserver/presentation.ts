import type { ApiObject, JsonObject } from './json.ts';
import type { Kind } from './kinds.ts';
import { tableOf } from './table.ts';
import type { ServerSink } from './watches.ts';

/** How a client wants objects shown: whole, as rows of a Table, or by their metadata only. */
export interface Presentation {
  body(kind: Kind, objects: readonly ApiObject[], whole: JsonObject, nowMs: number): JsonObject;
  stream(kind: Kind, sink: ServerSink, nowMs: () => number): ServerSink;
}

const WHOLE: Presentation = { body: (_kind, _objects, whole) => whole, stream: (_kind, sink) => sink };

const TABLE: Presentation = {
  body: (kind, objects, whole, nowMs) => tableOf(kind, objects, nowMs, true, metadataOf(kind, whole)),
  stream(kind, sink, nowMs) {
    let isFirst = true;
    return {
      onEnd: () => {
        sink.onEnd();
      },
      onEvent(event) {
        if (event.type === 'ERROR') {
          sink.onEvent(event);
          return;
        }
        const object = event.object as ApiObject;
        sink.onEvent({ type: event.type, object: tableOf(kind, [object], nowMs(), isFirst, { resourceVersion: object.metadata.resourceVersion }) });
        isFirst = false;
      },
    };
  },
};

const METADATA: Presentation = {
  body(_kind, objects, whole) {
    if (!('items' in whole)) return partial(whole as ApiObject);
    return { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata: whole['metadata'], items: objects.map(partial) };
  },
  stream: (_kind, sink) => ({
    onEnd: () => {
      sink.onEnd();
    },
    onEvent: (event) => {
      sink.onEvent(event.type === 'ERROR' ? event : { type: event.type, object: partial(event.object as ApiObject) });
    },
  }),
};

function partial(object: ApiObject): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };
}

function metadataOf(kind: Kind, whole: JsonObject): JsonObject {
  const metadata = whole['metadata'] as JsonObject;
  return whole['kind'] === kind.kind ? { resourceVersion: metadata['resourceVersion'] } : metadata;
}

/** Reads an Accept header: the first form that the server has. */
export function presentation(accept: string | undefined): Presentation {
  if (accept === undefined || !accept.includes('as=')) return WHOLE;
  for (const part of accept.split(',')) {
    if (!part.includes('json')) continue;
    if (part.includes('as=Table')) return TABLE;
    if (part.includes('as=PartialObjectMetadata')) return METADATA;
    if (!part.includes('as=')) return WHOLE;
  }
  return WHOLE;
}
