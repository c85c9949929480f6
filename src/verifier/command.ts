/** What a shell command gives away: which tools it calls, and whether its exit status can be trusted. */

/** Bounded: a command is a line, not a book. */
const LONGEST = 4_000;

/** The names of programs in the command, lower case, without folders; with the caller's own word for the tool. */
export const commandWords = (tool: string | undefined, command: string | undefined): ReadonlySet<string> => {
  const words = new Set<string>();
  if (tool !== undefined && tool !== '') words.add(tool.toLowerCase());
  const text = (command ?? '').slice(0, LONGEST).replace(/"[^"]*"|'[^']*'/g, ' ');
  for (const word of text.split(/[\s;|&()]+/)) {
    // Assignments (`PATH=…/bin:$PATH`) and options name folders and values, not programs.
    if (word === '' || word.startsWith('-') || /^\w+=/.test(word)) continue;
    words.add((word.split(/[\\/]/).at(-1) ?? word).toLowerCase().replace(/\.(?:exe|cmd)$/, ''));
  }
  return words;
};

/** Can the status be 0 although the verifier failed: a pipe without pipefail, `|| true`, a later command after `;`? */
export const masksStatus = (command: string | undefined): boolean => {
  const text = (command ?? '').slice(0, LONGEST).replace(/"[^"]*"|'[^']*'/g, ' ');
  if (/\|\|\s*(?:true|:|echo|exit 0|printf)\b|\|\|\s*:/.test(text)) return true;
  if (/(?:^|[^|>])\|&?(?!\|)/.test(text) && !/pipefail/.test(text)) return true;
  if (/\bset -e/.test(text)) return false;
  return /;\s*[^\s;]|\n\s*\S|[^&>]&\s+\S/.test(text.replace(/^\s*set [^;]*;/, '').trimEnd());
};

/** Was a deadline part of the command (`timeout 60 …`)? Then a kill is the deadline, not the memory. */
export const hasDeadline = (words: ReadonlySet<string>): boolean => words.has('timeout') || words.has('gtimeout');
