import fc from 'fast-check';

const SURROGATES_FROM = 0xd800;
const SURROGATES = 0x800;
const LAST = 0x10_ffff - SURROGATES;

/** Every character, those of ASCII and what controls a terminal more often. fast-check has the same as `binary`, which first makes a map of a million. */
const character = fc.oneof(fc.nat({ max: 0x7f }), fc.nat({ max: LAST })).map(
  (index) => String.fromCodePoint(index < SURROGATES_FROM ? index : index + SURROGATES),
  (text) => {
    const point = typeof text === 'string' ? (text.codePointAt(0) ?? -1) : -1;
    if (point === -1 || text !== String.fromCodePoint(point) || (point >= SURROGATES_FROM && point < SURROGATES_FROM + SURROGATES))
      throw new Error('no character');
    return point < SURROGATES_FROM ? point : point - SURROGATES;
  },
);

/** Texts of any characters. */
export function anyText(length: { maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ ...length, unit: character });
}
