/** Counts what holds and what does not; every failure says what was seen. */
export class Report {
  passed = 0;
  failed = 0;
  #began = performance.now();

  check(what, holds, seen = '') {
    if (holds) this.passed += 1;
    else {
      this.failed += 1;
      console.log(`FAIL ${what}${seen === '' ? '' : `: ${typeof seen === 'string' ? seen : JSON.stringify(seen).slice(0, 1_500)}`}`);
    }
    return holds;
  }

  /** One check for many of a kind: what is wrong is listed, a few of it. */
  none(what, wrong, of = '') {
    const some = wrong.slice(0, 5).map((one) => (typeof one === 'string' ? one : JSON.stringify(one).slice(0, 600)));
    const holds = this.check(what, wrong.length === 0, `${wrong.length} times, such as ${some.join(' | ')}`);
    if (holds) console.log(`ok   ${what}${of === '' ? '' : ` (${of})`}`);
    return holds;
  }

  say(text) {
    console.log(text);
  }

  part(title) {
    console.log(`\n== ${title} (at ${Math.round((performance.now() - this.#began) / 1000)} s)`);
  }

  table(head, rows) {
    const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => String(row[column]).length)));
    for (const row of [head, widths.map((width) => '-'.repeat(width)), ...rows])
      console.log(
        row
          .map((cell, column) => (typeof cell === 'number' ? String(cell).padStart(widths[column]) : String(cell).padEnd(widths[column])))
          .join('  ')
          .trimEnd(),
      );
  }

  end() {
    console.log(`\nfaults: ${this.passed} passed, ${this.failed} failed`);
    console.log(`${this.passed} passed, ${this.failed} failed`);
  }
}
