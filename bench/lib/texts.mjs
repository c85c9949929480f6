import { createHash } from 'node:crypto';

export const OUTPUT_BYTES = 4096;
export const DIFF_BYTES = 2048;
export const VERIFIER_BYTES = 2048;

const ERRORS = [
  ['E0308', 'mismatched types', 'expected `&str`, found `String`'],
  ['E0382', 'borrow of moved value: `entry`', 'value borrowed here after move'],
  ['E0499', 'cannot borrow `self.nodes` as mutable more than once at a time', 'second mutable borrow occurs here'],
  ['E0502', 'cannot borrow `*self` as mutable because it is also borrowed as immutable', 'mutable borrow occurs here'],
  ['E0106', 'missing lifetime specifier', 'expected named lifetime parameter'],
  ['E0277', 'the trait bound `K: Hash` is not satisfied', 'the trait `Hash` is not implemented for `K`'],
  ['E0369', 'binary operation `==` cannot be applied to type `V`', 'V'],
  ['E0425', 'cannot find value `capacity` in this scope', 'not found in this scope'],
  ['E0507', 'cannot move out of `self.head` which is behind a mutable reference', 'move occurs here'],
  ['E0597', '`guard` does not live long enough', 'borrowed value does not live long enough'],
];

/** One attempt of about 9 KB as it is posted: unique texts of exactly the sizes above, the verifier's those of a failing `cargo check`. */
export function attemptTexts(name) {
  const word = words(name);
  const [code, message, label] = ERRORS[Number.parseInt(word(6), 16) % ERRORS.length];
  return {
    code,
    output: sized(
      OUTPUT_BYTES,
      (line) => `    pub fn step_${word(8)}(&mut self, key: K, value: V) -> Option<V> { self.slots.insert(key, (value, ${line})) }\n`,
    ),
    diff: sized(DIFF_BYTES, (line) =>
      line === 0
        ? '--- a/src/cache.rs\n+++ b/src/cache.rs\n@@ -1,60 +1,60 @@\n'
        : `-    let old_${word(8)} = self.map.get(&key).cloned();\n+    let new_${word(8)} = self.map.entry(key).or_default();\n`,
    ),
    verifier: sized(VERIFIER_BYTES, (line) => {
      const at = `  --> src/cache.rs:${20 + line * 3}:${9 + line}\n`;
      if (line === 0)
        return `    Checking cache v0.1.0\nerror[${code}]: ${message}\n${at}   |\n20 |         let slot = self.take_${word(8)}(&key);\n   |                    ^^^^ ${label}\n\n`;
      return `warning: unused variable: \`tmp_${word(8)}\`\n${at}   |\n${20 + line * 3} |         let tmp = self.probe(key);\n   |             ^^^ help: if this is intentional, prefix it with an underscore\n   = note: \`#[warn(unused_variables)]\` on by default\n\n`;
    }),
  };
}

export function attemptBody({ output, diff, verifier }) {
  return JSON.stringify({
    output,
    diff,
    verifier: { tool: 'cargo', command: 'cargo check', exitCode: 101, stderr: verifier, durationMs: 4100 },
    usage: { promptTokens: 2100, completionTokens: 800 },
    sampling: { temperature: 0.2 },
  });
}

/** Hex digits that the name always gives again, and that do not repeat. */
function words(name) {
  let count = 0;
  return (length) => {
    count += 1;
    return createHash('md5').update(`${name} ${count}`).digest('hex').slice(0, length);
  };
}

function sized(bytes, lineOf) {
  let text = '';
  for (let line = 0; text.length < bytes; line += 1) text += lineOf(line);
  return text.slice(0, bytes);
}
