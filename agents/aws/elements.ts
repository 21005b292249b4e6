import { childrenNamed, type XmlElement } from '../shared/xml.ts';

export function child(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return childrenNamed(element, name)[0];
}

/** Of a list, as the Query API of EC2 writes one. */
export function items(element: XmlElement | undefined, list: string): readonly XmlElement[] {
  return childrenNamed(child(element, list), 'item');
}

/** Undefined where it is not there, or empty. */
export function textOf(element: XmlElement | undefined, name: string): string | undefined {
  const text = child(element, name)?.text.trim();
  return text === undefined || text === '' ? undefined : text;
}

/** By their keys. */
export function tagsOf(element: XmlElement): ReadonlyMap<string, string> {
  return new Map(items(element, 'tagSet').map((tag) => [textOf(tag, 'key') ?? '', textOf(tag, 'value') ?? '']));
}
