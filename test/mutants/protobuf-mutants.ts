import { byTest, type SourceMutant } from './source-mutant.ts';

const DECODE = 'src/kube/protobuf/decode.test.ts';
const ENCODINGS = 'src/kube/encodings.test.ts';
const FRAMES = 'src/kube/transport/protobuf-frames.test.ts';

/** Defects of what reads the API server's objects in protobuf. */
export const PROTOBUF_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'field beyond its message',
    defect: 'a field that is longer than its message takes what stands behind it',
    file: 'src/kube/protobuf/wire.ts',
    edits: [
      [
        "if (length < 0 || length > end - this.at) throw new Malformed('a field is longer than what it stands in');\n    return this.at + length",
        'return this.at + length',
      ],
    ],
    killedBy: byTest(DECODE, 'a field beyond its message: refused'),
  },
  {
    name: 'number without an end',
    defect: 'a number of more than 64 bits is read as another one',
    file: 'src/kube/protobuf/wire.ts',
    edits: [['if (shift === VARINT_BITS_MAX && byte > 1) break;', '']],
    killedBy: byTest(DECODE, 'a number of more than 64 bits: refused'),
  },
  {
    name: 'sign lost',
    defect: 'a negative number comes out as a large one',
    file: 'src/kube/protobuf/wire.ts',
    edits: [['return high * 2 ** 32 + (low >>> 0)', 'return (high >>> 0) * 2 ** 32 + (low >>> 0)']],
    killedBy: byTest(DECODE, 'is a number of up to 64 bits with a sign'),
  },
  {
    name: 'any wire type',
    defect: 'a field is read as what it was not sent as',
    file: 'src/kube/protobuf/message.ts',
    edits: [['if ((tag & 7) !== field.wireType) throw', 'if (tag < 0) throw']],
    killedBy: byTest(DECODE, 'a text as a number: refused'),
  },
  {
    name: 'part overwritten',
    defect: 'of two parts of an object that were sent apart the first is lost',
    file: 'src/kube/protobuf/fields.ts',
    edits: [['if (object[name] !== undefined) throw', 'if (name === undefined) throw']],
    killedBy: byTest(DECODE, 'is refused where a part of an object was sent twice: nobody merges them'),
  },
  {
    name: 'zero of a pointer left out',
    defect: 'a grace period of 0 s counts as none',
    file: 'src/kube/protobuf/fields.ts',
    edits: [["if (value !== zero || presence !== 'nonZero') object[name]", 'if (value !== zero) object[name]']],
    killedBy: byTest(DECODE, 'counts as the last of it where it was sent twice, if it is one value'),
  },
  {
    name: 'old value stays',
    defect: 'a value that was sent again as zero stays what it was',
    file: 'src/kube/protobuf/fields.ts',
    edits: [['else if (object[name] !== undefined) Reflect.deleteProperty(object, name);', '']],
    killedBy: byTest(DECODE, 'counts as the last of it where it was sent twice, if it is one value'),
  },
  {
    name: 'texts of other bytes',
    defect: 'a text is taken for another one whose characters are its bytes',
    file: 'src/kube/protobuf/texts.ts',
    edits: [['if (isAscii(bytes, at, end)) this.#slots[slot] = text;', 'this.#slots[slot] = text;']],
    killedBy: byTest(DECODE, 'that are no UTF-8 are refused, also where one was read whose characters are those bytes'),
  },
  {
    name: 'texts that look alike',
    defect: 'a text is taken for another one in its place',
    file: 'src/kube/protobuf/texts.ts',
    edits: [['if (known.charCodeAt(place) !== bytes[at + place]) return false;', '']],
    killedBy: byTest(DECODE, 'are those of their bytes, however many others look alike'),
  },
  {
    name: 'parts cut elsewhere',
    defect: 'a list is taken for another one whose entries begin and end elsewhere in the same bytes',
    file: 'src/kube/protobuf/parts.ts',
    edits: [['return known?.firstBytes === firstBytes ? known.value : undefined;', 'return firstBytes < 0 ? undefined : known?.value;']],
    killedBy: byTest(DECODE, 'are not those of other entries whose bytes are the same'),
  },
  {
    name: 'parts in pieces',
    defect: 'of a map whose entries stand apart the last of them count alone',
    file: 'src/kube/protobuf/fields.ts',
    edits: [['if (stood !== undefined) object[name] =', 'if (stood !== undefined) object[name] = undefined; else if (tag === 0) object[name] =']],
    killedBy: byTest(DECODE, 'are whole where other fields stand between their entries, and where they are long'),
  },
  {
    name: 'stranger in an envelope',
    defect: 'an object of another group is read by the table of one that has its kind',
    file: 'src/kube/protobuf/kinds.ts',
    edits: [['const name = `${apiVersion} ${kind}`;', "const name = `${apiVersion.replace('example.com/', '')} ${kind}`;"]],
    killedBy: byTest(DECODE, 'a kind of another group: refused'),
  },
  {
    name: 'unbounded frame',
    defect: 'a frame of any length is waited for',
    file: 'src/kube/transport/protobuf-frames.ts',
    edits: [['if (length > FRAME_MAX_BYTES) throw', 'if (length < 0) throw']],
    killedBy: byTest(FRAMES, 'are refused beyond their bound, before their bytes have come'),
  },
  {
    name: 'blind by one object',
    defect: 'a watch that can not be read in protobuf is asked for in protobuf again and again',
    file: 'src/kube/reflector.ts',
    edits: [['if (isGarbled(end, error)) this.#accept = JSON_ONLY;', '']],
    killedBy: byTest(
      ENCODINGS,
      'is JSON from then on where a watch could not be read: what one object is at fault for must not leave the rest unseen',
    ),
  },
];
