// Rules of this repository that no tool brings.

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
const LEAVING = new Set(['ReturnStatement', 'ContinueStatement', 'BreakStatement']);

/** Which of its children each of these runs sometimes only. */
const SOMETIMES = {
  IfStatement: ['consequent', 'alternate'],
  ConditionalExpression: ['consequent', 'alternate'],
  LogicalExpression: ['right'],
  SwitchCase: ['consequent'],
  CatchClause: ['body'],
};

function isExpect({ callee }) {
  const named = callee.type === 'MemberExpression' && ['soft', 'poll'].includes(callee.property.name) ? callee.object : callee;
  return named.type === 'Identifier' && named.name === 'expect';
}

function isSometimes(parent, child) {
  return (SOMETIMES[parent.type] ?? []).some((key) => parent[key] === child || (Array.isArray(parent[key]) && parent[key].includes(child)));
}

/** The handler of a rejection, which nothing calls where the promise is fulfilled, or the other way round. */
function isHandler(parent, child) {
  return parent.type === 'CallExpression' && parent.callee.property?.name?.match(/^(then|catch)$/) && parent.arguments.includes(child);
}

/** What is skipped by name is told. */
function isSkip({ argument }) {
  return argument?.type === 'CallExpression' && argument.callee.property?.name === 'skip';
}

function leaves(statement) {
  if (statement.type !== 'IfStatement') return false;
  const ends = [statement.consequent, statement.alternate].map((branch) => (branch?.type === 'BlockStatement' ? branch.body.at(-1) : branch));
  return ends.some((end) => end && LEAVING.has(end.type) && !isSkip(end));
}

/** A way out that stands above it in the same function: what follows is behind a condition too. */
function isLeftBefore(parent, child) {
  return parent.type === 'BlockStatement' && parent.body.slice(0, parent.body.indexOf(child)).some(leaves);
}

function nameOf(node) {
  const named = node.type === 'FunctionDeclaration' ? node : node.parent;
  return named.type === 'FunctionDeclaration' || named.type === 'VariableDeclarator' ? named.id : undefined;
}

/** The functions of the file that this node stands in. */
function around(node) {
  const functions = [];
  for (let each = node.parent; each; each = each.parent) if (FUNCTIONS.has(each.type)) functions.push(each);
  return functions;
}

function guardOf(node) {
  let isSameFunction = true;
  for (let child = node; child.parent; child = child.parent) {
    const { parent } = child;
    if (isSometimes(parent, child) || isHandler(parent, child) || (isSameFunction && isLeftBefore(parent, child))) return parent;
    if (FUNCTIONS.has(parent.type)) isSameFunction = false;
  }
  return undefined;
}

/** A test proves what its assertions say only if they run: one that stands behind a condition passes where the condition never holds. */
const guarded = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { guarded: 'an assertion behind a condition may never run: assert in every case what holds there' },
  },
  create(context) {
    /** Calls by the variable they call, so that a helper that asserts counts as an assertion. */
    const found = [];
    const report = (node) => void context.report({ node, messageId: 'guarded' });
    const follow = (node, seen) => {
      if (guardOf(node) !== undefined) report(node);
      for (const each of around(node)) {
        const name = nameOf(each);
        if (name?.type !== 'Identifier' || seen.has(each)) continue;
        seen.add(each);
        const [variable] = context.sourceCode.getDeclaredVariables(each.type === 'FunctionDeclaration' ? each : each.parent);
        for (const { identifier } of variable?.references ?? [])
          if (identifier.parent.type === 'CallExpression' && identifier.parent.callee === identifier) follow(identifier.parent, seen);
      }
    };
    return {
      CallExpression: (node) => void (isExpect(node) && found.push(node)),
      'Program:exit': () => {
        const seen = new Set();
        for (const node of found) follow(node, seen);
      },
    };
  },
};

/** Files share a process: one that puts an object of its own there leaves the next without a way to change the environment. */
const environment = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { replaced: 'set or delete a variable of process.env: whoever puts another object in its place does so for every file after it' },
  },
  create: (context) => ({
    "AssignmentExpression > MemberExpression.left[object.name='process'][property.name='env']": (node) =>
      void context.report({ node, messageId: 'replaced' }),
  }),
};

/** What these selectors find (esquery), each with its message: ESLint's `no-restricted-syntax`, which Oxlint does not have. */
const syntax = {
  meta: {
    type: 'problem',
    schema: [{ type: 'array', items: { type: 'object', properties: { selector: { type: 'string' }, message: { type: 'string' } } } }],
    defaultOptions: [[]],
  },
  create: (context) =>
    Object.fromEntries(context.options[0].map(({ selector, message }) => [selector, (node) => void context.report({ node, message })])),
};

export default { meta: { name: 'nodefence' }, rules: { guarded, environment, syntax } };
