/** Sections of an INI file as cloud tools write it: `[name]`, `key = value`, comments by `#` and `;`. A later key of one section wins; keys are lower case. */
export function parseIni(text: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  let current: Map<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    const header = /^\s*\[([^\]]*)\]/.exec(line)?.[1];
    if (header !== undefined) {
      const name = header.trim();
      current = sections.get(name) ?? new Map();
      sections.set(name, current);
      continue;
    }
    // What is indented belongs to a list below a key, which nobody here needs.
    const [, key, value] = /^([^\s#;=][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) current?.set(key.toLowerCase(), value);
  }
  return sections;
}
