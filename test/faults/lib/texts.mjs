const WORDS = 'lifetime borrow trait bound mismatch expected found moved value closure generic impl where async send sync'.split(' ');

/** A text of about so many characters, unlike any other: it begins with what it is for. */
export function text(random, marker, characters) {
  const lines = [`// ${marker}`];
  for (let length = lines[0].length; length < characters; length += lines.at(-1).length + 1)
    lines.push(`    let v${random.between(0, 99_999)} = ${random.pick(WORDS)}_${random.pick(WORDS)}(${random.between(0, 9_999)});`);
  return lines.join('\n');
}

/** Sizes as they occur: many below what an event holds itself, most of a few KB, some that take several chunks. */
export function size(random, load) {
  const roll = random.next();
  if (load === 'texts') return roll < 0.5 ? random.between(290_000, 420_000) : random.between(2_500, 9_000);
  if (roll < 0.25) return random.between(80, 1_500);
  if (roll < 0.9) return random.between(2_500, 9_000);
  if (roll < 0.98) return random.between(20_000, 60_000);
  return random.between(290_000, 420_000);
}

export const PATTERNS = ['E0106', 'E0277', 'E0308', 'E0369', 'E0382', 'E0499', 'E0502', 'E0599'];

/** What cargo says of one error, and then goes on saying. */
export function cargoText(random, code, marker) {
  return `error[${code}]: ${random.pick(WORDS)} does not hold (${marker})\n --> src/lib.rs:${random.between(1, 400)}:5\n  |\n${text(random, marker, random.between(200, 5_000))}\n\nerror: could not compile \`crate\` (lib) due to 1 previous error\n`;
}
