import { describe, expect, it } from 'vitest';
import { encodeEvent, encodeObject } from '../../testbed/apiserver/protobuf/encode.ts';
import { Texts } from '../protobuf/texts.ts';
import { ProtobufFrames } from './protobuf-frames.ts';

const FRAME_MAX_BYTES = 16_777_216;
const frame = (name: string, type = 'ADDED'): Buffer =>
  encodeEvent(type, encodeObject({ apiVersion: 'v1', kind: 'Node', metadata: { name, resourceVersion: '7' } }));

function header(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  return bytes;
}

describe('frames of a watch in protobuf', () => {
  it('are delivered as soon as they are whole, and before what is wrong behind them', () => {
    const frames = new ProtobufFrames(new Texts());
    const seen: unknown[] = [];
    const push = (bytes: Buffer): void => {
      for (const { type, object } of frames.push(bytes)) seen.push([type, (object as { metadata: { name: string } }).metadata.name]);
    };
    const [first, second] = [frame('a'), frame('b', 'DELETED')];
    push(first.subarray(0, 9));
    expect([seen, frames.isInsideEvent]).toEqual([[], true]);
    push(Buffer.concat([first.subarray(9), second]));
    expect([seen, frames.isInsideEvent]).toEqual([
      [
        ['ADDED', 'a'],
        ['DELETED', 'b'],
      ],
      false,
    ]);
    expect(() => push(Buffer.concat([frame('c'), header(3), Buffer.from([1, 2, 3])]))).toThrow('no number that there can be');
    expect(seen.at(-1)).toEqual(['ADDED', 'c']);
  });

  it('are whole however many parts a long one comes in, and those after it', () => {
    const frames = new ProtobufFrames(new Texts());
    const names = ['a', 'x'.repeat(300_000), 'b', 'y'.repeat(70_000), 'c'];
    const stream = Buffer.concat(names.map((name) => frame(name)));
    const seen: unknown[] = [];
    for (let at = 0; at < stream.length; at += 1_000)
      for (const { object } of frames.push(stream.subarray(at, at + 1_000))) seen.push((object as { metadata: { name: string } }).metadata.name);
    expect(seen).toEqual(names);
    expect(frames.isInsideEvent).toBe(false);
  });

  it('are refused beyond their bound, before their bytes have come', () => {
    expect(() => [...new ProtobufFrames(new Texts()).push(header(FRAME_MAX_BYTES + 1))]).toThrow('a frame is longer than 16777216 bytes');
    expect([...new ProtobufFrames(new Texts()).push(header(FRAME_MAX_BYTES))]).toEqual([]);
    const inParts = new ProtobufFrames(new Texts());
    expect([...inParts.push(header(0xff_ff_ff_ff).subarray(0, 2))]).toEqual([]);
    expect(() => [...inParts.push(header(0xff_ff_ff_ff).subarray(2))]).toThrow('longer than');
  });

  it('are refused without an object, and with a type that there is not', () => {
    expect(() => [...new ProtobufFrames(new Texts()).push(header(0))]).toThrow('an event without an object');
    expect(() => [...new ProtobufFrames(new Texts()).push(frame('a', 'RENAMED'))]).toThrow('not a watch event');
  });
});
