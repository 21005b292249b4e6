import { escapeXml, type XmlElement } from '../shared/xml.ts';

/** A managed object of vSphere: `{ type: 'VirtualMachine', id: 'vm-42' }`. An id means something at one vCenter only. */
export interface ManagedObject {
  type: string;
  id: string;
}

/** Prefixes are the server's choice. */
function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** The first element right below that is called so, whatever its prefix. */
export function childOf(element: XmlElement | undefined, ...path: readonly string[]): XmlElement | undefined {
  let found = element;
  for (const name of path) found = found?.children.find((child) => localName(child.name) === name);
  return found;
}

/** The elements right below that are called so. */
export function childrenOf(element: XmlElement | undefined, name: string): readonly XmlElement[] {
  return element?.children.filter((child) => localName(child.name) === name) ?? [];
}

/** Text of an element below; undefined where there is none, or nothing in it. */
export function textOf(element: XmlElement | undefined, ...path: readonly string[]): string | undefined {
  const text = childOf(element, ...path)?.text.trim();
  return text === '' ? undefined : text;
}

/** `xsi:type`, without its prefix. */
export function typeOf(element: XmlElement | undefined): string | undefined {
  const written = Object.entries(element?.attributes ?? {}).find(([name]) => name.endsWith(':type'))?.[1];
  return written === undefined ? undefined : localName(written);
}

/** The managed object that an element names. */
export function objectOf(element: XmlElement | undefined): ManagedObject | undefined {
  const id = element?.text.trim() ?? '';
  const type = element?.attributes['type'];
  return id === '' || type === undefined ? undefined : { type, id };
}

/** An element that names a managed object. */
export function objectXml(name: string, { type, id }: ManagedObject): string {
  return `<${name} type="${escapeXml(type)}">${escapeXml(id)}</${name}>`;
}

/** An element with text. */
export function textXml(name: string, text: string): string {
  return `<${name}>${escapeXml(text)}</${name}>`;
}
