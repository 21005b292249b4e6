/** An expression of CEL that lacks one operand of one `&&` or `||`. */
export interface Lessened {
  without: string;
  expression: string;
}

interface Operator {
  word: '&&' | '||';
  at: number;
}

const OPENING = '([{';
const CLOSING = ')]}';
/** What ends an operand where it stands beside it: a branch, an argument. */
const LIMITS = '?:,';

/** Every expression that lacks one operand; of one that has no operator, what is always true. */
export function lessened(expression: string): Lessened[] {
  const groups = groupsOf(expression);
  const found = groups.flatMap((group) => group.flatMap((operator, index) => lessOf(expression, group, operator, index)));
  return found.length === 0 ? [{ without: expression, expression: 'true' }] : found;
}

function lessOf(expression: string, group: readonly Operator[], operator: Operator, index: number): Lessened[] {
  const [begin, end] = extent(expression, operator.at, operator.word, group);
  const left = { without: expression.slice(begin, operator.at).trim(), expression: expression.slice(0, begin) + expression.slice(operator.at + 2) };
  const right = { without: expression.slice(operator.at + 2, end).trim(), expression: expression.slice(0, operator.at) + expression.slice(end) };
  // The operand between two operators of one kind is the right one of the first.
  const before = group[index - 1];
  const isChained = before?.word === operator.word && before.at + 2 === begin;
  return isChained ? [right] : [left, right];
}

/** The operators of each pair of brackets, branches and arguments among them, outside of texts. */
function groupsOf(expression: string): Operator[][] {
  const done: Operator[][] = [];
  const open: Operator[][] = [[]];
  forEachCode(expression, (char, at) => {
    const word = expression.slice(at, at + 2);
    if (OPENING.includes(char)) open.push([]);
    else if (CLOSING.includes(char)) done.push(open.pop() ?? []);
    else if (word === '&&' || word === '||') open.at(-1)?.push({ word, at });
  });
  return [...done, ...open];
}

/** From where to where the operands of an operator reach: `&&` binds closer than `||`. */
function extent(expression: string, at: number, word: Operator['word'], group: readonly Operator[]): [number, number] {
  const ends = (other: Operator): boolean => word === '&&' || other.word === '||';
  const [least, most] = brackets(expression, at);
  const before = group.filter((other) => other.at < at && other.at >= least && ends(other)).at(-1);
  const after = group.find((other) => other.at > at && other.at < most && ends(other));
  return [Math.max(least, (before?.at ?? -2) + 2), Math.min(most, after?.at ?? most)];
}

/** The brackets, branches or arguments between which a place stands. */
function brackets(expression: string, place: number): [number, number] {
  const begins = [0];
  let most = expression.length;
  let depth = 0;
  forEachCode(expression, (char, at) => {
    const isLimit = LIMITS.includes(char) && expression[at - 1] !== '.';
    if (at < place) {
      if (OPENING.includes(char)) begins.push(at + 1);
      else if (CLOSING.includes(char)) begins.pop();
      else if (isLimit) begins[begins.length - 1] = at + 1;
    } else if (most === expression.length) {
      if (OPENING.includes(char)) depth += 1;
      else if (CLOSING.includes(char) && depth === 0) most = at;
      else if (CLOSING.includes(char)) depth -= 1;
      else if (isLimit && depth === 0) most = at;
    }
  });
  return [begins.at(-1) ?? 0, most];
}

function forEachCode(expression: string, take: (char: string, at: number) => void): void {
  let isText = false;
  for (let at = 0; at < expression.length; at += 1) {
    const char = expression.charAt(at);
    if (char === "'") isText = !isText;
    else if (!isText) take(char, at);
  }
}
