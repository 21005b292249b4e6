/** What only the compiler hides can be reached, spread and listed at run time: two ways to say the same are one too many. A constructor has no other way. */
export const HIDDEN_MEMBERS = {
  selector: ":matches(PropertyDefinition, MethodDefinition[kind!='constructor'])[accessibility='private'] > Identifier.key",
  message: 'write #name',
};
