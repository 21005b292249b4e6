import { Parts } from './parts.ts';
import { Malformed } from './wire.ts';

/** Longer texts rarely repeat. */
const SHARED_BYTES_MAX = 128;
const SLOTS = 16_384;
/** Texts differ at their end, most often. */
const HASHED_BYTES = 12;
const ASCII_END = 0x80;
const TIME_SLOTS = 1_024;
const NANOSECONDS_END = 1_000_000_000;
/** `2026-01-01T00:00:00` */
const DATE_TIME_LENGTH = 19;
const ISO_LENGTH = 24;
const MILLISECONDS_MAX = 8_640_000_000_000_000;

/** Thousands of objects carry the same names, reasons and messages: one copy of each is kept, found by its bytes. A place that is taken goes to the newer one. */
export class Texts {
  /** The same of lists and maps. */
  readonly parts = new Parts();
  readonly #slots: (string | undefined)[] = Array.from({ length: SLOTS }, () => undefined);
  readonly #times: ({ seconds: number; text: string } | undefined)[] = Array.from({ length: TIME_SLOTS }, () => undefined);
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  /** A text that others have too, most likely. */
  shared(bytes: Buffer, at: number, end: number): string {
    if (end - at > SHARED_BYTES_MAX) return this.own(bytes, at, end);
    let hash = end - at;
    for (let place = Math.max(at, end - HASHED_BYTES); place < end; place += 1) hash = (Math.imul(hash, 31) + (bytes[place] ?? 0)) | 0;
    const slot = (hash ^ (hash >>> 13)) & (SLOTS - 1);
    const known = this.#slots[slot];
    if (known !== undefined && isText(known, bytes, at, end)) return known;
    const text = this.own(bytes, at, end);
    // Others are not as long as their bytes, and their bytes would be taken for those of another.
    if (isAscii(bytes, at, end)) this.#slots[slot] = text;
    return text;
  }

  /** A text that nobody else has. */
  own(bytes: Buffer, at: number, end: number): string {
    return isAscii(bytes, at, end) ? bytes.toString('latin1', at, end) : this.#unicode(bytes, at, end);
  }

  /** As metav1.Time stands in JSON: conditions of one report, and objects of one replica set, are of the same second. */
  second(seconds: number): string {
    const slot = Math.abs(seconds % TIME_SLOTS);
    const known = this.#times[slot];
    if (known?.seconds === seconds) return known.text;
    const text = [dateTime(seconds), 'Z'].join('');
    this.#times[slot] = { seconds, text };
    return text;
  }

  /** As metav1.MicroTime does. */
  microsecond(seconds: number, nanoseconds: number): string {
    if (nanoseconds < 0 || nanoseconds >= NANOSECONDS_END) throw new Malformed('a time has more nanoseconds than a second');
    const fraction = String(Math.floor(nanoseconds / 1_000)).padStart(6, '0');
    // Joined: what is put together with `+` holds its parts.
    return [dateTime(seconds), '.', fraction, 'Z'].join('');
  }

  #unicode(bytes: Buffer, at: number, end: number): string {
    try {
      return this.#decoder.decode(bytes.subarray(at, end));
    } catch {
      throw new Malformed('a text is not UTF-8');
    }
  }
}

function isAscii(bytes: Buffer, at: number, end: number): boolean {
  for (let place = at; place < end; place += 1) {
    if ((bytes[place] ?? 0) >= ASCII_END) return false;
  }
  return true;
}

function isText(known: string, bytes: Buffer, at: number, end: number): boolean {
  if (known.length !== end - at) return false;
  for (let place = 0; place < known.length; place += 1) {
    if (known.charCodeAt(place) !== bytes[at + place]) return false;
  }
  return true;
}

function dateTime(seconds: number): string {
  const iso = Math.abs(seconds) * 1_000 > MILLISECONDS_MAX ? '' : new Date(seconds * 1_000).toISOString();
  if (iso.length !== ISO_LENGTH) throw new Malformed('a time is of no year of four digits');
  return iso.slice(0, DATE_TIME_LENGTH);
}
