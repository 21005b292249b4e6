/** What a client of the vSphere API wrote, read by what its documents allow: no entities but the five, no CDATA. */
export function textAt(xml: string, name: string): string | undefined {
  const found = new RegExp(`<${name}(?:\\s[^>]*)?>([^<]*)</${name}>`).exec(xml)?.[1];
  return found === undefined ? undefined : plain(found);
}

export function textsAt(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>([^<]*)</${name}>`, 'g'))].map(([, text = '']) => plain(text));
}

/** The inner XML of each element of this name. */
export function innerOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>(.*?)</${name}>`, 'gs'))].map(([, inner = '']) => inner);
}

/** The method that a request calls: the first element of its body. */
export function methodOf(xml: string): string {
  return /Body>\s*<([A-Za-z_]+)/.exec(xml)?.[1] ?? '(none)';
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function plain(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&apos;', "'").replaceAll('&amp;', '&');
}

const NAMESPACES =
  'xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/" xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';

export function envelope(body: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<soapenv:Envelope ${NAMESPACES}>\n<soapenv:Body>\n${body}\n</soapenv:Body>\n</soapenv:Envelope>`;
}

export function faultXml(code: string, message: string, inner = ''): string {
  const detail = `<${code}Fault xmlns="urn:vim25" xsi:type="${code}">${inner}</${code}Fault>`;
  return envelope(
    `<soapenv:Fault><faultcode>ServerFaultCode</faultcode><faultstring>${escaped(message)}</faultstring><detail>${detail}</detail></soapenv:Fault>`,
  );
}

export function objectXml(name: string, type: string, id: string): string {
  return `<${name} type="${type}">${escaped(id)}</${name}>`;
}

/** One property of an object, by its path: its XML inside `val`, and its type. */
export interface Property {
  type: string;
  inner: string;
}

export function textProperty(text: string, type = 'xsd:string'): Property {
  return { type, inner: escaped(text) };
}

/** One object with those of its properties that were asked for; `hidden`: those that the user may not read. */
export function contentXml(
  type: string,
  id: string,
  properties: Readonly<Record<string, Property>>,
  paths: readonly string[],
  hidden: readonly string[] = [],
): string {
  const shown = paths.filter((path) => properties[path] !== undefined && !hidden.includes(path));
  const sets = shown.map(
    (path) => `<propSet><name>${path}</name><val xsi:type="${properties[path]?.type ?? ''}">${properties[path]?.inner ?? ''}</val></propSet>`,
  );
  const denied = paths.filter((path) => hidden.includes(path));
  const fault =
    '<fault><fault xsi:type="NoPermission"></fault><localizedMessage>Permission to perform this operation was denied.</localizedMessage></fault>';
  return `<objects>${objectXml('obj', type, id)}${sets.join('')}${denied.map((path) => `<missingSet><path>${path}</path>${fault}</missingSet>`).join('')}</objects>`;
}
