import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeEvent, encodeObject } from '../../testbed/apiserver/protobuf/encode.ts';
import type { JsonObject } from '../../testbed/apiserver/json.ts';
import type { Resource } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { LEASES, NODES, PODS, VOLUME_ATTACHMENTS } from '../../ports/resources.ts';
import { pruneFor } from '../prune.ts';
import { apiVersionOf } from '../resource-path.ts';
import { ANY_ATTACHMENT, ANY_LEASE, ANY_NODE, ANY_POD } from '../testing/any-object.ts';
import { ProtobufFrames } from '../transport/protobuf-frames.ts';
import { decodeObject } from './decode.ts';
import { Texts } from './texts.ts';
import { Malformed } from './wire.ts';

const RUNS = Number(process.env['NODEFENCE_FUZZ_RUNS'] ?? 200);

const KINDS: readonly [string, Resource, Arbitrary<Record<string, unknown>>][] = [
  ['Node', NODES, ANY_NODE],
  ['Pod', PODS, ANY_POD],
  ['Lease', LEASES, ANY_LEASE],
  ['VolumeAttachment', VOLUME_ATTACHMENTS, ANY_ATTACHMENT],
];

const stamps = fc.record(
  {
    name: fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }),
    namespace: fc.constantFrom('default', 'shop'),
    generateName: fc.constant('a-'),
    uid: fc.uuid(),
    resourceVersion: fc.nat().map(String),
    generation: fc.nat({ max: 9 }),
    creationTimestamp: fc.constant('2026-01-01T00:00:00Z'),
    deletionTimestamp: fc.constant('2026-01-01T00:00:00Z'),
    deletionGracePeriodSeconds: fc.constantFrom(0, 30, -1),
  },
  { requiredKeys: ['name'] },
);

/** What Go leaves out of JSON where it is empty. */
const OMITTED: readonly string[] = ['reason', 'message', 'value', 'providerID', 'unschedulable', 'generation'].concat([
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'taints',
  'conditions',
  'addresses',
  'tolerations',
  'volumes',
]);

/** As Go shows it where nobody has set it. */
const NO_INFO = { machineID: '', systemUUID: '', bootID: '' };

/** As a server shows it in JSON. */
function shown(resource: Resource, any: Arbitrary<Record<string, unknown>>): Arbitrary<JsonObject> {
  return fc.tuple(any, stamps).map(([object, stamp]) => {
    const metadata = { ...(object['metadata'] as object), ...stamp };
    const status = resource.kind === 'Node' ? { status: { nodeInfo: NO_INFO, ...(object['status'] as object) } } : {};
    return cleaned({ apiVersion: apiVersionOf(resource), kind: resource.kind, ...object, ...status, metadata }, resource.kind) as JsonObject;
  });
}

function cleaned(value: unknown, kind: string): unknown {
  if (Array.isArray(value)) return value.map((item) => cleaned(item, kind));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]): [string, unknown] => [name, cleaned(inner, kind)]);
  const left = entries.filter(([name, inner]) => !(OMITTED.includes(name) && isEmpty(inner)) && !(kind === 'Lease' && inner === null));
  // Of a condition of a Node Go shows the times that were never set.
  const unset = kind === 'Node' && 'status' in value && 'type' in value ? { lastHeartbeatTime: null, lastTransitionTime: null } : {};
  return { ...unset, ...Object.fromEntries(left) };
}

function isEmpty(value: unknown): boolean {
  return value === '' || value === false || value === 0 || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}

function split(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

function eventsOf(chunks: readonly Buffer[]): unknown[] {
  const frames = new ProtobufFrames(new Texts());
  return chunks.flatMap((chunk) => [...frames.push(chunk)]);
}

function outcome(bytes: Buffer): string {
  try {
    return eventsOf([bytes]).every((event) => typeof (event as { object: unknown }).object === 'object') ? 'events' : 'half an event';
  } catch (error) {
    return error instanceof Malformed ? 'Malformed' : String(error);
  }
}

describe('objects in protobuf', () => {
  it.each(KINDS)('of the kind %s are what they are in JSON', (_name, resource, any) => {
    fc.assert(
      fc.property(shown(resource, any), (json) => {
        const prune = pruneFor(resource);
        const decoded = decodeObject(encodeObject(json), new Texts()) as unknown as KubeObject;
        expect(prune(decoded)).toEqual(prune(structuredClone(json) as unknown as KubeObject));
      }),
      { numRuns: RUNS },
    );
  });

  it('are what they are whatever was read before them', () => {
    const texts = new Texts();
    fc.assert(
      fc.property(fc.oneof(...KINDS.map(([, resource, any]) => shown(resource, any))), (object) => {
        const bytes = encodeObject(object);
        expect(decodeObject(bytes, texts)).toEqual(decodeObject(bytes, new Texts()));
      }),
      { numRuns: RUNS },
    );
  });

  it('come the same wherever chunks begin and end', () => {
    const objects = fc.array(fc.oneof(...KINDS.map(([, resource, any]) => shown(resource, any))), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(objects, fc.array(fc.nat(), { maxLength: 30 }), (all, cuts) => {
        const stream = Buffer.concat(all.map((object) => encodeEvent('ADDED', encodeObject(object))));
        const whole = eventsOf([stream]);
        expect(whole.length).toBe(all.length);
        expect(eventsOf(split(stream, cuts))).toEqual(whole);
        expect(eventsOf([...stream].map((byte) => Buffer.from([byte])))).toEqual(whole);
      }),
      { numRuns: Math.ceil(RUNS / 4) },
    );
  });

  it('whose bytes were changed are read to an end, or refused and nothing else', () => {
    const edits = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.oneof(...KINDS.map(([, resource, any]) => shown(resource, any))), edits, fc.option(fc.nat()), (object, changes, cut) => {
        const bytes = encodeEvent('MODIFIED', encodeObject(object));
        for (const [place, byte] of changes) bytes[place % bytes.length] = byte;
        expect(outcome(cut === null ? bytes : bytes.subarray(0, cut % bytes.length))).toMatch(/^(events|Malformed)$/);
      }),
      { numRuns: RUNS * 5 },
    );
  });
});
