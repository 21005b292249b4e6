/** What a table says of a word from outside. An object knows more words than its own: `constructor`, `__proto__`. */
export function lookup<V>(table: Readonly<Record<string, V>>, word: string): V | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}
