import { isScalar, parseDocument, Scalar, visit } from 'yaml';
import type { Json } from './json.ts';

/** Resolved by Go's yaml.v2, which kubectl and every real server read with: YAML 1.1 has more booleans than 1.2. */
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
]);
const NO_JSON = /^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$/;
const TIME = /^\d{4}-\d{1,2}-\d{1,2}([Tt ]|$)/;
const INTEGER = /^([-+]?)(?:0[xX]([\da-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9]\d*))$/;
const FLOAT = /^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/;
/** Of the digits that `INTEGER` finds, for BigInt. */
const PREFIXES = ['0x', '0b', '0o', ''];
const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;

/** A body of YAML as kubectl's library makes JSON of it (sigs.k8s.io/yaml): `on` is true, `017` is 15, a key is text. Throws where it does. */
export function readYaml(text: string): Json {
  // The failsafe schema leaves every scalar as it stands: what it means is decided here alone.
  const document = parseDocument(text, { version: '1.1', schema: 'failsafe', merge: true, uniqueKeys: false });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) throw problem;
  visit(document, {
    Scalar: (key, scalar) => {
      // The value of a merge key is a symbol.
      if (scalar.type !== Scalar.PLAIN || scalar.tag !== undefined || typeof scalar.value !== 'string') return;
      const value = resolved(scalar.value);
      scalar.value = key === 'key' ? keyText(value) : value;
    },
    // A key without a value has no scalar of its own.
    Pair: (_key, pair) => {
      if (pair.value === null) pair.value = new Scalar(null);
      if (!isScalar(pair.key)) throw new Error('unsupported map key');
    },
  });
  return document.toJS({ maxAliasCount: 100 }) as Json;
}

/** What a scalar without quotes means. */
function resolved(text: string): string | number | boolean | null {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (NO_JSON.test(text)) throw new Error(`json: unsupported value: ${text}`);
  if (!/^[-+.\d]/.test(text) || TIME.test(text)) return text;
  const plain = text.startsWith('.') ? text : text.replaceAll('_', '');
  return integer(plain) ?? (FLOAT.test(plain) && Number.isFinite(Number(plain)) ? Number(plain) : text);
}

/** By Go's `ParseInt` with base 0; undefined when it is none of 64 bits. */
function integer(text: string): number | undefined {
  const [matched, sign, ...digits]: readonly (string | undefined)[] = INTEGER.exec(text) ?? [];
  if (matched === undefined) return undefined;
  const base = digits.findIndex((each) => each !== undefined);
  const size = BigInt(`${PREFIXES[base] ?? ''}${digits[base] ?? ''}`);
  const value = sign === '-' ? -size : size;
  return value < INT64_MIN || value > UINT64_MAX ? undefined : Number(value);
}

function keyText(value: string | number | boolean | null): string {
  if (value === null) throw new Error('unsupported map key of type: nil');
  return String(value);
}
