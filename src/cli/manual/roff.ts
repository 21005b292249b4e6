/** Text of a manual page, in the macros of man(7). */
export function paragraph(words: string): string {
  return escaped(words)
    .split('\n')
    .map((line) => line.trimStart())
    .map((line) => (/^[.']/.test(line) ? `\\&${line}` : line))
    .filter((line) => line !== '')
    .join('\n');
}

export function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`.SH "${escaped(title.toUpperCase())}"`, ...lines];
}

/** What is said under a term that stands out. */
export function item(term: string, text: string): string[] {
  return ['.TP', `\\fB${escaped(term)}\\fR`, paragraph(text)];
}

/** A dash that can be copied as one, and nothing that roff takes for its own. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll('`', '\\(ga')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha');
}
