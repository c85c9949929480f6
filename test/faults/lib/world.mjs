import { Builder } from './builders.mjs';
import { Client } from './client.mjs';
import { Ledger } from './ledger.mjs';
import { Random } from './random.mjs';

/** Some files, the builders that work on them, and the ledger of what they were told. */
export class World {
  /** What the builders do most at the moment. */
  load = 'mixed';
  #made = 0;

  constructor({ repo, bases, seed }) {
    this.repo = repo;
    this.random = new Random(seed);
    this.ledger = new Ledger();
    this.client = new Client(bases, this.ledger, this.random);
    this.files = { some: [], long: { repo, targetFile: 'src/long.rs' } };
    this.newFiles();
  }

  /** Histories that do not only grow: from time to time work begins on other files. */
  newFiles() {
    const added = Array.from({ length: 5 }, () => {
      this.#made += 1;
      return { repo: this.repo, targetFile: `src/file_${this.#made}.rs` };
    });
    this.files.some = [...this.files.some.slice(-2), ...added];
  }

  /** Sets builders to work; what is answered stops them, each after what it is at. */
  begin(count) {
    let stop = false;
    const builders = Array.from({ length: count }, (_, index) => {
      const random = new Random(this.random.between(0, 2 ** 31));
      const { client, ledger, files } = this;
      return new Builder({ client, ledger, random, files, loadOf: () => this.load, name: `${index}` });
    });
    const working = Promise.all(builders.map((builder) => builder.work(() => stop)));
    // What a builder throws is a mistake of the suite: it is thrown to whoever stops them.
    working.catch(() => {});
    return async () => {
      stop = true;
      await working;
    };
  }

  /** Acknowledged calls once more, all that a kill cut off among them: the ledger compares the answers. */
  async repeat(most) {
    const { ledger, client, random, files } = this;
    const acknowledged = random.shuffled(ledger.of('acknowledged').filter(({ file }) => file !== files.long));
    const cutOff = ledger.of('acknowledged').filter((call) => call.cutOff.length > 0);
    for (const call of new Set([...cutOff.slice(0, most), ...acknowledged.slice(0, most)])) await client.until(call);
  }
}
