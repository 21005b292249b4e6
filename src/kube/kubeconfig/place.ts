import { isAbsolute, join } from 'node:path';
import { FileText, InlineText, type Reading, type TextSource } from '../credentials/text-source.ts';
import type { Section } from './section.ts';

/** The file that an entry of a kubeconfig stands in. */
export interface Place {
  file: string;
  directory: string;
}

/** A path in a kubeconfig is relative to the file that holds it. */
export function resolved(path: string, place: Place): string {
  return isAbsolute(path) ? path : join(place.directory, path);
}

/** `KEY-data` (base64, wins) or the file that `KEY` names. */
export function textSourceOf(section: Section, place: Place, key: string, reading: Reading): TextSource | undefined {
  const data = section.text(`${key}-data`);
  if (data !== undefined) {
    const compact = data.replace(/\s/g, '');
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) {
      throw new Error(`${section.where}.${key}-data: is not base64`);
    }
    return new InlineText(Buffer.from(compact, 'base64').toString('utf8'));
  }
  const path = section.text(key);
  return path === undefined ? undefined : new FileText(resolved(path, place), `${section.where}.${key}`, reading);
}
