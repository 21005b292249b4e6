/** What the engine shows, before it is written as XML or JSON. */
export type Written = string | null | { readonly [name: string]: Written } | readonly Written[];

/** A list of nothing is left out, as the engine does it. */
export function asJson(value: Readonly<Record<string, Written>>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(value).filter(([, one]) => !Array.isArray(one) || one.length > 0)));
}

/** `id` and `href` are attributes, all else elements, each on a line of its own; a list is an element for each of its members. */
export function asXml(name: string, value: Written): string {
  return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${element(name, value)}`;
}

function element(name: string, value: Written): string {
  if (value === null) return '';
  if (typeof value === 'string') return `<${name}>${escaped(value)}</${name}>\n`;
  if (isList(value)) return value.map((one) => element(name, one)).join('');
  const entries = Object.entries(value);
  const attributes = ['href', 'id'].flatMap((key) => {
    const text = value[key];
    return typeof text === 'string' ? [` ${key}="${escaped(text)}"`] : [];
  });
  const inner = entries.filter(([key]) => key !== 'href' && key !== 'id').map(([key, one]) => element(key, one));
  return `<${name}${attributes.join('')}>\n${inner.join('')}</${name}>\n`;
}

function isList(value: Written): value is readonly Written[] {
  return Array.isArray(value);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
