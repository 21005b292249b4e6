import { ObjectType, type Varbind } from 'net-snmp';

/** One value of a device. Whatever the device does not have is `undefined` instead: no such object, instance or name. */
export type SnmpValue =
  | { kind: 'integer'; integer: number }
  | { kind: 'text'; text: string; bytes: Uint8Array }
  | { kind: 'oid'; oid: string }
  | { kind: 'other' };

const MISSING: ReadonlySet<number> = new Set([ObjectType.NoSuchObject, ObjectType.NoSuchInstance, ObjectType.EndOfMibView]);
const INTEGERS: ReadonlySet<number> = new Set([ObjectType.Integer, ObjectType.Gauge, ObjectType.Counter, ObjectType.TimeTicks]);

/** The value of one variable of an answer; a v2 exception inside a successful answer is `undefined`, as a missing name is. */
export function valueOf({ type, value }: Varbind): SnmpValue | undefined {
  if (type === undefined || MISSING.has(type)) return undefined;
  if (INTEGERS.has(type) && typeof value === 'number') return { kind: 'integer', integer: value };
  if (type === ObjectType.OctetString && Buffer.isBuffer(value)) return { kind: 'text', text: value.toString('utf8'), bytes: value };
  if (type === ObjectType.OID && typeof value === 'string') return { kind: 'oid', oid: value };
  return { kind: 'other' };
}

/** The integer that the value is, and nothing that only looks like one. */
export function integerOf(value: SnmpValue | undefined): number | undefined {
  return value?.kind === 'integer' ? value.integer : undefined;
}

/** A name as people read it: without blanks and zero bytes at its ends. */
export function textOf(value: SnmpValue | undefined): string | undefined {
  return value?.kind === 'text' ? value.text.replace(/\0+$/, '').trim() : undefined;
}

/** A value in words of at most 80 characters, for details of readings and errors. */
export function describeValue(value: SnmpValue | undefined): string {
  switch (value?.kind) {
    case undefined:
      return 'missing';
    case 'integer':
      return String(value.integer);
    case 'text':
      return JSON.stringify(value.text.slice(0, 76));
    case 'oid':
      return value.oid.slice(0, 80);
    case 'other':
      return '(null, or of another type)';
  }
}

/** Less than 0 when `left` stands before `right` in the tree. */
export function compareOids(left: string, right: string): number {
  const [a, b] = [left.split('.'), right.split('.')];
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = Number(a[index]) - Number(b[index]);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
