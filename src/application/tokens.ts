/** Loaded when first used: its tables take a fifth of a second that a start should not wait for. */
export async function tokenCounter(): Promise<(text: string) => number> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  // Text that looks like a model's control tokens is text.
  return (text) => countTokens(text, { disallowedSpecial: new Set() });
}
