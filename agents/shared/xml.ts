import { lookup } from '../../src/domain/lookup.ts';

/** One element of a small XML document; text of its children is not part of its own. */
export interface XmlElement {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: readonly XmlElement[];
  text: string;
}

interface Open extends XmlElement {
  children: XmlElement[];
}

const DEPTH_MAX = 16;
const TOKEN =
  /<!\[CDATA\[([\s\S]*?)\]\]>|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<![A-Z][^<>]*>|<\/([\w:.-]+)\s*>|<([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/gy;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The root element, or undefined where the text is not well formed. Entities of the document's own are not resolved; namespaces are part of names. */
export function parseXml(text: string): XmlElement | undefined {
  const root: Open = { name: '', attributes: {}, children: [], text: '' };
  const open: Open[] = [root];
  let endedAt = 0;
  for (const token of text.matchAll(TOKEN)) {
    endedAt = token.index + token[0].length;
    const [, raw, closes, opens, attributes = '', slash, words] = token;
    const top = open.at(-1);
    if (top === undefined) return undefined;
    if (raw !== undefined) top.text += raw;
    else if (words !== undefined) top.text += resolved(words);
    else if (opens !== undefined) {
      const element: Open = { name: opens, attributes: attributesOf(attributes), children: [], text: '' };
      top.children.push(element);
      if (slash === '/') continue;
      if (open.length > DEPTH_MAX) return undefined;
      open.push(element);
    } else if (closes !== undefined && open.pop()?.name !== closes) return undefined;
  }
  const isWhole = endedAt === text.length && open.length === 1 && root.children.length === 1 && root.text.trim() === '';
  return isWhole ? root.children[0] : undefined;
}

/** The elements of this name right below. */
export function childrenNamed(element: XmlElement | undefined, name: string): readonly XmlElement[] {
  return element?.children.filter((child) => child.name === name) ?? [];
}

function attributesOf(text: string): Record<string, string> {
  const entries = [...text.matchAll(ATTRIBUTE)].map(([, name = '', double, single]) => [name, resolved(double ?? single ?? '')]);
  return Object.fromEntries(entries) as Record<string, string>;
}

function resolved(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|([a-z]+));/g, (whole, decimal?: string, hexadecimal?: string, name?: string) => {
    if (name !== undefined) return lookup(ENTITIES, name) ?? whole;
    const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Text as it may stand in an element or in an attribute between double quotes; what XML cannot hold becomes a question mark. */
export function escapeXml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r -\uFFFD\u{10000}-\u{10FFFF}]/gu, '?')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;');
}
