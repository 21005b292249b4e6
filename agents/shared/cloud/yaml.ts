import { parse, YAMLParseError } from 'yaml';

/**
 * What a file of credentials holds, or the line at which it is no YAML. Neither errors nor warnings of the parser are let out: both quote the line, which may
 * hold a password. `aliasesMax`: how often it may refer to itself.
 */
export function yamlIn(text: string, aliasesMax = 0): { value: unknown } | { badLine: number } {
  try {
    return { value: parse(text, { maxAliasCount: aliasesMax, logLevel: 'error' }) as unknown };
  } catch (error) {
    if (error instanceof YAMLParseError) return { badLine: error.linePos?.[0].line ?? 0 };
    // Too many aliases, or one without an anchor.
    if (error instanceof ReferenceError) return { badLine: 0 };
    throw error;
  }
}

/** The same where it does not matter what is wrong. */
export function yamlValue(text: string): unknown {
  const read = yamlIn(text);
  return 'value' in read ? read.value : undefined;
}
