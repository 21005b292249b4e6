/** All words of `wanted`, such as the name of a node, stand in the text, one behind the other: in the description of a port, in the name of an initiator. */
export function holdsWords(text: string, wanted: string): boolean {
  const words = wordsOf(wanted);
  const found = wordsOf(text);
  return words.length > 0 && found.some((_, at) => words.every((word, offset) => isSame(found[at + offset], word)));
}

function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}._-]+/gu) ?? []).map((word) => word.replace(/^[._-]+|[._-]+$/g, '')).filter((word) => word !== '');
}

const NUMBER = /^\d+(?:\.|$)/;

/** A short host name is the same as a long one that begins with it; two long ones must be equal. A number is no short name: nodes may be named by their addresses. */
function isSame(found: string | undefined, word: string): boolean {
  if (found === undefined) return false;
  if (NUMBER.test(found) || NUMBER.test(word)) return found === word;
  if (found.includes('.') && word.includes('.')) return found === word;
  return found === word || found.split('.')[0] === word || found === word.split('.')[0];
}
