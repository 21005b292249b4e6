import { sameContent } from '../../src/domain/canonical.ts';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import { isObject } from '../../src/testbed/apiserver/json.ts';
import type { Json, JsonObject } from '../../src/testbed/apiserver/json.ts';
import { prune } from '../../src/testbed/apiserver/schema/structure.ts';
import { validate } from '../../src/testbed/apiserver/schema/validate.ts';
import { NODE_FENCE_DEFINITION } from '../../src/manifests/definitions.ts';

const SCHEMA = statusSchema();

function statusSchema(): JsonObject {
  const root = JSON.parse(JSON.stringify(NODE_FENCE_DEFINITION.spec.versions[0]?.schema.openAPIV3Schema)) as JsonObject;
  const properties = root['properties'];
  const status = isObject(properties) ? properties['status'] : undefined;
  if (!isObject(status)) throw new Error('the NodeFence definition has no schema for status');
  return status;
}

/** What the API server would refuse, or silently drop, of this status. */
export function schemaFaults(status: NodeFenceStatus): string[] {
  const sent = JSON.parse(JSON.stringify(status)) as Json;
  const faults = validate(sent, SCHEMA, 'status').map((cause) => `${cause.field}: ${cause.message}`);
  const stored = prune(sent, SCHEMA);
  return sameContent(stored, status) ? faults : [...faults, 'the server drops a field of the status'];
}
